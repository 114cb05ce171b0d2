"""Numbers of every dtype where NumPy's code meets them, what has no axis or very many, and SciPy's other front."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([1.5, 2.5])


# ---- items of float32 and complex64 ---------------------------------------------------------------------------------

MADE: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: np.sum(np.array([x[0], x[1]]) ** 2),
    "array, with a number": lambda x: np.sum(np.array([x[0], 2.0, x[1]]) ** 2),
    "ufunc of a list": lambda x: np.sum(np.exp([x[0], x[1]])),
    "array of arrays": lambda x: np.sum(np.array([[x[0], x[1]], [1.0, x[0]]]) @ np.array([x[1], 2.0])),
    "round": lambda x: x[0] * round(x[0], 1),
    "method compress": lambda x: np.sum(x.compress([False, True]) ** 2),
    "np.compress": lambda x: np.sum(np.compress([False, True], x) ** 2),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", MADE.values(), ids=MADE)
def test_items_in_plain_arrays(f: Callable[[Any], Any], dtype: Any) -> None:
    x = X.astype(dtype)
    assert hoad.value_and_grad(f)(x)[0] == pytest.approx(float(f(x)), rel=1e-6)
    exact = hoad.grad(f)(X)
    np.testing.assert_allclose(hoad.grad(f)(x), exact, rtol=1e-5)
    assert hoad.grad(f)(x).dtype == dtype
    step = np.array([[1e-6, 0.0], [0.0, 1e-6]])
    np.testing.assert_allclose(exact, [(f(X + h) - f(X - h)) / 2e-6 for h in step], rtol=1e-6)
    np.testing.assert_allclose(hoad.hessian(f)(x), hoad.hessian(f)(X), rtol=1e-5)


def test_complex_items_in_plain_arrays_raise() -> None:
    """NumPy takes the imaginary part of an array of objects for zero, and its correlate conjugates none."""
    for dtype in (np.complex128, np.complex64):
        for f in (lambda x: np.array([x[0], x[1]]), lambda x: np.exp([x[0], x[1]])):
            with pytest.raises(hoad.TracedValueError, match=r"np\.array\(\[.*\], like=x\).* traced complex numbers"):
                hoad.jvp(f, (X.astype(dtype),), (X.astype(dtype),))
        f = lambda x: np.sum(np.imag(np.array([x[0], 2j * x[1]], like=x)) ** 2)  # noqa: E731
        assert hoad.value_and_grad(f)(X.astype(dtype))[0] == 25.0
        with pytest.raises(TypeError, match=r"has no round\(\): use np\.round"):
            hoad.jvp(lambda x: round(x[0], 1), (X.astype(dtype),), (X.astype(dtype),))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
def test_text_of_items(dtype: Any) -> None:
    said: list[str] = []
    x = X.astype(dtype)
    hoad.jvp(lambda x: said.append(f"{x[0]:.3f} {x[1]:>12.1f}") or x, (x,), (x,))  # type: ignore[func-returns-value]
    assert said == [f"{x[0]:.3f} {x[1]:>12.1f}"]
    for dtype in (np.float64, np.float32):
        with pytest.raises(hoad.TracedValueError, match=r"^Use np\.rint\(x\).*round\(\) of a traced value"):
            hoad.jvp(lambda x: round(x[0]), (X.astype(dtype),), (X.astype(dtype),))


def test_dtypes_follow_numpy() -> None:
    x = X.astype(np.float32)
    wide = np.array([0.0, 1.5])
    for f in (
        lambda x: np.gradient(x),
        lambda x: np.gradient(x, wide),
        lambda x: np.gradient(x, np.float64(2.0)),
        lambda x: np.where([True, False], np.float32(1.0), 0.5) * x,
        lambda x: np.select([x > 2.0, [False, True]], [x, x], 1.5),
        lambda x: np.quantile(x, wide / 2, method="lower"),
        lambda x: np.average(x, returned=True)[1] * x,
        lambda x: np.stack([x[0], x[1]]),
    ):
        seen = []
        np.testing.assert_allclose(hoad.jvp(lambda x, f=f: seen.append(f(x)) or seen[-1], (x,), (x,))[0], f(x))
        assert seen[0].dtype == f(x).dtype


def test_what_numpy_makes_of_booleans_and_places() -> None:
    x = np.array([3.0, 1.0, 2.0])
    assert hoad.grad(lambda x: x[np.array([x[0] > 2.0, False, x[1] > 2.0], like=x)].sum())(x).tolist() == [1.0, 0, 0]
    assert hoad.grad(lambda x: np.take(x, [np.argmax(x), 2]).sum())(x).tolist() == [1.0, 0.0, 1.0]


# ---- no axis, and many ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "any", "all", "ptp", "nansum", "nanmax", "argmax", "cumsum"]
)
@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("x", [2.0, np.array(2.0), np.float32(2.0)])
def test_reductions_of_numbers(name: str, axis: int | None, x: Any) -> None:
    function = getattr(np, name)
    f = lambda x: np.sum(function(x, axis=axis) * x)  # noqa: E731
    value, slope = hoad.value_and_grad(f)(x)
    assert value == f(np.asarray(x)) and slope == pytest.approx((f(x + 0.5) - f(x - 0.5)) / 1.0)
    if axis is not None and name != "cumsum":
        with pytest.raises(np.exceptions.AxisError):
            hoad.grad(lambda x: np.sum(function(x, axis=1)))(x)


MANY_AXES: dict[str, Callable[[Any], Any]] = {
    "squares": lambda x: np.sum(x * x),
    "broadcast": lambda x: np.sum(x * x[..., :1] ** 2),
    "along an axis": lambda x: np.sum(np.sum(x, axis=-3) ** 2) + np.sum(np.cumsum(x, -1) ** 3),
    "transposed": lambda x: np.sum(x.T * np.arange(3.0).reshape(3, *[1] * (x.ndim - 1)) * x.T),
    "products": lambda x: np.sum((x @ np.ones((3, 2))) ** 2),
    "indexed": lambda x: np.sum(x[..., [0, 1]] * x[..., 1:] ** 2),
    "written": lambda x: np.sum((lambda y: (y.__setitem__((..., 0), x[..., 1] ** 2), y)[1])(x.copy()) ** 2),
}


@pytest.mark.parametrize("ndim", [33, 48, 64])
@pytest.mark.parametrize("f", MANY_AXES.values(), ids=MANY_AXES)
def test_arrays_of_many_axes(f: Callable[[Any], Any], ndim: int) -> None:
    small = np.arange(1.0, 7.0).reshape(2, 1, 3)
    x = small.reshape([1] * (ndim - 3) + [2, 1, 3])
    gradient, v = hoad.grad(f)(small), np.cos(small)
    bend = hoad.hvp(f)(small, v)
    for g in (hoad.grad(f), hoad.jit(hoad.grad(f))):
        np.testing.assert_allclose(g(x).reshape(2, 1, 3), gradient, rtol=1e-13)
    np.testing.assert_allclose(hoad.hvp(f)(x, v.reshape(x.shape)).reshape(2, 1, 3), bend, rtol=1e-13)
    assert hoad.jvp(f, (x,), (v.reshape(x.shape),))[1] == pytest.approx(np.sum(gradient * v), rel=1e-13)
    if ndim < 64:
        np.testing.assert_allclose(hoad.vmap(f)(np.stack([x, 2 * x])), [f(x), f(2 * x)], rtol=1e-13)


# ---- float16 --------------------------------------------------------------------------------------------------------

HALF = np.array([0.5, 0.25], np.float16)
DRIVERS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda x, name=name: getattr(hoad, name)(np.sum)(x)
        for name in ("grad", "value_and_grad", "jacobian", "hessian", "laplacian", "hessian_diagonal", "jit", "vmap")
    },
    "hvp": lambda x: hoad.hvp(np.sum)(x, x),
    "vhp": lambda x: hoad.vhp(np.sum)(x, x),
    "derivative": lambda x: hoad.derivative(np.sin)(x),
    "derivatives": lambda x: hoad.derivatives(np.sin, 2)(x),
    "taylor": lambda x: hoad.taylor(np.sin, x, 2),
    "partials": lambda x: hoad.partials(np.sum, [(1, 1)])(x),
    "derivative_tensor": lambda x: hoad.derivative_tensor(np.sum, 2)(x),
    "directional_derivative": lambda x: hoad.directional_derivative(np.sum, x)(x),
    "jvp": lambda x: hoad.jvp(np.sum, (x,), (x,)),
    "vjp": lambda x: hoad.vjp(np.sum, x),
    "linearize": lambda x: hoad.linearize(np.sum, x),
    "record": lambda x: hoad.record(np.sum, x),
    "check.modes": lambda x: hoad.check.modes(np.sum, x, 2),
    "check.gradient": lambda x: hoad.check.gradient(np.sum, np.sum, x),
}


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_float16_and_longdouble_raise(driver: Callable[[Any], Any], dtype: Any) -> None:
    if np.dtype(dtype) == np.float64:
        pytest.skip("longdouble is float64 here")
    with pytest.raises(hoad.DTypeError, match=rf"computes in float64 and float32, but .* is {np.dtype(dtype)}"):
        driver(HALF.astype(dtype))


# ---- SCIPY_ARRAY_API ------------------------------------------------------------------------------------------------


def test_special_functions_within_what_scipy_puts_around_them() -> None:
    """SCIPY_ARRAY_API=1 makes Python functions of SciPy's ufuncs."""
    pytest.importorskip("scipy.special")
    code = """
import numpy as np, scipy.special as sc, hoad
x = np.array([0.5, 1.5])
for x in (0.5, x, x.astype(np.float32)):
    assert np.allclose(hoad.grad(lambda x: np.sum(sc.erf(x) * sc.gammaln(x)))(x),
        2 / np.sqrt(np.pi) * np.exp(-x * x) * sc.gammaln(x) + sc.erf(x) * sc.psi(x), rtol=1e-5)
plain = np.array([2.0, 3.0])
assert np.allclose(hoad.grad(lambda x: np.sum(sc.xlogy(x, plain)))(np.ones(2)), np.log(plain))
print(hoad.derivatives(sc.erf, 3)(0.5)[3] - (8 * 0.25 - 4) / np.sqrt(np.pi) * np.exp(-0.25))
print(hoad.rules.rule_of(sc.erf) is hoad.rules.rule_of("scipy.special.erf"))
print("scipy.special.erf" in str(hoad.record(sc.erf, 0.5)))
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    difference, *truths = done.stdout.split()
    assert abs(float(difference)) < 1e-13 and truths == ["True", "True"]
