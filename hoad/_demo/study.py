"""One data set from beginning to end: fit, time, and only then compare with what NIST certifies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad._demo import certified, datasets
from hoad._demo.certified import Certified, agreeing_digits
from hoad._demo.datasets import Dataset
from hoad._demo.differences import (
    DOUBLE_DIGITS,
    difference_hessian,
    matrix_digits,
    median_seconds,
    standard_errors_from,
)
from hoad._demo.fit import Fit, fit
from hoad._demo.least_squares import LeastSquares

__all__ = ["Agreement", "HessianComparison", "Study", "compare_hessians", "fit_from", "study"]

Array = NDArray[np.float64]

# With fewer digits than these, a fit has found another minimum than NIST's.
SAME_MINIMUM = 6.0

# Steps in multiples of the textbook's, for the best that differences could do if one knew the exact Hessian.
STEP_FACTORS = tuple(float(10.0 ** (k / 2)) for k in range(-6, 7))


@dataclass(frozen=True)
class Agreement:
    """A fit beside the certified values.

    Attributes
    ----------
    start : int
        NIST's starting values that it began from.
    fit : Fit
    parameter_digits, standard_error_digits : ndarray
        Agreeing digits, one entry per parameter.
    residual_digits : float
        Agreeing digits of the residual sum of squares.
    rounding_digits : ndarray
        The digits of each parameter that are left if the responses are rounded to double precision, and
        nothing else: no way of fitting them can promise more.
    """

    start: int
    fit: Fit
    parameter_digits: Array
    standard_error_digits: Array
    residual_digits: float
    rounding_digits: Array

    @property
    def succeeded(self) -> bool:
        """Whether the fit has converged, and to NIST's minimum."""
        return self.fit.converged and float(self.parameter_digits.min()) >= SAME_MINIMUM


@dataclass(frozen=True)
class HessianComparison:
    """The Hessian at the solution, by hoad and by central differences.

    Attributes
    ----------
    seconds, difference_seconds : float
        Time per Hessian.
    difference_evaluations : int
        The values of f that the differences need.
    difference_digits : float
        The digits that they keep, with the textbook's step.
    best_difference_digits, best_step_factor : float
        The same with the best of several steps, chosen in hindsight, and that step over the textbook's.
    difference_standard_error_digits : float
        The digits of the worst standard error from their Hessian: 0 where it is not even positive definite.
    """

    seconds: float
    difference_seconds: float
    difference_evaluations: int
    difference_digits: float
    best_difference_digits: float
    best_step_factor: float
    difference_standard_error_digits: float


@dataclass(frozen=True)
class Study:
    """All that the report shows of a data set."""

    dataset: Dataset
    certified: Certified
    agreements: list[Agreement]
    hessian: HessianComparison

    @property
    def succeeded(self) -> bool:
        """Whether every fit has."""
        return all(agreement.succeeded for agreement in self.agreements)


def fit_from(dataset: Dataset, start: int) -> Fit:
    """Fit a data set from one of its two starting values."""
    return fit(LeastSquares(dataset.model, dataset.x, dataset.y), dataset.starts[start])


def compare_hessians(dataset: Dataset, result: Fit) -> HessianComparison:
    """Compare the Hessian of half the residual sum of squares by hoad and by differences."""
    problem = LeastSquares(dataset.model, dataset.x, dataset.y)
    b, f = result.parameters, problem.objective
    with np.errstate(all="ignore"):
        exact = problem.hessian(b)
        by_differences = difference_hessian(f, b)
        tried = [(matrix_digits(difference_hessian(f, b, factor), exact), factor) for factor in STEP_FACTORS]
        errors = standard_errors_from(by_differences, result.residual_standard_deviation)
        seconds = median_seconds(lambda: problem.hessian(b))
        difference_seconds = median_seconds(lambda: difference_hessian(f, b))
    digits = agreeing_digits(errors, result.hessian_standard_errors, most=DOUBLE_DIGITS)
    return HessianComparison(
        seconds=seconds,
        difference_seconds=difference_seconds,
        difference_evaluations=2 * len(b) ** 2 + 1,
        difference_digits=matrix_digits(by_differences, exact),
        best_difference_digits=max(tried)[0],
        best_step_factor=max(tried)[1],
        difference_standard_error_digits=float(digits.min()),
    )


def _agreement(start: int, result: Fit, dataset: Dataset, reference: Certified) -> Agreement:
    with np.errstate(all="ignore"):
        noise = np.finfo(float).eps * np.abs(dataset.y).max() / result.residual_standard_deviation
        rounding = -np.log10(noise * result.standard_errors / np.abs(result.parameters))
    return Agreement(
        start=start,
        fit=result,
        parameter_digits=agreeing_digits(result.parameters, reference.parameters),
        standard_error_digits=agreeing_digits(result.standard_errors, reference.standard_errors),
        residual_digits=float(agreeing_digits(result.residual_sum_of_squares, reference.residual_sum_of_squares)),
        rounding_digits=rounding,
    )


def study(name: str, starts: Sequence[int] = (1, 2), progress: Callable[[str], None] = lambda label: None) -> Study:
    """Fit one data set, and compare.

    Parameters
    ----------
    name : str
    starts : sequence of int
        Which of NIST's starting values to begin from.
    progress : callable
        Told what is being done, before each fit and before the timing.

    Returns
    -------
    Study

    Examples
    --------
    >>> from hoad._demo.study import study
    >>> study("Misra1a").succeeded
    True
    """
    dataset = datasets.load(name)
    fits: dict[int, Fit] = {}
    for start in starts:
        progress(f"{name}: fit from start {start}")
        fits[start] = fit_from(dataset, start)
    progress(f"{name}: Hessians")
    hessian = compare_hessians(dataset, fits[starts[-1]])

    reference = certified.load(name)  # the fits are done
    agreements = [_agreement(start, result, dataset, reference) for start, result in fits.items()]
    return Study(dataset, reference, agreements, hessian)
