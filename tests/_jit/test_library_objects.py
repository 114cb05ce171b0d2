"""Objects of Python's library and of NumPy that change between two calls: no answer is stale."""

from __future__ import annotations

import collections
import enum
import operator
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

Case = tuple[Callable[[Any], Any], Callable[[], Any]]


class Settings(collections.UserDict[str, float]):
    pass


class Holder:
    rate = property(operator.attrgetter("_rate"))

    def __init__(self) -> None:
        self.ab = 1.0
        self._rate = 1.0


def a_dict_of_ones_own() -> Case:
    d = Settings(a=1.0)
    return lambda x: x * d["a"], lambda: d.update(a=2.0)


def a_namespace() -> Case:
    n = types.SimpleNamespace(a=1.0, inner=types.SimpleNamespace(b=1.0))
    return lambda x: x * n.a * n.inner.b, lambda: setattr(n.inner, "b", 2.0)


def a_member_of_an_enum() -> Case:
    kinds = enum.Enum("kinds", {"A": {"rate": 1.0}})
    return lambda x: x * kinds.A.value["rate"], lambda: kinds.A.value.update(rate=2.0)  # type: ignore[attr-defined]


def members_found(find: Callable[[Any], Any]) -> Callable[[], Case]:
    def case() -> Case:
        kinds = enum.Enum("kinds", {"A": 1, "B": 2})
        for member in kinds:
            setattr(member, "rate", 1.0)  # noqa: B010
        return lambda x: x * find(kinds).rate, lambda: setattr(find(kinds), "rate", 2.0)

    return case


a_member_by_name = members_found(lambda kinds: kinds["A"])
a_member_by_value = members_found(lambda kinds: kinds(2))
a_member_of_all = members_found(lambda kinds: list(kinds)[1])
a_member_of_a_dict = members_found(lambda kinds: kinds.__members__["B"])


def a_getter_of_attributes() -> Case:
    c, get = Holder(), operator.attrgetter("ab")
    return lambda x: x * get(c), lambda: setattr(c, "ab", 2.0)


def a_property_by_a_getter() -> Case:
    c = Holder()
    return lambda x: x * c.rate, lambda: setattr(c, "_rate", 2.0)


def a_bound_slot() -> Case:
    w = np.ones(2)
    item = w.__getitem__
    return lambda x: x * item(0), lambda: w.__setitem__(0, 2.0)


def a_record_of_numpys() -> Case:
    v = np.zeros(1, [("a", "f8")])[0]
    return lambda x: x + v["a"], lambda: v.__setitem__("a", 3.0)


def an_exception() -> Case:
    e = ValueError(1.0)
    return lambda x: x * e.args[0], lambda: setattr(e, "args", (2.0,))


def attributes_of_an_ordered_dict() -> Case:
    o: Any = collections.OrderedDict()
    o.a = 1.0
    return lambda x: x * o.a, lambda: setattr(o, "a", 2.0)


def an_attribute_in_a_format() -> Case:
    c = Holder()
    return lambda x: x * float("{.ab}".format(c)), lambda: setattr(c, "ab", 2.0)  # noqa: UP032


def a_factory_of_defaults() -> Case:
    d: Any = collections.defaultdict(lambda: 1.0)

    def change() -> None:
        d.clear()
        d.default_factory = lambda: 2.0

    return lambda x: x * d["any"], change


def what_a_slice_holds() -> Case:
    s = slice([1.0], None)
    return lambda x: x * s.start[0], lambda: s.start.__setitem__(0, 2.0)


def a_polynomial() -> Case:
    p = np.poly1d([1.0, 2.0])
    return lambda x: x * p.coeffs[0], lambda: p.coeffs.__setitem__(0, 5.0)


def a_module_that_makes_attributes_up() -> Case:
    module, table = types.ModuleType("lazy"), {"rate": 1.0}
    module.__getattr__ = lambda name: table[name]  # type: ignore[method-assign]
    return lambda x: x * module.rate, lambda: table.__setitem__("rate", 2.0)


def getattr_by_another_name() -> Case:
    c, look = Holder(), getattr
    return lambda x: x * look(c, "a" + "b"), lambda: setattr(c, "ab", 2.0)


CASES = [
    case for name, case in list(globals().items()) if name.startswith(("a_", "an_", "attributes_", "what_", "get"))
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_no_answer_is_stale(case: Callable[[], Case]) -> None:
    f, change = case()
    jitted = hoad.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)  # some are refused, and f is called each time
        assert jitted(1.0) == f(1.0)
        change()
        assert jitted(1.0) == f(1.0)
        assert f(1.0) in (2.0, 4.0, 5.0)


def test_a_class_that_says_no_module() -> None:
    known: dict[str, Any] = {}
    exec("kind = type('kind', (), {'k': 2.0})\nheld = kind()\nf = lambda x: x * held.k", known)
    assert hoad.jit(known["f"])(1.0) == 2.0


def test_outputs_over_inputs() -> None:
    both = hoad.jit(lambda x: (x * 2.0, x))
    swapped = hoad.jit(lambda a, b: (b, a))
    for _ in range(3):
        x = np.array([1.0, 2.0])
        out = (x, np.empty(2))
        both(x, out=out)
        np.testing.assert_array_equal(out, [[2.0, 4.0], [1.0, 2.0]])
        a, b = np.zeros(1), np.ones(1)
        swapped(a, b, out=(a, b))
        assert (a[0], b[0]) == (1.0, 0.0)


def test_what_out_may_be_is_the_same_at_every_call() -> None:
    jitted = hoad.jit(lambda x: x * 2.0)
    for _ in range(2):
        with pytest.raises(hoad.ArgumentError, match=r"holds list|was given out"):
            jitted(np.ones(2), out=[np.empty(2)])
        fixed = np.empty(2)
        fixed.flags.writeable = False
        with pytest.raises(hoad.ArgumentError, match="read-only"):
            jitted(np.ones(2), out=fixed)
        jitted(np.ones(2))


def test_a_large_result_is_made_where_it_is_asked_for() -> None:
    """In place of out, but where out is what the function reads, or a run may end before its results are there."""
    n = 5000
    x = np.linspace(0.5, 1.5, n)
    ordinary = hoad.jit(lambda x: x[::-1] * 2.0 + x)
    guarded = hoad.jit(lambda x: x[::-1] * 2.0 if x[0] > 0 else x * 3.0)
    ordinary(x), guarded(x), guarded(-x)
    for _ in range(3):
        out = np.full(n, np.nan)
        assert ordinary(x, out=out) is out
        np.testing.assert_array_equal(out, x[::-1] * 2.0 + x)
        given = x.copy()
        ordinary(given, out=given)
        np.testing.assert_array_equal(given, x[::-1] * 2.0 + x)
        shifted = np.concatenate([x, [0.0]])
        ordinary(shifted[:-1], out=shifted[1:])
        np.testing.assert_array_equal(shifted[1:], x[::-1] * 2.0 + x)
        for point, wanted in ((x, x[::-1] * 2.0), (-x, -x * 3.0)):
            np.testing.assert_array_equal(guarded(point, out=out), wanted)
        assert ordinary(x) is not out
        np.testing.assert_array_equal(out, -x * 3.0)
