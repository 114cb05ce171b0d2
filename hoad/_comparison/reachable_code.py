"""The code that a function may lead to, found without calling anything: quick, and enough to know what it asks for.

`hoad._jit.environment_reader` finds more, and all that a replay rests on. Here nothing is refused, and what is missed
is a comparison.
"""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from hoad._comparison.type_tests import code_within
from hoad._core.base.call_watch import globals_of, stand_for
from hoad._core.base.where import is_library
from hoad._core.jit.capture_analysis import content_of
from hoad._core.jit.jit_cache import Jitted

MOST_CODES = 200
MOST_ITEMS = 100  # of a container
WRAPPED = frozenset(("__wrapped__", "pyfunc"))  # attributes by which functions hold others that they call
LOOKED_UP = (FunctionType, MethodType, functools.partial)
LRU_CACHED = type(functools.lru_cache(max))
# No attribute is asked for that an object may compute: its class is type(x).
MRO, NAMES_OF = type.__dict__["__mro__"].__get__, type.__dict__["__dict__"].__get__
HEAP_TYPE = 1 << 9  # of the flags of a class that is made by Python
TEXT_MAKERS = frozenset(map(id, (str, repr, ascii)))


class Reached(NamedTuple):
    """What a function leads to. It keeps no more than code alive: `globals_of` gives the rest again."""

    codes: list[CodeType]  # of the user's, and its own
    names: list[tuple[str, Callable[[], Any]]]  # of its globals that lead to more, and weak references to what they are
    is_whole: bool  # false where there is more than is looked at, or where text is made under another name

    def holds(self, f: Any) -> bool:
        """Whether the globals still stand for the same."""
        return stand_for(globals_of(f), self.names)


def reached_from(f: Any, classes: Iterable[type] = ()) -> Reached:
    """The code of a function that is given objects of some classes, and of those of the user's that it may call.

    They are found by global names and in cells; by attributes that any of the code names, of modules, classes and
    objects; and in containers.
    """
    walk = _Walk(globals_of(f))
    walk.ahead += classes
    walk.ahead.append(f if issubclass(type(f), LOOKED_UP) else _Called(f))
    while walk.ahead and len(walk.codes) < MOST_CODES:
        walk.visit(walk.ahead.pop())
        if not walk.ahead:
            walk.look_up()
    return Reached(list(walk.codes.values()), walk.names, not walk.ahead and walk.met.keys().isdisjoint(TEXT_MAKERS))


class _Called(NamedTuple):
    """An object that is called."""

    owner: Any


class _Walk:
    """Goes through what a function leads to, each object once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.ahead: list[Any] = []
        self.met: dict[int, Any] = {}
        self.codes: dict[int, CodeType] = {}
        self.named = set(WRAPPED)
        self.holders: list[Mapping[str, Any]] = []
        self.names: list[tuple[str, Callable[[], Any]]] = []
        self.looked: set[tuple[int, str]] = set()

    def visit(self, x: Any) -> None:
        if type(x) is _Called:
            self.visit_object(x.owner)
            return
        if id(x) in self.met:
            return
        self.met[id(x)] = x
        kind = type(x)
        if kind is FunctionType:
            self.visit_function(x)
        elif kind is MethodType:
            self.ahead += (x.__func__, x.__self__)
        elif kind is functools.partial:
            self.ahead += (x.func, *x.args, *x.keywords.values())
        elif kind is types.ModuleType:
            if not _is_library_module(x):
                self.holders.append(x.__dict__)
        elif kind is list or kind is tuple or kind is set or kind is frozenset or kind is dict:
            self.ahead += itertools.islice(list(x.values() if kind is dict else x), MOST_ITEMS)
        elif kind is staticmethod or kind is classmethod:
            self.ahead.append(x.__func__)
        elif kind is property:
            self.ahead.append(x.fget)
        elif kind is functools.cached_property:
            self.ahead.append(x.func)
        elif kind is np.ufunc:  # of `np.frompyfunc`, perhaps
            self.ahead += filter(callable, gc.get_referents(x))
        elif kind is LRU_CACHED or kind is Jitted:
            self.ahead.append(x.__wrapped__)
        elif issubclass(kind, type):
            self.visit_class(x)
        else:
            self.visit_object(x)

    def visit_function(self, f: FunctionType) -> None:
        self.ahead += map(content_of, f.__closure__ or ())
        self.ahead += (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
        if f.__dict__:
            self.holders.append(f.__dict__)
        if self.codes and is_library(f.__code__.co_filename):
            return
        self.codes[id(f.__code__)] = f.__code__
        if is_library(f.__code__.co_filename):
            return
        names = {name for code in code_within(f.__code__) for name in code.co_names}
        self.named |= names
        self.look(f.__globals__, names)
        self.ahead += [sys.modules[name] for name in names if name in sys.modules]  # that it may import itself

    def visit_class(self, cls: type) -> None:
        for base in MRO(cls):
            held = NAMES_OF(base)
            module = sys.modules.get(str(held.get("__module__")))
            if module is None or not _is_library_module(module):
                self.holders.append(held)
                self.look(held, [key for key in held if key.startswith("__")])

    def visit_object(self, x: Any) -> None:
        """An object of a class that is made in Python: its attributes, and methods."""
        cls = type(x)
        if not cls.__flags__ & HEAP_TYPE:
            return
        self.ahead.append(cls)
        try:
            held = object.__getattribute__(x, "__dict__")
        except Exception:  # none, or what a property of this name raises
            return
        if type(held) is dict:
            self.holders.append(held)

    def look_up(self) -> None:
        """What the names that are known by now stand for in what is known by now."""
        for holder in list(self.holders):
            self.look(holder, self.named & holder.keys())

    def look(self, holder: Mapping[str, Any], names: Iterable[str]) -> None:
        for name in names:
            if name not in holder or (id(holder), name) in self.looked:
                continue
            self.looked.add((id(holder), name))
            found = holder[name]
            if holder is self.root and issubclass(type(found), (*LOOKED_UP, type, types.ModuleType)):
                self.names.append((name, weakref.ref(found)))
            self.ahead.append(found)


def _is_library_module(x: types.ModuleType) -> bool:
    file = x.__dict__.get("__file__")
    return x.__name__ in sys.builtin_module_names if file is None else is_library(str(file))
