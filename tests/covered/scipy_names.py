"""The public names of SciPy's parts, and which of them the tables have."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType
from typing import Any

from covered.rows import Row
from covered.scipy_calls import Call
from covered.table_scipy_stats import DISTRIBUTIONS

# Each table, with the modules whose names it has.
TABLES = {
    "special": ("scipy.special",),
    "stats": ("scipy.stats",),
    "optimize": ("scipy.optimize",),
    "integrate": ("scipy.integrate",),
    "interpolate": ("scipy.interpolate",),
    "signal": ("scipy.signal",),
    "sparse": ("scipy.sparse", "scipy.sparse.linalg"),
    "spatial": ("scipy.spatial",),
    "distance": ("scipy.spatial.distance",),
    "fft": ("scipy.fft",),
}
_LOADED = {name: importlib.import_module(f"covered.table_scipy_{name}") for name in TABLES}


def resolved(name: str) -> Any:
    """What a full name stands for, or None where this release of SciPy has no such name."""
    module, _, last = name.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that SciPy is going to drop
        return getattr(importlib.import_module(module), last, None)


def public_names(module: str) -> set[str]:
    """Without modules, warnings and errors, in full."""
    found = {f"{module}.{name}" for name in importlib.import_module(module).__all__ if not name.startswith("_")}
    return {name for name in found if not _is_left_out(resolved(name))}


def _is_left_out(x: Any) -> bool:
    return isinstance(x, ModuleType) or (isinstance(x, type) and issubclass(x, BaseException))


ROWS: list[Call] = [row for table in _LOADED.values() for row in table.ROWS if resolved(row.name) is not None]
# Of each part the names that have no row, by the reason.
LEFT: dict[str, dict[str, list[str]]] = {
    part: {
        reason: [name for given in names.split() if resolved(name := f"{modules[0]}.{given}") is not None]
        for reason, names in _LOADED[part].LEFT.items()
    }
    for part, modules in TABLES.items()
}
NAMES = {part: set().union(*map(public_names, modules)) for part, modules in TABLES.items()}


def first_names() -> dict[str, str]:
    """Of each name, the name that stands for all of a part that are the same object."""
    found: dict[str, str] = {}
    objects: dict[tuple[str, int], str] = {}
    for part, names in NAMES.items():
        rows = [row.name for row in _LOADED[part].ROWS if row.name in names]
        for name in dict.fromkeys([*rows, *sorted(names)]):
            found[name] = objects.setdefault((part, id(resolved(name))), name)
    return found


FIRST = first_names()
_BY_NAME: dict[str, list[Row]] = {}
for _row in [*ROWS, *(row for found in DISTRIBUTIONS for row in found.rows())]:
    _BY_NAME.setdefault(FIRST.get(_row.name, _row.name), []).append(_row)
COVERED = {name: _BY_NAME[first] for name, first in FIRST.items() if first in _BY_NAME}
