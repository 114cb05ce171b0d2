"""Events: where a function of the solution changes sign, found on its own Taylor series along each step.

The series of g(t, y(t)) is a polynomial on the step, compared with g itself at the end. Where it does not serve, as
when g has a kink, the step is halved. Its coefficients in Bernstein's basis change sign at least as often as the
polynomial has roots (Descartes' rule), so that halving intervals until there is one change, or none, misses no root.

References
----------
Farouki (2012), The Bernstein polynomial basis: a centennial retrospective, Computer Aided Geometric Design 29, 379-419,
section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hoad._core.taylor.series import Series
from hoad.errors import ArgumentError, GuardError

Leaves = list[Any]

NARROW = 2.0**-40  # of a step: what is not a wider is not halved again
NOISE = 4 * float(np.finfo(float).eps)  # of all terms: a value that may be zero
GROSS = 1e4 * float(np.finfo(float).eps)  # a series that misses the value at the end by more does not serve


Interval = tuple[
    float, float, int, int
]  # begin, end, the signs right behind the one and right before the other; 0 where all is zero


class Crossing(NamedTuple):
    """Where an event happens: how far into the step, and whether g rises there."""

    offset: float
    rises: bool


class Watch:
    """An event function g along a solution, step by step.

    Its attributes `terminal` and `direction` mean what they do for SciPy's ``solve_ivp``. It is known by its expansion
    by (*y, t, *held) to the order of the steps, and that of its value alone.
    """

    def __init__(self, g: Callable[..., Any], expansion: Series, value: Series, held: Sequence[Any]) -> None:
        self.expansion, self.value, self.held = expansion, value, list(held)
        terminal = getattr(g, "terminal", None)
        self.left = math.inf if not terminal else 1 if terminal is True else int(terminal)
        self.direction = getattr(g, "direction", 0)
        self.side = 0  # the last sign that is known

    def crossings(self, y: Leaves, t: float, h: float) -> list[Crossing]:
        """Those of the wanted direction in a step of length h, in their order; y has the coefficients of the step."""
        found = [Crossing(offset, (side > 0) == (h > 0)) for offset, side in self._changes(y, t, h, 0)]
        return [c for c in found if not self.direction or (self.direction > 0) == (c.rises == (h > 0))]

    def _changes(self, y: Leaves, t: float, h: float, depth: int) -> Iterator[tuple[float, int]]:
        """Where the sign changes, and to which."""
        series = self._run(self.expansion, [*y, np.array([t, 1.0])])
        scaled = series * h ** np.arange(len(series))
        size = float(np.sum(np.abs(scaled)))
        end = self._value([_at(x, h) for x in y], t + h)
        if not math.isfinite(end):
            raise ArgumentError(
                f"taylor_solution: an event function is {end} at t = {t + h:.6g}, where the solution has a value. Let "
                "it give a number wherever the solution goes."
            )
        serves = abs(float(np.sum(scaled)) - end) <= GROSS * size
        if serves or depth > 40:
            inner = _intervals(scaled) if serves else iter([(1.0, 1.0, _sign(end), _sign(end))])
            yield from self._of_intervals(scaled, h, inner)
            return
        half = 0.5 * h
        yield from self._changes(y, t, half, depth + 1)
        moved = [shifted(x, half) for x in y]
        for offset, side in self._changes(moved, t + half, h - half, depth + 1):
            yield half + offset, side

    def _of_intervals(self, scaled: Any, h: float, intervals: Iterator[Interval]) -> Iterator[tuple[float, int]]:
        begin = None  # of a stretch of zeros
        for low, high, first, last in intervals:
            if not first:
                begin = low if begin is None else begin
                continue
            if self.side == -first:
                yield (h * low if begin is None else h * begin), first
            self.side = first
            if last == -first:
                yield h * _root(scaled, low, high, last), last
                self.side = last
            begin = None

    def _value(self, y: Leaves, t: float) -> float:
        return float(self._run(self.value, [*y, t])[0])

    def _run(self, series: Series, values: list[Any]) -> Any:
        found = series.run([*values, *self.held])
        if found is None:
            raise GuardError(
                "an event function branches on y or t, and takes another branch along the solution. Use np.where, or a "
                "function without a branch."
            )
        return found[0][:, 0]


def _sign(x: float) -> int:
    return int(x > 0) - int(x < 0)


def _at(series: Any, h: float) -> Any:
    """The value of a polynomial."""
    found = series[-1]
    for c in series[-2::-1]:
        found = found * h + c
    return found


def shifted(series: Any, h: float) -> Any:
    """The coefficients of the same polynomial around h."""
    made = np.array(series)
    for k in range(len(made) - 1):
        for j in range(len(made) - 2, k - 1, -1):
            made[j] += h * made[j + 1]
    return made


def _intervals(scaled: Any) -> Iterator[Interval]:
    """Intervals that make up [0, 1], with one root at most of Σ cₖ sᵏ in each."""
    noise = NOISE * float(np.sum(np.abs(scaled)))
    todo = [(0.0, 1.0, _bernstein(scaled))]
    while todo:
        low, high, b = todo.pop()
        signs = np.sign(b[np.abs(b) > noise])
        changes = np.count_nonzero(signs[1:] != signs[:-1])
        if changes > 1 and high - low > NARROW:
            middle = 0.5 * (low + high)
            left, right = _halves(b)
            todo += [(middle, high, right), (low, middle, left)]
        elif not len(signs):
            yield low, high, 0, 0
        else:
            yield low, high, int(signs[0]), int(signs[-1])


def _bernstein(c: Any) -> Any:
    """Coefficients in Bernstein's basis, of those of powers."""
    p = len(c) - 1
    parts = [x / math.comb(p, k) for k, x in enumerate(c)]
    return np.array([math.fsum(math.comb(j, k) * parts[k] for k in range(j + 1)) for j in range(p + 1)])


def _halves(b: Any) -> tuple[Any, Any]:
    """The coefficients on either half: de Casteljau's scheme."""
    left, right, row = np.empty_like(b), np.empty_like(b), np.array(b)
    for k in range(len(b)):
        left[k], right[len(b) - 1 - k] = row[0], row[-1]
        row = 0.5 * (row[1:] + row[:-1])
    return left, right


def _root(scaled: Any, low: float, high: float, side: int) -> float:
    """The root of Σ cₖ sᵏ between, beyond which the sign is `side`: by Newton's steps, or halves where these leave."""
    slopes = scaled[1:] * np.arange(1, len(scaled))
    s = 0.5 * (low + high)
    for _ in range(200):
        value = float(_at(scaled, s))
        if value == 0.0:
            return s
        low, high = (low, s) if _sign(value) == side else (s, high)
        slope = float(_at(slopes, s))
        after = s - value / slope if slope else low
        after = after if low < after < high else 0.5 * (low + high)
        if after == s or not low < after < high:
            return after
        s = after
    return s
