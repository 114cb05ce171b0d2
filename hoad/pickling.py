"""Programs in pickles: primitives travel by qualified name and version."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from typing import Any

from hoad._core.portable import graph_data, graph_from
from hoad._core.primitive import Primitive, primitive_named
from hoad.errors import count

Description = tuple[str, str, int]

# Primitives that are declared as they are needed, one for each number of results, by name.
FAMILIES: dict[str, Callable[[int], Primitive]] = {}


def describe(primitive: Primitive) -> Description:
    """(module, qualified name, version); raises for a primitive that another process could not find."""
    found = primitive.qualified
    if primitive.name in FAMILIES and found is None:
        return primitive.name, str(primitive.nout), 0
    if found is None:
        return "", primitive.name, primitive.version
    module, name = found
    if module == "__main__" or "<" in name:
        raise pickle.PicklingError(
            f"a program that uses the primitive {name} of {module} cannot be pickled: another process could not find "
            "it by name. Define it at the top of a module that can be imported."
        )
    if getattr(_attribute(module, name), "__hoad_primitive__", None) is not primitive:
        raise pickle.PicklingError(
            f"a program that uses a primitive made of {module}.{name} cannot be pickled: by that name another process "
            "finds another function. Give the primitive the name of what it is made of, as @hoad.primitive does."
        )
    return module, name, primitive.version


def _attribute(module: str, name: str) -> Any:
    """What a module has by a qualified name, or None."""
    owner: Any = importlib.import_module(module)
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner


def find(description: Description) -> Primitive:
    """The primitive of a description, which must have had as many rules as then."""
    module, name, version = description
    found: Primitive | None
    if module in FAMILIES:
        return FAMILIES[module](int(name))
    if module:
        found = getattr(_attribute(module, name), "__hoad_primitive__", None)
    else:
        found = primitive_named(name)
    if found is None or found.version != version:
        state = (
            "is not declared here" if found is None else f"has had {count(found.version, 'rule')} here, {version} there"
        )
        raise pickle.UnpicklingError(
            f"this program uses the primitive {name}, which {state}. Record the program again."
        )
    return found


def dump(tapes: list[Any]) -> dict[str, Any]:
    """Tapes as plain data: the graph of the last, which holds those before it, and a window for each."""
    last = tapes[-1]
    windows = [
        (
            (t._start, t._end, t._first_guard, t._guards),
            *(t._inputs, t._outputs, t.kind, t._single),
            *(t._takes, t._gives),
        )
        for t in tapes
    ]
    return {"graph": graph_data(last._graph, last._end, last._guards, describe), "windows": windows}


def load(data: dict[str, Any]) -> tuple[Any, list[tuple[Any, ...]]]:
    """(graph, windows) of `dump`."""
    return graph_from(data["graph"], find), data["windows"]
