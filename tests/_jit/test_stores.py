"""What a function stores of what it computes: a replay stores it again, or jit says where and calls the function."""

from __future__ import annotations

import builtins
import functools
import gc
import random
import sys
import time
import types
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import hoad


class Model:
    best: Any = None
    kept: Any

    def __init__(self) -> None:
        self.history: list[Any] = []
        self.last: Any = None

    def energy(self, x: Any) -> Any:
        y = x**2
        self.last = y
        return 3 * y

    def recent(self, x: Any) -> Any:
        self.history.append(np.sin(x))
        return 3 * x**2

    def shared(self, x: Any) -> Any:
        type(self).best = x**2
        return 3 * x**2


class Slotted:
    __slots__ = ("last",)
    last: Any


class Point(NamedTuple):
    x: Any
    y: Any


TABLE: dict[str, Any] = {}
QUEUE: deque[Any] = deque(maxlen=3)
CELLS = np.zeros(2, object)
SPACE = types.SimpleNamespace()
SLOTTED = Slotted()
STORED: Any = None


def in_global(x: Any) -> Any:
    global STORED
    STORED = x**2
    return 3 * x**2


def in_dict(x: Any) -> Any:
    TABLE["last"] = x**2
    return 3 * x**2


def in_deque(x: Any) -> Any:
    QUEUE.append(x**2)
    return 3 * x**2


def in_objects(x: Any) -> Any:
    CELLS[1] = x**2
    return 3 * x**2


def in_tuple(x: Any) -> Any:
    SPACE.pair = x**2, 1
    return 3 * x**2


def in_named_tuple(x: Any) -> Any:
    SPACE.point = Point(x**2, [x])
    return 3 * x**2


def in_new_list(x: Any) -> Any:
    SPACE.listed = [1, {"a": x**2}]
    return 3 * x**2


def in_slot(x: Any) -> Any:
    SLOTTED.last = x**2
    return 3 * x**2


def in_attribute(x: Any) -> Any:
    in_attribute.last = x**2  # type: ignore[attr-defined]
    return 3 * x**2


def in_closure(x: Any) -> Any:
    y = x**2
    SPACE.later = lambda: y
    return 3 * x**2


def in_array_of_traced(x: Any) -> Any:
    SPACE.array = np.array([x, x**2])
    return 3 * x**2


def line_of(f: Any, k: int, what: str) -> str:
    """A pattern of what is stored in the kth line after that of `def`."""
    return rf"{what} \(test_stores.py:{f.__code__.co_firstlineno + k}\)"


MODEL = Model()
STORING: list[tuple[Callable[[Any], Any], Callable[[], Any]]] = [
    (MODEL.energy, lambda: MODEL.last),
    (MODEL.shared, lambda: Model.best),
    (in_global, lambda: STORED),
    (in_tuple, lambda: SPACE.pair[0]),
    (in_named_tuple, lambda: SPACE.point.x),
    (in_new_list, lambda: SPACE.listed[1]["a"]),
    (in_slot, lambda: SLOTTED.last),
    (in_attribute, lambda: vars(in_attribute)["last"]),
    (in_dict, lambda: TABLE["last"]),
    (in_deque, lambda: QUEUE[-1]),
]


@pytest.mark.parametrize(("f", "stored"), STORING, ids=[f.__name__ for f, _ in STORING])
@pytest.mark.parametrize("driver", [lambda f: f, hoad.grad], ids=["value", "grad"])
def test_what_is_stored_is_stored_at_each_replay(
    f: Callable[[Any], Any], stored: Callable[[], Any], driver: Any
) -> None:
    g, direct = hoad.jit(driver(f)), driver(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (2.0, 3.0, 0.5, 3.0):
            found, kind = g(x), type(stored())
            assert stored() == x**2
            assert found == direct(x)
            f(x)
            assert kind is type(stored())
        g(4.0, out=np.empty(()))
        assert stored() == 16.0
    assert len(g.signatures[0].recorded) == 1


def test_an_array_of_traced_numbers_is_stored_as_numbers() -> None:
    g = hoad.jit(in_array_of_traced)
    for x in (2.0, 3.0, 0.5):
        assert g(x) == 3 * x**2
        assert SPACE.array.tolist() == [x, x**2]
    assert len(g.signatures[0].recorded) == 1


CASES: list[tuple[Callable[[Any], Any], Callable[[], Any], str]] = [
    (in_objects, lambda: CELLS[1], r"an item of .*CELLS \(test_stores.py:\d+\)"),
    (in_closure, lambda: SPACE.later(), r"the variable y of in_closure.*"),
]


@pytest.mark.parametrize(("f", "stored", "where"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_what_is_stored_is_said_and_is_a_number(f: Callable[[Any], Any], stored: Callable[[], Any], where: str) -> None:
    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match=f"stores what it computes in {where}.* Return it from the"):
        assert g(2.0) == 12.0
    assert stored() == 4.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (3.0, 0.5, 3.0):
            assert g(x) == 3 * x**2
            assert stored() == x**2
            assert isinstance(stored(), float)


@pytest.mark.parametrize("of", ["itself", "grad"])
def test_what_is_stored_by_a_function_that_is_compared(of: str) -> None:
    """A plain call puts numbers where the traced values were."""
    model = Model()

    def f(x: Any) -> Any:
        model.last = x**2 if getattr(x, "real", None) is not None else x
        return x**3

    g = hoad.jit(f if of == "itself" else hoad.grad(f))
    for x in (2.0, 3.0, 4.0):
        assert g(x) == pytest.approx(x**3 if of == "itself" else 3 * x**2)
        assert model.last == x**2
    assert len(g.signatures[0].recorded) == 1


def test_a_list_that_grows() -> None:
    model = Model()
    g = hoad.jit(model.recent)
    for x in (2.0, 3.0, 4.0):
        assert g(x) == 3 * x**2
    assert model.history == [np.sin(2.0), np.sin(3.0), np.sin(4.0)]
    assert len(g.signatures[0].recorded) == 1


def test_a_variable_of_the_function_around() -> None:
    last: Any = None

    def f(x: Any) -> Any:
        nonlocal last
        last = 2 * x
        return x**2

    g = hoad.jit(f)
    for x in (3.0, 4.0, 5.0):
        assert g(x) == x**2
        assert last == 2 * x
    assert len(g.signatures[0].recorded) == 1


def test_an_object_that_is_passed() -> None:
    model = Model()

    def f(x: Any, into: Model) -> Any:
        into.last = x[1] * x
        return np.sum(x**2)

    g = hoad.jit(f)
    for x in (np.array([1.0, 2.0]), np.array([3.0, 4.0])):
        g(x, model)
        assert model.last.tolist() == [x[1] * x[0], x[1] * x[1]]
    assert len(g.signatures[0].recorded) == 1


@pytest.mark.parametrize("form", ["list", "dict", "order", "item"])
def test_a_container_that_is_passed(form: str) -> None:
    def f(x: Any, into: Any) -> Any:
        if form == "list":
            into.append(2 * x)
        elif form == "dict":
            into["last"] = 2 * x
        elif form == "order":
            into.reverse()
        else:
            into[0] = into[0] + x
        return x**2

    plain: Any = {"a": 1.0} if form == "dict" else [1.0, 2.0]
    fast = plain.copy()
    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match="it changes the argument into, a container, which a replay would not do"):
        assert g(3.0, fast) == f(3.0, plain)
    assert fast == plain
    assert g(4.0, fast) == f(4.0, plain)
    assert fast == plain


@dataclass
class Fields:
    rate: float

    def loss(self, x: Any) -> Any:
        self.last = self.rate * x
        return x**2

    def decayed(self, x: Any) -> Any:
        self.rate = self.rate / 2
        return x**2


def test_a_container_with_fields_that_is_passed() -> None:
    given = Fields(4.0)
    g = hoad.jit(Fields.loss)
    with pytest.warns(hoad.JitWarning, match="it changes the argument self"):
        assert g(given, 3.0) == 9.0
    assert given.last == 12.0
    h = hoad.jit(Fields.decayed)
    with pytest.warns(hoad.JitWarning, match="it changes the argument self"):
        assert h(given, 3.0) == 9.0
    assert given.rate == 2.0
    assert h(given, 4.0) == 16.0
    assert given.rate == 1.0


def test_what_a_function_stores_that_is_refused_anyway() -> None:
    model = Model()

    def f(x: Any) -> Any:
        model.last = 2 * x
        return x**2 + 0 * time.time()

    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match="time.time"):
        assert g(3.0) == 9.0
    assert model.last == 6.0
    assert g(4.0) == 16.0
    assert model.last == 8.0


def test_what_is_read_the_next_time() -> None:
    """Without jit, the function finds at each call what the one before has stored."""
    plain, fast = Model(), Model()

    def walk(model: Model) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y = x if model.last is None else model.last + np.sin(x)
            model.last = y
            return y

        return f

    f, g = walk(plain), hoad.jit(walk(fast))
    assert g(1.0) == f(1.0)
    with pytest.warns(hoad.JitWarning, match="the attribute last of a Model"):
        assert g(3.0) == f(3.0)
    for x in (0.5, 2.0, -1.0):
        assert g(x) == f(x)
        assert fast.last == plain.last


def test_what_a_property_keeps() -> None:
    class Lazy:
        x = 0.0

        @functools.cached_property
        def twice(self) -> Any:
            return 2 * self.x

    lazy = Lazy()

    def f(x: Any) -> Any:
        lazy.x = x
        return lazy.twice

    g = hoad.jit(f)
    assert [g(1.0), g(2.0), g(3.0), g(4.0)] == [2.0] * 4  # as without jit
    assert lazy.x == 4.0
    assert isinstance(lazy.twice, float)


def test_what_is_popped_again_is_not_stored() -> None:
    stack: list[Any] = []

    def f(x: Any) -> Any:
        stack.append(x**2)
        return 3 * stack.pop()

    g = hoad.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [g(x) for x in (1.0, 2.0, 3.0)] == [3.0, 12.0, 27.0]
    assert len(g.signatures[0].recorded) == 1


def test_values_of_another_function_stay_as_they_are() -> None:
    """What a derivative has left is none of what jit finds, and raises as before."""
    model, other = Model(), Model()
    hoad.grad(other.energy)(2.0)

    def f(x: Any) -> Any:
        model.last = 2 * x
        other.best = 1.0
        return x**2

    g = hoad.jit(f)
    g(3.0)
    assert model.last == 6.0
    assert other.best == 1.0
    with pytest.raises(hoad.TracedValueError, match=r"it is of Model.energy"):
        other.last + 1


def test_derivatives() -> None:
    model = Model()
    g = hoad.jit(hoad.grad(model.energy))
    for x in (2.0, 3.0, 4.0):
        assert g(x) == 6 * x
        assert model.last == x**2


def test_no_function_that_calls_itself_is_refused() -> None:
    def f(x: Any) -> Any:
        def power(n: int) -> Any:
            return x if n == 1 else x * power(n - 1)

        return power(3)

    g = hoad.jit(f)
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert [g(x) for x in (1.0, 2.0, 3.0)] == [1.0, 8.0, 27.0]
    finally:
        gc.enable()
    assert len(g.signatures[0].recorded) == 1


def test_a_place_that_is_not_found() -> None:
    def f(x: Any) -> Any:
        builtins.keepsake = x**2  # type: ignore[attr-defined]
        return 3 * x

    g = hoad.jit(f)
    try:
        with pytest.warns(hoad.JitWarning, match="stores what it computes in a place that is not found by reading it"):
            assert g(2.0) == 6.0
        told = r"had returned \(.*\); it is of .*f \(test_stores.py:\d+\) under jit, stored in a place"
        with pytest.raises(hoad.TracedValueError, match=told):
            builtins.keepsake + 1  # type: ignore[attr-defined]
        assert g(3.0) == 9.0
        assert builtins.keepsake == 9.0  # type: ignore[attr-defined]
    finally:
        del builtins.keepsake  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("driver", "called"), [(hoad.grad, "grad"), (hoad.derivatives, "derivatives")], ids=["grad", "derivatives"]
)
def test_a_traced_value_that_is_used_later_says_whose_it_was(driver: Any, called: str) -> None:
    model = Model()
    f = model.energy
    (driver(f, 2) if called == "derivatives" else driver(f))(2.0)
    name = r"Model.energy \(test_stores.py:\d+\) " if called == "grad" else "a function "
    told = rf"had returned \(test_stores.py:\d+\); it is of {name}under {called}\. Return it from the function"
    for use in (lambda y: y + 1, float, bool, np.sin, lambda y: f"{y:.1f}", lambda y: y == 4.0):
        with pytest.raises(hoad.TracedValueError, match=told):
            use(model.last)


def test_a_traced_value_that_was_left_is_no_reason_for_an_error() -> None:
    """Of what a function only might read."""
    model = Model()
    hoad.grad(model.energy)(2.0)

    def f(x: Any, ask: bool) -> Any:
        return x + model.last if ask else x**2

    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match="last, a traced value of a call that has returned"):
        assert g(3.0, False) == 9.0
    with pytest.raises(hoad.TracedValueError, match=r"it is of Model.energy .* under grad"):
        g(3.0, True)


def test_what_was_stored_before_is_let_go() -> None:
    """A recording keeps and compares nothing of what a place held that it only writes to."""
    model = Model()

    def f(x: Any) -> Any:
        model.last = 2 * x
        return np.sum(model.last)

    g = hoad.jit(f)
    x = np.arange(3.0)
    g(x), g(x), g(x)
    assert len(g.signatures[0].recorded) == 1
    kept = weakref.ref(model.last)
    g(x)
    assert kept() is None
    model.last[0] = 7.0  # of no consequence
    assert g(x) == 6.0
    assert len(g.signatures[0].recorded) == 1


def test_where_a_debugger_is_there_nothing_is_traced() -> None:
    """Reads before writes cannot be looked for, so that the function is called as it is."""
    model = Model()

    def f(x: Any) -> Any:
        model.last = 2 * x
        return model.last * x

    g = hoad.jit(f)
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with pytest.warns(hoad.JitWarning, match="the attribute last of a Model"):
            found = [g(x) for x in (1.0, 2.0, 3.0)]
        assert sys.gettrace() is not None
    finally:
        sys.settrace(before)
    assert found == [2.0, 8.0, 18.0]
    assert model.last == 6.0


def test_a_refusal_that_rests_on_much_is_for_good() -> None:
    """To look whether anything of it has changed would cost more than the call."""
    rest = [0.0] * 1000

    def f(x: Any) -> Any:
        return x * sum(rest) + random.random()

    g = hoad.jit(f)
    with pytest.warns(hoad.JitWarning, match=r"random\.random"):
        [g(1.0) for _ in range(3)]
    rest[0] = 1.0
    assert not g.signatures[0].may_be_asked()
    assert 1.0 <= g(1.0) < 2.0
