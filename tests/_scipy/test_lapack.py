"""Routines of BLAS and LAPACK that SciPy's Python code asks for by name."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import hoad
from hoad._scipy.lapack import get_blas_funcs

RNG = np.random.default_rng(4)
A, B = RNG.normal(size=(3, 3)) + 3.0 * np.eye(3), RNG.normal(size=(3, 3))


@pytest.mark.parametrize(
    ("side", "lower", "trans_a", "diag"), list(itertools.product((0, 1), (0, 1), (0, 1, 2), (0, 1)))
)
def test_triangular_systems(side: int, lower: int, trans_a: int, diag: int) -> None:
    options = {"side": side, "lower": lower, "trans_a": trans_a, "diag": diag}

    def f(a: Any, b: Any) -> Any:
        return get_blas_funcs("trsm", (a, b))(2.0, a, b, **options)

    wanted = scipy.linalg.blas.dtrsm(2.0, A, B, **options)
    np.testing.assert_allclose(hoad.jit(f)(A, B), wanted, rtol=1e-14)
    assert np.array_equal(f(A, B), wanted)
    slope = hoad.jvp(lambda a: f(a, B), (A,), (B,))[1]
    beside = [scipy.linalg.blas.dtrsm(2.0, A + h * B, B, **options) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(slope, np.subtract(*beside) / 2e-6, atol=1e-8)


def test_densities_of_inverse_wishart_matrices() -> None:
    """log p = v/2 log det S - (v + n + 1)/2 log det X - tr(S X⁻¹)/2 + ..."""
    x, s, v = A @ A.T, B @ B.T + np.eye(3), 6.5
    density = hoad.adopt(lambda x, s: scipy.stats.invwishart.logpdf(x, v, s))
    by_x, by_s = hoad.grad(density, argnums=(0, 1))(x, s)
    x_inverse = np.linalg.inv(x)
    np.testing.assert_allclose(by_x + by_x.T, x_inverse @ s @ x_inverse - (v + 4) * x_inverse, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(by_s + by_s.T, v * np.linalg.inv(s) - x_inverse, rtol=1e-10, atol=1e-12)
