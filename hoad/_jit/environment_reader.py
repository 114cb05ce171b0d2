"""What a Python function may have read besides its arguments, as guards of an `Environment`.

Found by reading the code that runs, as it is entered: the globals and closure cells that it names; of modules, classes
and objects met on the way, the attributes that any code entered names; of lists, dicts and arrays, all that is in them.
That is more than a call reads, never less, but for what the table in docs/reference/what-hoad-sees.md lists. What must
not be replayed (clocks, randomness, files) is refused.
"""

from __future__ import annotations

import abc
import array
import dis
import functools
import gc
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from hoad._core.base.where import standard_name
from hoad._core.graph.primitive import Primitive
from hoad._core.jit.bound_call import BoundCall
from hoad._core.jit.capture_analysis import UNCHANGED, Untrackable, Walk
from hoad._core.jit.code_names import reads_of
from hoad._core.jit.environment import ABSENT, Environment, holds_now, items_without
from hoad._core.jit.jit_cache import Jitted
from hoad._jit.frames import visits_of_pandas
from hoad._ops.primitives import DISPATCHED, known_primitive
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._pytree.arguments import Choice

MOST_WATCHES = 20_000
# What a class that may be registered with keeps in C; the number of all that were registered tells of changes.
ABC_DATA = type(vars(abc.ABC)["_abc_impl"])
# By these names code reads how an array lies in memory, or whether it can be written to.
ASKS_FLAGS = frozenset(["__array_interface__", "__array_struct__", "flags", "strides"])


# ---- code -----------------------------------------------------------------------------------------------------------


def writes_outside(code: types.CodeType) -> bool:
    """Whether code, or code defined within it, assigns to globals or to variables of a function around it."""
    for inner in (code, *reads_of(code).inner):
        for step in dis.get_instructions(inner):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
            if step.opname == "STORE_DEREF" and step.argval in code.co_freevars:
                return True
    return False


# ---- what it leads to -----------------------------------------------------------------------------------------------


class Reader(Walk):
    """Goes through what a function reads while it runs, and guards it; `codes` are known to be entered."""

    def __init__(
        self,
        roots: Iterable[tuple[str, Any]],
        codes: dict[int, types.CodeType] | None = None,
        skipped: Iterable[tuple[str, int, Any]] = (),
    ) -> None:
        self.registered = abc.get_cache_token()
        frames = visits_of_pandas()
        super().__init__({**VISITS, **frames}, (*WHOLE, *frames), MOST_WATCHES, codes or {}, set(skipped))
        self.roots = list(roots)
        self.walk(list(self.roots))

    def environment(
        self,
        live: Iterable[np.ndarray[Any, Any]] = (),
        written: Collection[tuple[str, int, Any]] = (),
        others: Iterable[tuple[str, Any, Any, Any, str]] = (),
    ) -> Environment:
        """All that was read as it was before, and what may have been written but is as it was.

        Of arrays that are read live, only their shapes and dtypes; nothing of places that a replay writes to. `others`
        are guards in place of some of these.
        """
        watches = {place: guard for place, guard in self.written.items() if guard[3] is not ABSENT} | self.watches
        items = any(place[0] == "item" and ("mapping", place[1], None) in watches for place in written)
        if items or any(type(watches[place][3]) not in UNCHANGED for place in written if place in watches):
            reached = Reader(self.roots, self.codes, written).watches  # by other ways than what is written over
            watches = {place: guard for place, guard in watches.items() if place in reached or place in self.written}
        for place in written:
            watches.pop(place, None)
        for key in [key for key in watches if key[0] == "mapping"] if written else ():
            _, owner, _, _, name = watches[key]
            put = tuple(k for kind, of, k in written if kind == "item" and of == id(owner))
            if put:
                watches[key] = "mapping", owner, put, items_without(owner, put), name
        for x in live:
            key = "array", id(x), None
            layout = np.broadcast_to(np.empty((), x.dtype), x.shape)
            watches[key] = "layout", x, None, layout, watches[key][-1]
        if self.asks_kind and any(issubclass(type(x), abc.ABCMeta) for x in self.met.values()):
            name = "the classes that are registered with abstract ones"
            watches["registered", 0, None] = "registered", None, None, self.registered, name
        return Environment([*watches.values(), *others])

    def standing(self) -> Environment:
        """All that was read and is as it was."""
        known = Environment(self.watches.values())
        return known if known.change() is None else Environment([w for w in self.watches.values() if holds_now(w)])

    # ---- by kind

    def visit_items(self, name: str, x: Any) -> None:
        for k, item in enumerate(x):
            self.later(f"{name}[{k}]", item)

    def visit_list(self, name: str, x: list[Any]) -> None:
        self.watch("list", x, None, tuple(x), name)
        if ("list", id(x), None) not in self.skipped:
            self.visit_items(name, list.__iter__(x))

    def visit_content(self, name: str, x: Any) -> None:
        self.watch("content", x, None, tuple(x), name)
        if ("content", id(x), None) not in self.skipped:
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
            if ("item", id(x), key) not in self.skipped:
                self.later(f"{name}[{key!r}]" if isinstance(key, (str, int)) else name, item)

    def visit_proxy(self, name: str, x: types.MappingProxyType[Any, Any]) -> None:
        self.watch("content", x.items(), None, tuple(x.items()), name)
        self.visit_items(name, x.values())

    def visit_array(self, name: str, x: np.ndarray[Any, Any]) -> None:
        if not x.dtype.isnative:
            raise Untrackable(f"it may read {name}, an array in another byte order than the machine's")
        self.watch("array", x, None, np.array(x, order="C", subok=False), name)
        self.when_asked(Reader.visit_flags, name, x)
        if x.dtype.hasobject:
            self.visit_items(name, x.ravel().tolist())

    def visit_dtype(self, name: str, x: np.dtype[Any]) -> None:
        """The names of the fields of a dtype, which can be exchanged, and their dtypes."""
        if x.names is not None:
            self.watch("slot", x, "names", x.names, f"{name}.names")
            self.visit_items(name, (x.fields or {}).values())
        self.visit_items(name, (x.subdtype, x.metadata))

    def visit_reference(self, name: str, x: weakref.ref[Any]) -> None:
        """A weak reference: what it refers to lives on from now."""
        target = weakref.ref.__call__(x)
        self.watch("target", x, None, target, f"what {name} refers to")
        self.later(name, target)

    def visit_flags(self, name: str, x: np.ndarray[Any, Any], *_: object) -> None:
        """Those of an array, and its strides, if any code may ask for them."""
        if self.may_ask(ASKS_FLAGS):
            self.watch("flags", x, None, (x.flags.num, x.strides), f"the flags of {name}")

    def visit_cached(self, name: str, x: Any) -> None:
        """What `functools.lru_cache` keeps of a function, which may be from when the function read something else.

        Functions of Python's library read nothing else.
        """
        code = getattr(x.__wrapped__, "__code__", None)
        if code is not None and standard_name(code.co_filename) is not None:
            return
        held = gc.get_referents(x)
        cache = next(part for part in held if type(part) is dict and part is not x.__dict__)
        self.watch("cache", cache, None, tuple(part for item in cache.items() for part in item), f"the cache of {name}")
        kept = cache.values() if x.cache_info().maxsize is None else held  # behind links, which are opaque
        for part in kept:
            if part is not cache and part is not x.__dict__ and type(part) is not object:
                self.later(f"what is cached of {name}", part)

    def visit_builtin(self, name: str, x: Any) -> None:
        self.check_function(name, x)
        self.name_attribute(x.__name__)
        if not isinstance(x.__self__, types.ModuleType):
            self.later(name, x.__self__)

    def visit_method(self, name: str, x: types.MethodType) -> None:
        self.later("self", x.__self__)
        self.later(name, x.__func__)

    def visit_primitive(self, name: str, x: Primitive) -> None:
        """What its rule reads, if that is run at every node: of another one hoad keeps what it gave once."""
        if x.per_call:
            self.assume(f"the rule of {name}", x.rule)

    def visit_numpy(self, name: str, x: Any) -> None:
        """A function of NumPy's or SciPy's, which may have a rule of the user's."""
        known = known_primitive(x)
        if known is not None:
            self.visit_primitive(name, known)

    def visit_ufunc(self, name: str, x: np.ufunc) -> None:
        """A ufunc, which calls a Python function if `np.frompyfunc` made it."""
        self.visit_numpy(name, x)
        for part in gc.get_referents(x):
            if callable(part):
                self.later(f"the function of {name}", part)


Visit = Callable[[Reader, str, Any], None]


def _parts(*names: str) -> Visit:
    """A visit of what these attributes hold."""

    def visit(reader: Reader, name: str, x: Any) -> None:
        for part in names:
            reader.later(name, getattr(x, part))

    return visit


VISITS: dict[type, Visit | None] = {
    tuple: Reader.visit_items,
    frozenset: Reader.visit_items,
    list: Reader.visit_list,
    set: Reader.visit_content,
    deque: Reader.visit_content,
    bytearray: Reader.visit_content,
    array.array: Reader.visit_content,
    type({}.keys()): Reader.visit_content,
    type({}.values()): Reader.visit_content,
    type({}.items()): Reader.visit_content,
    weakref.ref: Reader.visit_reference,
    np.dtype: Reader.visit_dtype,
    ABC_DATA: None,
    dict: Reader.visit_dict,
    types.CodeType: None,
    types.MappingProxyType: Reader.visit_proxy,
    np.ndarray: Reader.visit_array,
    types.ModuleType: Reader.visit_module,
    types.FunctionType: Reader.visit_function,
    types.BuiltinFunctionType: Reader.visit_builtin,
    types.MethodType: Reader.visit_method,
    types.MethodWrapperType: Reader.visit_builtin,
    slice: _parts("start", "stop", "step"),
    property: _parts("fget", "fset", "fdel"),
    staticmethod: _parts("__func__"),
    classmethod: _parts("__func__"),
    functools.partial: _parts("func", "args", "keywords"),
    functools._lru_cache_wrapper: Reader.visit_cached,
    type: Reader.visit_class,
    Jitted: _parts("__wrapped__"),
    BoundCall: _parts("jitted", "args", "out"),
    Primitive: Reader.visit_primitive,
    np.ufunc: Reader.visit_ufunc,
    DISPATCHED: Reader.visit_numpy,
    Program: Reader.visit_list,
    Tape: None,
}
# Of these kinds nothing else is looked at. A `Choice` keeps a function that is in a cell beside it.
WHOLE = (type, types.ModuleType, types.FunctionType, BoundCall, Choice, Jitted, Program, Tape)
