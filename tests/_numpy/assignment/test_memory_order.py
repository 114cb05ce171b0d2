"""Views and copies, where the order of the items in memory tells them apart: as NumPy does, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad.errors import TracedValueError

X = np.arange(24.0).reshape(2, 3, 4) / 7 + 0.3
SQUARE = np.array([[3.5, 0.25, -0.5], [0.75, 4.0, 1.0], [0.5, -0.25, 5.0]])
FORTRAN = np.asfortranarray(X)

Function = Callable[[Any], Any]

PLACED: dict[str, Function] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T,
    "axis moved": lambda x: np.moveaxis(x, 0, -1),
    "backwards": lambda x: x[::-1].T,
    "every other": lambda x: x[..., ::2].swapaxes(0, 1),
    "computed": lambda x: x.T * 1,
}

KNOWN: dict[str, Function] = {
    "of one": lambda x: -x,
    "of a number": lambda x: x * 2,
    "ufunc": np.sin,
    "plus": lambda x: +x,
    "power": lambda x: x**2,
    "of an ordered array": lambda x: x * np.ones(x.shape, order="F"),
    "of an array as in C": lambda x: x * np.ones(x.shape),
    "of a part": lambda x: x[1:] * 2,
    "of a new axis": lambda x: x[:, None] * x[None],
    "broadcast": lambda x: x * np.broadcast_to(x[0], x.shape),
    "two results": lambda x: np.modf(x)[0],
    "remainder": lambda x: np.divmod(x, 2.0)[1],
    "in place": lambda x: np.add(x, 1, out=np.zeros_like(x)),
    "where": lambda x: np.where(x > 1, x, 0.0),
    "clip": lambda x: np.clip(x, 0.5, 1.0),
    "copy": lambda x: x.copy(),
    "np.copy": np.copy,
    "copy as in Fortran": lambda x: x.copy("F"),
    "copy, K": lambda x: x.copy("K"),
    "copy, A": lambda x: x.copy("A"),
    "array": lambda x: np.array(x, like=x),
    "array, F": lambda x: np.array(x, order="F", like=x),
    "array, C": lambda x: np.array(x, order="C", like=x),
    "asfortranarray": lambda x: np.asfortranarray(x * 1, like=x),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x * 1, like=x),
    "require": lambda x: np.require(x * 1, requirements=["F"], like=x),
    "astype": lambda x: x.astype(np.float32),
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like, F": lambda x: np.ones_like(x, order="F"),
    "full_like": lambda x: np.full_like(x, x.sum()),
    "empty": lambda x: np.ones(x.shape, order="F", like=x),
    "index": lambda x: x[[0, 1]],
    "index of the second axis": lambda x: x[:, [0, 1]],
    "index of the last axis": lambda x: x[..., [0, 1, 0]],
    "indices of two axes": lambda x: x[[0, 1], [1, 0]],
    "index without axes": lambda x: x[np.array(0)],
    "index without axes, of the second axis": lambda x: x[:, np.array(1)],
    "mask": lambda x: x[np.array([True, False, True, True])[: x.shape[0]]],
    "traced index": lambda x: x[:, (x.ravel()[:2] > 100).astype(int)],
    "take": lambda x: np.take(x, [0, 1], 1),
    "repeat": lambda x: np.repeat(x, 2, 0),
    "kron": lambda x: np.kron(x, x),
    "outer": lambda x: np.outer(x, x),
    "tensordot": lambda x: np.tensordot(x, x, ((-1,), (-1,))),
    "reshape": lambda x: np.reshape(x, (x.shape[-1], -1)),
    "reshape as in Fortran": lambda x: np.reshape(x, (x.shape[-1], -1), order="F"),
    "vander": lambda x: np.vander(x.ravel()[:3]),
}

UNKNOWN: dict[str, Function] = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: np.mean(x, 1),
    "add.reduce": lambda x: np.add.reduce(x, 0),
    "add.outer": lambda x: np.add.outer(x, x),
    "cumsum": lambda x: np.cumsum(x, 0),
    "sort": lambda x: np.sort(x, 0),
    "stack": lambda x: np.stack([x, x], 1),
    "concatenate": lambda x: np.concatenate([x, x]),
    "roll": lambda x: np.roll(x, 1, 0),
    "pad": lambda x: np.pad(x, 1),
    "gradient": lambda x: np.gradient(x, axis=0),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda y: y * 2, 0, x),
    "einsum": lambda x: np.einsum("ijk,ijk->kji", x, x),
    "einsum as in C": lambda x: np.einsum("ijk,ljk->li", x, x),
    "einsum, own order": lambda x: np.einsum("ijk,ljk->li", x, x, optimize=True),
    "matmul": lambda x: x @ np.swapaxes(x, -1, -2),
    "dot": lambda x: np.dot(x, x[0].T),
    "fft": lambda x: np.abs(np.fft.fft(x, axis=0)),
    "linspace": lambda x: np.linspace(x, x + 1, 3, axis=-1),
    "linspace of the first axis": lambda x: np.linspace(x, x + 1, 3),
    "logspace, own order": lambda x: np.logspace(x, x + 1, 3, axis=1),
    "geomspace, own order": lambda x: np.geomspace(x, x + 1, 3, axis=-1),
    "geomspace without the end, own order": lambda x: np.geomspace(x, x + 1, 3, endpoint=False, axis=1),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, [0]),
    "meshgrid": lambda x: np.meshgrid(x[0, 0], x[:, 0, 0])[0],
    "rot90": lambda x: np.rot90(x) * 1,
    "tile": lambda x: np.tile(x, (2, 1, 1)),
    "delete": lambda x: np.delete(x, 0, 1),
    "insert": lambda x: np.insert(x, 1, 2.0, axis=1),
    "append": lambda x: np.append(x, x, axis=0),
    "cross, own order": lambda x: np.cross(x[:, [0, 1, 0]], x[:, [1, 1, 0]] ** 2, axis=1),
    "take_along_axis": lambda x: np.take_along_axis(x, np.zeros(x.shape, int), 0),
    "diff": lambda x: np.diff(x, axis=0),
    "prod": lambda x: np.prod(x, 0),
    "max": lambda x: np.max(x, 1),
    "std": lambda x: np.std(x, 0),
    "median": lambda x: np.median(x, 0),
    "quantile": lambda x: np.quantile(x, [0.2, 0.6], axis=0),
    "interp": lambda x: np.interp(x, [0.0, 1.0, 4.0], [1.0, 3.0, 2.0]),
    "trapezoid": lambda x: np.trapezoid(x, axis=0),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "select": lambda x: np.select([x > 1], [x], 0.0),
    "choose": lambda x: np.choose((x > 1).astype(int), [x, x * 2]),
    "piecewise": lambda x: np.piecewise(x, [x > 1], [lambda t: t * t, 0.0]),
    "where of three": lambda x: np.where(x > 1, x.copy(), x * 2),
    "compress": lambda x: np.compress([True, True], x, 0),
    "partition": lambda x: np.partition(x, 1, 0),
    "inv": lambda x: np.linalg.inv(SQUARE + 0.1 * x[:3, :3, :1] * np.ones((3, 3, 3))),
    "tensordot of two": lambda x: np.tensordot(x, x, ((0, 1), (0, 1))),
    "inner": lambda x: np.inner(x, x),
    "vecdot": lambda x: np.vecdot(x, x),
    "fft2": lambda x: np.abs(np.fft.fft2(x)),
    "fftshift": lambda x: np.fft.fftshift(x),
    "column_stack": lambda x: np.column_stack([x, x]),
    "block": lambda x: np.block([[x, x], [x, x]]),
    "unstack": lambda x: np.stack(list(x)),
    "flip": lambda x: np.flip(x, 0) * 1,
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, np.ones((5, *x.shape)))[0] * 1,
    "sinc": lambda x: np.sinc(x),
    "hypot": lambda x: np.hypot(x, 1.0),
    "real": lambda x: np.real(x) * 1,
    "imag": lambda x: np.imag(x * 1j),
    "heaviside": lambda x: np.heaviside(x, 0.5) * x,
    "sum of squares": lambda x: np.linalg.norm(x, axis=0),
    "average": lambda x: np.average(x, 0),
    "outer of add": lambda x: np.multiply.outer(x, x[0]),
    "matrix_transpose": lambda x: np.matrix_transpose(x) * 1,
    "cumprod": lambda x: np.cumprod(x, 1),
    "round": lambda x: np.round(x, 1),
    "ptp": lambda x: np.ptp(x, 0),
    "sort_complex": lambda x: np.abs(np.sort_complex(x)),
    "nancumsum": lambda x: np.nancumsum(x, 0),
    "maximum.accumulate": lambda x: np.maximum.accumulate(x, 0),
    "add.reduceat": lambda x: np.add.reduceat(x, [0, 1], 0),
    "unique": lambda x: np.unique(x, axis=0),
    "convolved": lambda x: np.apply_along_axis(lambda y: np.convolve(y, [1.0, 2.0]), 0, x),
    "vectorize": lambda x: np.vectorize(lambda y: y * 2)(x),
    "ix_": lambda x: x[np.ix_([0, 1], [0, 1])],
    "argsort": lambda x: x[np.argsort(x[:, 0, 0])],
    "triu": lambda x: np.triu(x),
    "kron of two": lambda x: np.kron(x, x[0]),
    "diagonal": lambda x: np.diagonal(x).copy(),
    "cholesky": lambda x: np.linalg.cholesky(x[:3, :3, 0] @ x[:3, :3, 0].T + np.eye(min(3, x.shape[0]))),
    "eigh": lambda x: np.abs(np.linalg.eigh(x[:2, :2, 0] + x[:2, :2, 0].T)[1]),
    "pinv": lambda x: np.linalg.pinv(x),
    "lstsq": lambda x: np.linalg.lstsq(x[:, :, 0], x[:, :, 1], rcond=None)[0],
    "matrix_power": lambda x: np.linalg.matrix_power(x[:2, :2, 0], 2),
    "multi_dot, own order": lambda x: np.linalg.multi_dot(
        [x[:, :, 0].T, x[:, :, 0], x[0, 0, 0] * np.ones((x.shape[1], 2))]
    ),
    "polyval": lambda x: np.polyval([1.0, 2.0, 3.0], x),
    "chebval": lambda x: np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 3.0]),
    "vander of two": lambda x: np.polynomial.polynomial.polyvander(x, 2),
    "unwrap": lambda x: np.unwrap(x, axis=0),
    "qr": lambda x: np.linalg.qr(x)[1],
    "svd": lambda x: np.linalg.svd(x, full_matrices=False)[2],
    "solve": lambda x: np.linalg.solve(SQUARE, x[:3, :3, :2] * np.ones((3, 3, 2))),
    "cov": lambda x: np.cov(x.reshape(x.shape[0], -1)),
}


def result_written(y: Any) -> Any:
    y.reshape(-1)[...] = y.reshape(-1) ** 2 + 3
    return y


def raveled_written(y: Any) -> Any:
    z = y.ravel()
    z[1:] += z[:-1]
    return y


def base_written(y: Any) -> Any:
    z = y.reshape(-1)
    y[0] *= 3
    return z


def column_written(y: Any) -> Any:
    z = y[:, :1].reshape(-1)
    z *= 2
    return y


def line_written(y: Any) -> Any:
    z = y[(slice(None), *(0,) * (y.ndim - 1))].ravel()
    z *= 2
    return y


WRITES = (result_written, raveled_written, base_written, column_written, line_written)


def recorded(f: Function, x: np.ndarray) -> Any:
    """The value that f has where it is recorded, and its slope along a line."""
    return hoad.jvp(f, (x,), (np.cos(1.0 + np.arange(x.size)).reshape(x.shape),))


def attempted(f: Function, x: np.ndarray) -> tuple[Any, str | None]:
    """The value, or what the error says."""
    try:
        return recorded(f, x)[0], None
    except TracedValueError as error:
        return None, str(error)


@pytest.mark.parametrize("placed", PLACED)
@pytest.mark.parametrize("name", KNOWN)
def test_known_order(name: str, placed: str) -> None:
    for write in WRITES:

        def f(x: Any, write: Function = write) -> Any:
            return write(KNOWN[name](PLACED[placed](x.copy())))

        np.testing.assert_allclose(recorded(f, X)[0], f(X), rtol=1e-6, err_msg=write.__name__)


@pytest.mark.parametrize("placed", PLACED)
@pytest.mark.parametrize("name", UNKNOWN)
def test_never_in_silence(name: str, placed: str) -> None:
    try:
        UNKNOWN[name](PLACED[placed](X))
    except (ValueError, np.linalg.LinAlgError):
        pytest.skip("shapes do not fit")
    for write in WRITES:

        def f(x: Any, write: Function = write) -> Any:
            return write(UNKNOWN[name](PLACED[placed](x.copy())))

        expected = f(X)
        found, refusal = attempted(f, X)
        if refusal is None:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=write.__name__)
        else:
            assert placed != "as it is" or "own order" in name, write
            assert "order of the items in memory" in refusal
            assert "x = x.copy()" in refusal


@pytest.mark.parametrize("write", WRITES)
def test_modes(write: Function) -> None:
    def f(x: Any) -> Any:
        y = write(np.exp(np.moveaxis(x, 0, -1)) * 2)
        return (np.sin(y) * np.arange(1.0, y.size + 1).reshape(y.shape)).sum()

    v = np.cos(1.0 + np.arange(X.size)).reshape(X.shape)

    def along(t: Any) -> Any:
        return f(X + t * v)

    slope = (hoad.grad(f)(X) * v).sum()
    assert recorded(f, X)[1] == pytest.approx(slope, rel=1e-13)
    series = hoad.derivatives(along, 4)(0.0)
    nested = along
    for order in range(5):
        assert series[order] == pytest.approx(nested(0.0), rel=1e-10)
        nested = hoad.grad(nested)
    assert hoad.jit(f)(X) == pytest.approx(f(X), rel=1e-14)
    h = 1e-6
    assert slope == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("write", WRITES)
def test_arguments_as_in_fortran(write: Function) -> None:
    """NumPy copies here; what an argument looks like to other calls of the same program is not known."""
    with pytest.raises(TracedValueError, match="order of the items in memory"):
        recorded(lambda x: write(x * 2), FORTRAN)
    np.testing.assert_allclose(recorded(lambda x: write(x.copy()), FORTRAN)[0], write(FORTRAN.copy()), rtol=1e-15)


SPREAD: dict[str, Function] = {
    "rows": lambda x: np.broadcast_to(x[0, 0], (3, 4)),
    "columns": lambda x: np.broadcast_to(x[0, :, :1], (3, 4)).T,
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x[0, 0], 2).T,
}


@pytest.mark.parametrize("spread", SPREAD)
def test_axes_without_steps_of_their_own(spread: str) -> None:
    """A copy takes an axis that is broadcast for the innermost, a ufunc ignores it."""
    one = np.ones(SPREAD[spread](X).shape, order="F")
    for make in (
        lambda b: b.copy("K"),
        lambda b: b * 1j,
        lambda b: b * one,
        lambda b: b.T + 1,
        lambda b: np.sort(b, 0),
        lambda b: np.concatenate([b, b]),
        lambda b: np.nan_to_num(b),
    ):

        def f(b: Any, make: Function = make) -> Any:
            y = make(b)
            y.reshape(-1)[0] = 7.0
            return y.real * 1

        b = SPREAD[spread](X)
        for g, x in (lambda x: f(SPREAD[spread](x)), X), (f, b):
            found, refusal = attempted(g, x)
            if refusal is None:
                np.testing.assert_array_equal(found, f(b))
            else:
                assert "order of the items in memory" in refusal


def test_a_replay_of_axes_without_steps() -> None:
    def f(x: Any) -> Any:
        y = x.copy("K")
        y.reshape(-1)[0] = 7.0
        return y

    jitted = hoad.jit(f)
    np.testing.assert_array_equal(jitted(X[0]), f(X[0]))
    with pytest.warns(hoad.JitWarning, match="order of the items in memory"):
        np.testing.assert_array_equal(jitted(SPREAD["rows"](X)), f(SPREAD["rows"](X)))


def test_numbers_that_are_broadcast() -> None:
    """They take no steps, so that what is made of them lies as in C, and nothing is written to them."""

    def f(x: Any) -> Any:
        y = np.broadcast_to(x.sum(), (2, 3)).T + 1
        y.reshape(-1)[0] = 7.0
        return y * 1

    value, slope = recorded(f, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-14)
    assert slope[0, 0] == 0.0 != slope[0, 1]
    with pytest.raises(TracedValueError, match="several items of a broadcast array"):
        recorded(lambda x: np.broadcast_to(x.sum(), (2, 3)).__setitem__(0, 1.0), X)


def test_reading_stays_possible() -> None:
    def f(x: Any) -> Any:
        y = np.sort(x.T, 0)
        z = y.reshape(-1)
        return z[1:] * z[:-1] + y.ravel()[1:]

    np.testing.assert_array_equal(recorded(f, X)[0], f(X))


def test_copies_of_what_is_not_known() -> None:
    def f(x: Any) -> Any:
        y = np.sort(x.T, 0)
        z = y.reshape(-1).copy()
        z[0] = 7.0
        w = y.copy()
        w.reshape(-1)[1] = 5.0
        w.flat[2] = 4.0
        return np.concatenate([z, w.ravel(), y.flatten()])

    np.testing.assert_array_equal(recorded(f, X)[0], f(X))


def test_places_in_turn_of_what_is_not_known() -> None:
    def f(x: Any) -> Any:
        y = np.sort(x.T, 0)
        y.flat[3] = x[0, 0, 0] ** 2
        np.put(y, [5], 3.0)
        y[0, :, 1] = 2.0
        return y

    np.testing.assert_array_equal(recorded(f, X)[0], f(X))
