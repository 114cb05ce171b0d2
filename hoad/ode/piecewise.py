"""A solution by Taylor series: a polynomial for each step, and events."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad.errors import ArgumentError
from hoad.ode.system import System

MANY, BLOCK = 8, 4096  # times in a step, from which on they are summed together; at a time


class PiecewiseSeries:
    """A solution as one power series for each step.

    Attributes
    ----------
    breaks : array, shape (K + 1,)
        The times at which the steps begin, and at which the last one ends.
    coefficients : array, shape (K, p + 1, n)
        The Taylor coefficients of each step about its beginning, for all numbers in y, one leaf after another.
    """

    def __init__(self, system: System, began: Any, rests: Any, coefficients: Any, end: float) -> None:
        self._system, self._rests = system, rests
        self.breaks = np.append(began, end)
        self.coefficients = coefficients

    def __call__(self, t: Any) -> Any:
        """y at a time, or at an array of times (T): for each array of y of shape (S) one of shape (T, S)."""
        times = np.asarray(t, np.float64)
        flat = np.atleast_1d(times).ravel()
        first, last = self.breaks[0], self.breaks[-1]
        if np.any((flat < min(first, last)) | (flat > max(first, last)) | np.isnan(flat)):
            raise ArgumentError(
                f"the solution is known from t = {first:.6g} to {last:.6g}, but asked for beyond. Integrate further."
            )
        way = 1.0 if last >= first else -1.0
        k = np.clip(np.searchsorted(way * self.breaks[:-1], way * flat, side="right") - 1, 0, None)
        if not len(self.coefficients):
            rows = np.broadcast_to(self._start, (len(flat), len(self._start)))
        else:
            rows = self._rows(k, (flat - self.breaks[k]) - self._rests[k])
        return self._system.container(rows.reshape(*times.shape, rows.shape[1]))

    def _rows(self, k: Any, h: Any) -> Any:
        """y so far behind where the steps k begin: step by step, each for all of its times at once."""
        order = np.argsort(k, kind="stable")
        sorted_k, sorted_h = k[order], h[order]
        ends = [*np.flatnonzero(np.diff(sorted_k)) + 1, len(k)]
        if len(k) < MANY * len(ends):
            return sums(np.moveaxis(self.coefficients[k], 1, 0), h[:, None])
        rows = np.empty((len(k), self.coefficients.shape[2]))
        begin = 0
        for end in ends:
            c = self.coefficients[sorted_k[begin]]
            for first in range(begin, end, BLOCK):
                places = slice(first, min(first + BLOCK, end))
                rows[order[places]] = sums(c[:, :, None], sorted_h[places]).T
            begin = end
        return rows

    @property
    def _start(self) -> Any:
        return np.concatenate([np.ravel(x) for x in self._system.y])

    def __repr__(self) -> str:
        k, p, n = self.coefficients.shape
        span = f"from {self.breaks[0]:.6g} to {self.breaks[-1]:.6g}"
        return f"<PiecewiseSeries: {k} steps of order {p - 1}, {n} numbers, {span}>"


class TaylorSolution:
    """The result of `taylor_solution`.

    Attributes
    ----------
    t : array, shape (T,)
        The requested times, up to the end of the solution. If a terminal event ended it, its end is in `y_events`.
    y : array or container
        The solution at these times: for each array of shape (S) in y0, one of shape (T, S).
    sol : PiecewiseSeries
        The solution at any time in between: ``sol(t)``.
    t_events : list of arrays
        For each event function, the times of its events.
    y_events : list
        For each event function, y at these times, as in `y`.
    order, steps, nfev : int
        The order of the steps, their number, and how often the series of rhs was computed.
    status : int
        0, or 1 if a terminal event ended the solution.
    message : str
        The status in words.
    """

    t: Any
    y: Any
    sol: PiecewiseSeries
    t_events: list[Any]
    y_events: list[Any]
    order: int
    steps: int
    nfev: int
    status: int
    message: str

    def __init__(self, **found: Any) -> None:
        self.__dict__.update(found)

    def __repr__(self) -> str:
        return f"<TaylorSolution: {self.steps} steps of order {self.order}, {self.message}>"


def sums(coefficients: Any, h: Any) -> Any:
    """Σ cₖ hᵏ, the order along axis 0; either may be traced."""
    found = coefficients[len(coefficients) - 1]
    for k in range(len(coefficients) - 2, -1, -1):
        found = found * h + coefficients[k]
    return found
