"""NIST's certified results, and how many of their digits a result has.

Nothing that fits imports this module; the report does, once the fits are done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hoad._demo.tables import read_rows
from hoad.errors import ArgumentError

__all__ = ["CERTIFIED_DIGITS", "Certified", "agree_entirely", "agreeing_digits", "load", "written"]

CERTIFIED_DIGITS = 11


@dataclass(frozen=True)
class Certified:
    """What NIST certifies of a set, to eleven significant digits.

    Attributes
    ----------
    parameters, standard_errors : ndarray
        One entry per parameter; NIST calls the second the standard deviations of the estimates.
    residual_sum_of_squares, residual_standard_deviation : float
    degrees_of_freedom, observations : int
    """

    parameters: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    residual_sum_of_squares: float
    residual_standard_deviation: float
    degrees_of_freedom: int
    observations: int


def load(name: str) -> Certified:
    """Return what NIST certifies of the set of this name.

    Raises
    ------
    ArgumentError
        If there is none; the message has the names.
    """
    of_sets = {row["set"]: row for row in read_rows("certified_residuals")}
    if name not in of_sets:
        raise ArgumentError(f"load takes the name of a data set, not {name!r}. There are {', '.join(of_sets)}.")
    rows = [row for row in read_rows("certified_parameters") if row["set"] == name]
    residuals = of_sets[name]
    return Certified(
        parameters=np.array([float(row["value"]) for row in rows]),
        standard_errors=np.array([float(row["standard_deviation"]) for row in rows]),
        residual_sum_of_squares=float(residuals["residual_sum_of_squares"]),
        residual_standard_deviation=float(residuals["residual_standard_deviation"]),
        degrees_of_freedom=int(residuals["degrees_of_freedom"]),
        observations=int(residuals["observations"]),
    )


def agreeing_digits(value: ArrayLike, reference: ArrayLike, most: float = CERTIFIED_DIGITS) -> NDArray[np.float64]:
    """Return the log relative error: about how many significant digits of `value` are those of `reference`.

    Parameters
    ----------
    value, reference : array_like
        What was computed and what is right; the reference is not zero.
    most : float
        The digits that the reference has: more cannot be seen.

    Returns
    -------
    ndarray
        -log10(|value - reference| / |reference|), not below 0 and not above `most`; 0 where the value is nan.

    References
    ----------
    McCullough, *Assessing the reliability of statistical software: Part I*, Am. Stat. 52 (1998).

    Examples
    --------
    >>> from hoad._demo.certified import agreeing_digits
    >>> agreeing_digits([3.1416, 2.0], [np.pi, 2.0]).round(1)
    array([ 5.6, 11. ])
    """
    reference = np.asarray(reference, dtype=float)
    relative = np.abs(np.asarray(value, dtype=float) - reference) / np.abs(reference)
    relative = np.where(np.isnan(relative), 1.0, relative)
    return np.asarray(-np.log10(np.clip(relative, 10.0**-most, 1.0)) + 0.0)


def written(value: float, precision: int = CERTIFIED_DIGITS - 1) -> str:
    """Return a number as NIST writes it, with `precision` digits after the point."""
    return f"{value:.{precision}E}"


def agree_entirely(values: ArrayLike, reference: ArrayLike) -> NDArray[np.bool_]:
    """Return whether numbers, rounded to the eleven digits that NIST certifies, are the certified ones."""
    pairs = zip(np.ravel(values), np.ravel(reference), strict=True)
    return np.array([written(value) == written(right) for value, right in pairs])
