"""What cannot be written to says so: what was found, where, and which line to change to what."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

F = Callable[[Any], Any]
X = np.array([1.0, 2.0, 3.0])
TABLE = np.zeros(3)


def of_a_number(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x * x
    return y[0]


def filled_by_a_number(x: Any) -> Any:
    y = np.full(shape=(2, 2), fill_value=1.0)
    y[0, 0] = x * x
    return y[0, 0]


def test_a_number_is_not_advised_as_like() -> None:
    """NumPy takes no number for like=, so the function could not be called with plain ones."""
    for f, instead in (
        (of_a_number, r"np\.zeros_like\(x, shape=3\)"),
        (filled_by_a_number, r"np\.full_like\(x, 1\.0, shape=\(2, 2\)\)"),
    ):
        with pytest.raises(hoad.TracedValueError, match=instead):
            hoad.grad(f)(2.0)

    def advised(x: Any) -> Any:
        y, z = np.zeros_like(x, shape=3), np.full_like(x, 1.0, shape=(2, 2))
        y[0] = z[0, 0] = x * x
        return np.sum(y) + np.sum(z)

    assert advised(2.0) == 11.0 and hoad.grad(advised)(2.0) == 8.0


def items(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0]
    return y


def again(x: Any) -> Any:
    y = np.zeros(5)
    y = np.ones(3, np.float64)
    y[:] = x
    return y


def in_place(theta: Any) -> Any:
    y = 2 * np.ones(3)
    y += theta
    return y


def whole(x: Any) -> Any:
    counts = np.arange(3)
    counts[0] = x[0]
    return counts


def whole_on_a_line(x: Any) -> Any:
    o = np.empty(3, dtype=int); o[0] = x[0]  # fmt: skip  # noqa: E702
    return o


def whole_like(x: Any) -> Any:
    o = np.empty(3, dtype=int)
    o = np.array(o, like=x)
    o[0] = x[0]
    return o


def out(x: Any) -> Any:
    total = np.empty((3,))
    np.add(x, 1.0, out=total)
    return total


def out_of_a_function(x: Any) -> Any:
    total = np.empty(())
    np.sum(x, out=total)
    return total


def copied(x: Any) -> Any:
    y = np.full(3, 2.0)
    np.copyto(y, x)
    return y


def accumulated(x: Any) -> Any:
    y = np.zeros_like(TABLE)
    np.add.at(y, [0, 0, 1], x)
    return y


def captured(x: Any) -> Any:
    TABLE[0] = x[0]
    return TABLE


def inner(x: Any) -> Any:
    y = np.eye(3)

    def fill(k: int) -> None:
        y[k] = x

    fill(1)
    return y


REWRITTEN: dict[str, tuple[F, str]] = {
    "an item": (items, r"test_messages\.py:{1}: y = np.zeros(3) -> y = np.zeros(3, like=x)"),
    "the last assignment": (again, "{2}: y = np.ones(3, np.float64) -> y = np.ones(3, np.float64, like=x)"),
    "in place": (in_place, "{1}: y = 2 * np.ones(3) -> y = np.array(2 * np.ones(3), like=theta)"),
    "integers": (whole, "{1}: counts = np.arange(3) -> counts = np.array(np.arange(3), dtype=float, like=x)"),
    "integers on one line": (
        whole_on_a_line,
        "o = np.array(o, dtype=float, like=x) before test_messages.py:{1} (of floats, for an array of int64 holds no",
    ),
    "integers that are like x": (
        whole_like,
        "{2}: o = np.array(o, like=x) -> o = np.array(np.array(o, like=x), dtype=float, like=x) (of floats, for an",
    ),
    "out=": (out, "{1}: total = np.empty((3,)) -> total = np.empty((3,), like=x)"),
    "out= of a function": (out_of_a_function, "{1}: total = np.empty(()) -> total = np.empty((), like=x)"),
    "copyto": (copied, "{1}: y = np.full(3, 2.0) -> y = np.full(3, 2.0, like=x)"),
    "add.at": (accumulated, "{1}: y = np.zeros_like(TABLE) -> y = np.array(np.zeros_like(TABLE), like=x)"),
    "captured": (captured, "TABLE = np.array(TABLE, like=x) before test_messages.py:{1}"),
    "of the function around": (inner, "y = np.array(y, like=x) before test_messages.py:{4}"),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_plain_array_says_which_line_to_change(name: str) -> None:
    f, advice = REWRITTEN[name]
    first = f.__code__.co_firstlineno
    wanted = re.sub(r"\{(\d)\}", lambda found: str(first + int(found[1])), advice.replace("\\", ""))
    with pytest.raises(hoad.TracedValueError) as caught:
        hoad.jacobian(f)(X)
    message = str(caught.value)
    assert re.search(r" \(test_messages\.py:\d+\): .* would cut it off from the derivative", message), message
    assert f"Make it an array that takes traced values: {wanted}" in message or wanted in message, message


def test_the_advice_is_right() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(3, like=x)
        y[0] = x[0]
        counts = np.array(np.arange(3), dtype=float, like=x)
        counts[0] = x[0]
        z = np.array(2 * np.ones(3), like=x)
        z += x
        return y + counts * z

    np.testing.assert_array_equal(hoad.vjp(f, X)[0], [1 + 3.0, 4.0, 10.0])

    def g(x: Any) -> Any:
        o = np.arange(3)
        o = np.array(o, dtype=float, like=x)
        o[0] = x[0]
        return o

    np.testing.assert_array_equal(hoad.jacobian(g)(X), np.diag([1.0, 0.0, 0.0]))


def right_side(t: Any, y: Any) -> Any:
    d = np.zeros(2)
    d[0] = t
    d[1] = y[0]
    return d


def test_the_advice_is_right_where_the_function_is_called_with_plain_numbers() -> None:
    """NumPy takes no float for `like`, so an array is named even where the statement has a number only."""
    with pytest.raises(hoad.TracedValueError, match=r"d = np\.zeros\(2\) -> d = np\.zeros\(2, like=y\)"):
        hoad.jacobian(lambda p: right_side(p[0], p))(np.array([1.0, 2.0]))


def test_without_its_source_the_advice_is_general() -> None:
    space: dict[str, Any] = {"np": np}
    exec("def f(x):\n    y = np.zeros(3)\n    y[0] = x[0]\n", space)
    with pytest.raises(hoad.TracedValueError, match=r"np\.zeros\(n, like=x\) or np\.array\(a, like=x\)"):
        hoad.jacobian(space["f"])(X)


def test_an_argument_of_what_is_recorded_without_a_derivative() -> None:
    def changing(x: Any) -> Any:
        x[0] = 0.0
        return x

    x = X.copy()
    with pytest.warns(hoad.JitWarning, match=r"an argument of the function that jit records is never changed"):
        assert hoad.jit(changing)(x) is x  # as it is without jit
    assert x[0] == 0.0
    with pytest.raises(hoad.TracedValueError, match=r"^an argument of a function that is recorded by itself is never"):
        hoad.fori_loop(0, 3, lambda k, x: changing(x), X)


SEALED = (
    r"an argument of the function that is differentiated is never changed \(test_messages\.py:\d+\)\. Copy it before"
)
ARGUMENTS: dict[str, F] = {
    "an item": lambda x: x.__setitem__(0, 1.0),
    "a slice": lambda x: x.__setitem__(slice(1, None), 1.0),
    "places": lambda x: x.__setitem__([0, 1], 1.0),
    "a mask": lambda x: x.__setitem__(x > 1, 1.0),
    "traced places": lambda x: x.__setitem__(np.argsort(x), 1.0),
    "in place": lambda x: operator.iadd(x, 1.0),
    "a view": lambda x: operator.imul(x[1:], 2.0),
    "a reshaped view": lambda x: x.reshape(3, 1).__setitem__(0, 1.0),
    "a transposed view": lambda x: x[None].T.fill(0.0),
    "out=": lambda x: np.add(1.0, 2.0, out=x),
    "add.at": lambda x: np.add.at(x, [0], 1.0),
    "fill": lambda x: x.fill(1.0),
    "sort": lambda x: x.sort(),
    "put": lambda x: x.put([0], 1.0),
    "copyto": lambda x: np.copyto(x, 0.0),
    "flat": lambda x: setattr(x, "flat", 0.0),
    "real": lambda x: setattr(x, "real", 0.0),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_never_changed(name: str) -> None:
    argument = X.copy()
    with pytest.raises(hoad.TracedValueError, match=SEALED):
        hoad.grad(lambda x: (ARGUMENTS[name](x), np.sum(x))[1])(argument)
    with pytest.raises(hoad.TracedValueError, match=SEALED):  # of a nested derivative too
        hoad.grad(lambda y: np.sum(hoad.grad(lambda x: (ARGUMENTS[name](x), np.sum(x))[1])(y)))(argument)
    np.testing.assert_array_equal(argument, X)


REFUSED: dict[str, tuple[F, type[Exception], str]] = {
    "shapes": (
        lambda y: y.__setitem__(slice(2), np.ones(3)),
        hoad.ShapeError,
        r"shape \(3,\) into shape \(2,\) \(test_",
    ),
    "an index": (lambda y: y.__setitem__(5, 1.0), IndexError, "out of bounds"),
    "too many": (lambda y: y.__setitem__((0, 0), 1.0), IndexError, "too many indices"),
    "a larger result": (
        lambda y: operator.iadd(y, np.ones((2, 3))),
        hoad.ShapeError,
        r"in-place \+=.*Write x = x \+ y",
    ),
    "complex": (lambda y: y.__setitem__(0, 1j), hoad.DTypeError, "cannot hold complex128.*np.real"),
    "broadcast": (lambda y: np.broadcast_to(y, (2, 3)).fill(0.0), hoad.TracedValueError, "one item.*x.copy"),
    "a diagonal": (lambda y: np.diagonal(y[None].T).fill(0.0), hoad.TracedValueError, "np.fill_diagonal"),
    "a number": (lambda y: y[0].__setitem__((), 1.0), hoad.TracedValueError, r"^Write x = y in place of x.*no items"),
    "shape": (lambda y: setattr(y, "shape", (3, 1)), hoad.NoRuleError, r"Write x = x\.reshape\(shape\)"),
    "resize": (lambda y: y.resize(2), hoad.NoRuleError, r"x = np\.resize\(x, shape\)"),
    "at a larger kind": (lambda y: np.add.at(y > 0, [0], 1.5), hoad.DTypeError, "array of floats"),
    "fill": (lambda y: y.fill([1.0, 2.0]), hoad.ShapeError, r"Write x\[\.\.\.\] = y"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written(name: str) -> None:
    f, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        hoad.grad(lambda x: (f(x * 1.0), np.sum(x))[1])(X)


def test_integers_and_truth_values_take_no_floats() -> None:
    def into_truths(x: Any) -> Any:
        y = x > 2
        y[0] = x[0]
        return y

    def into_integers(x: Any) -> Any:
        y = np.argsort(x)
        y[0] = x[0]
        return y

    for f, dtype in ((into_truths, "bool"), (into_integers, "int64")):
        with pytest.raises(hoad.DTypeError, match=rf"an array of {dtype} cannot hold a traced float64 \(test_messages"):
            hoad.jacobian(f)(X)


def test_values_of_another_recording() -> None:
    kept: list[Any] = []

    def leak(x: Any) -> Any:
        kept.append(x[0] * 2.0)
        kept.append(x * 2.0)
        return np.sum(x)

    hoad.grad(leak)(X)

    def f(x: Any) -> Any:
        y = x * 1.0
        y[0] = kept[0]
        return y

    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        hoad.jacobian(f)(X)
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        kept[1][0] = 1.0
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        kept[1] += 1.0
