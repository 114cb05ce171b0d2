"""Which names of NumPy could be given a traced value, area by area, and which of them the tables have."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.fft  # registers its functions, which are listed below
from covered.rows import Row
from numpy.testing import overrides

TABLES: dict[str, list[Row]] = {
    path.stem: importlib.import_module(f"covered.{path.stem}").ROWS
    for path in sorted(Path(__file__).parent.glob("table_*.py"))
    if not path.stem.startswith("table_scipy_")  # which scipy_names.py has
}
# The names of the array API standard (2024.12) that NumPy has.
ARRAY_API = """
abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh bitwise_and
bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to can_cast ceil
clip concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like equal exp
expand_dims expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag
isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or
logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply negative nextafter nonzero
not_equal ones ones_like permute_dims positive pow prod real reciprocal remainder repeat reshape result_type roll round
searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh
tensordot tile tril triu trunc unique_all unique_counts unique_inverse unique_values unstack var vecdot where zeros
zeros_like
fft.fft fft.fftfreq fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfftn
fft.rfft fft.rfftfreq fft.rfftn
linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul
linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.outer linalg.pinv linalg.qr
linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm
"""

V = np.array([0.5, 0.75, 1.5])


def resolved(name: str) -> Any:
    """What a full name stands for, or None where this release of NumPy has no such name."""
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


ROWS = [row for rows in TABLES.values() for row in rows if resolved(row.name) is not None]


def functions() -> set[str]:
    """Without those of text, and two of polynomials: NumPy knows them only once their module is imported.

    Without `numpy.fromfile` too: it is given a file, and `hoad.jit` does not compile what reads files.
    """
    names = {f"{f.__module__}.{f.__name__}" for f in overrides.get_overridable_numpy_array_functions()}
    apart = ("numpy.char.", "numpy.polynomial.", "numpy.strings.", "numpy.fromfile")
    names = {name for name in names if not name.startswith(apart)}
    return {name.replace("numpy.lib.scimath", "numpy.emath") for name in names}


def ufuncs() -> set[str]:
    """Those that have a name in numpy; the others take text, or are called by functions that are overridable."""
    return {
        f"numpy.{ufunc.__name__}"
        for ufunc in overrides.get_overridable_numpy_ufuncs()
        if getattr(np, ufunc.__name__, None) is ufunc
    }


def is_allowed(ufunc: np.ufunc, method: str, x: Any) -> bool:
    others = [x] * (ufunc.nin - 1)
    arguments = {"reduceat": [x, [0, 1]], "outer": [x, *others], "at": [x.copy(), [0, 1, 2], *others]}
    with np.errstate(all="ignore"):
        try:
            getattr(ufunc, method)(*arguments.get(method, [x]))
        except (TypeError, ValueError, RuntimeError):
            return False
    return True


def ufunc_methods() -> set[str]:
    """Those that NumPy calls for floats; for booleans where there are none; or for integers."""
    found = set()
    for name in ufuncs():
        ufunc = resolved(name)
        for x in (V, V > 1, V.astype(int)):
            allowed = {m for m in ("reduce", "accumulate", "reduceat", "outer", "at") if is_allowed(ufunc, m, x)}
            if allowed:
                found |= {f"{name}.{method}" for method in allowed}
                break
    return found


def members() -> set[str]:
    """Of arrays: all but those of any object of Python, other than comparisons, and those of the class.

    The latter are its rank among array types, and ``ndarray[...]``, which is given types. Without private names, and
    without ``__buffer__``, which Python has from 3.12 on.
    """
    comparisons = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    left_out = {*dir(object), "__array_priority__", "__buffer__", "__class_getitem__"} - comparisons
    private = {name for name in dir(np.ndarray) if name.startswith("_") and not name.startswith("__")}
    return {f"numpy.ndarray.{name}" for name in dir(np.ndarray) if name not in left_out | private}


def of_modules() -> set[str]:
    return {
        f"numpy.{module}.{name}"
        for module in ("linalg", "fft", "emath")
        for name in getattr(np, module).__all__
        if not isinstance(getattr(getattr(np, module), name), type)
    }


def of_the_standard() -> set[str]:
    names = {f"numpy.{name}" for name in ARRAY_API.split()}
    return {name for name in names if resolved(name) is not None}


AREAS = {
    "functions": functions(),
    "ufuncs": ufuncs(),
    "methods of ufuncs": ufunc_methods(),
    "members of arrays": members(),
    "linalg, fft, emath": of_modules(),
    "array API": of_the_standard(),
}


def first_names() -> dict[str, str]:
    """Of each name of a row or an area, the name that stands for all names of the same object."""
    found: dict[str, str] = {}
    objects: dict[int, tuple[Any, str]] = {}  # which are kept, so that no other object gets their ids
    for name in [*dict.fromkeys(row.name for row in ROWS), *sorted(set().union(*AREAS.values()))]:
        f = resolved(name)
        found[name] = objects.setdefault(id(f), (f, name))[1] if callable(f) else name
    return found


FIRST = first_names()
COVERED = {name: rows for name, first in FIRST.items() if (rows := [row for row in ROWS if FIRST[row.name] == first])}
