"""What pandas holds in frames, series and indices, guarded by content; only where pandas is imported already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from hoad._core.jit.capture_analysis import Untrackable, Walk
from hoad._core.jit.environment import ABSENT, found_at

# What an index, or an array of pandas' own, holds; of each class only some.
PARTS = ("_codes", "_data", "_dtype", "_left", "_levels", "_mask", "_name", "_names", "_ndarray", "_pa_array", "_range",
         "_right")  # fmt: skip
# What frames keep of what they have computed, and what is guarded apart.
SKIPPED = frozenset(["_cacher", "_item_cache", "_mgr"])


def visits_of_pandas() -> dict[type, Callable[[Any, str, Any], None]]:
    """What each of pandas' classes leads to; empty where pandas is not imported."""
    pandas: Any = sys.modules.get("pandas")
    try:
        extensions = pandas.api.extensions
        return {
            pandas.core.generic.NDFrame: visit_frame,
            pandas.Index: visit_parts,
            extensions.ExtensionArray: visit_parts,
            extensions.ExtensionDtype: visit_dtype,
        }
    except AttributeError:  # it is not imported, or not yet
        return {}


def hold(reader: Walk, name: str, owner: Any, key: str) -> Any:
    """Compare what a slot or an attribute holds at each call; it is not a place that a replay writes to."""
    held = found_at("slot", owner, key)
    if held is ABSENT:
        raise Untrackable(f"it may read {name}, of a version of pandas that is not known")
    reader.watch("held", owner, key, held, name)
    return held


def visit_frame(reader: Walk, name: str, x: Any) -> None:
    """A frame or a series: its columns as blocks of arrays, its labels, and the attributes that it was given."""
    manager = hold(reader, name, x, "_mgr")
    reader.watch("type", x, None, type(x), f"the class of {name}")
    reader.later(type(x).__name__, type(x))
    held = vars(x)
    reader.watch("content", held, None, tuple(held), f"the names of the attributes of {name}")
    for key in [key for key in held if key not in SKIPPED]:
        hold(reader, f"{name}.{key}", x, key)
        reader.later(f"{name}.{key}", held[key])
    reader.later(f"the labels of {name}", hold(reader, name, manager, "axes"))
    for block in hold(reader, name, manager, "blocks"):
        hold(reader, name, block, "_mgr_locs")
        reader.later(name, hold(reader, name, block, "values"))


def visit_parts(reader: Walk, name: str, x: Any) -> None:
    """An index, whose labels do not change, but for their arrays and its name; or an array of pandas' own."""
    found = [(key, found_at("slot", x, key)) for key in PARTS]
    parts = [(key, held) for key, held in found if held is not ABSENT]
    if not parts:
        raise Untrackable(f"it may read {name}, a {type(x).__name__}, which cannot be looked into")
    for key, held in parts:
        reader.watch("held", x, key, held, name)
        if key != "_pa_array":  # which never changes
            reader.later(name, held)


def visit_dtype(reader: Walk, name: str, x: Any) -> None:
    """The dtype of an array of pandas' own, which never changes, but for the categories that it has."""
    reader.later(name, getattr(x, "categories", None))
