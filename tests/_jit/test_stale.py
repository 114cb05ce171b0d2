"""Ways to change the environment between two calls of a jitted function: none of them may give a stale answer.

Each case makes a function and what changes the environment; the jitted function must give what the function gives,
before, after, and when the environment is changed back as far as it can be. What cannot be seen is in the table of
docs/reference/what-hoad-sees.md, and held at the end.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import enum
import functools
import gc
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.lib.recfunctions as recfunctions
import pytest
from scipy import special

import hoad
from hoad._core.graph.primitive import ufunc_primitive
from hoad._core.trace.traced import FUNCTIONS

Case = Callable[[], Iterator[Callable[..., Any]]]
CASES: dict[str, Case] = {}


def case(made: Case) -> Case:
    """A generator that yields the function first, and then after each change: it or nothing."""
    CASES[made.__name__] = made
    return made


# ---- globals, builtins, modules -------------------------------------------------------------------------------------

RATE = 2.0
ARRAY = np.array([1.0, 2.0, 3.0])
TABLE: dict[str, Any] = {"a": 1.0, "deep": {"b": [1.0, 2.0]}}
HELPER_RATE = 3.0


def helper(x: Any) -> Any:
    return HELPER_RATE * x


def other_helper(x: Any) -> Any:
    return 7.0 * x


def calls_helper(x: Any) -> Any:
    return helper(x) + 1.0


@contextlib.contextmanager
def undone(name: str) -> Iterator[dict[str, Any]]:
    known = globals()
    before = known[name]
    yield known
    known[name] = before


def while_it_is(name: str, value: Any) -> Iterator[None]:
    """With another value of a global, and with its own again."""
    with undone(name) as known:
        known[name] = value
        yield None
    yield None


@case
def a_global_number() -> Any:
    with undone("RATE") as known:
        yield lambda x: RATE * x
        known["RATE"] = 5.0
        yield None


@case
def a_global_becomes_another_type() -> Any:
    with undone("RATE") as known:
        yield lambda x: np.where(isinstance(RATE, int), 1.0, 2.0) * x
        known["RATE"] = 2
        yield None


@case
def a_global_loses_its_sign() -> Any:
    with undone("RATE") as known:
        known["RATE"] = 0.0
        yield lambda x: np.copysign(x, RATE)
        known["RATE"] = -0.0
        yield None


@case
def a_global_of_a_function_that_is_called() -> Any:
    with undone("HELPER_RATE") as known:
        yield calls_helper
        known["HELPER_RATE"] = 11.0
        yield None


@case
def a_function_that_is_called_is_replaced() -> Any:
    with undone("helper") as known:
        yield calls_helper
        known["helper"] = other_helper
        yield None


@case
def the_code_of_a_function_is_replaced() -> Any:
    def inner(x: Any) -> Any:
        return 2.0 * x

    def replacement(x: Any) -> Any:
        return 3.0 * x

    yield lambda x: inner(x)
    inner.__code__ = replacement.__code__
    yield None


@case
def the_code_of_the_function_itself_is_replaced() -> Any:
    def f(x: Any) -> Any:
        return 2.0 * x

    def replacement(x: Any) -> Any:
        return 3.0 * x

    yield f
    f.__code__ = replacement.__code__
    yield None


@case
def a_builtin_is_shadowed() -> Any:
    yield lambda x: abs(x) + 1.0
    globals()["abs"] = lambda x: 10.0 * x
    yield None
    del globals()["abs"]
    yield None


@case
def a_builtin_is_replaced() -> Any:
    before = builtins.sum
    yield lambda x: sum([x, 1.0])
    builtins.sum = lambda xs: 3.0 * before(xs)  # type: ignore[assignment]
    yield None
    builtins.sum = before  # type: ignore[assignment]


@case
def a_function_of_a_module_is_replaced() -> Any:
    module = types.ModuleType("model")
    module.slope = lambda x: 2.0 * x  # type: ignore[attr-defined]
    yield lambda x: module.slope(x)
    module.slope = lambda x: 4.0 * x  # type: ignore[attr-defined]
    yield None


@case
def a_number_of_a_module() -> Any:
    module = types.ModuleType("constants")
    module.g = 9.81  # type: ignore[attr-defined]
    yield lambda x: module.g * x
    module.g = 1.62  # type: ignore[attr-defined]
    yield None


@case
def a_function_of_numpy_is_replaced() -> Any:
    before = np.tanh
    yield lambda x: np.tanh(x)
    np.tanh = lambda x: x + 100.0
    yield None
    np.tanh = before


@case
def a_module_is_imported_within() -> Any:
    module = types.ModuleType("hoad_test_imported")
    module.scale = 2.0  # type: ignore[attr-defined]
    sys.modules["hoad_test_imported"] = module

    def f(x: Any) -> Any:
        from hoad_test_imported import scale  # type: ignore[import-not-found]

        return scale * x

    yield f
    module.scale = 3.0  # type: ignore[attr-defined]
    yield None
    another = types.ModuleType("hoad_test_imported")
    another.scale = 4.0  # type: ignore[attr-defined]
    sys.modules["hoad_test_imported"] = another
    yield None
    del sys.modules["hoad_test_imported"]


# ---- closures and defaults ------------------------------------------------------------------------------------------


@case
def a_closure_cell() -> Any:
    rate = 2.0

    def f(x: Any) -> Any:
        return rate * x

    yield f
    rate = 3.0
    yield None


@case
def a_closure_cell_two_functions_down() -> Any:
    rate = 2.0

    def inner(x: Any) -> Any:
        return rate * x

    def f(x: Any) -> Any:
        return inner(x) + inner(x)

    yield f
    rate = -1.0
    yield None


@case
def a_default() -> Any:
    def f(x: Any, rate: float = 2.0) -> Any:
        return rate * x

    yield f
    f.__defaults__ = (5.0,)
    yield None


@case
def a_keyword_default() -> Any:
    def f(x: Any, *, rate: float = 2.0) -> Any:
        return rate * x

    yield f
    f.__kwdefaults__["rate"] = 5.0
    yield None
    f.__kwdefaults__ = {"rate": 6.0}
    yield None


@case
def what_a_default_holds() -> Any:
    def f(x: Any, table: dict[str, float] = {"rate": 2.0}) -> Any:  # noqa: B006
        return table["rate"] * x

    yield f
    f.__defaults__[0]["rate"] = 5.0  # type: ignore[index]
    yield None


OF_UFUNCS = hasattr(np.log1p, "__dict__")  # from NumPy 2.2 on


class ByName(type):
    """Classes of one name are equal."""

    def __eq__(cls, other: object) -> bool:
        return isinstance(other, type) and cls.__qualname__ == other.__qualname__

    def __hash__(cls) -> int:
        return hash(cls.__qualname__)


@case
def a_slot_of_a_class_that_equals_another() -> Any:
    one: Any = ByName("Slotted", (), {"__slots__": ("x",), "__qualname__": "Slotted"})()
    two: Any = ByName("Slotted", (), {"__slots__": ("x", "y"), "__qualname__": "Slotted"})()
    one.x, two.y = 1.0, 2.0
    hoad.jit(lambda t: one.x * t)(1.0)
    yield lambda t: two.y * t
    two.y = 3.0
    yield None


@case
def a_slot_that_gets_another_name() -> Any:
    Slotted: Any = type("Slotted", (), {"__slots__": ("a",)})
    x = Slotted()
    x.a = 1.0
    hoad.jit(lambda t: x.a * t)(1.0)
    Slotted.z = Slotted.a
    del Slotted.a
    yield lambda t: x.z * t
    x.z = 2.0
    yield None


@case
def what_a_ufunc_is_said_to_wrap() -> Any:
    log2: Any = np.log2 if OF_UFUNCS else functools.partial(np.log2)
    log2.__wrapped__ = np.sin
    yield lambda x: inspect.unwrap(log2)(x)
    log2.__wrapped__ = np.cos
    yield None
    del log2.__wrapped__


@case
def an_attribute_of_a_ufunc() -> Any:
    log1p: Any = np.log1p if OF_UFUNCS else types.SimpleNamespace()
    log1p.rate = 2.0
    yield lambda x: log1p.rate * x
    log1p.rate = 3.0
    yield None
    del log1p.rate


@case
def an_attribute_of_a_function() -> Any:
    def f(x: Any) -> Any:
        return f.rate * x  # type: ignore[attr-defined]

    f.rate = 2.0  # type: ignore[attr-defined]
    yield f
    f.rate = 3.0  # type: ignore[attr-defined]
    yield None


# ---- arrays ---------------------------------------------------------------------------------------------------------


@case
def a_captured_array() -> Any:
    weights = np.array([1.0, 2.0])
    yield lambda x: np.sum(weights * x)
    weights[0] = 10.0
    yield None
    weights *= 2.0
    yield None


@case
def a_captured_array_read_by_plain_code() -> Any:
    weights = np.array([1.0, 2.0])
    yield lambda x: (x if weights[0] > 0 else -x) + np.sum(weights)
    weights[0] = -10.0
    yield None


@case
def a_view_of_a_captured_array() -> Any:
    base = np.arange(6.0).reshape(2, 3)
    column = base[:, 1]
    yield lambda x: np.sum(column) * x
    base[0, 1] = 100.0
    yield None


@case
def the_shape_of_a_captured_array() -> Any:
    weights = np.arange(6.0)
    yield lambda x: weights.shape[0] * x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from NumPy 2.5 on
        weights.shape = (2, 3)
    yield None


@case
def the_last_bit_of_a_captured_array() -> Any:
    weights = np.zeros(3)
    yield lambda x: np.copysign(1.0, weights[2]) * x
    weights[2] = -0.0
    yield None


@case
def an_array_of_integers() -> Any:
    order = np.array([0, 1])
    yield lambda x: np.stack([x, 2.0 * x])[order[0]]
    order[0] = 1
    yield None


@case
def an_array_of_objects() -> Any:
    held = np.array([1.0, None], dtype=object)
    yield lambda x: held[0] * x
    held[0] = 2.0
    yield None


@case
def a_number_of_numpy() -> Any:
    rate = np.float64(2.0)

    def f(x: Any) -> Any:
        return rate * x

    yield f
    rate = np.float64(3.0)
    yield None
    rate = np.float32(3.5)  # a traced float is an np.float64, and a float beside a float32 is not
    yield None


# ---- containers -----------------------------------------------------------------------------------------------------


@case
def an_item_of_a_dict() -> Any:
    yield lambda x: TABLE["a"] * x
    TABLE["a"] = 2.0
    yield None
    TABLE["a"] = 1.0


@case
def an_item_deep_in_a_dict() -> Any:
    yield lambda x: TABLE["deep"]["b"][1] * x
    TABLE["deep"]["b"][1] = 7.0
    yield None
    TABLE["deep"] = {"b": [0.0, 9.0]}
    yield None
    TABLE["deep"] = {"b": [1.0, 2.0]}


@case
def a_key_of_a_dict() -> Any:
    table = {"a": 1.0}
    yield lambda x: table.get("b", 5.0) * x
    table["b"] = 2.0
    yield None


@case
def the_order_of_a_dict() -> Any:
    table = {"a": 1.0, "b": 2.0}
    yield lambda x: next(v for v in table.values()) * x
    table["a"] = table.pop("a")
    yield None


@case
def an_ordered_dict() -> Any:
    table = collections.OrderedDict(a=1.0, b=2.0)
    yield lambda x: list(table.values())[0] * x  # noqa: RUF015
    table.move_to_end("a")
    yield None


@case
def a_default_dict() -> Any:
    table = collections.defaultdict(lambda: 4.0, {"a": 1.0})
    yield lambda x: table["a"] * x
    table["a"] = 2.0
    yield None


@case
def an_item_of_a_list() -> Any:
    rates = [1.0, 2.0]
    yield lambda x: rates[0] * x
    rates[0] = 3.0
    yield None
    rates.insert(0, 4.0)
    yield None


@case
def a_list_of_functions() -> Any:
    steps = [np.sin]
    yield lambda x: functools.reduce(lambda y, g: g(y), steps, x)
    steps.append(np.cos)
    yield None


@case
def a_set() -> Any:
    names = {"a"}
    yield lambda x: x if "b" in names else 2.0 * x
    names.add("b")
    yield None


@case
def a_deque() -> Any:
    recent = collections.deque([1.0, 2.0], maxlen=2)
    yield lambda x: sum(recent) * x
    recent.append(9.0)
    yield None


@case
def a_list_within_a_tuple() -> Any:
    held = ([1.0],)
    yield lambda x: held[0][0] * x
    held[0][0] = 2.0
    yield None


@case
def a_bytearray() -> Any:
    data = bytearray(b"\x02")
    yield lambda x: data[0] * x
    data[0] = 3
    yield None


@case
def a_view_of_a_dict() -> Any:
    table = {"rate": 2.0}
    view = types.MappingProxyType(table)
    yield lambda x: view["rate"] * x
    table["rate"] = 3.0
    yield None


@case
def a_subclass_of_a_list() -> Any:
    class Rates(list):  # type: ignore[type-arg]
        scale = 1.0

    rates = Rates([1.0])
    yield lambda x: rates[0] * rates.scale * x
    rates[0] = 2.0
    yield None
    rates.scale = 3.0
    yield None


# ---- objects --------------------------------------------------------------------------------------------------------


class Model:
    rate = 2.0
    shared: ClassVar[list[float]] = [1.0]

    def slope(self, x: Any) -> Any:
        return self.rate * x

    @property
    def computed(self) -> float:
        return self.rate * self.shared[0]

    @staticmethod
    def fixed(x: Any) -> Any:
        return 2.0 * x

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return cls.rate * x

    def __getitem__(self, k: int) -> float:
        return self.rate + k


@case
def an_attribute() -> Any:
    model = Model()
    model.rate = 3.0
    yield lambda x: model.rate * x
    model.rate = 4.0
    yield None


@case
def an_attribute_hides_that_of_the_class() -> Any:
    model = Model()
    yield lambda x: model.rate * x
    model.rate = 4.0
    yield None
    del model.rate
    yield None


@case
def an_attribute_of_the_class() -> Any:
    class Own(Model):
        pass

    model = Own()
    yield lambda x: model.slope(x)
    Own.rate = 5.0
    yield None
    del Own.rate
    yield None


@case
def an_attribute_read_by_a_method() -> Any:
    model = Model()
    model.rate = 3.0
    yield model.slope
    model.rate = 4.0
    yield None


@case
def a_property() -> Any:
    model = Model()
    yield lambda x: model.computed * x
    model.rate = 4.0
    yield None


@case
def a_list_shared_by_a_class() -> Any:
    model = Model()
    yield lambda x: model.computed * x
    Model.shared[0] = 4.0
    yield None
    Model.shared[0] = 1.0


@case
def a_method_is_replaced() -> Any:
    class Own(Model):
        pass

    model = Own()
    yield lambda x: model.slope(x) + model.fixed(x)
    Own.slope = lambda self, x: 10.0 * x  # type: ignore[method-assign]
    yield None
    Own.fixed = staticmethod(lambda x: -x)  # type: ignore[assignment]
    yield None


@case
def a_special_method() -> Any:
    model = Model()
    yield lambda x: model[1] * x
    model.rate = 4.0
    yield None


@case
def a_class_method() -> Any:
    class Own(Model):
        pass

    yield lambda x: Own.of_class(x)
    Own.rate = 4.0
    yield None


@case
def the_class_of_an_object() -> Any:
    class Other(Model):
        rate = 9.0

    model = Model()
    yield lambda x: model.rate * x
    model.__class__ = Other
    yield None


@case
def the_dictionary_of_an_object() -> Any:
    model = Model()
    model.rate = 1.0
    yield lambda x: model.rate * x
    model.__dict__ = {"rate": 8.0}
    yield None


@case
def a_slot() -> Any:
    class Slotted:
        __slots__ = ("rate",)

    model = Slotted()
    model.rate = 2.0  # type: ignore[attr-defined]
    yield lambda x: model.rate * x  # type: ignore[attr-defined]
    model.rate = 3.0  # type: ignore[attr-defined]
    yield None


@case
def an_attribute_by_name() -> Any:
    model = Model()
    model.other = 2.0  # type: ignore[attr-defined]
    name = "other"
    yield lambda x: getattr(model, name) * x
    model.other = 3.0  # type: ignore[attr-defined]
    yield None


@case
def an_attribute_that_was_not_there() -> Any:
    model = Model()
    yield lambda x: x if hasattr(model, "flag") else 2.0 * x
    model.flag = True  # type: ignore[attr-defined]
    yield None


@case
def an_attribute_asked_for_by_exception() -> Any:
    model = Model()

    def f(x: Any) -> Any:
        try:
            return model.flag * x  # type: ignore[attr-defined]
        except AttributeError:
            return -x

    yield f
    model.flag = 3.0  # type: ignore[attr-defined]
    yield None


@case
def a_dataclass_in_a_closure() -> Any:
    @dataclasses.dataclass
    class Parameters:
        rate: float

    p = Parameters(2.0)
    yield lambda x: p.rate * x
    p.rate = 3.0
    yield None


@case
def an_attribute_of_an_attribute() -> Any:
    model = Model()
    model.inner = Model()  # type: ignore[attr-defined]
    yield lambda x: model.inner.rate * x  # type: ignore[attr-defined]
    model.inner.rate = 3.0  # type: ignore[attr-defined]
    yield None


@case
def a_callable_object() -> Any:
    class Slope:
        def __init__(self, rate: float) -> None:
            self.rate = rate

        def __call__(self, x: Any) -> Any:
            return self.rate * x

    slope = Slope(2.0)
    yield slope
    slope.rate = 3.0
    yield None


@case
def a_partial() -> Any:
    table = {"rate": 2.0}
    yield functools.partial(lambda t, x: t["rate"] * x, table)
    table["rate"] = 3.0
    yield None


@case
def a_ufunc_of_a_method() -> Any:
    table = {1: 2.0}
    looked_up = np.frompyfunc(table.get, 1, 1)
    yield lambda x: looked_up(1) * x
    table[1] = 3.0
    yield None


@case
def names_that_a_compiled_method_gives_a_module() -> Any:
    module, table = types.ModuleType("by_get"), {"rate": 2.0}
    module.__getattr__ = table.get  # type: ignore[method-assign, assignment]
    yield lambda x: module.rate * x
    table["rate"] = 3.0
    yield None


@case
def a_cached_property() -> Any:
    class Own:
        rate = 2.0

        @functools.cached_property
        def made(self) -> float:
            return self.rate + 1.0

    model = Own()
    yield lambda x: model.made * x
    model.made = 7.0  # type: ignore[misc]
    yield None


@case
def a_descriptor() -> Any:
    class Scaled:
        def __get__(self, instance: Any, owner: Any) -> float:
            return instance.raw * 2.0  # type: ignore[no-any-return]

    class Own:
        made = Scaled()

    model = Own()
    model.raw = 2.0  # type: ignore[attr-defined]
    yield lambda x: model.made * x
    model.raw = 3.0  # type: ignore[attr-defined]
    yield None


@case
def an_object_that_makes_its_attributes() -> Any:
    class Own:
        def __init__(self) -> None:
            self.table = {"rate": 2.0}

        def __getattr__(self, name: str) -> float:
            return self.table[name]

    model = Own()
    yield lambda x: model.rate * x
    model.table["rate"] = 3.0
    yield None


@case
def an_object_as_an_argument() -> Any:
    model = Model()
    yield lambda x, held=model: held.rate * x
    model.rate = 3.0
    yield None


@case
def an_object_of_the_library() -> Any:
    poly = np.poly1d([2.0, 1.0])
    yield lambda x: poly.coef[0] * x
    poly.coef[0] = 5.0
    yield None


@case
def a_member_of_an_enumeration() -> Any:
    class Way(enum.Enum):
        UP = 1.0
        DOWN = 2.0

    way = Way.UP

    def f(x: Any) -> Any:
        return way.value * x

    yield f
    way = Way.DOWN
    yield None


# ---- through derivatives and wrappers -------------------------------------------------------------------------------


@case
def a_cell_within_a_gradient() -> Any:
    rate = 2.0

    def f(x: Any) -> Any:
        return rate * x * x

    yield hoad.grad(f)
    rate = 3.0
    yield None


@case
def an_array_within_a_derivative_of_a_derivative() -> Any:
    weights = np.array([1.0, 2.0])
    yield hoad.grad(hoad.grad(lambda x: np.sum(weights * x**3)))
    weights[1] = 5.0
    yield None


@case
def a_cell_within_a_jitted_function() -> Any:
    rate = 2.0

    def f(x: Any) -> Any:
        return rate * x

    inner = hoad.jit(f)
    yield lambda x: inner(x) + 1.0
    rate = 3.0
    yield None


@case
def a_cell_within_the_body_of_a_loop() -> Any:
    rate = 0.5
    yield lambda x: hoad.fori_loop(0, 3, lambda _, c: rate * c + x, x)
    rate = 0.25
    yield None


@case
def a_cell_within_a_decorated_function() -> Any:
    rate = 2.0

    def doubled(g: Any) -> Any:
        @functools.wraps(g)
        def wrapper(x: Any) -> Any:
            return 2.0 * g(x)

        return wrapper

    @doubled
    def f(x: Any) -> Any:
        return rate * x

    yield f
    rate = 3.0
    yield None


@case
def a_function_that_is_made_within() -> Any:
    rate = 2.0

    def f(x: Any) -> Any:
        def inner() -> Any:
            return [rate * y for y in (x,)][0]  # noqa: RUF015

        return inner()

    yield f
    rate = 3.0
    yield None


@case
def a_rule_is_given_anew() -> Any:
    @hoad.primitive
    def own(x: Any) -> Any:
        return x * x

    hoad.defvjp(own, lambda g, p, x: (2.0 * x * g,))
    yield hoad.grad(lambda x: own(x))
    hoad.defvjp(own, lambda g, p, x: (5.0 * x * g,))
    yield None


@case
def what_a_rule_reads_that_is_run_at_every_node() -> Any:
    @hoad.primitive
    def own(x: Any) -> Any:
        return x * x

    hoad.defvjp(own, lambda g, p, x: (RATE * x * g,), per_call=True)
    yield hoad.grad(lambda x: own(x))
    yield from while_it_is("RATE", 5.0)


@case
def what_a_helper_of_such_a_rule_reads() -> Any:
    @hoad.primitive
    def own(x: Any) -> Any:
        return x * x

    hoad.defvjp(own, lambda g, p, x: (helper(x) * g,), per_call=True)
    yield hoad.grad(lambda x: own(x))
    yield from while_it_is("HELPER_RATE", 5.0)


@case
def what_such_a_rule_of_a_function_of_numpy_reads() -> Any:
    same: Any = recfunctions.repack_fields  # of numbers that are no records
    hoad.defvjp(same, lambda g, p, x: (helper(x) * g,), per_call=True)
    yield hoad.grad(lambda x: np.sum(same(np.stack([x]))))
    yield from while_it_is("HELPER_RATE", 5.0)
    del FUNCTIONS[same]


@case
def what_such_a_rule_of_a_ufunc_reads() -> Any:
    hoad.defvjp(special.smirnov, lambda g, p, n, x: (None, helper(x) * g), per_call=True)
    yield hoad.grad(lambda x: special.smirnov(2, x))
    yield from while_it_is("HELPER_RATE", 5.0)
    given = ufunc_primitive(special.smirnov)
    given.rule, given.version = None, given.version + 1


@case
def what_a_rule_reads_once() -> Any:
    @hoad.primitive
    def own(x: Any) -> Any:
        return x * x

    hoad.defvjp(own, lambda g, p, x: (helper(x) * g,))
    yield hoad.grad(lambda x: own(x))
    yield from while_it_is("HELPER_RATE", 5.0)


# ---- classes that answer otherwise ----------------------------------------------------------------------------------


class Answering:
    """Whose objects have every attribute."""

    def __getattr__(self, name: str) -> float:
        return 2.0


class AnsweringMeta(type):
    def __getattr__(cls, name: str) -> float:
        return 2.0


class HidingMeta(type):
    __mro__ = property(lambda cls: (object,))  # type: ignore[assignment]


class EqualMeta(type):
    """Classes that are said to be int."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)


class UnhashableMeta(type):
    def __eq__(cls, other: object) -> bool:
        return cls is other


class Rated(np.float64):
    """A number with an attribute."""

    rate: float


@case
def a_class_gains_a_name_that_is_asked_for_by_a_string() -> Any:
    class Base:
        pass

    class Own(Base):
        pass

    held = Own()
    yield lambda x: getattr(held, "rate", 1.0) * x + getattr(Own, "rate", 1.0) + ("rate" in dir(held))
    Base.rate = 5.0
    yield None
    Own.rate = 6.0
    yield None


@case
def an_object_gains_what_its_class_answers() -> Any:
    held = Answering()
    yield lambda x: held.rate * x
    held.__dict__["rate"] = 4.0
    yield None


@case
def a_class_gains_what_it_answers_for_its_objects() -> Any:
    class Own(Answering):
        pass

    held = Own()
    yield lambda x: held.rate * x
    Own.rate = 4.0
    yield None


@case
def a_class_gains_what_its_metaclass_answers() -> Any:
    class Own(metaclass=AnsweringMeta):
        pass

    yield lambda x: Own.rate * x
    Own.rate = 4.0
    yield None


@case
def a_metaclass_hides_where_a_name_comes_from() -> Any:
    class Base:
        rate = 2.0

    class Own(Base, metaclass=HidingMeta):
        pass

    yield lambda x: Own.rate * x
    Base.rate = 4.0
    yield None


@case
def a_class_that_is_said_to_be_another() -> Any:
    class Own(metaclass=EqualMeta):
        rate = 2.0

    held = Own()
    yield lambda x: held.rate * x
    held.rate = 4.0
    yield None


@case
def a_class_that_cannot_be_looked_up() -> Any:
    class Own(metaclass=UnhashableMeta):
        rate = 2.0

    held = Own()
    yield lambda x: held.rate * x
    held.rate = 4.0
    yield None


@case
def an_attribute_of_a_number() -> Any:
    held = Rated(3.0)
    held.rate = 2.0
    yield lambda x: held.rate * held * x
    held.rate = 4.0
    yield None


@case
def an_array_that_two_recordings_keep() -> Any:
    held = np.arange(1.0, 4.0)
    yield lambda x: np.sum(held * x) if x > 0 else np.sum(held) * x * x
    held[1] = -7.0
    yield None
    held[:] = 2.0
    yield None


# ---- what changes by itself -----------------------------------------------------------------------------------------


@case
def a_value_taken_out() -> Any:
    yield lambda x: float(int(hoad.value(x))) * x
    yield None


@case
def a_singular_matrix_that_is_handled() -> Any:
    matrix = np.zeros((2, 2))

    def f(x: Any) -> Any:
        try:
            return np.sum(np.linalg.solve(matrix * x, np.ones(2)))
        except np.linalg.LinAlgError:
            return -x

    yield f
    matrix[...] = np.eye(2)
    yield None


@case
def attributes_in_another_dict() -> Iterator[Any]:
    """Each of the dicts that an object has had is changed while it is the object's, and while it is not."""
    o = types.SimpleNamespace()

    class Holder:
        rate: float

    holder: Any = Holder()
    holder.rate, o.holder = 2.0, holder
    first = vars(holder)
    yield lambda x: o.holder.rate * x
    second = {"rate": 2.0}
    holder.__dict__ = second
    yield None
    first["rate"] = 5.0
    yield None
    second["rate"] = 3.0
    yield None
    second["other"] = 1.0
    yield None
    holder.__dict__ = first
    yield None
    first["rate"] = 2.0
    yield None
    del first["rate"]
    first["rate"] = 2.5
    yield None


def test_garbage_may_be_collected_anywhere_while_it_is_recorded() -> None:
    before = gc.get_threshold()
    stale = []
    try:
        for threshold in range(1, 120):
            space = {"rate": 2.0}
            exec("def f(x): return rate * x", space)
            fast: Any = hoad.jit(space["f"])
            gc.set_threshold(threshold)
            fast(1.5)
            gc.set_threshold(*before)
            space["rate"] = 3.0
            stale += [threshold] * (fast(1.5) != 4.5)
    finally:
        gc.set_threshold(*before)
    assert stale == []


@pytest.mark.parametrize("name", CASES)
def test_no_answer_is_stale(name: str) -> None:
    steps = CASES[name]()
    f = next(steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        jitted = hoad.jit(f)
        points = (1.5, -2.5, 1.5, 0.0)
        check(jitted, f, points)
        for _ in steps:
            check(jitted, f, points)
            check(jitted, f, points)


def check(jitted: Any, f: Any, points: Any) -> None:
    for x in points:
        found, wanted = jitted(x), f(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
        assert np.signbit(found) == np.signbit(wanted)


class Unnamed:
    """A function whose name is not a text."""

    def __getattr__(self, name: str) -> float:
        return 2.0

    def __call__(self, x: Any) -> Any:
        return 3.0 * x


def test_names_that_are_no_text() -> None:
    assert hoad.jit(Unnamed())(1.0) == 3.0

    class Text(str):
        pass

    def f(x: Any, **rates: Any) -> Any:
        return sum(rates.values()) * x

    assert hoad.jit(f)(1.0, **{Text("rate"): 2.0}) == 2.0
    f.__name__ = Text("f")
    assert hoad.jit(f)(1.0, rate=3.0) == 3.0
