"""Interpolants of scattered data: values as SciPy's, derivatives as those of SciPy's plain values, and by linearity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

ip = pytest.importorskip("scipy.interpolate")
spatial = pytest.importorskip("scipy.spatial")

from _scipy.orders import assert_fits  # noqa: E402

import hoad  # noqa: E402
from hoad.scipy import interpolate  # noqa: E402

POINTS = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 1.2], [0.6, 0.5], [2.0, 0.7], [1.6, 0.2], [0.9, 1.8]])
HEIGHTS = np.array([0.5, 1.0, -0.25, 0.75, 0.3, 1.25, 0.8, -0.5])
AT = np.array([[0.4, 0.3], [0.8, 0.7], [1.5, 0.6]])
ALONG, RISE = np.cos(np.arange(16.0)).reshape(8, 2), np.sin(1.0 + np.arange(8.0))
KERNELS: dict[str, dict[str, Any]] = {
    **{kernel: {} for kernel in ("linear", "thin_plate_spline", "cubic", "quintic")},
    **{
        kernel: {"epsilon": 0.8} for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian")
    },
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_radial_functions(kernel: str) -> None:
    options = KERNELS[kernel]
    for degree in (None, 1) if kernel != "quintic" else (None,):

        def f(t: Any, degree: Any = degree) -> Any:
            made = ip.RBFInterpolator(
                POINTS + 0.2 * t * ALONG, HEIGHTS + t * RISE, kernel=kernel, degree=degree, smoothing=0.1, **options
            )
            return made(AT + 0.3 * t)

        assert_fits(hoad.adopt(f), 0.0, 0.03125, 1e-6, 0.1)


def test_several_heights_at_once() -> None:
    """Of arrays and of complex numbers; at a point of the data, where nothing smooths, it is the height."""
    heights = np.stack([HEIGHTS + 1j * RISE, RISE * HEIGHTS], 1)
    for f in (
        lambda y, at: interpolate.RBFInterpolator(POINTS, y)(at),
        lambda y, at: interpolate.LinearNDInterpolator(POINTS, y, rescale=True)(at),
        lambda y, at: interpolate.LinearNDInterpolator(spatial.Delaunay(POINTS), y)(at),
        lambda y, at: interpolate.NearestNDInterpolator(POINTS, y, rescale=True)(at),
    ):
        plain = f(heights, AT)
        value, slope = hoad.jvp(lambda y, f=f: f(y, AT), (heights,), (1j * heights[::-1],))
        np.testing.assert_allclose(value, plain, rtol=0, atol=1e-12)
        np.testing.assert_allclose(slope, f(1j * heights[::-1], AT), rtol=0, atol=1e-12)
    found = hoad.jacobian(lambda y: interpolate.RBFInterpolator(POINTS, y)(POINTS[2:4] + 1e-9))(HEIGHTS)
    np.testing.assert_allclose(found, np.eye(8)[2:4], atol=1e-7)


def test_a_triangle_is_found_again() -> None:
    """A replay has the triangle where the place is, and outside the value that is given for it."""
    for f in (
        lambda x: ip.griddata(POINTS, HEIGHTS, x[None])[0],
        lambda x: ip.LinearNDInterpolator(POINTS, HEIGHTS, fill_value=7.0)(x[None])[0],
        lambda x: ip.LinearNDInterpolator(POINTS, HEIGHTS)(x[0], x[1]),
    ):
        jitted = hoad.jit(hoad.value_and_grad(hoad.adopt(f)))
        for at in AT:
            value, slope = jitted(at)
            assert value == pytest.approx(f(at), rel=1e-12)
            for k, unit in enumerate(np.eye(2)):
                assert slope[k] == pytest.approx((f(at + 1e-6 * unit) - f(at - 1e-6 * unit)) / 2e-6, rel=1e-7)
    outside = hoad.grad(hoad.adopt(lambda x: ip.LinearNDInterpolator(POINTS, HEIGHTS, fill_value=7.0)(x[None])[0]))
    np.testing.assert_array_equal(outside(np.array([9.0, 9.0])), 0.0)


def test_what_is_plain_is_scipys() -> None:
    made = interpolate.RBFInterpolator(POINTS, HEIGHTS)
    np.testing.assert_array_equal(made(AT), ip.RBFInterpolator(POINTS, HEIGHTS)(AT))
    np.testing.assert_array_equal(interpolate.LinearNDInterpolator(POINTS, HEIGHTS).values, HEIGHTS[:, None])
    with pytest.raises(hoad.NoRuleError, match="of traced points"):
        hoad.grad(lambda x: interpolate.LinearNDInterpolator(x, HEIGHTS)(AT)[0])(POINTS)
    with pytest.raises(hoad.NoRuleError, match="with neighbors"):
        hoad.grad(lambda y: interpolate.RBFInterpolator(POINTS, y, neighbors=4)(AT)[0])(HEIGHTS)
