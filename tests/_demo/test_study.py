"""The comparison with differences is fair: they are done well, and their digits counted rightly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hoad
from hoad._demo import example, nist
from hoad._demo.nist import agreeing_digits
from hoad._demo.study import DOUBLE_DIGITS, Study, differences, digits_kept


def quintic(b: np.ndarray) -> float:
    return b[0] ** 4 + 3 * b[0] * b[1] ** 2 + b[1] - b[0] ** 2 * b[1] ** 3


@pytest.mark.parametrize(("order", "digits"), [(1, 9), (2, 7), (3, 5)])
def test_differences(order: int, digits: int) -> None:
    points, b = [], np.array([0.7, -1.3])

    def counted(b: np.ndarray) -> float:
        points.append(b)
        return float(quintic(b))

    found = differences(counted, b, order)
    assert digits_kept(found, hoad.derivative_tensor(quintic, order)(b), b) > digits
    assert len(points) == (order + 1) * 2**order  # each entry that is distinct once
    for axes in itertools.permutations(range(order)):
        assert np.array_equal(found, found.transpose(axes))


def test_differences_where_a_parameter_is_zero() -> None:
    np.testing.assert_allclose(differences(lambda b: float(b[0] ** 2), np.zeros(1), 2), [[2.0]], rtol=1e-7)


def test_digits_kept() -> None:
    b = np.array([1e-3, 1e3])
    exact = np.diag([1e6, 1e-6])  # 1 in units of b
    assert digits_kept(exact, exact, b) == DOUBLE_DIGITS
    np.testing.assert_allclose(digits_kept(exact + np.array([[0, 1e-3], [1e-3, 0]]), exact, b), 3)
    for wrong in (np.full((2, 2), np.nan), np.full((2, 2), np.inf), 10 * exact):
        assert digits_kept(wrong, exact, b) == 0.0


def test_differences_lose_digits_with_every_order(small_study: Study) -> None:
    digits = [comparison.digits for comparison in small_study.comparisons]
    assert 12 > digits[0] > digits[1] > digits[2] > 0
    assert [comparison.entries for comparison in small_study.comparisons] == [7, 28, 84]
    assert all(0 < comparison.seconds < comparison.first_seconds for comparison in small_study.comparisons)


def test_the_example_fits_what_nist_certifies() -> None:
    found = example.fit(example.start)
    assert agreeing_digits(found, nist.certified(example.data.name).parameters).min() > 10
    np.testing.assert_allclose(example.model(found, example.x), example.data.model(found, example.x), rtol=1e-13)
    third = hoad.derivative_tensor(example.cost, 3)(found)
    np.testing.assert_allclose(example.third(found), third, rtol=1e-10)
