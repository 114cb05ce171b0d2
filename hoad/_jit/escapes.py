"""Traced values that outlive the call of a function, in an attribute, a variable or a container that it filled.

A replay assigns nothing, and a traced value is of no use after the call that it belongs to. So each is found, named
with the line that stored it, and replaced by its number.
"""

from __future__ import annotations

import operator
import re
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hoad._core.base.where import is_library
from hoad._core.graph.tape import Graph
from hoad._core.jit.capture_analysis import content_of
from hoad._core.jit.jit_cache import Jitted
from hoad._core.trace.traced import graph_of, is_traced
from hoad._jit.environment_reader import Reader
from hoad._jit.refusals import located
from hoad._jit.refusals import place as place_of
from hoad._program.trace import plain
from hoad.errors import TracedValueError

MOST_OBJECTS = 20_000

# What leads to other objects, and by which attributes.
LEADING = (types.MethodType, partial, staticmethod, classmethod, property, Jitted)
PARTS = ("__self__", "__func__", "func", "args", "keywords", "fget", "__wrapped__")
# Ids of classes whose objects hold nothing that a function may fill, as is most of what modules and classes hold.
LEAVES = frozenset(
    map(
        id,
        (
            *(bool, bytes, complex, float, int, str, np.float64, np.ufunc, types.NoneType, types.CodeType),
            *(types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType),
            *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
            *(types.GetSetDescriptorType, types.MemberDescriptorType),
        ),
    )
)
STORES = ("STORE_ATTR", "STORE_GLOBAL", "STORE_NAME", "STORE_DEREF")
# Methods that put something into a container.
PUTS = frozenset("__setitem__ append appendleft extend extendleft insert move_to_end setdefault update".split())


class Place(NamedTuple):
    """Where something is kept: what to call it, what it is there, the name that code knows it by, how to replace it."""

    name: str
    held: Any
    key: str = ""
    put: Callable[[Any], Any] | None = None
    code: types.CodeType | None = None  # of a function that keeps it


class Stores:
    """The traced values of a recording that outlive the call, as far as they are found from some objects.

    `reader` has met all that the function may read; without one, all is followed from the objects.
    """

    def __init__(self, graph: Graph, objects: Iterable[Any], reader: Reader | None = None) -> None:
        self.graph = graph
        self.met = {id(x): x for x in objects} if reader is None else reader.met
        self.is_read = reader is not None
        self.codes = {} if reader is None else dict(reader.codes)
        named = ("list", "mapping", "content", "array")
        watches = () if reader is None else reader.watches.values()
        self.names = {id(owner): name for kind, owner, _, _, name in watches if kind in named}

    def replaced(self) -> list[str]:
        """Where they are; there are numbers from now on."""
        return self.found(replace=True)

    def found(self, replace: bool = False) -> list[str]:
        """Where they are."""
        found = []
        for place in self.places():
            if place.put is not None and self.is_kept(place.held):
                if replace:
                    place.put(plain(place.held, nested=False))
                found.append(f"{place.name}{_line(self.codes.values(), place)}")
        return found

    def is_kept(self, x: Any) -> bool:
        """Whether something is one, or is made anew for those that it holds: a tuple, an array that NumPy made of them.

        An array of objects that was there before stays, and holds numbers.
        """
        if is_traced(x):
            return self.is_own(x)
        if isinstance(x, tuple):
            return any(map(self.is_kept, x))
        new = isinstance(x, np.ndarray) and x.dtype == object and self.is_read and id(x) not in self.met
        return new and any(is_traced(item) and self.is_own(item) for item in x.flat)

    def is_own(self, x: Any) -> bool:
        """Whether a traced value is of this recording, not of one that has ended."""
        try:
            return graph_of(x) is self.graph
        except TracedValueError:
            return False

    def places(self) -> Iterator[Place]:
        """All that the objects lead to, the nearest first."""
        ahead = deque((self.names.get(key, ""), x) for key, x in self.met.items())
        seen = {*self.met}
        count = 0
        while ahead and count < MOST_OBJECTS:
            name, x = ahead.popleft()
            if isinstance(x, types.FunctionType) and not is_library(x.__code__.co_filename):
                self.codes.setdefault(id(x.__code__), x.__code__)
            for place in _held(name, x):
                yield place
                count += 1
                if id(type(place.held)) in LEAVES or id(place.held) in seen:
                    continue
                if not (place.put and self.is_kept(place.held)):
                    seen.add(id(place.held))
                    ahead.append((place.name, place.held))


# ---- what holds what ------------------------------------------------------------------------------------------------


def _held(name: str, x: Any) -> Iterator[Place]:
    """What an object holds."""
    if isinstance(x, types.FunctionType):
        yield from _held_by_function(x)
        return
    if isinstance(x, LEADING):
        yield from (Place(name, part) for part in map(partial(getattr, x), PARTS, [None] * len(PARTS)))
    if isinstance(x, np.ndarray) and x.dtype == object:
        for k in np.ndindex(x.shape):
            yield Place(f"an item of {name}", x[k], _last(name), partial(operator.setitem, x, k))
    elif isinstance(x, (list, deque, tuple)):
        for n, item in enumerate(x):
            put = None if isinstance(x, tuple) else partial(operator.setitem, x, n)
            yield Place(f"an item of {name}", item, _last(name), put)
    elif isinstance(x, dict):
        for key, item in list(x.items()):
            yield Place(f"an item of {name}", item, _last(name), partial(dict.__setitem__, x, key))
    yield from _attributes(x)


def _attributes(x: Any) -> Iterator[Place]:
    """Those of a user's module, class or object, in dictionaries and slots."""
    if isinstance(x, types.ModuleType):
        if not is_library(getattr(x, "__file__", None) or "<frozen "):
            for key, item in list(vars(x).items()):
                yield Place(f"the global {key}", item, key, partial(vars(x).__setitem__, key))
        return
    if isinstance(x, type):
        for key, item in list(vars(x).items()) if x.__flags__ & HEAP else ():  # others cannot be assigned to
            yield Place(f"the attribute {key} of {x.__name__}", item, key, partial(type.__setattr__, x, key))
        return
    name = f"of a {type(x).__name__}"
    if type(x).__flags__ & HEAP:
        yield Place(name, type(x))
    try:
        held = object.__getattribute__(x, "__dict__")
    except AttributeError:
        held = {}
    for key, item in list(held.items()):
        yield Place(f"the attribute {key} {name}", item, key, partial(held.__setitem__, key))
    for cls in type(x).__mro__:
        for key, slot in vars(cls).items() if cls.__flags__ & HEAP else ():
            if isinstance(slot, types.MemberDescriptorType):
                item = slot.__get__(x) if _has(slot, x) else None
                yield Place(f"the attribute {key} {name}", item, key, partial(slot.__set__, x))


HEAP = 1 << 9  # of the flags of a class: it was made by a statement of Python's


def _has(slot: Any, x: Any) -> bool:
    try:
        slot.__get__(x)
    except AttributeError:
        return False
    return True


def _held_by_function(f: types.FunctionType) -> Iterator[Place]:
    """The cells of a function, its attributes, and the globals that a user's assigns to."""
    for key, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        yield Place(f"the variable {key} of {f.__qualname__}", content_of(cell), key, partial(_fill, cell), f.__code__)
    for key, item in list(vars(f).items()):
        yield Place(f"the attribute {key} of {f.__qualname__}", item, key, partial(vars(f).__setitem__, key))
    for key in () if is_library(f.__code__.co_filename) else f.__code__.co_names:
        if key in f.__globals__:
            yield Place(f"the global {key}", f.__globals__[key], key, partial(f.__globals__.__setitem__, key))


def _fill(cell: types.CellType, value: Any) -> None:
    cell.cell_contents = value


# ---- the user's line ------------------------------------------------------------------------------------------------


def _last(name: str) -> str:
    """The name that code knows something by, of what it is called in messages."""
    words = [word for word in re.findall(r"[A-Za-z_]\w*", name) if word not in ("an", "item", "of")]
    return words[-1] if words else ""


def _line(codes: Iterable[types.CodeType], place: Place) -> str:
    """' (file:line)' where code assigns to a name, or puts something into what the name stands for; or nothing."""
    within = ""
    for code in codes:
        named = -1
        for step, line in located(code):
            here = place_of(code, line)
            if step.opname in STORES and step.argval == place.key:
                return here
            if step.opname.startswith("LOAD_") and step.argval == place.key:
                named = line
            puts = step.opname == "STORE_SUBSCR" or (step.opname.startswith("LOAD_") and step.argval in PUTS)
            if puts or (named == line and "setattr" in code.co_names):
                within = within or (here if named == line else "")
    if not within and place.code is not None:
        within = place_of(place.code, place.code.co_firstlineno)
    return within
