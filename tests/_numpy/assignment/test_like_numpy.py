"""Writes that NumPy does in a way of its own: of nothing, of what overlaps, through views of numbers and of parts."""

from __future__ import annotations

import itertools
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([[1.5, -0.5, 2.25], [0.25, 3.0, -1.25]])


def both(f: Callable[[Any], Any], x: Any) -> None:
    """The value as NumPy has it, and the derivatives of orders 1 and 2 along a line as differences have them."""
    np.testing.assert_array_equal(hoad.jvp(f, (x,), (x,))[0], f(x))
    v = np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x)).astype(x.dtype)
    slope, bend = hoad.jvp(f, (x,), (v,))[1], hoad.jvp(lambda x: hoad.jvp(f, (x,), (v,))[1], (x,), (v,))[1]
    h = 1e-3
    ahead, here, behind = f(x + h * v), f(x), f(x - h * v)
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), atol=1e-4)
    np.testing.assert_allclose(bend, (ahead - 2 * here + behind) / h**2, atol=1e-4)
    _, pull = hoad.vjp(f, x)
    w = np.sin(1.0 + np.arange(np.size(here))).reshape(np.shape(here)).astype(np.result_type(here))
    assert np.sum(pull(w)[0] * v).real == pytest.approx(np.sum(w * slope).real, rel=1e-12, abs=1e-12)


def written(write: Callable[[Any, Any], Any], make: Callable[[Any], Any] = lambda x: x.copy()) -> Callable[[Any], Any]:
    """The function that writes to a copy of x."""

    def f(x: Any) -> Any:
        y = make(x)
        write(y, x)
        return y * 1.0

    return f


def flattened(y: Any, value: Any) -> None:
    y.flat = value


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "put, of nothing": lambda y, x: np.put(y, [0, 2], []),
    "method put, of nothing": lambda y, x: y.put([0, 2], []),
    "put, again and again": lambda y, x: np.put(y, [0, 4, 0, 2], x[0, :2] ** 2),
    "put, wrapped": lambda y, x: np.put(y, [7, -1], x[1] ** 2, mode="wrap"),
    "flat, of nothing": lambda y, x: flattened(y, []),
    "flat, again and again": lambda y, x: flattened(y, x[0] ** 2),
    "fill_diagonal, of nothing": lambda y, x: np.fill_diagonal(y, []),
    "fill_diagonal, of few": lambda y, x: np.fill_diagonal(y, x[0, :1] ** 2),
    "putmask, of nothing": lambda y, x: np.putmask(y, x > 0, []),
    "putmask, of itself": lambda y, x: np.putmask(y, x > 0, y[:, ::-1] ** 2),
    "putmask, of views": lambda y, x: np.putmask(y, x > 0, y[::-1]),
    "place, of what lies apart": lambda y, x: np.place(y, [[0, 0, 0], [1, 1, 1]], y[0]),
    "concatenate, of what lies apart": lambda y, x: np.concatenate([y[1:], x[:1] ** 2], out=np.zeros((2, 3), like=y)),
    "concatenate, into a part": lambda y, x: np.concatenate([y[0, :1], x[0, 1:] ** 2], out=y[1]),
    "multiply.at, of what it writes": lambda y, x: np.multiply.at(y[1], [0, 0, 1], y[:, 0][[0, 1, 0]]),
    "multiply.at, of a view of what it writes": lambda y, x: np.multiply.at(y[0], [1, 0, 0], y[0]),
    "flat[i], again and again": lambda y, x: operator.setitem(y.flat, slice(5), x[0, :2] ** 2),
    "flat[i], of too many": lambda y, x: operator.setitem(y.flat, [0, 3], x**2),
    "flat[i], of what lies apart": lambda y, x: operator.setitem(y.flat, slice(3, None), y[0]),
    "flat[i], of what comes later": lambda y, x: operator.setitem(y.flat, slice(3), y.ravel()[1:]),
    "a line into one that it crosses": lambda y, x: operator.setitem(y.ravel(), slice(1, 5, 2), y.ravel()[:2]),
    "a line backwards": lambda y, x: operator.setitem(y.ravel(), slice(4), y.ravel()[3::-1]),
    "place, of a copy": lambda y, x: np.place(y, x > 0.1, y[0, :2].copy()),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writes(write: Callable[[Any, Any], Any]) -> None:
    both(written(write), X)


def test_out_has_the_shape_of_what_is_reduced() -> None:
    for write in (
        lambda y: np.sum(y, axis=0, out=y),
        lambda y: np.add.reduce(y, axis=0, out=y),
        lambda y: np.cumsum(y[0], out=y),
        lambda y: np.add.accumulate(y[:1], axis=0, out=y),
        lambda y: np.dot(y[:, :2], y[0, :2], out=y[:, :2]),
    ):
        with pytest.raises(hoad.ShapeError, match=r"gives shape \(.*\), but out has shape \(2, "):
            hoad.grad(lambda x: write(y := x.copy()) is y and y.sum())(X)


def test_two_results_in_one_place() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        np.divmod(x[0], 2.0, out=(y[0, ::-1], y[0]))
        return y * 1

    with pytest.raises(hoad.TracedValueError, match=r"two results to one place.*lie apart"):
        hoad.jvp(f, (X,), (X,))


def test_values_that_are_written_over_while_they_are_read() -> None:
    for write in (
        lambda y: np.place(y, y > 0.1, y[0, :2]),
        lambda y: flattened(y, y[0]),
        lambda y: np.concatenate([y[1:], y[:1]], out=y),
        lambda y: np.stack([y[1], y[0]], out=y),
        lambda y: np.fill_diagonal(y, np.ravel(y)[:4:2]),
        lambda y: operator.setitem(y.flat, slice(1, 4), y[0]),
        lambda y: operator.setitem(y.ravel(), slice(0, None, 2), y[0]),
        lambda y: operator.setitem(y.ravel()[::-2], ..., y.ravel()[3:0:-1]),
        lambda y: np.ptp(y, axis=0, out=y[1]),
        lambda y: np.copyto(y.ravel()[::2], y[0], where=[True, False, True]),
    ):
        with pytest.raises(hoad.TracedValueError, match=r"written over \(test_like_numpy\.py:\d+\)\. Give it a copy"):
            hoad.jvp(lambda x, write=write: write(x.copy()), (X,), (X,))
    for write in (np.place, np.putmask):
        with pytest.raises(hoad.ShapeError, match="a mask of the size of the array"):
            hoad.jvp(lambda x, write=write: write(x.copy(), [True, False], [1.0]), (X,), (X,))


# ---- rows that are swapped ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("generator", [np.random.default_rng, np.random.RandomState])
def test_shuffling_rows_in_place_raises(generator: Any) -> None:
    with pytest.raises(hoad.TracedValueError, match=r"swaps rows .*\(test_like_numpy\.py:\d+\).*x\[rng\.permutation"):
        hoad.jvp(written(lambda y, x: generator(0).shuffle(y)), (X.T,), (X.T,))
    for x in (X[0], X[0].astype(np.float32), X[0] + 1j):  # items are numbers, not views

        def f(x: Any) -> Any:
            y = x.copy()
            generator(0).shuffle(y)
            return y * 1

        assert sorted(np.real(hoad.jvp(f, (x,), (x,))[0])) == sorted(np.real(x))
    rows = np.random.default_rng(0).permutation(3)
    both(lambda x: x[rows] ** 2, X.T)
    with pytest.raises(hoad.TracedValueError):
        hoad.jvp(lambda x: np.random.default_rng(0).permuted(x, out=x.copy()), (X,), (X,))


def test_rows_that_python_swaps_are_views_as_in_numpy() -> None:
    def swapped(y: Any, x: Any) -> None:
        y[0], y[1] = y[1], y[0]

    both(written(swapped), X)
    both(written(lambda y, x: random.Random(0).shuffle(y)), X.T)
    both(written(lambda y, x: (y.__setitem__(0, y[1]), y.__setitem__(1, 2 * y[0]))), X)

    def turned(y: Any, x: Any) -> None:
        rows = y[::-1]
        y[0] *= 2.0
        y.__setitem__(..., rows)

    both(written(turned), X)


# ---- items that are read in turn ------------------------------------------------------------------------------------


def _added(y: Any) -> None:
    for i, item in enumerate(y[:-1]):
        y[i + 1] += 0.5 * item


def _scaled(y: Any) -> None:
    for _ in y:
        y *= 1.1


def _zipped(y: Any) -> None:
    for i, (a, b) in enumerate(itertools.pairwise(y)):
        y[i + 1] = a * b


def _mapped(y: Any) -> None:
    def doubled(item: Any) -> Any:
        y[1:] += item
        return 2.0 * item

    y[0] = sum(map(doubled, y))


def _branched(y: Any) -> None:
    for item in y:
        if item > 0.3:
            y[-1] = 0.0


def _flat(y: Any) -> None:
    total = 0.0
    for item in y.flat:
        y *= 1.1
        total = total + item
    y[0] = total


def _sliced(y: Any) -> None:
    part = y.flat[1:3]
    part *= 2.0
    y[0] = part[0]
    y.flat[1:2] = 0.25
    y[1] = part[0]


def _meshed(y: Any) -> None:
    a, b = np.meshgrid(y[:2], y[1:], copy=False)
    y[0] = 9.0
    y[1] = np.sum(a * b)


@pytest.mark.parametrize("write", [_added, _scaled, _zipped, _mapped, _branched, _flat, _sliced, _meshed])
def test_items_are_read_when_they_are_asked_for(write: Callable[[Any], None]) -> None:
    for x in (X[0], X[1], np.array([0.5, 1.5, 2.5, 0.25])):
        both(written(lambda y, x: write(y)), x)


@pytest.mark.parametrize("write", [_flat, lambda y: operator.imul(y.flat[1:3], 2.0), lambda y: y.T.flat[:2].fill(0.0)])
def test_slices_of_flat_are_copies(write: Callable[[Any], Any]) -> None:
    both(written(lambda y, x: (write(y), None)[1]), X)


# ---- arrays of no dimensions, and parts -----------------------------------------------------------------------------

VIEWS: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda t: t.reshape(-1),
    "np.reshape": lambda t: np.reshape(t, (1, 1))[0],
    "ravel": lambda t: t.ravel(),
    "newaxis": lambda t: t[None],
    "atleast_1d": np.atleast_1d,
    "atleast_3d": lambda t: np.atleast_3d(t)[0, 0],
    "expand_dims": lambda t: np.expand_dims(t, 0),
    "broadcast_arrays": lambda t: np.broadcast_arrays(t[...])[0].reshape(1),
}
MAKERS: dict[str, Callable[[Any], Any]] = {
    "copy": lambda x: x.copy(),
    "np.copy": np.copy,
    "array": lambda x: np.array(x, like=x),
    "zeros_like": np.zeros_like,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_of_arrays_of_no_dimensions(view: Callable[..., Any], make: Callable[..., Any], dtype: Any) -> None:
    x = np.array(3.0, dtype)

    def f(x: Any) -> Any:
        t = make(x)
        view(t)[0] = x**2
        t += x
        t[...] *= 2.0
        return t * 1.0

    assert f(x) == 24.0
    for g in (f, hoad.jit(f)):
        value, slope = hoad.jvp(g, (x,), (np.ones((), dtype),))
        assert value == 24.0 and slope == 14.0 and np.result_type(value) == dtype


def test_an_argument_of_no_dimensions_is_not_changed() -> None:
    with pytest.raises(hoad.TracedValueError, match="an argument of the function that is differentiated is never"):
        hoad.grad(lambda x: np.atleast_1d(x).__setitem__(0, 2.0))(np.array(3.0))

    def f(x: Any) -> Any:  # np.copy of a number is an array
        t = np.copy(x)
        t.reshape(-1)[0] = x**2
        return t * 1.0

    assert f(np.float64(3.0)) == 9.0 and hoad.value_and_grad(f)(3.0) == (9.0, 6.0)


@pytest.mark.parametrize("view", ["ravel", "reshape", "flat", "newaxis", "reversed"])
@pytest.mark.parametrize("part", ["real", "imag"])
def test_views_of_parts(part: str, view: str) -> None:
    """Raveling copies, since there are gaps between the items of a part."""

    def write(y: Any, x: Any) -> None:
        own = getattr(y, part)
        if view == "ravel":
            own.ravel()[0] = 7.0
        elif view == "reshape":
            own.reshape(-1)[0] = 7.0
        elif view == "flat":
            own.flat[0] = 7.0
        else:
            (own[None] if view == "newaxis" else own[::-1])[0] = 7.0

    both(written(write), X + 1j * X[::-1])


# ---- axes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
@pytest.mark.parametrize("x", [np.array([0.0, 1.0, 3.0]), np.cumsum(1.0 + X**2, 1), np.cumsum(1.0 + X**2, 0)])
def test_trapezoid_with_places_of_other_shapes(x: Any, axis: int) -> None:
    for y in (X, X[0]):
        try:
            np.trapezoid(y, x, axis=axis)
        except Exception:
            continue
        both(lambda y, x=x: np.trapezoid(y, x, axis=axis) ** 2, y)
        both(lambda x, y=y: np.trapezoid(y, x, axis=axis) ** 2, x)
    y = np.array([1.0, 2.0, 4.0])
    places = np.array([[0.0, 1.0, 3.0], [0.0, 2.0, 5.0]])
    assert np.sum(np.trapezoid(y, places) * [1.0, 2.0]) == 31.5
    assert hoad.value_and_grad(lambda y: np.sum(np.trapezoid(y, places) * [1.0, 2.0]))(y)[0] == 31.5
