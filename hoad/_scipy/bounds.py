"""Minima that lie on bounds: an unknown on a bound stays there, whatever the others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize

from hoad._numpy.registry import as_traced
from hoad._scipy.solutions import Function, Solver, refusal

Ends = tuple[Any, Any]

CLOSE = 1e-6  # how near to a bound, by its size, a solution lies on it: some solvers come near from inside only
REST = 1e-5  # the slope, by the size of the cost, that pulls at a bound
MOVING = 1e-3  # and the one of an unknown that is not at its minimum yet


def ends_of(bounds: Any) -> Ends | None:
    """The lower and the upper ends of what a solver was given for bounds, as arrays."""
    if bounds is None:
        return None
    if isinstance(bounds, scipy.optimize.Bounds):
        return as_traced(bounds.lb), as_traced(bounds.ub)
    low, high = zip(*bounds, strict=True)
    return as_traced([-np.inf if x is None else x for x in low]), as_traced([np.inf if x is None else x for x in high])


def two_ends_of(bounds: Any) -> Ends | None:
    """The same, of a solver that takes the lower ends and then the upper ones."""
    return (
        ends_of(bounds)
        if bounds is None or isinstance(bounds, scipy.optimize.Bounds)
        else tuple(map(as_traced, bounds))
    )


def is_near(x: Any, end: Any) -> Any:
    """Whether each unknown lies on an end that is finite."""
    return np.isfinite(end) & (np.abs(x - end) <= CLOSE * np.maximum(1.0, np.abs(end)))


def free_or_held(slope: Function, ends: Ends | None) -> Function:
    """What is 0 at a minimum: the slope by each unknown that is free, and of one on a bound x - bound."""
    if ends is None:
        return slope

    def equation(x: Any) -> Any:
        found = slope(x)
        for end in ends:
            found = np.where(is_near(x, end), x - np.where(np.isfinite(end), end, 0.0), found)
        return found

    return equation


def check_bounds(solver: Solver, x: Any, slope: Function, cost: float, ends: Ends | None) -> None:
    """Raise where it is not certain which unknowns the bounds hold."""
    if ends is None:
        return
    size = max(1.0, abs(cost))
    low, high = (np.broadcast_to(np.asarray(end, float), np.shape(x)) for end in ends)
    on_low, on_high = is_near(x, low), is_near(x, high)
    pull = np.asarray(slope(x))  # a bound holds what the slope pulls against it
    held = (on_low & (pull > REST * size)) | (on_high & (pull < -REST * size)) | (on_low & on_high)
    if np.any((on_low | on_high) & ~held):
        raise refusal(
            solver,
            "the solution lies on a bound that does not hold it: the slope there is 0, and derivatives to the two "
            "sides differ. Leave out the bound, or fix the unknown.",
        )
    if np.any(abs(pull[~held]) > MOVING * size):
        raise refusal(
            solver,
            f"the solver stopped where the slope by an unknown that no bound holds is {np.max(abs(pull[~held])):.2g}. "
            "Give it jac, or another method.",
        )
