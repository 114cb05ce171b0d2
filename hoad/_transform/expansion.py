"""Taylor expansion of programs: one node, which is differentiated as the program within it is.

Truncated power series are numbers of a kind: a program runs on them as on any others. So the adjoint of an expansion is
the expansion of the adjoint program: where y(t) = P(x(t)), and P* pulls back ȳ to x̄ at x, the adjoints of the
coefficients of x are those of P* along x(t) for ȳ(t) = Σ ȳₙ₋ₖ tᵏ, read backwards.

References
----------
Griewank and Walther (2008), Evaluating Derivatives, section 13.3. Christianson (1992), Reverse accumulation and
accurate rounding error estimates for Taylor series coefficients, Optimization Methods and Software 1, 81-94.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.base.call_watch import unwatched
from hoad._core.graph.inspect import guard_rows, node_row, operand_avals
from hoad._core.graph.primitive import rules_epoch
from hoad._core.graph.tape import AbstractValue, aval_key, checked_aval
from hoad._core.kernels.native_call import NativeCall
from hoad._core.kernels.ufuncs import strong_multiply
from hoad._core.record.recording import Recording, differentiating, inline, is_pointwise, takes_apart
from hoad._core.taylor.series import NotClosedError, Series
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import as_argument, holds_traced
from hoad._core.trace.context import reset_in_context, set_in_context
from hoad._core.trace.traced import is_traced, representing_as, traced_node
from hoad._numpy.spectra import taylor_of
from hoad._ops.primitives import EIGH, STOP_GRADIENT, SVDS
from hoad._program.callee import Callee, Strong, called
from hoad._program.pickling import refusal, restoring, truths, whole_number
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._pytree.containers import Parts, is_float, without_labels
from hoad._transform.adjoint import adjoints_by
from hoad._transform.composite import Apart, Stretch, hold_guards, program_of
from hoad._transform.curves import program_along
from hoad._transform.programs import recorded
from hoad._transform.taylor_arithmetic import Arithmetic
from hoad._transform.taylor_of_loops import given_aval, series_aval, stages_of, whole

# The degree to which what is recorded is expanded, for those who choose how exactly they compute.
EXPANDING = ContextVar("hoad_expanding", default=0)

MOST_DEGREE = 2**31 - 1  # of an expansion out of a pickle
FIRST_STEP = 21  # the lowest degree at which coefficients are so much smaller than derivatives that it may matter
MENDED = 6  # the order to which what is smooth beside equal eigenvalues is found by tangents of tangents
CLOSE = 1e-2  # the gap, beside the largest, from which on a series of eigenvectors has lost more digits than they have
LARGEST_TABLE = 1 << 25  # of divided differences, times the orders of their directions
UNCERTAIN = 1e-3  # the relative error of a coefficient, by the gap, from which on it is nan
FACTORIALS = np.array([float(math.factorial(k)) for k in range(FIRST_STEP)])
FACTORIALS.flags.writeable = False


class Taylor(Callee):
    """The coefficients of order 0, ..., `degree` of what a program gives, for those of its inputs.

    An input of which several are `given` is an array of coefficients along axis 0, the others being zero; one of which
    one is given is constant, and as it is. With `lanes`, the results have so many along axis 1, and so have the inputs
    that `have_lanes`. If `scaled`, the results are derivatives, of series by the step `step_for` this degree.
    """

    _described = "the adjoint of a Taylor expansion"

    def __init__(
        self,
        inner: Callee,
        given: tuple[int, ...],
        degree: int,
        lanes: int | None,
        have_lanes: tuple[bool, ...],
        scaled: bool = False,
    ) -> None:
        self._inner, self._given, self._degree, self._lanes, self._have_lanes = inner, given, degree, lanes, have_lanes
        self._scaled = scaled
        self._fixed, self._linear = inner._fixed, inner._linear
        self.input_types = tuple(
            given_aval(aval, n, lanes if wide else None)
            for aval, n, wide in zip(inner.input_types, given, have_lanes, strict=True)
        )
        self.output_types = tuple(series_aval(aval, degree + 1, lanes) for aval in inner.output_types)

    @property
    def _identity(self) -> Any:
        return "taylor", self._inner._identity, *self._key

    @property
    def _key(self) -> tuple[Any, ...]:
        return self._given, self._degree, self._lanes, self._have_lanes, self._scaled

    @property
    def _is_odd(self) -> bool:
        return self._inner._is_odd

    # ---- derivatives

    def _derived(self, linear: bool) -> Taylor:
        """The expansion of the adjoint program; its seeds and results are series read backwards."""
        seeds = sum(aval.inexact for aval in self._inner.output_types)
        kept = len(self.input_types) - (self._linear if linear else 0)
        given = (*self._given[:kept], *[self._degree + 1] * seeds)
        have_lanes = (*self._have_lanes[:kept], *[self._lanes is not None] * seeds)
        return Taylor(self._inner._derived(linear), given, self._degree, self._lanes, have_lanes)

    def _with_strong(self, strong: Strong) -> Taylor:
        return Taylor(self._inner._with_strong(strong), *self._key)

    def _strong_seeds(self) -> Strong:
        return self._inner._strong_seeds()

    def _strong_results(self) -> Strong:
        return self._inner._strong_results()

    def _pull_back(self, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        given = zip(g if isinstance(g, tuple) else (g,), self.output_types, strict=True)
        seeds = tuple(np.flip(self._times_factorials(seed), 0) for seed, aval in given if aval.inexact)
        if not self._degree and self._lanes is None:
            seeds = tuple(seed[0] for seed in seeds)  # a series of one coefficient is given as it is
        others = inputs[: len(inputs) - self._linear]
        found = adjoints_by(self, False, (*inputs, *seeds)) | adjoints_by(self, True, (*others, *seeds))
        return tuple(self._own(k, found[k]) if k in found else None for k in range(len(inputs)))

    def _times_factorials(self, series: Any) -> Any:
        """k!/hᵏ times row k of coefficients, if the results are scaled."""
        if not self._scaled:
            return series
        return strong_multiply(series, np.reshape(factorials(self._degree), (-1, *[1] * (np.ndim(series) - 1))))

    def _own(self, k: int, adjoint: Any) -> Any:
        """The adjoint of the coefficients that input k has, from a series read backwards."""
        own = np.flip(adjoint, 0)[: self._given[k]]
        own = own if self._lanes is None or self._have_lanes[k] else np.sum(own, axis=1)
        return own if self._is_series(k) else own[0]

    def _is_series(self, k: int) -> bool:
        return self._given[k] > 1 or self._have_lanes[k]

    # ---- series of it

    def _along_curve(self, values: Sequence[Any], counts: Sequence[int], degree: int) -> list[Any]:
        """The coefficients by s: those by t and s are the coefficients by t of a program that gives those by s.

        Branches of the program are guarded where this node was recorded, and so where it is expanded.
        """
        program = self._program()
        moves = tuple(count > 1 for count in counts)
        placed = inside(values, counts, moves, self.input_types, program.input_types, degree)
        both = Taylor(by_curve(program, moves, degree), *self._key)
        return [np.moveaxis(x, 1 if self._lanes is None else 2, 0) for x in called(both, placed)]

    # ---- running

    def _program(self) -> Program:
        """What is expanded."""
        return self._inner if isinstance(self._inner, Program) else self._inner._made()  # type: ignore[attr-defined]

    def _entered(self, values: tuple[Any, ...]) -> tuple[Program, tuple[Any, ...]] | None:
        if self._scaled or self._lanes is not None or _values_of_factors(self._program())[0] is not None:
            return None
        spelled = self._spelled()
        return None if spelled is None else (spelled, values)

    def _native(self, *avals: AbstractValue) -> NativeCall | None:
        if _values_of_factors(self._program())[0] is not None:
            return None  # what is nan may have to be mended
        series = series_of(self._program(), *self._key)
        if series is not None or self._lanes is not None or self._program()._last._guards:
            return series
        spelled = None if self._scaled else self._spelled()
        return None if spelled is None else spelled._native(*avals)

    def _run(self, values: tuple[Any, ...]) -> Sequence[Any]:
        series = series_of(self._program(), *self._key)
        if series is None:
            if self._program()._last._guards:
                self._check(values)
            spelled = self._spelled()
            rows = self._by_programs(values, spelled)
            return rows if spelled is None else self._mended(values, rows)
        found = series.run(values)
        if found is None:
            self._check(values)
            raise RuntimeError("an expansion failed where its program did not; this is an error in hoad")
        results = [np.reshape(x, aval.shape) for x, aval in zip(found, self.output_types, strict=True)]
        return self._mended(values, results)

    def _mended(self, values: tuple[Any, ...], results: list[Any]) -> list[Any]:
        """With tangents of tangents in place of low orders, where a matrix has equal or close eigenvalues.

        A series takes the factors of a matrix for smooth functions, which they are not there, though what is made of
        them may be. Of higher orders, those of which rounding leaves nothing are nan.
        """
        if not self._degree or _values_of_factors(self._program())[0] is None:
            return results
        gaps, size = self._closest(values)
        if np.all(gaps >= CLOSE) and all(np.isfinite(x).all() for x in results):
            return results
        low = 0
        if not _step_exponent(self._degree):
            work = [math.factorial(k) * max(size, 2) ** (k + 1) for k in range(1, min(self._degree, MENDED) + 1)]
            low = sum(x <= LARGEST_TABLE for x in work)
        with np.errstate(divide="ignore", over="ignore"):
            errors = np.finfo(float).eps / gaps ** np.arange(self._degree)[:, None]
        for row, lane in np.argwhere(errors > UNCERTAIN):
            for x in results if row >= low else ():
                item = x[row + 1, ...] if self._lanes is None else x[row + 1, lane, ...]
                item[item != 0.0] = np.nan  # what is 0 does not depend on them
        if not low:
            return results
        given = tuple(min(n, low + 1) for n in self._given)
        lower = Taylor(self._inner, given, low, self._lanes, self._have_lanes, self._scaled)
        first = [x[: low + 1] if n > 1 else x for n, x in zip(self._given, values, strict=True)]
        found = lower._by_programs(tuple(first), tangents_of(lower._program(), given, low))
        for x, y in zip(results, found, strict=True):
            x[: low + 1] = np.reshape(y, x[: low + 1].shape)
        return results

    def _closest(self, values: tuple[Any, ...]) -> tuple[np.ndarray, int]:
        """The least gap between eigenvalues beside the largest, of each lane; and how many a matrix has at most."""
        factors, by_reciprocals = _values_of_factors(self._program())
        least, size = np.ones(self._lanes or 1), 1
        for lane in range(self._lanes or 1):
            found = factors._run(tuple(self._in_lane(k, x, lane, 0) for k, x in enumerate(values))) if factors else ()
            for w, by_reciprocal in zip(found, by_reciprocals, strict=True):
                # As if 0 were one more value.
                more = np.zeros((*w.shape[:-1], int(by_reciprocal)))
                gaps = np.abs(np.diff(np.concatenate([w, more], axis=-1), axis=-1))
                largest = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)
                ratios = np.divide(gaps, largest, out=np.zeros_like(gaps), where=largest > 0.0)
                least[lane] = min(least[lane], np.min(ratios, initial=1.0))
                size = max(size, w.shape[-1])
        return least, size

    def _check(self, values: tuple[Any, ...]) -> None:
        """Raise for a branch that is not taken here, lane by lane."""
        for lane in range(self._lanes or 1):
            self._program()._run(tuple(self._in_lane(k, x, lane, 0) for k, x in enumerate(values)))

    def _in_lane(self, k: int, x: Any, lane: int, order: Any = slice(None)) -> Any:
        if not self._is_series(k):
            return x
        return np.asarray(x)[(order, lane) if self._have_lanes[k] and self._lanes is not None else order]

    def _by_programs(self, values: tuple[Any, ...], program: Program | None = None) -> list[Any]:
        """Lane by lane, for programs that are not rows of series."""
        program = program or self._spelled() or tangents_of(self._program(), self._given, self._degree)
        lanes = [
            program._run(tuple(self._in_lane(k, x, lane) for k, x in enumerate(values)))
            for lane in range(self._lanes or 1)
        ]
        found = lanes[0] if self._lanes is None else [np.stack(x, axis=1) for x in zip(*lanes, strict=True)]
        with np.errstate(over="ignore", invalid="ignore"):  # as for rows of series: who asked is told
            return [
                self._times_factorials(x).astype(aval.dtype) for x, aval in zip(found, self.output_types, strict=True)
            ]

    def _spelled(self) -> Program | None:
        """The program of its coefficients, made once: by loops and calls, or by its arithmetic; None without either."""
        program = self._program()
        key = ("spelled", self._given, self._degree, rules_epoch())
        if key not in program._known_series:
            program._known_series[key] = stages_of(program, self._given, self._degree, self._of) or self._along()
        found: Program | None = program._known_series[key]
        return found

    def _along(self) -> Program | None:
        """The same for a program without loops and calls."""
        program = self._program()
        try:
            return program_along(program, arithmetic_of(program, self._given, self._degree))
        except NotClosedError:
            return None

    def _of(self, inner: Callee, given: tuple[int, ...]) -> Taylor:
        """The expansion of another program, to the same order."""
        return Taylor(inner, given, self._degree, None, (False,) * len(given))

    def __reduce__(self) -> Any:
        return _restored, (self._inner, *self._key)

    def __repr__(self) -> str:
        return f"<Taylor expansion to order {self._degree} of {self._inner!r}>"


def _values_of_factors(program: Program) -> tuple[Program | None, list[bool]]:
    """The program of the eigenvalues and singular values in a program, or None; and whose vectors divide by these.

    Those of oblong matrices, beside what lies outside of their spaces; and of complex ones, whose pairs have phases.
    """
    key = ("factors",)
    if key not in program._known_series:
        last = program._last
        kinds = [(k, node_row(last._graph, k)) for k in range(last._end)]
        found = [(k, row) for k, row in kinds if row[0] in (EIGH, *SVDS)]
        nodes = [k + (row[0] in SVDS) for k, row in found]
        window = program._first._start, last._end, program._first._first_guard, last._guards
        tape = Tape(last._graph, window, program._input_nodes(), nodes, "primal", False)
        avals = operand_avals(last._graph, [row[1][0] for _, row in found])
        by_reciprocals = [
            row[0] in SVDS and (x.shape[-2] != x.shape[-1] or x.dtype.kind == "c")
            for x, (_, row) in zip(avals, found, strict=True)
        ]
        program._known_series[key] = Program([tape]) if nodes else None, by_reciprocals
    known: tuple[Program | None, list[bool]] = program._known_series[key]
    return known


@restoring
def _restored(inner: Callee, given: Any, degree: int, lanes: int | None, have_lanes: Any, scaled: bool) -> Taylor:
    """An expansion out of a pickle."""
    if not isinstance(inner, (Program, Stretch)):
        raise refusal(f"an expansion is of {inner!r}")
    degree = whole_number(degree, 0, MOST_DEGREE, "the degree of an expansion")
    for n in given:
        whole_number(n, 1, degree + 1, "a number of coefficients")
    truths((*have_lanes, scaled), len(given) + 1, "what has lanes")
    if lanes is not None:
        whole_number(lanes, 1, MOST_DEGREE, "the number of lanes")
    made = Taylor(inner, tuple(given), degree, lanes, tuple(have_lanes), scaled)
    for aval in (*made.input_types, *made.output_types):
        checked_aval(*aval_key(aval))
    return made


def by_curve(program: Program, moves: tuple[bool, ...], degree: int) -> Program:
    """The program of the coefficients of the results by s, for those of the inputs that move."""
    given = tuple(degree + 1 if moved else 1 for moved in moves)
    made = Taylor(program, given, degree, None, (False,) * len(given))._spelled()
    if made is None:
        raise NotClosedError("an expansion of what has no series")
    made._fixed, made._linear = program._fixed, program._linear
    return made


def inside(
    values: Sequence[Any],
    counts: Sequence[int],
    moves: Sequence[bool],
    outer: Sequence[AbstractValue],
    own: Sequence[AbstractValue],
    degree: int,
) -> list[Any]:
    """The coefficients by s of those that move, behind the axes that are beside their own already."""
    return [
        np.moveaxis(whole(x, count, degree), 0, len(aval.shape) - len(item.shape)) if moved else x
        for x, count, moved, aval, item in zip(values, counts, moves, outer, own, strict=True)
    ]


def step_for(degree: int) -> float:
    """The step h, a power of two, in whose powers f(x + h t) is expanded where its derivatives are asked for.

    Coefficients become small, and k! large, until neither is a float; hᵏ f⁽ᵏ⁾/k! is of the size of a derivative
    where hⁿ is about n!.
    """
    return math.ldexp(1.0, _step_exponent(degree))


def _step_exponent(degree: int) -> int:
    if degree < FIRST_STEP:
        return 0
    bits = math.lgamma(degree + 1) / math.log(2.0)
    return math.ceil(bits / degree - min(0.5, 1000 / degree))  # n!/hⁿ is a float at any degree


def factorials(degree: int) -> np.ndarray:
    """k!/hᵏ, what coefficients by the step h are multiplied by to be derivatives."""
    if degree < FIRST_STEP:
        return FACTORIALS[: degree + 1]
    exponent = _step_exponent(degree)
    return np.array([math.factorial(k) / (1 << exponent * k) for k in range(degree + 1)])


def series_of(
    program: Program, given: tuple[int, ...], degree: int, lanes: int | None, have_lanes: tuple[bool, ...], scaled: bool
) -> Series | None:
    """The Taylor arithmetic of a program, made once; None where it has none."""
    key = ("series", given, degree, lanes, have_lanes, scaled, rules_epoch())
    if key not in program._known_series:
        found: Series | None
        try:
            inputs = [aval for aval in program.input_types if aval.inexact]
            if any(aval.dtype != np.float64 for aval in (*inputs, *program.output_types)):
                raise NotClosedError("numbers that are not float64")
            found = arithmetic_of(program, given, degree).series(lanes or 1, have_lanes)
            if scaled:
                found.scale_by(factorials(degree))
        except NotClosedError:
            found = None
        program._known_series[key] = found
    known: Series | None = program._known_series[key]
    return known


def arithmetic_of(program: Program, given: Sequence[int], degree: int) -> Arithmetic:
    """The Taylor arithmetic of a program."""
    last = program._last
    guards = [(node, was) for node, was, _ in guard_rows(last._graph)[: last._guards]]
    return Arithmetic(last._graph, program._input_nodes(), list(last._outputs), guards, given, degree)


def tangents_of(program: Program, given: tuple[int, ...], degree: int) -> Program:
    """The program of all coefficients, by tangents of tangents along the curve."""
    key = ("tangents", given, degree, rules_epoch())
    if key in program._known_series:
        known: Program = program._known_series[key]
        return known

    def coefficients(*series: Any) -> list[Any]:
        with differentiating() as d:
            t = d.input(0.0)
            node = d.inputs[0]
            values = [
                _polynomial(x, t).astype(aval.dtype) if n > 1 else x  # t may have a wider one
                for x, n, aval in zip(series, given, program.input_types, strict=True)
            ]
            last = program._last
            ys = [d.operand(y) for y in inline(last._graph, list(last._outputs), program._input_nodes(), values)]
            del t, values
            orders = [ys]
            for _ in range(degree):
                ys = d.or_zeros(d.tangents(ys, [node], [d.ones(node)]), ys)
                orders.append(ys)
            found = d.results(list(itertools.chain(*orders)), traced=True)
        n = len(ys)
        columns = [[found[k * n + i] / math.factorial(k) for k in range(degree + 1)] for i in range(n)]
        return [np.stack(column) for column in columns]

    avals = [given_aval(aval, n) for aval, n in zip(program.input_types, given, strict=True)]
    made = program._known_series[key] = recorded(coefficients, avals)
    return made


def _polynomial(coefficients: Any, t: Any) -> Any:
    """Σ cₖ tᵏ at t = 0, where a coefficient that is nan has no part in lower orders."""
    found = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        found = coefficients[k] + strong_multiply(t, found)
    return found


class Expansion:
    """f recorded apart, to be expanded along curves.

    f is called once, at `points`. A curve gives the coefficients of a point from order 1 on, along axis 0 (then
    `lanes`, if given, which the results have then too); None is for a point that stays. Points and curves may be
    traced. If `scaled`, the results are derivatives, and curves are by the step `step_for` this degree.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        points: Sequence[Any],
        curves: Sequence[Any],
        degree: int,
        lanes: int | None = None,
        scaled: bool = False,
    ) -> None:
        token = set_in_context(EXPANDING, EXPANDING.get() + degree)
        try:
            apart = Apart(of_floats(f), points, any_float, expanded=True)
        finally:
            reset_in_context(EXPANDING, token)
        self.parts: Parts = apart.parts  # what f returned, without its numbers and arrays
        self._points = len(points)
        around = [traced_node(apart.graph, k) for k in apart.segment.outer]
        unwatched(self._prepare, (apart, curves, len(around), degree, lanes, scaled))
        series = [x if c is None else _series(x, c, lanes) for x, c in zip(points, curves, strict=True)]
        self.values = (*apart.constants, *series, *around)  # the inputs of the callee, some of them traced
        self.around = len(around)
        hold_guards(self.program, (*apart.constants, *points, *around))

    def _prepare(
        self, apart: Apart, curves: Sequence[Any], around: int, degree: int, lanes: int | None, scaled: bool
    ) -> None:
        """Make the program and the callee of what was recorded, with so many values around it."""
        given = (*[1] * len(apart.constants), *[1 if c is None else 1 + len(c) for c in curves], *[1] * around)
        have_lanes = tuple(lanes is not None and n > 1 for n in given)
        self.program = program_of(apart.segment)
        self.callee = Taylor(Stretch(self.program), given, degree, lanes, have_lanes, scaled)  # gives the coefficients

    def results(self) -> Any:
        """What f returned, with coefficients of order 0, ..., `degree` along axis 0 for its numbers and arrays."""
        return self.parts.filled(self.coefficients())

    def coefficients(self) -> Sequence[Any]:
        """Those of each number and array that f returned."""
        if not self.program.output_types:
            return ()
        if holds_traced(self.values):
            found: Sequence[Any] = called(self.callee, self.values)
            return found
        return self.callee._run(self.values)

    def is_pointwise(self) -> bool:
        """Whether what f returned depends on its one point item by item, as far as can be seen."""
        last = self.program._last
        point = self.program._input_nodes()[self.program._fixed]
        return all(k < 0 or is_pointwise(last._graph, 0, [point], k) for k in last._outputs)

    def takes_apart(self) -> bool:
        """Whether what f returned may fail to be holomorphic in points that are complex."""
        fixed, end = self.program._fixed, self.program._fixed + self._points
        avals = self.callee._inner.input_types[fixed:end]
        if not any(aval.is_complex for aval in avals):
            return False
        last, nodes = self.program._last, self.program._input_nodes()[fixed:end]
        points = [k for k, aval in zip(nodes, avals, strict=True) if aval.is_complex]
        return any(k >= 0 and takes_apart(last._graph, 0, points, k) for k in last._outputs)

    def first_missing(self) -> tuple[int, int, str | None, bool] | None:
        """(order, node, line, whether it is nan) of the first coefficient that is not finite, the lowest order of all.

        None if all are.

        Nodes that have no finite value themselves are left out.
        """
        last = self.program._last
        every = list(range(last._start, last._end))
        avals = operand_avals(last._graph, every)
        nodes = [k for k, aval in zip(every, avals, strict=True) if aval.inexact]
        window = last._start, last._end, last._first_guard, last._guards
        tape = Tape(last._graph, window, list(last._inputs), nodes, "primal", False)
        callee = Taylor(Program([tape]), *self.callee._key)
        found = callee._run(self.values)
        missing = [(_first_not_finite(c), k) for c, k in zip(found, nodes, strict=True)]
        missing = [(order, k) for order, k in missing if order]
        if not missing:
            return None
        order, node = min(missing)
        is_nan = bool(np.isnan(found[nodes.index(node)][order]).any())
        return order, node, last._graph.where(node), is_nan


def expansion_at(f: Callable[..., Any], x: Any, degree: int, scaled: bool) -> Expansion:
    """f(x + t) in powers of t, or with the derivatives at t = 0, for a traced x.

    t is an input of its own: a series of x would have to be put together first, item by item.
    """
    step = step_for(degree) if scaled else 1.0
    if degree and x.dtype == np.float64:
        zero = -0.0  # to which zeros of both signs can be added
        curve = np.array([step])

        def moved(x: Any, t: Any) -> Any:
            return compared(f, (as_argument(representing_as(x + t, x)),), {}, "taylor")

        return Expansion(moved, [x, zero], [None, curve], degree, None, scaled)
    return Expansion(f, [x], [np.full((1, *np.shape(x)), step, x.dtype) if degree else None], degree, None, scaled)


def _first_not_finite(coefficients: Any) -> int:
    """The order of the first coefficient that is not finite; 0 where none is, or the value is not."""
    bad = ~np.isfinite(np.reshape(coefficients, (len(coefficients), -1))).all(axis=1)
    return int(np.argmax(bad)) if bad.any() else 0


def expand(
    f: Callable[..., Any], points: Sequence[Any], curves: Sequence[Any], degree: int, lanes: int | None = None
) -> Any:
    """What f returns, expanded along curves: see `Expansion`."""
    return Expansion(f, points, curves, degree, lanes).results()


def _at_each(f: Callable[[Any], Any], x: Any, degree: int) -> tuple[Any, Any] | None:
    """The coefficients of f(x + t) of each item, for an f that works item by item; and those where x is held.

    None for an f without a Taylor arithmetic, for which so many would take too long.
    """
    curve = np.ones((1, *x.shape), x.dtype)
    expansion = Expansion(f, [x], [curve], degree)
    callee = expansion.callee
    if series_of(callee._program(), *callee._key) is None and callee._spelled() is None:
        return None
    own = len(expansion.values) - expansion.around - 1
    held = list(expansion.values)
    held[own] = _series(apply_primitive(STOP_GRADIENT, None, x), curve, None)
    return expansion.coefficients()[0], called(callee, held)[0]


taylor_of.append(_at_each)


def of_floats(f: Callable[..., Any]) -> Callable[..., Any]:
    """f, of which an integer or a boolean, if that is all that it returns, is a float."""

    def of(*points: Any) -> Any:
        y = without_labels(compared(f, points, {}, "taylor"))
        return np.multiply(y, 1.0) if _is_integral(y) else y

    return of


def _is_integral(y: Any) -> bool:
    if isinstance(y, (np.ndarray, np.generic)):
        return y.dtype.kind in "biu"
    return isinstance(y, int)


def any_float(d: Recording, leaf: Any) -> int | None:
    """The operand of a number or array that was returned, traced or not; of booleans and integers as floats."""
    if is_traced(leaf) and leaf.dtype.kind not in "fc":
        leaf = leaf * 1.0
    if is_traced(leaf) or (isinstance(leaf, np.ndarray) and holds_traced(leaf)) or is_float(leaf):
        return d.operand(leaf)
    return None


def _series(x: Any, curve: Any, lanes: int | None) -> Any:
    """A point and the coefficients of its curve, one array."""
    if type(x) is float and type(curve) is np.ndarray and lanes is None and curve.ndim == 1:
        return np.array([x, *curve.tolist()])  # without NumPy's dispatch, of which a first call would see much
    if lanes is None:
        first = np.reshape(x, (1, *np.shape(x))) if is_traced(x) else np.asarray(x)[None]
    else:
        first = np.broadcast_to(x, (1, lanes, *np.shape(x)))
    return np.concatenate([first, curve])
