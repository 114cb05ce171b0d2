"""What a Python function may read besides its arguments, as watches of a `World`.

Found by reading code, before the function is called: the globals and closure cells that it names, and those that the
functions named there name; of modules, classes and objects met on the way, the attributes that any of this code names;
of lists, dicts and arrays, all that is in them. That is more than a call reads, never less, but for what the table in
docs/reference/what-hoad-sees.md lists. What must not be replayed (clocks, randomness, files) is refused.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoad._core.entry import Jitted
from hoad._core.primitive import Primitive
from hoad._core.reading import (
    Unseen,
    Walk,
    answers_any_name,
    content_of,
    has_library_base,
    is_among,
    is_changing,
    is_library_class,
    is_static,
    module_of,
    mro_of,
    names_of,
    object_attribute,
    reads_of,
    slots_of,
)
from hoad._core.where import is_library
from hoad._core.world import ABSENT, World
from hoad.arguments import Choice
from hoad.primitive import DISPATCHED, known_primitive
from hoad.program import Program, Tape

MOST_WATCHES = 20_000

CHANGING_BUILTINS = frozenset(["__import__", "breakpoint", "compile", "eval", "exec", "globals", "input", "open"])
NOW = frozenset(["now", "today", "utcnow"])
# With these any attribute may be read.
BY_NAME = frozenset(
    """__dict__ __getattribute__ __reduce__ __reduce_ex__ attrgetter dir format format_map getattr getattr_static
    getmembers hasattr methodcaller vars""".split()
)

# What these compute hangs on no attribute that a user gives them. Code that reads one names it, but for `inspect`.
FUNCTIONS = (types.FunctionType, np.ufunc, DISPATCHED)
BY_INSPECT = frozenset(["__annotations__", "__signature__", "__wrapped__"])


# ---- code -----------------------------------------------------------------------------------------------------------


def writes_outside(code: types.CodeType) -> bool:
    """Whether code, or code defined within it, assigns to globals or to variables of a function around it."""
    for inner in reads_of(code).codes:
        for step in dis.get_instructions(inner):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
            if step.opname == "STORE_DEREF" and step.argval in code.co_freevars:
                return True
    return False


# ---- what it leads to -----------------------------------------------------------------------------------------------


class Reader(Walk):
    """Goes through everything that functions may read, and watches it."""

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        super().__init__(VISITS, WHOLE, MOST_WATCHES)
        self.names: set[str] = set()
        self.handles = False
        self.codes: dict[int, types.CodeType] = {}
        roots = list(roots)
        while True:
            self.asked: tuple[int, bool, bool] | None = None  # what was known when names were first asked for
            self.walk(roots)
            if self.asked in (None, self.known()):  # nothing was learned after names were first looked up
                break

    def known(self) -> tuple[int, bool, bool]:
        """What decides which attributes may be read; it only grows."""
        return len(self.names), self.by_name, self.handles

    def met_names(self) -> set[str]:
        """The attributes that any code met so far names; asked for before all is met, they are asked for again."""
        if self.asked is None:
            self.asked = self.known()
        return self.names

    def world(self, live: Iterable[np.ndarray[Any, Any]] = ()) -> World:
        """All of it as it is now; of arrays that are read live, only their shapes and dtypes."""
        watches = dict(self.watches)
        for array in live:
            key = "array", id(array), None
            layout = np.broadcast_to(np.empty((), array.dtype), array.shape)
            watches[key] = "layout", array, None, layout, watches[key][-1]
        return World(list(watches.values()))

    # ---- by kind

    def visit_items(self, name: str, x: Any) -> None:
        for k, item in enumerate(x):
            self.later(f"{name}[{k}]", item)

    def visit_list(self, name: str, x: list[Any]) -> None:
        self.watch("list", x, None, tuple(x), name)
        self.visit_items(name, list.__iter__(x))

    def visit_content(self, name: str, x: Any) -> None:
        self.watch("content", x, None, tuple(x), name)
        self.visit_items(name, x)

    def visit_dict(self, name: str, x: dict[Any, Any]) -> None:
        items = [part for item in dict.items(x) for part in item]
        self.watch("mapping", x, None, tuple(items), name)
        if isinstance(x, OrderedDict):  # has an order of its own
            self.watch("content", x, None, tuple(x), name)
        if isinstance(x, defaultdict):
            self.watch("slot", x, "default_factory", x.default_factory, f"the default_factory of {name}")
            self.later(f"the default_factory of {name}", x.default_factory)
        for key, item in dict.items(x):
            self.later(name, key)
            self.later(f"{name}[{key!r}]" if isinstance(key, (str, int)) else name, item)

    def visit_proxy(self, name: str, x: types.MappingProxyType[Any, Any]) -> None:
        self.watch("content", x.items(), None, tuple(x.items()), name)
        self.visit_items(name, x.values())

    def visit_array(self, name: str, x: np.ndarray[Any, Any]) -> None:
        if not x.dtype.isnative:
            raise Unseen(f"it may read {name}, an array in another byte order than the machine's")
        self.watch("array", x, None, np.array(x, order="C", subok=False), name)
        if x.dtype.hasobject:
            self.visit_items(name, x.ravel().tolist())

    def visit_module(self, name: str, x: types.ModuleType) -> None:
        self.last(self.visit_items_of_module, name, x)

    def visit_items_of_module(self, name: str, x: types.ModuleType) -> None:
        known = vars(x)
        library = is_library(known.get("__file__") or "") or known.get("__name__") in sys.builtin_module_names
        names = self.met_names()
        asked = names if not self.by_name or library else names | set(known)
        for key in sorted(asked):
            if key in known:
                self.watch("item", known, key, known[key], f"{name}.{key}")
                self.later(f"{name}.{key}", known[key])
            elif self.handles or self.by_name:
                self.watch("item", known, key, ABSENT, f"{name}.{key}")

    def visit_function(self, name: str, x: types.FunctionType) -> None:
        library = is_library(x.__code__.co_filename)
        for cell_name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            held = content_of(cell)
            if not library:
                self.watch("cell", cell, None, held, f"{cell_name} in {x.__qualname__}")
            self.later(cell_name, held)
        if library:
            self.check_function(name, x)
            return
        defaults, keywords = x.__defaults__, x.__kwdefaults__
        none = [ABSENT if held is None else held for held in (defaults, keywords)]
        self.watch("function", x, None, (x.__code__, *none), name)
        self.last(self.visit_attributes, name, x, vars(x))
        self.later(f"a default of {name}", defaults)
        self.later(f"a default of {name}", keywords)
        self.visit_code(x.__code__, x.__globals__)

    def visit_code(self, code: types.CodeType, known: dict[str, Any]) -> None:
        """The globals and modules that code names."""
        reads = reads_of(code)
        self.codes.update((id(inner), inner) for inner in reads.codes)
        self.names |= reads.attributes
        self.handles |= reads.handles
        self.by_name |= reads.has_patterns or not BY_NAME.isdisjoint(reads.globals | reads.attributes)
        for key in sorted(reads.globals):
            self.watch_global(key, known)
        for module in sorted(reads.modules):
            self.visit_import(module, known.get("__package__") or "")

    def watch_global(self, key: str, known: dict[str, Any]) -> None:
        held = known.get(key, ABSENT)
        self.watch("item", known, key, held, f"the global {key}")
        if held is not ABSENT:
            self.later(key, held)
            return
        own = known.get("__builtins__", builtins)
        own = own if isinstance(own, dict) else vars(own)
        if key in CHANGING_BUILTINS and own.get(key) is getattr(builtins, key):
            raise Unseen(f"it calls {key}")
        self.watch("item", own, key, own.get(key, ABSENT), f"the builtin {key}")
        self.later(key, own.get(key))

    def visit_import(self, name: str, package: str) -> None:
        """A module that is imported within a function: by its own name, or relative to a package around it."""
        around = package.split(".") if package else []
        paths = [[*around[:k], *name.split(".")] if name else around[:k] for k in range(len(around) + 1)]
        for path in filter(None, paths):
            for k in range(1, len(path) + 1):
                full = ".".join(path[:k])
                self.watch("item", sys.modules, full, sys.modules.get(full, ABSENT), f"the module {full}")
                self.later(full, sys.modules.get(full))

    def visit_builtin(self, name: str, x: Any) -> None:
        self.check_function(name, x)
        self.by_name |= x.__name__ in BY_NAME
        if not isinstance(x.__self__, types.ModuleType):
            self.later(name, x.__self__)

    def visit_method(self, name: str, x: types.MethodType) -> None:
        self.later(name, x.__self__)
        self.later(name, x.__func__)

    def visit_slice(self, name: str, x: slice) -> None:
        for part in (x.start, x.stop, x.step):
            self.later(name, part)

    def visit_property(self, name: str, x: property) -> None:
        self.later(name, x.fget)

    def visit_wrapper(self, name: str, x: Any) -> None:
        self.later(name, x.__func__)

    def visit_partial(self, name: str, x: functools.partial[Any]) -> None:
        for part in (x.func, x.args, x.keywords):
            self.later(name, part)

    def visit_jitted(self, name: str, x: Jitted) -> None:
        self.later(name, x.__wrapped__)

    def visit_primitive(self, name: str, x: Primitive) -> None:
        """What its rule reads, if that is run at every node: of another one hoad keeps what it gave once."""
        if x.per_call:
            self.later(f"the rule of {name}", x.rule)

    def visit_numpy(self, name: str, x: Any) -> None:
        """A function of NumPy's or SciPy's, which may have a rule of the user's."""
        known = known_primitive(x)
        if known is not None:
            self.visit_primitive(name, known)

    def visit_class(self, name: str, x: type) -> None:
        if module_of(x) == "datetime" and NOW & self.met_names():
            raise Unseen(f"it may ask {name} for the time")
        own = [cls for cls in mro_of(x) if not is_library_class(cls)]
        if not own:
            return
        if self.by_name:
            for cls in own:
                self.watch("content", vars(cls), None, tuple(vars(cls)), f"the names of {cls.__name__}")
        said = {key: held for cls in reversed(mro_of(x)[:-1]) for key, held in vars(cls).items()}
        special = {key for cls in own for key in vars(cls) if key.startswith("__") and callable(vars(cls)[key])}
        met = self.met_names()
        names = special | (set(said) if self.by_name else met & set(said))
        answers = answers_any_name(x) or answers_any_name(type(x))
        keys = tuple(sorted(names | (met if self.handles or answers else set())))
        self.watch("class", x, keys, tuple(said.get(key, ABSENT) for key in keys), name)
        for key in keys:
            self.later(f"{name}.{key}", said.get(key))
        if type(x) is not type:
            self.later(f"the class of {name}", type(x))

    def visit_instance(self, name: str, x: Any) -> None:
        """An object of a class: its attributes."""
        kind: type = type(x)
        if not is_static(kind):  # which can be exchanged
            self.watch("type", x, None, kind, f"the class of {name}")
        self.later(kind.__name__, kind)
        held = object_attribute(x, "__dict__")
        if type(held) is dict:
            self.last(self.visit_attributes, name, x, held)
        for key in slots_of(kind):
            value = object_attribute(x, key)
            self.watch("slot", x, key, value, f"{name}.{key}")
            self.later(f"{name}.{key}", value)

    def visit_attributes(self, name: str, x: Any, held: dict[str, Any]) -> None:
        if self.by_name or (not is_among(type(x), FUNCTIONS) and has_library_base(type(x))):
            self.later(f"the attributes of {name}", held)
            return
        names = self.met_names() | BY_INSPECT.intersection(held)
        said = names.intersection(names_of(type(x))) | names.intersection(held)
        keys = tuple(sorted(names if self.handles or answers_any_name(type(x)) else said))
        if keys:
            self.watch("attributes", x, keys, tuple(held.get(key, ABSENT) for key in keys), f"an attribute of {name}")
        for key in keys:
            self.later(f"{name}.{key}", held.get(key))

    def check_function(self, name: str, x: Any) -> None:
        if is_changing(getattr(x, "__module__", None)):
            raise Unseen(f"it may call {name}")


Visit = Callable[[Reader, str, Any], None]
VISITS: dict[type, Visit | None] = {
    tuple: Reader.visit_items,
    frozenset: Reader.visit_items,
    list: Reader.visit_list,
    set: Reader.visit_content,
    deque: Reader.visit_content,
    bytearray: Reader.visit_content,
    dict: Reader.visit_dict,
    types.MappingProxyType: Reader.visit_proxy,
    np.ndarray: Reader.visit_array,
    types.ModuleType: Reader.visit_module,
    types.FunctionType: Reader.visit_function,
    types.BuiltinFunctionType: Reader.visit_builtin,
    types.MethodType: Reader.visit_method,
    types.MethodWrapperType: Reader.visit_builtin,
    slice: Reader.visit_slice,
    property: Reader.visit_property,
    staticmethod: Reader.visit_wrapper,
    classmethod: Reader.visit_wrapper,
    functools.partial: Reader.visit_partial,
    type: Reader.visit_class,
    Jitted: Reader.visit_jitted,
    Primitive: Reader.visit_primitive,
    np.ufunc: Reader.visit_numpy,
    DISPATCHED: Reader.visit_numpy,
    Program: Reader.visit_list,
    Tape: None,
}
# Of these kinds nothing else is looked at. A `Choice` keeps a function that is in a cell beside it.
WHOLE = (type, types.ModuleType, types.FunctionType, Choice, Jitted, Program, Tape)


__all__ = ["Reader", "writes_outside"]
