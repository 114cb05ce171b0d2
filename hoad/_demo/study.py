"""What the demo finds out: fits beside NIST's certified values, and derivatives beside central differences."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations, product
from math import comb
from typing import Any

import numpy as np

import hoad
from hoad._demo import nist
from hoad._demo.fit import Fit, LeastSquares, fit
from hoad._demo.models import Array
from hoad._demo.nist import agreeing_digits

DOUBLE_DIGITS = float(-np.log10(np.finfo(float).eps))
SAME_MINIMUM = 6.0  # digits of the parameters; with fewer, a fit has found another minimum than NIST's


@dataclass(frozen=True)
class Agreement:
    """A fit, and the digits that agree with the certified values: one per parameter, and of the residual sum."""

    start: int
    fit: Fit
    parameter_digits: Array
    standard_error_digits: Array
    residual_digits: float
    trouble: str  # empty where the fit has converged, and to NIST's minimum


@dataclass(frozen=True)
class Comparison:
    """All derivatives of one order at a point: seconds by hoad and by differences, and the digits of these."""

    order: int
    entries: int  # that are distinct
    first_seconds: float  # of the first call, which records and compiles
    seconds: float  # of each further call
    difference_seconds: float
    digits: float  # of differences


@dataclass(frozen=True)
class Study:
    """All that the report shows of a data set."""

    dataset: nist.Dataset
    certified: nist.Certified
    agreements: list[Agreement]
    comparisons: list[Comparison]


def differences(f: Callable[[Array], float], b: Array, order: int, factor: float = 1.0) -> Array:
    """Return the derivatives of f at b of this order by central differences, each distinct entry once.

    `factor` multiplies the textbook step eps^(1/(order + 2)) |b|, which balances truncation against rounding.
    """
    h = factor * np.finfo(float).eps ** (1 / (order + 2)) * np.where(b != 0, np.abs(b), 1.0)
    moves = np.diag((b + h) - b)  # what is really added, after rounding
    signs = np.array([*product((-1.0, 1.0), repeat=order)])
    weights, result = signs.prod(axis=1), np.empty((len(b),) * order)
    for axes in combinations_with_replacement(range(len(b)), order):
        entry = weights @ [f(point) for point in b + signs @ moves[list(axes)]]
        for places in permutations(axes):
            result[places] = entry / np.prod([2 * moves[i, i] for i in axes])
    return result


def digits_kept(found: Array, exact: Array, b: Array) -> float:
    """Return the digits of derivatives, relative to the largest, by parameters in units of b."""
    for _ in range(exact.ndim):  # an axis at a time
        found, exact = np.moveaxis(found * np.abs(b), -1, 0), np.moveaxis(exact * np.abs(b), -1, 0)
    error = np.nan_to_num(np.abs(found - exact).max() / np.abs(exact).max(), nan=1.0)
    return float(-np.log10(np.clip(error, np.finfo(float).eps, 1.0)))


def compare(f: Callable[[Any], Any], b: Array, order: int) -> Comparison:
    """Compare the derivatives of f at b by hoad, jitted as a user would, with central differences."""
    derivative = hoad.jit(hoad.derivative_tensor(f, order))
    first = timeit.timeit(lambda: derivative(b), number=1)
    with np.errstate(all="ignore"):
        exact, by_differences = derivative(b), differences(f, b, order)
        seconds = min(timeit.repeat(lambda: derivative(b), number=100, repeat=5)) / 100
        slow = min(timeit.repeat(lambda: differences(f, b, order), number=1, repeat=3))
    digits = digits_kept(by_differences, exact, b)
    return Comparison(order, comb(len(b) + order - 1, order), first, seconds, slow, digits)


def study(name: str, orders: Sequence[int] = (1, 2, 3)) -> Study:
    """Fit one data set from both starting values, and compare derivatives of these orders at the second."""
    dataset = nist.load(name)
    problem = LeastSquares(dataset.model, dataset.x, dataset.y)
    fits = {start: fit(problem, values) for start, values in dataset.starts.items()}
    comparisons = [compare(problem.objective, dataset.starts[2], order) for order in orders]
    certified, agreements = nist.certified(name), []  # the fits are done
    for start, result in fits.items():
        parameters = agreeing_digits(result.parameters, certified.parameters)
        errors = agreeing_digits(result.standard_errors, certified.standard_errors)
        squares = float(agreeing_digits(result.residual_sum_of_squares, certified.residual_sum_of_squares))
        elsewhere = "it is another minimum than NIST's" if parameters.min() < SAME_MINIMUM else ""
        agreements.append(Agreement(start, result, parameters, errors, squares, result.message or elsewhere))
    return Study(dataset, certified, agreements, comparisons)
