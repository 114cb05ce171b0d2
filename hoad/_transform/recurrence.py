"""The series of a solution: one node, whose adjoint is a recurrence of the same kind.

Where y' = F(x, y), each coefficient of y gives the next, yₘ₊₁ = F(x, y)ₘ / (m + 1). Let y run by

    yₘ₊₁ = (F(x, y)ₘ + σₘ) / dₘ,    m = 0, ..., p - 1,

for any divisors d. Of adjoints ȳₘ of the coefficients, each collects what those behind it depend on it: with A the
derivative of F by y along the solution, and v for the sums,

    vₘ = ȳₘ + Σ (Aᵀ)ₖ₋ₘ vₖ₊₁ / dₖ,    k = m, ..., p - 1.

Read backwards, wⱼ = vₚ₋ⱼ / dₚ₋₁₋ⱼ, that is the same recurrence: wⱼ₊₁ = ((Aᵀ w)ⱼ + ȳₚ₋₁₋ⱼ) / dₚ₋₂₋ⱼ from
w₀ = ȳₚ / dₚ₋₁. And w is the seed, read backwards, of F along the solution, which gives the adjoints of all else. So
recurrences are closed under differentiation, and the derivative of a truncated series is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.graph.inspect import guard_rows
from hoad._core.graph.primitive import rules_epoch
from hoad._core.graph.tape import AbstractValue, aval_key, checked_aval
from hoad._core.record.recording import inline
from hoad._core.taylor.series import NotClosedError, Series
from hoad._program.callee import Callee, called
from hoad._program.pickling import refusal, restoring, truths, whole_number
from hoad._program.program import Program
from hoad._transform.adjoint import adjoint_of, adjoints_by
from hoad._transform.expansion import MOST_DEGREE, Taylor, by_curve, inside
from hoad._transform.programs import recorded, selected
from hoad._transform.taylor_arithmetic import Arithmetic
from hoad._transform.taylor_of_loops import given_aval, series_aval
from hoad.errors import NoRuleError


class Recurrence(Callee):
    """The coefficients of y, from those that are given of x, y at order 0, and σ where it is `forced`.

    The program gives F from (x, y), y its last `n` inputs. The divisors say how many orders follow. An x of which
    several are `given`, as many as the orders that follow at most, is an array of coefficients along axis 0. With
    `lanes`, the results have so many along axis 1, y has them along axis 0, σ along axis 1, and so have the x that
    `have_lanes`.
    """

    def __init__(
        self,
        program: Program,
        n: int,
        given: tuple[int, ...],
        divisors: tuple[float, ...],
        lanes: int | None,
        have_lanes: tuple[bool, ...],
        forced: bool = False,
    ) -> None:
        self._of, self._n, self._forced = program, n, forced
        self._given, self._divisors, self._lanes, self._have_lanes = given, divisors, lanes, have_lanes
        self._fixed = program._fixed
        self._linear = 2 * n if program._linear else 0
        first = len(program.input_types) - n
        ys = program.input_types[first:]
        self.input_types = (
            *[
                given_aval(aval, count, lanes if wide else None)
                for aval, count, wide in zip(program.input_types[:first], given, have_lanes, strict=True)
            ],
            *[series_aval(aval, None, lanes) for aval in ys],
            *[series_aval(aval, self._degree, lanes) for aval in ys if forced],
        )
        self.output_types = tuple(series_aval(aval, self._degree + 1, lanes) for aval in ys)

    @property
    def _degree(self) -> int:
        return len(self._divisors)

    @property
    def _identity(self) -> Any:
        return "recurrence", id(self._of), *self._key

    @property
    def _key(self) -> tuple[Any, ...]:
        return self._n, self._given, self._divisors, self._lanes, self._have_lanes, self._forced

    def __reduce__(self) -> Any:
        return _restored, (self._of, *self._key)

    def __repr__(self) -> str:
        return f"<Recurrence to order {self._degree} by {self._of!r}>"

    # ---- derivatives

    def _pull_back(self, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        n, degree = self._n, self._degree
        first = len(inputs) - (2 if self._forced else 1) * n
        gs, ps = (x if isinstance(x, tuple) else (x,) for x in (g, p))
        xs = inputs[:first]
        along = self._along()
        ys = [self._few(series[:degree]) for series in ps]
        others = xs if self._linear else (*xs, *ys)
        w = [self._few(series) for series in self._seeds(along, others, gs)]
        found = adjoints_by(along, False, (*xs, *ys, *w)) | adjoints_by(along, True, (*others, *w))
        found = {k: along._own(k, adjoint) for k, adjoint in found.items()}
        starts = [
            series[0] + (found[first + k][0] if along._is_series(first + k) else found[first + k])
            for k, series in enumerate(gs)
        ]
        forcing = [np.flip(self._many(series), 0) for series in w if self._forced]
        return (*[found.get(k) for k in range(first)], *starts, *forcing)

    def _along(self) -> Taylor:
        """F along the solution."""
        n, degree = self._n, self._degree
        have_lanes = (*self._have_lanes, *[self._lanes is not None] * n)
        return Taylor(self._of, (*self._given, *[degree] * n), degree - 1, self._lanes, have_lanes)

    def _seeds(self, along: Taylor, others: Sequence[Any], gs: Sequence[Any]) -> Sequence[Any]:
        """The adjoint of F along the solution, read backwards, for that of the coefficients."""
        degree = self._degree
        starts = [series[degree] / self._divisors[-1] for series in gs]
        if degree == 1:
            return [x[None] for x in starts]
        given = tuple(min(count, degree - 1) for count in along._given[: len(others)])
        have_lanes = along._have_lanes[: len(others)]
        back = Recurrence(self._adjoint(), self._n, given, self._divisors[-2::-1], self._lanes, have_lanes, True)
        forcing = [np.flip(series[1:degree], 0) for series in gs]
        cut = [
            (x[:count] if count > 1 or wide else x[0]) if count < was else x
            for x, count, was, wide in zip(others, given, along._given, have_lanes, strict=False)
        ]
        return called(back, (*cut, *starts, *forcing))

    def _few(self, series: Any) -> Any:
        """Coefficients as `Taylor` takes them: a single one without its axis, if there are no lanes."""
        return series[0] if len(series) == 1 and self._lanes is None else series

    def _many(self, series: Any) -> Any:
        """The way back."""
        return series[None] if self._degree == 1 and self._lanes is None else series

    def _adjoint(self) -> Program:
        """The adjoint program by y alone."""
        key = ("by the solution", self._n, rules_epoch())
        known = self._of._known_series
        if key not in known:
            made = adjoint_of(self._of, bool(self._linear))
            known[key] = selected(made, list(made._last._outputs)[-self._n :])
        found: Program = known[key]
        return found

    # ---- series of it

    def _along_curve(self, values: Sequence[Any], counts: Sequence[int], degree: int) -> list[Any]:
        """The coefficients by s: those of y by t and s are a recurrence of those by s, and y has them all, as has σ."""
        if self._of._last._guards:
            raise NotClosedError("a recurrence that branches")
        own = (*self._of.input_types, *(self._of.input_types[-self._n :] if self._forced else ()))
        first = len(self._of.input_types) - self._n
        moves = tuple(count > 1 or k >= first for k, count in enumerate(counts))
        placed = inside(values, counts, moves, self.input_types, own, degree)
        both = Recurrence(by_curve(self._of, moves[: len(self._of.input_types)], degree), *self._key)
        return [np.moveaxis(x, 1 if self._lanes is None else 2, 0) for x in called(both, placed)]

    # ---- running

    def _native(self, *avals: AbstractValue) -> Series:
        key = ("recurrence", *self._key, rules_epoch())
        known = self._of._known_series
        if key not in known:
            try:
                known[key] = self._series()
            except NotClosedError as error:
                raise NoRuleError(f"{error} has no Taylor arithmetic") from None
        found: Series = known[key]
        return found

    def _series(self) -> Series:
        nodes, last = self._of._input_nodes(), self._of._last
        graph, outputs = last._graph, list(last._outputs)
        guards = [(node, was) for node, was, _ in guard_rows(graph)[: last._guards]]
        first, degree, wide = len(nodes) - self._n, self._degree, self._lanes is not None
        given = [*self._given, *[degree + 1] * self._n]
        have_lanes = [*self._have_lanes, *[wide] * self._n]
        if self._forced:
            whole = self._with_forcing()
            graph, outputs, nodes = whole._last._graph, list(whole._last._outputs), whole._input_nodes()
            guards = []  # those of the program whose adjoint it is have been compared there
            given, have_lanes = [*given, *[degree] * self._n], [*have_lanes, *[wide] * self._n]
        arithmetic = Arithmetic(graph, nodes, outputs, guards, given, degree)
        series = arithmetic.series(self._lanes or 1, have_lanes, True, first)
        if self._divisors != natural(degree):
            series.divide_by(self._divisors)
        return series

    def _with_forcing(self) -> Program:
        """The program of F + σ, from (x, y, σ)."""
        last, nodes, n = self._of._last, self._of._input_nodes(), self._n

        def slopes(*values: Any) -> list[Any]:
            found = inline(last._graph, list(last._outputs), nodes, list(values[:-n]))
            return [f + sigma for f, sigma in zip(found, values[-n:], strict=True)]

        return recorded(slopes, [*self._of.input_types, *self._of.input_types[-n:]])

    def _run(self, values: tuple[Any, ...]) -> Sequence[Any]:
        found = self._native().run(values)
        if found is None:
            given = zip(values, [*self._given, *[1] * self._n], strict=False)
            self._of._run(tuple(x[0] if count > 1 else x for x, count in given))
            raise RuntimeError("a recurrence failed where its program did not; this is an error in hoad")
        return [np.reshape(x, aval.shape) for x, aval in zip(found, self.output_types, strict=True)]


@restoring
def _restored(
    program: Program, n: int, given: Any, divisors: Any, lanes: int | None, have_lanes: Any, forced: bool
) -> Recurrence:
    """A recurrence out of a pickle."""
    whole_number(n, 1, len(program.output_types), "the number of unknowns of a recurrence")
    first = len(program.input_types) - n
    if len(program.output_types) != n or program.input_types[first:] != program.output_types or len(given) != first:
        raise refusal("a recurrence gives other unknowns than it takes")
    if type(divisors) is not tuple or not divisors or not all(type(x) is float for x in divisors):
        raise refusal(f"a recurrence has the divisors {divisors!r}")
    for count in given:
        whole_number(count, 1, len(divisors), "a number of coefficients")
    truths((*have_lanes, forced), first + 1, "what has lanes")
    if lanes is not None:
        whole_number(lanes, 1, MOST_DEGREE, "the number of lanes")
    made = Recurrence(program, n, tuple(given), divisors, lanes, tuple(have_lanes), forced)
    for aval in (*made.input_types, *made.output_types):
        checked_aval(*aval_key(aval))
    return made


def natural(degree: int) -> tuple[float, ...]:
    """The divisors of integrals."""
    return tuple(float(m + 1) for m in range(degree))
