"""Every elementwise rule, at orders 0 to 4 and in every mode, against mpmath.

An error is measured against the value and against what the value would change by if an operand were another in its
last digits: |got − want| ≤ tolerance · (|want| + Σ |xₖ ∂ want/∂xₖ|), where xₖ is the distance from a singular point if
that is nearer than 0. A rule that cancels fails this by many digits; a zero of the derivative does not.
"""

from __future__ import annotations

import functools
import zlib
from typing import Any

import numpy as np
import pytest
from rules.cases import Elementwise, cases_of
from rules.modes import multi_indices, pointwise, words
from rules.oracle import SPARE_DIGITS, SPARE_DIGITS_OF_FEW, partial

import hoad

CASES = [*cases_of("elementwise"), *cases_of("special")]
HIGHEST = 4
POINTS = {1: 16, 2: 8}
POINTS_SPECIAL = {1: 6, 2: 3}  # whose oracles take their time
POINTS_FEW = {1: 2, 2: 1}
FLOATS = 6  # of them, one by one
UNDERFLOW = 1e-300

# All tests of a case follow each other, so that they find the values of mpmath in the same process.
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name, scope="module")


@functools.cache
def points(case: Elementwise) -> tuple[np.ndarray, ...]:
    counts = POINTS_FEW if case.few else POINTS_SPECIAL if case.room == "special" else POINTS
    count = counts[len(case.at)]
    return case.sample(np.random.default_rng(zlib.crc32(case.name.encode())), count)


@functools.cache
def expected(case: Elementwise, orders: tuple[int, ...]) -> np.ndarray:
    """The partial derivative at the points."""
    spare = SPARE_DIGITS_OF_FEW if case.few else SPARE_DIGITS
    return np.array(
        [
            float(partial(case.oracle, point, orders, spare))
            for point in zip(*map(np.ndarray.tolist, points(case)), strict=True)
        ]
    )


@functools.cache
def scale(case: Elementwise, orders: tuple[int, ...]) -> np.ndarray:
    """What errors are measured against."""
    total = abs(expected(case, orders)) + UNDERFLOW / case.tolerance
    for k in case.wrt:
        raised = tuple(n + (j == k) for j, n in enumerate(orders))
        x = points(case)[k]
        distance = np.min([abs(x - at) for at in (0.0, *case.singular)], axis=0)
        total = total + distance * abs(expected(case, raised))
    return total


def orders_of(case: Elementwise, operands: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(operands.count(k) for k in range(len(case.at)))


def check(case: Elementwise, got: Any, operands: tuple[int, ...], how: str) -> None:
    orders = orders_of(case, operands)
    want = expected(case, orders)[: len(got)]
    error = abs(np.asarray(got) - want) / scale(case, orders)[: len(got)]
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    at = [float(x[worst]) for x in points(case)]
    assert error[worst] <= case.tolerance, (
        f"∂{orders} {case.name}{at} by {how}: {np.asarray(got)[worst]!r} is off {want[worst]!r} by {error[worst]:.1e}"
    )


def partials(case: Elementwise, order: int) -> list[tuple[int, ...]]:
    return [i for i in multi_indices(len(case.at), order) if set(i) <= set(case.wrt)]


@each_case
def test_value(case: Elementwise) -> None:
    xs = points(case)
    k = case.wrt[0]
    with np.errstate(all="ignore"):
        check(case, case.f(*xs), (), "NumPy")
    value, _ = hoad.jvp(lambda x, f=case.f: f(*xs[:k], x, *xs[k + 1 :]), (xs[k],), (np.ones(len(xs[k])),))
    check(case, value, (), "a recording")


@each_case
def test_partial_derivatives(case: Elementwise) -> None:
    for order in range(1, HIGHEST + 1):
        for operands in partials(case, order):
            for word in words(order):
                check(case, pointwise(case.f, word, operands)(*points(case)), operands, word)


@each_case
def test_derivative_of_any_order(case: Elementwise) -> None:
    for k in case.wrt:
        for order in range(HIGHEST + 1):
            xs = points(case)
            got = hoad.derivative(lambda x, k=k, xs=xs, f=case.f: f(*xs[:k], x, *xs[k + 1 :]), order)(xs[k])
            check(case, got, (k,) * order, "derivative")


@each_case
def test_scalars(case: Elementwise) -> None:
    """On Python floats other kernels run than on arrays, and nodes are of another kind; so they do in derivatives."""
    columns = [x[:FLOATS].tolist() for x in points(case)]
    for order in (1, 2, 3):
        for operands in partials(case, order):
            for word in words(order) if order < 3 else ("frf",):
                df = pointwise(case.f, word, operands)
                got = [df(*point) for point in zip(*columns, strict=True)]
                assert all(isinstance(value, float) for value in got)
                check(case, got, operands, f"{word} of floats")
