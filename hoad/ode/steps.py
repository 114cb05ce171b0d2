"""Steps of an embedded scheme within tolerances, found on plain numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._program.program import Program
from hoad.errors import ArgumentError
from hoad.ode.schemes import Scheme

Values = list[Any]


@dataclass(frozen=True)
class Method:
    """A scheme, what error a step may make, and after how many steps to give up."""

    scheme: Scheme
    rtol: float
    atol: float
    max_steps: int


class Steps:
    """Steps of an equation: a program of `attempted`, a state of n values, and what the equation holds besides."""

    def __init__(self, method: Method, program: Program, n: int, held: Values, units: list[float]) -> None:
        self.method, self.n, self.held = method, n, held
        self.run = program._run
        self.atol = [method.atol * unit for unit in units]
        self.h = 0.0  # the length of the next step: from one interval to the next
        self.taken = 0
        self.slopes = "rhs(y, t)"  # what they are called in errors

    def attempt(self, y: Values, t: float, h: float) -> tuple[Values, float, Values]:
        """y after a step, its error over what is tolerated, and the slopes it began with."""
        size = len(y)
        found = self.run((*y[: self.n], t, h, *self.held))
        after, errors, slopes = found[:size], found[size : 2 * size], found[2 * size :]
        after[self.n :] = [x + gain for x, gain in zip(y[self.n :], after[self.n :], strict=True)]
        return after, norm(errors, self.scale(y, after)), slopes

    def scale(self, before: Values, after: Values) -> Values:
        """What error is tolerated."""
        return tolerated(self.method.rtol, self.atol, before, after)

    def first(self, y: Values, t: float, way: float) -> float:
        """The length of a first step that is not too long: Hairer, Nørsett and Wanner (1993), section II.4."""
        slopes = self.attempt(y, t, 0.0)[2]
        if not all(np.all(np.isfinite(x)) for x in slopes):
            what = self.slopes if all(np.all(np.isfinite(x)) for x in y) else "y"
            raise ArgumentError(
                f"odeint starts at t = {t:.6g}, where {what} is nan or infinite. Start where it is finite."
            )
        scale = self.scale(y, y)
        size, speed = norm(y, scale), norm(slopes, scale)
        # one that is too long after all is tried again; one that is far too short would end the search
        return max(0.01 * size / speed, 1e-8 * way) if size > 1e-5 and speed > 1e-5 else 1e-6 * way

    def across(self, y: Values, begin: float, end: float) -> Iterator[tuple[float, float, Values]]:
        """Each step from begin to end: its start and its length, as parts of the way, and y after it."""
        span, done = end - begin, 0.0
        if span:
            self.h = self.h or self.first(y, begin, abs(span))
        while done < 1.0 and span:
            whole = self.h >= 0.99 * (1.0 - done) * abs(span)
            part = 1.0 - done if whole else self.h / abs(span)
            with np.errstate(all="ignore"):
                after, error, _ = self.attempt(y, begin + done * span, part * span)
            factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** (-1 / self.method.scheme.order)))
            if not error <= 1.0:  # nor nan
                self.h = part * abs(span) * (factor if np.isfinite(error) else 0.1)
            else:
                self.taken += 1
                before, y, done = done, after, 1.0 if whole else done + part
                # one that was cut short says little
                self.h = max(self.h, part * abs(span) * factor) if whole else self.h * factor
                yield before, part, y
            if self.h < 1e-14 * max(abs(begin), abs(span)) or self.taken > self.method.max_steps:
                raise ArgumentError(
                    f"odeint took {self.taken} steps and is at t = {begin + done * span:.6g} with steps of "
                    f"{self.h:.1e}. The equation is stiff, or its solution ends there: raise rtol and atol, or "
                    f"max_steps (now {self.method.max_steps})."
                )


def tolerated(rtol: float, atol: list[float], before: Values, after: Values) -> Values:
    """What error a step may make, of the state before and after it; either may be traced."""
    return [a + rtol * np.maximum(np.abs(x), np.abs(y)) for x, y, a in zip(before, after, atol, strict=True)]


def mean_square(leaves: Values, scale: Values) -> Any:
    """The square of `norm`, of values that may be traced; there must be entries."""
    parts = [(np.abs(x / s) ** 2, np.size(x)) for x, s in zip(leaves, scale, strict=True)]
    sums = [np.sum(x) for x, size in parts if size]
    return sum(sums[1:], start=sums[0]) / sum(size for _, size in parts)


def norm(leaves: Values, scale: Values) -> float:
    """The root of the mean square over all entries, relative to a scale."""
    parts = [np.ravel(x / s) for x, s in zip(leaves, scale, strict=True)]
    entries = np.concatenate(parts) if parts else np.zeros(0)
    return float(np.sqrt(np.mean(np.abs(entries) ** 2))) if entries.size else 0.0
