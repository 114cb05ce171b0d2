"""The bounds of `minimize_scalar`, which comes near them from inside: within its tolerance, not to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._drivers.gradient import grad
from hoad._numpy.registry import as_traced
from hoad._scipy.bounds import REST
from hoad._scipy.solutions import Function, Given, Solver, refusal

TIMES = 100.0  # the tolerance of the solver, by which a solution may be away from where it belongs
OF_LENGTH = 0.01  # and by the distance of the bounds, however large the tolerance is
ALIKE = 2.0  # the ratio of slopes at a bound and at the solution beside it


class Line:
    """The two bounds, and how near to one of them a solution may lie on it."""

    def __init__(self, given: Given) -> None:
        low, high = given["bounds"]
        self.ends = as_traced(low), as_traced(high)
        tolerance = (given.get("options") or {}).get("xatol", given.get("tol"))
        largest = TIMES * (1e-5 if tolerance is None else float(tolerance))
        self.tolerance = np.minimum(largest, OF_LENGTH * np.abs(self.ends[1] - self.ends[0]))

    def near(self, x: Any) -> list[Any]:
        """Whether the solution is near each bound."""
        distance = self.tolerance + TIMES * 1e-8 * np.abs(x)
        below = x < 0.5 * (self.ends[0] + self.ends[1])
        return [
            (np.abs(x - end) <= distance) & (below == is_low)
            for is_low, end in zip((True, False), self.ends, strict=True)
        ]

    def held(self, x: Any, slope: Function) -> list[Any]:
        """The same, and the function falls towards it there."""
        pulls = slope(self.ends[0]) > 0.0, slope(self.ends[1]) < 0.0
        return [near & pull for near, pull in zip(self.near(x), pulls, strict=True)]


def free_or_held_on_line(slope: Function, line: Line) -> Function:
    """What is 0 at a minimum: the slope, or x - bound."""

    def equation(x: Any) -> Any:
        found = slope(x)
        for end, held in zip(line.ends, line.held(x, slope), strict=True):
            found = np.where(held, x - end, found)
        return found

    return equation


def check_line(solver: Solver, x: float, slope: Function, line: Line) -> None:
    """Raise where it is not certain whether a bound holds the solution."""
    here = float(slope(x))
    for end, near, held in zip(line.ends, line.near(x), line.held(x, slope), strict=True):
        there = float(slope(float(end))) if near else 0.0
        size = REST * max(1.0, abs(here))
        if near and (abs(there) <= size or (held and not 1.0 / ALIKE <= here / there <= ALIKE)):
            raise refusal(
                solver,
                "the solution lies on a bound that does not hold it: the slope there is 0 or changes much, and "
                "derivatives to the two sides may differ. Leave out the bound.",
            )
        if held:
            return
    curvature = float(grad(slope)(x))
    away = abs(here / curvature) if curvature > 0.0 else np.inf
    if not away <= float(line.tolerance) + TIMES * 1e-8 * abs(x):
        raise refusal(
            solver,
            f"the solver stopped where the slope is {here:.2g}, and no bound holds x. Give it a smaller xatol.",
        )
