"""The comparison with differences is fair: they are done well, and their digits counted rightly."""

from __future__ import annotations

import numpy as np

from hoad._demo import nist
from hoad._demo.fit import LeastSquares, fit
from hoad._demo.study import DOUBLE_DIGITS, Study, compare_hessians, difference_hessian, digits_lost


def quartic(b: np.ndarray) -> float:
    return float(b[0] ** 4 + 3 * b[0] * b[1] ** 2 + b[1])


def test_difference_hessian() -> None:
    calls = []

    def counted(b: np.ndarray) -> float:
        calls.append(b)
        return quartic(b)

    b = np.array([0.7, -1.3])
    exact = np.array([[12 * b[0] ** 2, 6 * b[1]], [6 * b[1], 6 * b[0]]])
    result = difference_hessian(counted, b)
    assert digits_lost(result, exact) < 9
    assert len(calls) == 2 * len(b) ** 2 + 1
    assert np.array_equal(result, result.T)
    assert difference_hessian(lambda b: float(b[0] ** 2), np.zeros(1))[0, 0] == 2.0


def test_digits_lost() -> None:
    exact = np.diag([1e6, 1e-6])
    assert digits_lost(exact, exact) == 0.0
    np.testing.assert_allclose(digits_lost(exact + np.array([[0, 1e-3], [1e-3, 0]]), exact), DOUBLE_DIGITS - 3)
    for wrong in (np.full((2, 2), np.nan), np.full((2, 2), np.inf), 10 * exact):
        assert digits_lost(wrong, exact) == DOUBLE_DIGITS


def test_differences_lose_half_the_digits(small_study: Study) -> None:
    cost = small_study.hessian
    assert 4 < cost.least_digits_lost <= cost.digits_lost < 12
    assert cost.least_digits_lost < cost.standard_error_digits_lost < DOUBLE_DIGITS
    assert cost.ratio == cost.difference_seconds / cost.seconds > 0


def test_the_textbook_step_is_near_the_best() -> None:
    """On a well-scaled set, no step of those tried does two digits better."""
    data = nist.load("DanWood")
    problem = LeastSquares(data.model, data.x, data.y)
    cost = compare_hessians(problem, fit(problem, data.starts[2]))
    assert cost.digits_lost - cost.least_digits_lost < 2


def test_standard_errors_of_a_fit_that_failed() -> None:
    """They are nan, with which nothing agrees."""
    data = nist.load("MGH09")
    problem = LeastSquares(data.model, data.x, data.y)
    failed = fit(problem, data.starts[1], max_steps=1)
    assert compare_hessians(problem, failed).standard_error_digits_lost == DOUBLE_DIGITS
