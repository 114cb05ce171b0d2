"""Copies of functions that find other values where the originals find arrays.

An array that a function captures, and that changes from call to call, is read live: what is recorded is a copy of the
function that finds a traced value in place of the array, in its closure cells and globals and in those of the
functions that it names. The originals are left alone, so that no other thread meets a traced value.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import is_library
from hoad._core.jit.capture_analysis import content_of
from hoad._core.jit.code_names import reads_of
from hoad._jit.environment_reader import Reader, writes_outside
from hoad._program.trace import is_number
from hoad._pytree.containers import flatten

Array = np.ndarray[Any, Any]

ROUNDING = 64  # ulps by which a result may differ where arrays that are read live are added up in another order


class Rebinding:
    """A function that finds what `fill` says where the original finds arrays."""

    def __init__(self, f: Any, arrays: Sequence[Array]) -> None:
        self.arrays = {id(array): k for k, array in enumerate(arrays)}
        self.places: list[tuple[Any, str, int]] = []  # a cell, or a dict and a key in it; which array
        self.functions: dict[int, Any] = {}
        self.spaces: dict[int, dict[str, Any]] = {}
        self.writes = False  # whether one of the functions assigns to globals or cells
        self.f = self.rebinding(f)

    def fill(self, values: Sequence[Any]) -> None:
        """Put something in the place of each array."""
        for place, key, k in self.places:
            _set(place, key, values[k])

    def finds(self, array: Array, codes: dict[int, types.CodeType], others: Iterable[tuple[str, Any]]) -> bool:
        """Whether the rebinding, too, may come to an array by another way; or would not do what the original does."""
        return self.writes or id(array) in Reader([("f", self.f), *others], codes).met

    def rebinding(self, x: Any) -> Any:
        """The rebinding of a function or method; anything else as it is."""
        if isinstance(x, types.MethodType):
            return types.MethodType(self.rebinding(x.__func__), x.__self__)
        if not isinstance(x, types.FunctionType):
            return x
        found = self.functions.get(id(x))
        return self.made(x) if found is None else found

    def made(self, f: types.FunctionType) -> Any:
        library = is_library(f.__code__.co_filename)
        if library and not f.__closure__:
            return f
        space = f.__globals__ if library else self.spaces.setdefault(id(f.__globals__), dict(f.__globals__))
        cells = tuple(types.CellType() for _ in f.__closure__ or ())
        rebinding = types.FunctionType(f.__code__, space, f.__name__, f.__defaults__, cells)
        rebinding.__kwdefaults__ = f.__kwdefaults__
        rebinding.__dict__.update(f.__dict__)
        self.functions[id(f)] = rebinding
        for cell, own in zip(f.__closure__ or (), cells, strict=True):
            self.put(own, "", content_of(cell))
        if not library:
            self.writes |= writes_outside(f.__code__)
            for code in (f.__code__, *reads_of(f.__code__).inner):
                for key in reads_of(code).globals & set(f.__globals__):
                    self.put(space, key, f.__globals__[key])
        return rebinding

    def put(self, place: Any, key: str, x: Any) -> None:
        """Let a place hold the rebinding of what the original holds there."""
        if id(x) in self.arrays:
            self.places.append((place, key, self.arrays[id(x)]))
            x = None
        _set(place, key, self.rebinding(x))


def _set(place: Any, key: str, value: Any) -> None:
    """Put a value into a cell, or under a key of a dict."""
    if isinstance(place, dict):
        place[key] = value
    else:
        place.cell_contents = value


def rebinding_of(
    f: Any, arrays: Sequence[Array], codes: dict[int, types.CodeType], others: Sequence[tuple[str, Any]]
) -> tuple[Rebinding, list[Array]]:
    """A rebinding, and those of the arrays that it finds nowhere; `codes` are what f enters, given these arguments."""
    rebinding = Rebinding(f, arrays)
    hidden = [array for array in arrays if not rebinding.finds(array, codes, others)]
    return (rebinding, hidden) if len(hidden) == len(arrays) else (Rebinding(f, hidden), hidden)


def are_alike(x: Any, y: Any) -> bool:
    """Whether two results are one, but for what rounding the order of operations may change."""
    leaves, structure = flatten(x)
    others, other = flatten(y)
    return structure == other and all(map(_is_alike, leaves, others))


def _is_alike(x: Any, y: Any) -> bool:
    if not (is_number(x) and is_number(y)):
        return type(x) is type(y) and bool(x is y or x == y)
    a, b = np.asarray(x), np.asarray(y)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    with np.errstate(all="ignore"):
        return np.allclose(a, b, rtol=ROUNDING * float(np.finfo(a.dtype).eps), atol=0.0, equal_nan=True)
