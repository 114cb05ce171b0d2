"""The comparison with differences is fair: they are done well, and their digits counted rightly."""

from __future__ import annotations

import numpy as np

from hoad._demo import datasets
from hoad._demo.differences import (
    DOUBLE_DIGITS,
    difference_hessian,
    matrix_digits,
    median_seconds,
    standard_errors_from,
)
from hoad._demo.study import Study, compare_hessians, fit_from


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
    assert matrix_digits(result, exact) > 6
    assert len(calls) == 2 * len(b) ** 2 + 1
    assert np.array_equal(result, result.T)
    assert difference_hessian(lambda b: float(b[0] ** 2), np.zeros(1))[0, 0] == 2.0


def test_matrix_digits() -> None:
    exact = np.diag([1e6, 1e-6])
    assert matrix_digits(exact, exact) == DOUBLE_DIGITS
    np.testing.assert_allclose(matrix_digits(exact + np.array([[0, 1e-3], [1e-3, 0]]), exact), 3)
    assert matrix_digits(exact * np.nan, exact) == matrix_digits(exact * 10, exact) == 0.0


def test_standard_errors_of_what_is_not_positive_definite() -> None:
    np.testing.assert_allclose(standard_errors_from(np.diag([4.0, 1e-8]), 3.0), [1.5, 3e4])
    assert np.isnan(standard_errors_from(np.diag([4.0, -1.0]), 3.0)).all()
    assert np.isnan(standard_errors_from(np.array([[1.0, 2.0], [2.0, 1.0]]), 3.0)).all()


def test_median_seconds() -> None:
    calls = []
    assert 0 <= median_seconds(lambda: calls.append(0), budget=1e-3, most=5) < 1
    assert len(calls) <= 6


def test_differences_lose_half_the_digits(small_study: Study) -> None:
    cost = small_study.hessian
    assert 4 < cost.difference_digits <= cost.best_difference_digits < 12
    assert 0 < cost.difference_standard_error_digits < cost.best_difference_digits
    assert cost.seconds > 0 and cost.difference_seconds > 0 and cost.difference_evaluations == 33


def test_the_textbook_step_is_near_the_best() -> None:
    """On a well-scaled set, no step of those tried does two digits better."""
    data = datasets.load("DanWood")
    cost = compare_hessians(data, fit_from(data, 2))
    assert cost.best_difference_digits - cost.difference_digits < 2
