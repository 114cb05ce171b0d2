"""One data set from beginning to end: fit, compare Hessians, and only then compare with what NIST certifies."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hoad._demo import nist
from hoad._demo.fit import Fit, LeastSquares, fit, standard_errors
from hoad._demo.models import Array
from hoad._demo.nist import agreeing_digits

DOUBLE_DIGITS = float(-np.log10(np.finfo(float).eps))
# With fewer digits than these, a fit has found another minimum than NIST's.
SAME_MINIMUM = 6.0
# Steps in multiples of the textbook's, for the best that differences could do if one knew the exact Hessian.
STEP_FACTORS = 10.0 ** np.linspace(-3, 3, 13)


@dataclass(frozen=True)
class Agreement:
    """A fit beside the certified values: agreeing digits, one per parameter, and of the residual sum of squares."""

    start: int
    fit: Fit
    parameter_digits: Array
    standard_error_digits: Array
    residual_digits: float
    trouble: str  # empty where the fit has converged, and to NIST's minimum


@dataclass(frozen=True)
class HessianComparison:
    """The Hessian at the solution by hoad and by central differences: seconds, and the digits that differences lose.

    The least that are lost are those of the best of several steps, chosen in hindsight. Those of the standard errors
    are the worst's, and all of them where the Hessian by differences is not even positive definite.
    """

    seconds: float
    difference_seconds: float
    ratio: float  # of the two
    digits_lost: float
    least_digits_lost: float
    standard_error_digits_lost: float


@dataclass(frozen=True)
class Study:
    """All that the report shows of a data set."""

    dataset: nist.Dataset
    certified: nist.Certified
    agreements: list[Agreement]
    hessian: HessianComparison


def difference_hessian(f: Callable[[Array], float], b: Array, factor: float = 1.0) -> Array:
    """Return the Hessian of f at b by central differences, from 2 n² + 1 values of f.

    `factor` multiplies the textbook step eps^(1/4) |b|, which balances truncation against rounding.
    """
    h = factor * np.finfo(float).eps ** 0.25 * np.where(b != 0, np.abs(b), 1.0)
    moves, centre = np.diag((b + h) - b), f(b)  # what is really added, after rounding
    result = np.empty_like(moves)
    for i, u in enumerate(moves):
        result[i, i] = (f(b + u) - 2 * centre + f(b - u)) / u[i] ** 2
        for j, v in enumerate(moves[:i]):
            mixed = f(b + u + v) - f(b + u - v) + f(b - u - v) - f(b - u + v)
            result[i, j] = result[j, i] = mixed / (4 * u[i] * v[j])
    return result


def digits_lost(matrix: Array, exact: Array) -> float:
    """Return the digits that a Hessian's worst entry lacks, in units that make the diagonal of the exact one 1."""
    unit = np.sqrt(np.abs(np.diag(exact)))
    error = np.nan_to_num(np.abs(matrix - exact) / np.outer(unit, unit), nan=1.0).max()
    return DOUBLE_DIGITS + float(np.log10(np.clip(error, np.finfo(float).eps, 1.0)))


def compare_hessians(problem: LeastSquares, result: Fit) -> HessianComparison:
    """Compare the Hessian of half the residual sum of squares by hoad and by differences."""
    b, f = result.parameters, problem.objective
    with np.errstate(all="ignore"):
        exact, by_differences = problem.hessian(b), difference_hessian(f, b)
        try:
            errors = standard_errors(np.linalg.cholesky(by_differences).T, result.residual_standard_deviation)
        except np.linalg.LinAlgError:  # it is not positive definite
            errors = np.full(len(b), np.nan)
        kept = float(agreeing_digits(errors, result.hessian_standard_errors, most=DOUBLE_DIGITS).min())
        least = min(digits_lost(difference_hessian(f, b, factor), exact) for factor in STEP_FACTORS)
        calls = (lambda: problem.hessian(b), lambda: difference_hessian(f, b))
        exactly, differences = (float(np.median(timeit.repeat(call, number=1, repeat=10)[1:])) for call in calls)
    lost = digits_lost(by_differences, exact)
    return HessianComparison(exactly, differences, differences / exactly, lost, least, DOUBLE_DIGITS - kept)


def study(name: str, starts: Sequence[int] = (1, 2)) -> Study:
    """Fit one data set from these starting values, and compare."""
    dataset = nist.load(name)
    problem = LeastSquares(dataset.model, dataset.x, dataset.y)
    fits = {start: fit(problem, dataset.starts[start]) for start in starts}
    hessian = compare_hessians(problem, fits[starts[-1]])
    certified, agreements = nist.certified(name), []  # the fits are done
    for start, result in fits.items():
        parameters = agreeing_digits(result.parameters, certified.parameters)
        errors = agreeing_digits(result.standard_errors, certified.standard_errors)
        squares = float(agreeing_digits(result.residual_sum_of_squares, certified.residual_sum_of_squares))
        elsewhere = "it is another minimum than NIST's" if parameters.min() < SAME_MINIMUM else ""
        trouble = elsewhere if result.converged else result.message
        agreements.append(Agreement(start, result, parameters, errors, squares, trouble))
    return Study(dataset, certified, agreements, hessian)
