"""What expressions refuse, and that they leave nothing behind."""

from __future__ import annotations

import gc
import itertools
import math
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from policy.memory import growth
from scipy import special

import hoad
from hoad.errors import ArgumentError, DTypeError, ShapeError, TracedValueError

x, y = hoad.symbols("x y")
v = hoad.symbols("v", shape=3)


def assign() -> None:
    np.zeros(3)[0] = x


def assign_item() -> None:
    v[0] = 1.0


def add_in_place() -> None:
    w = v
    w += 1


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: bool(x > 0), TracedValueError, r"bool\(\) .*test_policy.py.*np.where"),
    (lambda: max(x, y), TracedValueError, "np.where"),
    (lambda: x in [y, x], TracedValueError, "compare by `is`"),
    (lambda: float(x), TracedValueError, r"float\(\) .*np.sin"),
    (lambda: math.sin(x), TracedValueError, "np.sin"),
    (lambda: int(x), TracedValueError, "np.floor"),
    (lambda: complex(x), TracedValueError, "evaluate"),
    (lambda: [1, 2][x], TracedValueError, "index"),
    (lambda: f"{x:.3f}", TracedValueError, "evaluate"),
    (lambda: np.asarray(v), TracedValueError, "np.stack"),
    (assign, TracedValueError, "np.sin"),
    (assign_item, TracedValueError, "never changes"),
    (add_in_place, TracedValueError, "never changes"),
    (lambda: v[v > 0], TracedValueError, "np.where"),
    (lambda: pickle.dumps(x), TracedValueError, "to_program"),
    (lambda: hoad.value(x), TracedValueError, "evaluate"),
    (lambda: hoad.grad(lambda t: t * x)(1.0), TracedValueError, r"e.evaluate\({x: value}\)"),
    (lambda: hoad.grad(lambda t: np.sin(x) * t)(1.0), TracedValueError, r"e.evaluate\({x: value}\)"),
    (lambda: hoad.grad(lambda t: (x * y).substitute({x: t}))(1.0), TracedValueError, "e.evaluate"),
    (lambda: hoad.grad(np.sin)(x), DTypeError, "e.derivative"),
    (lambda: x + "a", TypeError, "unsupported operand"),
    (lambda: (x * 1j).gradient({x: 1.0}), DTypeError, "complex result"),
    (lambda: special.smirnov(2, x), hoad.NoRuleError, "scipy.special.smirnov has no derivative rule"),
    (lambda: (x * y).evaluate({x: 1}), ArgumentError, "no value for y"),
    (lambda: x.evaluate({"x": 1}), ArgumentError, "not their names"),
    (lambda: x.evaluate(1.0), ArgumentError, "takes a dict"),
    (lambda: x.evaluate({x: y}), ArgumentError, "e.substitute"),
    (lambda: x.evaluate({x: [1.0, 2.0]}), ShapeError, r"x has shape \(\), but its value has shape \(2,\)"),
    (lambda: v.evaluate({v: 1.0}), ShapeError, r"v has shape \(3,\)"),
    (lambda: x.evaluate({x: 1j}), DTypeError, "complex128"),
    (lambda: x.evaluate({x: "1"}), DTypeError, "float"),
    (lambda: v.gradient({v: np.ones(3)}), ShapeError, "Use jacobian"),
    (lambda: v.hessian({v: np.ones(3)}), ShapeError, "scalar"),
    (lambda: x.gradient({x: 1}, mode="sideways"), ArgumentError, "sideways"),
    (lambda: x.derivative("x"), ArgumentError, "str"),
    (lambda: x.derivative(x, -1), ArgumentError, "-1"),
    (lambda: x.derivative(x, 1.5), ArgumentError, "1.5"),
    (lambda: x.derivative(x > 0), DTypeError, "bool"),
    (lambda: hoad.Expression(), ArgumentError, "hoad.symbols"),
    (lambda: hoad.symbols(""), ArgumentError, "no name"),
    (lambda: hoad.symbols("x 2"), ArgumentError, "identifier"),
    (lambda: hoad.symbols("x, x"), ArgumentError, "twice"),
    (lambda: hoad.symbols(3), ArgumentError, "one string"),
    (lambda: hoad.symbols("x", shape=(-1,)), ShapeError, "negative"),
    (lambda: hoad.symbols("x", shape="ab"), ShapeError, "tuple of ints"),
    (lambda: x.sunshine, AttributeError, "sunshine"),
]


@pytest.mark.parametrize(("ask", "kind", "message"), REFUSED)
def test_what_is_refused(ask: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask()


def test_forms_of_symbols() -> None:
    assert isinstance(hoad.symbols("a"), hoad.Expression)
    assert [s.name for s in hoad.symbols("a,")] == ["a"]
    assert [s.name for s in hoad.symbols("a, β  c_1")] == ["a", "β", "c_1"]
    found = hoad.symbols("B", shape=(2, np.int64(3)))
    assert (found.shape, found.ndim, found.size, found.dtype, len(found)) == ((2, 3), 2, 6, np.float64, 2)


def test_an_empty_array() -> None:
    n = hoad.symbols("n", shape=0)
    at = {n: np.zeros(0)}
    assert np.sum(n).evaluate(at) == 0.0 and np.sum(n).gradient(at)[n].shape == (0,)
    assert n.derivative(n).evaluate(at).shape == (0, 0)


# ---- threads --------------------------------------------------------------------------------------------------------


def test_symbols_of_many_threads_meet() -> None:
    """Each thread makes an expression of shared symbols and its own, and differentiates what others have made."""
    shared = np.sin(x * y)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda k: [worked(shared, k) for _ in range(20)], range(4)))
    finally:
        sys.setswitchinterval(before)
    for k, results in enumerate(found):
        wanted = -4 * math.sin(2) * k + math.cos(2) * 2
        assert results == pytest.approx([wanted] * 20)
    total: Any = sum(np.exp(s) for s in made)
    assert total.gradient(dict.fromkeys(made, 0.0)) == dict.fromkeys(made, 1.0)


made: list[Any] = []


def worked(shared: Any, k: int) -> float:
    t = hoad.symbols("t")
    made.append(t)
    e = shared.derivative(x) * t + shared
    return e.gradient({x: 1.0, y: 2.0, t: float(k)}, mode="reverse" if k % 2 else "forward")[x]


def test_one_expression_is_evaluated_in_many_threads() -> None:
    e = np.exp(x) * y
    wrong: list[Any] = []

    def work(k: int) -> None:
        for _ in range(200):
            if e.evaluate({x: 0.0, y: k}) != k or e.gradient({x: 0.0, y: k})[x] != k:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- memory ---------------------------------------------------------------------------------------------------------


def use(k: int) -> None:
    a, b = hoad.symbols("a b")
    e = np.sin(a * b + k) * np.exp(a)
    e.evaluate({a: 1, b: 2})
    e.gradient({a: 1, b: 2})
    e.derivative(a).derivative(b).evaluate({a: 1, b: 2})


def test_two_thousand_expressions_leave_nothing() -> None:
    numbers = itertools.count()
    gc.disable()  # nothing of them lies in a cycle
    try:  # four expressions or more each
        assert growth(lambda: use(next(numbers)), 2_000 // 4, sys.getallocatedblocks, 500) < 500
    finally:
        gc.enable()


def test_an_expression_goes_with_its_last_holder() -> None:
    a = hoad.symbols("a")
    e = np.sin(a) * a
    d = e.derivative(a)
    d.evaluate({a: 1.0})
    e.gradient({a: 1.0})
    watched = weakref.ref(e), weakref.ref(d), weakref.ref(a)
    gc.disable()
    try:
        del e, d, a
        assert [w() for w in watched] == [None, None, None]
    finally:
        gc.enable()


def test_deep_expressions() -> None:
    """No recursion, neither in what is done with one nor when it goes."""
    e = x
    for _ in range(30_000):
        e = e + 1.0
    assert e.evaluate({x: 1.0}) == 30_001.0
    assert e.derivative(x).evaluate() == 1.0
    assert e.to_expression_tree().depth == 30_001
    assert e.substitute({x: y}).evaluate({y: 0.0}) == 30_000.0
    del e
