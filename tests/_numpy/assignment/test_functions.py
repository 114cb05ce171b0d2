"""Every function and method that writes, beside NumPy's on plain arrays, and its derivative beside differences."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

F = Callable[[Any, Any], Any]  # of an array that it writes to, and of x
X = np.array([0.47, -1.47, 2.13, 3.21])
START = np.arange(1.0, 13.0).reshape(3, 4)

WRITES: dict[str, F] = {
    "an item": lambda y, x: y.__setitem__((1, 2), x[0] * x[1]),
    "an item of NumPy's integers": lambda y, x: y.__setitem__((np.int64(1), np.int32(-2)), x[0]),
    "a row": lambda y, x: y.__setitem__(1, x * x),
    "a column": lambda y, x: y.__setitem__((slice(None), 0), x[:3]),
    "a block": lambda y, x: y.__setitem__((slice(1, None), slice(None, None, -2)), x[:2] * x[2]),
    "all": lambda y, x: y.__setitem__(..., x**2),
    "new axes": lambda y, x: y.__setitem__((None, slice(None), 1), x[:3]),
    "leading ones": lambda y, x: y.__setitem__(0, x[None, None]),
    "a list": lambda y, x: y.__setitem__(0, [x[0], 2.0, x[1] * x[2], x[3]]),
    "a list of lists": lambda y, x: y.__setitem__((slice(2), slice(2)), [[x[0], 1.0], [2.0, x[1]]]),
    "an object array": lambda y, x: y.__setitem__(0, np.array([x[0], x[1], 1.0, 2.0], dtype=object)),
    "integers": lambda y, x: y.__setitem__(0, np.arange(4)),
    "booleans": lambda y, x: y.__setitem__(0, x > 1),
    "a boolean": lambda y, x: y.__setitem__((0, 0), x[0] > 1),
    "places": lambda y, x: y.__setitem__([0, 2], x),
    "places, twice": lambda y, x: y.__setitem__(([0, 0, 0], [1, 1, 2]), x[:3]),
    "a cross of places": lambda y, x: y.__setitem__(np.ix_([0, 2], [3, 1]), np.outer(x[:2], x[2:])),
    "places and slices": lambda y, x: y.__setitem__((slice(None), [2, 0]), x[:2]),
    "separated places": lambda y, x: y[None].__setitem__((0, slice(None), [1, 2]), np.outer(x[:2], x[:3])),
    "a mask": lambda y, x: y.__setitem__(START % 3 == 0, x),
    "a mask of rows": lambda y, x: y.__setitem__(np.array([True, False, True]), x),
    "an empty mask": lambda y, x: y.__setitem__(START < 0, x[0]),
    "a traced mask": lambda y, x: y.__setitem__(y > x[2] * 3, x[0]),
    "traced places": lambda y, x: y.__setitem__((np.argsort(x)[:3], [0, 0, 1]), x[1:] * x[0]),
    "traced places, twice": lambda y, x: y.__setitem__((np.argsort(x)[:3] * 0, [0, 0, 1]), x[1:] * x[0]),
    "overlapping": lambda y, x: y.__setitem__((0, slice(1, None)), y[0, :-1] * x[1:]),
    "its own backwards": lambda y, x: y.__setitem__(slice(None), y[::-1] * x),
    "a view": lambda y, x: y.T[1].__setitem__(slice(None), x[1:]),
    "+=": lambda y, x: operator.iadd(y, x),
    "-=": lambda y, x: operator.isub(y, x),
    "*=": lambda y, x: operator.imul(y[1:], x),
    "/=": lambda y, x: operator.itruediv(y[:, 1:], x[1:]),
    "//=": lambda y, x: operator.ifloordiv(y, x),
    "%=": lambda y, x: operator.imod(y, x),
    "**=": lambda y, x: operator.ipow(y, x),
    "@=": lambda y, x: operator.imatmul(y, np.outer(x, x)),
    "places, +=": lambda y, x: y.__setitem__([0, 2], y[[0, 2]] + x),
    "out=": lambda y, x: np.multiply(y, x, out=y),
    "out=, a view": lambda y, x: np.exp(x[:3] / 4, out=y[:, 1]),
    "out=, broadcast": lambda y, x: np.add(x[0], x[1], out=y),
    "out=, of plain operands": lambda y, x: np.add(1.0, 2.0, out=y),
    "out=, where=": lambda y, x: np.sin(y, out=y, where=START > 5),
    "out=, traced where=": lambda y, x: np.multiply(y, x, out=y, where=y > x[2] * 3),
    "out=, two": lambda y, x: np.divmod(x, 2.0, out=(y[0], y[1])),
    "out=, one of two": lambda y, x: np.divmod(x, 2.0, out=(None, y[1])),
    "sum, out=": lambda y, x: np.sum(y * x, axis=1, out=y[:, 0]),
    "sum, out= by position": lambda y, x: np.sum(y * x, 1, None, y[:, 0]),
    "x.sum, out=": lambda y, x: (y * x).sum(axis=1, out=y[:, 0]),
    "add.reduce, out=": lambda y, x: np.add.reduce(y * x, axis=1, out=y[:, 0]),
    "mean, out=": lambda y, x: np.mean(y * x, axis=0, out=y[2]),
    "max, out=": lambda y, x: np.max(y * x, axis=0, out=y[2]),
    "dot, out=": lambda y, x: np.dot(START, np.outer(x, x), out=y),
    "matmul, out=": lambda y, x: np.matmul(START, np.outer(x, x), out=y),
    "einsum, out=": lambda y, x: np.einsum("ij,j->ij", START, x, out=y),
    "outer, out=": lambda y, x: np.outer(x[:3], x, out=y),
    "clip, out=": lambda y, x: np.clip(y, x, 4.0, out=y),
    "cumsum, out=": lambda y, x: np.cumsum(x * x, out=y[1]),
    "concatenate, out=": lambda y, x: np.concatenate([x[:2], x[2:] ** 2], out=y[1]),
    "stack, out=": lambda y, x: np.stack([x, x**2, x**3], out=y),
    "take, out=": lambda y, x: np.take(x, [3, 0, 0, 1], out=y[0]),
    "round, out=": lambda y, x: np.round(y, 0, out=y),
    "var, out=": lambda y, x: np.var(y * x, axis=0, out=y[0]),
    "trace, out=": lambda y, x: np.trace(np.outer(x, x), out=y[0, 0, ...]),
    "add.at": lambda y, x: np.add.at(y, ([0, 0, 2, 0], [1, 1, 3, 1]), x),
    "add.at, rows": lambda y, x: np.add.at(y, [0, 0, 1], x),
    "add.at, once": lambda y, x: np.add.at(y, [2, 0], x),
    "subtract.at": lambda y, x: np.subtract.at(y, ([0, 0, 2, 0], [1, 1, 3, 1]), x),
    "multiply.at": lambda y, x: np.multiply.at(y, ([0, 0, 2, 0], [1, 1, 3, 1]), x),
    "divide.at": lambda y, x: np.divide.at(y, ([0, 0, 2, 0], [1, 1, 3, 1]), x),
    "maximum.at": lambda y, x: np.maximum.at(y, ([0, 0, 2, 0], [1, 1, 3, 1]), 2 * x),
    "minimum.at": lambda y, x: np.minimum.at(y, ([0, 0, 2, 0], [1, 1, 3, 1]), x),
    "negative.at": lambda y, x: np.negative.at(y, ([0, 0, 2], [1, 1, 3])),
    "copyto": lambda y, x: np.copyto(y, x),
    "copyto, where": lambda y, x: np.copyto(y, x, where=START % 2 == 0),
    "copyto, traced where": lambda y, x: np.copyto(y, x, where=y > x[2] * 3),
    "put": lambda y, x: np.put(y, [0, 5, -1], x),
    "put, few": lambda y, x: np.put(y, [0, 5, 7], x[:2]),
    "put, wrap": lambda y, x: np.put(y, [13, 30], x[:2], mode="wrap"),
    "put, clip": lambda y, x: np.put(y, [-3, 30], x[:2], mode="clip"),
    "x.put": lambda y, x: y.put([1, 2], x[:2]),
    "place": lambda y, x: np.place(y, START % 2 == 0, x[:3]),
    "putmask": lambda y, x: np.putmask(y, START % 2 == 0, x[:3]),
    "putmask, a view": lambda y, x: np.putmask(y.T, START.T % 2 == 0, x[:3]),
    "fill_diagonal": lambda y, x: np.fill_diagonal(y, x[0]),
    "fill_diagonal, items": lambda y, x: np.fill_diagonal(y, x[:2]),
    "fill_diagonal, tall": lambda y, x: np.fill_diagonal(y.T, x[0], wrap=True),
    "put_along_axis": lambda y, x: np.put_along_axis(y, np.array([[0], [3], [1]]), x[:3, None], 1),
    "put_along_axis, flat": lambda y, x: np.put_along_axis(y, np.array([0, 7]), x[:2], None),
    "fill": lambda y, x: y[1:].fill(x[0]),
    "sort": lambda y, x: (operator.imul(y, x), y.sort()),
    "sort, axis": lambda y, x: (operator.imul(y, x), y.sort(axis=0)),
    "flat, an item": lambda y, x: y.flat.__setitem__(5, x[0]),
    "flat of a turned one": lambda y, x: y.T.flat.__setitem__(slice(0, 4), x),
    "flat =": lambda y, x: setattr(y.T, "flat", x[:3]),
    "real =": lambda y, x: setattr(y[1], "real", x),
    "einsum's diagonal": lambda y, x: np.einsum("ii->i", y[:, :3]).__setitem__(slice(None), x[:3]),
    "shuffled": lambda y, x: y.__setitem__([2, 0, 1], y * x),
}


def written(name: str, start: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = start(x)
        WRITES[name](y, x)
        return y

    return f


@pytest.mark.parametrize("name", WRITES)
def test_what_is_written(name: str) -> None:
    plain = written(name, lambda x: START.copy())
    traced = written(name, lambda x: np.array(START, like=x))
    value, pullback = hoad.vjp(traced, X)
    np.testing.assert_array_equal(value, plain(X))

    by_hand = np.empty((12, 4))  # Richardson's extrapolation of central differences
    for k in range(4):
        d = np.zeros(4)
        d[k] = 1e-3
        coarse, fine = ((plain(X + h * d) - plain(X - h * d)) / (2e-3 * h) for h in (1.0, 0.5))
        by_hand[:, k] = ((4 * fine - coarse) / 3).reshape(-1)
    jacobian = hoad.jacobian(traced)(X).reshape(12, 4)
    np.testing.assert_allclose(jacobian, by_hand, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(pullback(np.ones((3, 4)))[0], jacobian.sum(0), rtol=1e-12, atol=1e-12)
    v = np.array([1.0, -2.0, 0.5, 0.25])
    np.testing.assert_allclose(hoad.jvp(traced, (X,), (v,))[1].reshape(-1), jacobian @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", WRITES)
def test_what_is_written_to_zeros_of_float32(name: str) -> None:
    """dtypes and values as NumPy's, where the array is float32 and x is float64."""

    def on(like: Any) -> Callable[[Any], Any]:
        return written(name, lambda x: np.zeros((3, 4), np.float32, like=x) if like else np.zeros((3, 4), np.float32))

    try:
        with np.errstate(all="ignore"):
            wanted = on(False)(X)
    except (TypeError, ValueError):
        pytest.skip("NumPy refuses it")
    found = hoad.vjp(on(True), X)[0]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, wanted)


def test_signs_of_zeros_are_kept() -> None:
    def f(x: Any) -> Any:
        y, z = np.zeros(4, like=x), x[:2] * -0.0
        y[1] = -0.0
        y[2:] = z
        return y

    np.testing.assert_array_equal(np.signbit(hoad.vjp(f, np.ones(4))[0]), [False, True, True, True])


@pytest.mark.parametrize("make", ["zeros_like", "empty_like", "ones_like"])
def test_arrays_made_like_a_traced_one(make: str) -> None:
    def f(x: Any) -> Any:
        y = getattr(np, make)(x)
        y[1:] += x[:-1] ** 2
        return y

    value, gradient = hoad.value_and_grad(lambda x: np.sum(f(x)))(X)
    assert value == np.sum(X[:-1] ** 2) + (4.0 if make == "ones_like" else 0.0)
    np.testing.assert_array_equal(gradient, [*2 * X[:-1], 0.0])


MAKERS: dict[str, tuple[F, Any]] = {
    "zeros": (lambda n, x: np.zeros(n, like=x), np.zeros(2)),
    "ones": (lambda n, x: np.ones(n, like=x), np.ones(2)),
    "full": (lambda n, x: np.full(n, 3.0, like=x), np.full(2, 3.0)),
    "full, traced": (lambda n, x: np.full(n, x[0], like=x), np.full(2, X[0])),
    "full_like": (lambda n, x: np.full_like(x[:2], 3.0), np.full(2, 3.0)),
    "full_like, traced": (lambda n, x: np.full_like(x[:2], x[0]), np.full(2, X[0])),
    "array": (lambda n, x: np.array([1.0, 2.0], like=x), np.array([1.0, 2.0])),
    "array, traced": (lambda n, x: np.array([x[0], 2.0], like=x), np.array([X[0], 2.0])),
    "asarray": (lambda n, x: np.asarray([1.0, 2.0], like=x), np.array([1.0, 2.0])),
    "arange": (lambda n, x: np.arange(2.0, like=x), np.arange(2.0)),
    "eye": (lambda n, x: np.eye(2, like=x)[1], np.eye(2)[1]),
    "identity": (lambda n, x: np.identity(2, like=x)[1], np.eye(2)[1]),
    "tri": (lambda n, x: np.tri(2, like=x)[0], np.tri(2)[0]),
}


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_made_by_like(name: str) -> None:
    make, wanted = MAKERS[name]

    def f(x: Any) -> Any:
        y = make(2, x)
        y[0] = 2 * x[3]
        return y

    np.testing.assert_array_equal(hoad.vjp(lambda x: 1.0 * make(2, x), X)[0], wanted)
    value, pullback = hoad.vjp(f, X)
    np.testing.assert_array_equal(value, [2 * X[3], wanted[1]])
    np.testing.assert_array_equal(pullback(np.array([1.0, 0.0]))[0], [0.0, 0.0, 0.0, 2.0])


def test_arrays_of_integers_and_truth_values_stay_plain() -> None:
    """What is put there has no derivative, and is guarded: a replay that would put in another raises."""

    def f(x: Any) -> Any:
        mask = np.zeros_like(x, dtype=bool)
        count = np.zeros(2, dtype=int, like=x)
        assert type(mask) is np.ndarray and type(count) is np.ndarray
        for k in range(4):
            mask[k] = x[k] > 1
        count[0] = np.argmax(x)
        return np.sum(x[mask] ** 2) + x[count[0]]

    np.testing.assert_array_equal(hoad.grad(f)(X), [0.0, 0.0, 2 * X[2], 2 * X[3] + 1])
    program = hoad.record(f, X)
    assert program.evaluate(X + 0.25) == f(X + 0.25)
    with pytest.raises(hoad.HoadError, match="branch"):
        program.evaluate(-X)
