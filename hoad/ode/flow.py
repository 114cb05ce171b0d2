"""The flow of a differential equation as one operation, whose derivative is the flow of the adjoint equation.

Where ``y' = F(t, θ, y)`` and λ is the adjoint of y at the end, the adjoints of all that the flow depends on are the
solution of ``λ' = -λᵀ ∂F/∂y``, ``θ̄' = -λᵀ ∂F/∂θ`` backwards in time. That is linear in λ, along the path y(t), and a
flow again: so flows are closed under differentiation, one rule gives every mode and order, and no step is kept.

A flow has several blocks of unknowns, each driven by those before it, and each with a direction in which it runs. The
first blocks may be a path, known at the times asked for; the others are carried. The adjoint of a flow has all its
blocks for a path, and carries their adjoints, last block first, each against the direction of its block.

Between times the path is not kept either, but found anew beside what is carried. Against its own direction that may be
unstable: an error grows where solutions approach each other. So it starts afresh at each of the times; where it misses
what is known at the next, the way there is halved, and the middle found in the path's own direction.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hoad._core.graph.primitive import rules_epoch
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.record.recording import inline
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._program.callee import Callee, Strong
from hoad._program.pickling import refusal, restoring, truths, whole_number
from hoad._program.program import Program
from hoad._transform.adjoint import extended, strong_results
from hoad._transform.loops import Loop
from hoad._transform.programs import recorded
from hoad.errors import ArgumentError
from hoad.ode.schemes import attempted
from hoad.ode.steps import Method, Steps, Values, norm
from hoad.rules.callee_primitives import declare_family

# A path has missed where it is off by so many tolerances of one step, and strayed where it is so many times as large as
# at the ends of its way.
MISSED = 100.0
STRAYED = 100.0


class Block(NamedTuple):
    """Unknowns that run together: how many values, and whether from the first time to the last, or back."""

    size: int
    forwards: bool

    @property
    def against(self) -> Block:
        """The block of its adjoint."""
        return Block(self.size, not self.forwards)


class Given(NamedTuple):
    """The inputs of a flow by their kind: values, or rows over the times."""

    times: Any
    held: Values
    lefts: Values  # the path, value by value, where the intervals between times begin, and where they end
    rights: Values
    forcing: Values
    impulses: Values  # what is added to the carried at each time; where a block starts, what it starts with


class Flow(Callee):
    """What flows by ``(t, *path, *carried, *held, *forcing) -> (*slopes of the carried, *integrands)``.

    It gives the carried at all times, and the integrals of the integrands over them. Along a path, whose slopes are
    another program, ``(t, *path, *held) -> slopes``, all that is linear in what is carried, forcing and impulses.
    """

    def __init__(
        self,
        program: Program,
        along: Program | None,
        path: tuple[Block, ...],
        carried: tuple[Block, ...],
        counts: tuple[int, int],
        methods: tuple[Method, Method],
    ) -> None:
        self.program, self.along = program, along
        self.path, self.carried = path, carried
        self.n_held, self.n_forcing = counts
        self.methods = methods  # of the first block, and of those that are adjoints
        self.n_path, self.n_carried = (sum(block.size for block in blocks) for blocks in (path, carried))
        self._linear = self.n_forcing + self.n_carried if self.path else 0
        self._made: dict[Any, Any] = {}

    def __reduce__(self) -> Any:
        return _from_pickle, (
            *(self.program, self.along, self.path, self.carried),
            *((self.n_held, self.n_forcing), self.methods),
        )

    def _check_operands(self, avals: tuple[AbstractValue, ...]) -> None:
        if len(avals) != 1 + self.n_held + 2 * self.n_path + self.n_forcing + self.n_carried:
            raise refusal(f"a flow is given {len(avals)} operands")

    def __repr__(self) -> str:
        return f"<Flow: {self.n_carried} carried along {self.n_path}>"

    # ---- as an operation

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, each driven by those before it."""
        return self.path + self.carried

    def results(self, length: int) -> tuple[AbstractValue, ...]:
        """Shape and dtype of every result."""
        avals, n = self.program.output_types, self.n_carried
        return (*[intern_aval(aval.dtype, (length, *aval.shape)) for aval in avals[:n]], *avals[n:])

    def given(self, inputs: tuple[Any, ...]) -> Given:
        """The inputs by their kind."""
        coming = iter(inputs[1:])
        counts = (self.n_held, self.n_path, self.n_path, self.n_forcing, self.n_carried)
        return Given(inputs[0], *[[next(coming) for _ in range(n)] for n in counts])

    def __call__(self, given: Given) -> tuple[Any, ...]:
        """Rows of the carried at all times, then the integrals; on traced values, the results of one node."""
        inputs = (given.times, *[x for part in given[1:] for x in part])
        if not holds_traced(inputs):
            return tuple(self.solve(given))
        found = apply_primitive(_declare(len(self.program.output_types)), (self,), *inputs)
        return found if isinstance(found, tuple) else (found,)

    def _strong_results(self) -> Strong:
        """Those integrals whose integrand is a strong zero; what is carried begins with anything."""
        return (0,) * self.n_carried + strong_results(self.program)[self.n_carried :]

    # ---- equations derived from it

    def adjoint(self) -> Flow:
        """The adjoint equation of all blocks, along all blocks: its integrals are the adjoints of what is held."""
        key = ("adjoint", rules_epoch())
        if key not in self._made:
            whole, n = self._whole(), self.n_path + self.n_carried
            nodes, (time, *avals) = whole._input_nodes(), whole.input_types
            order = reversed_order(self.blocks)
            by = [*[nodes[1 + k] for k in order], *[nodes[1 + n + k] for k in self.differentiable()]]
            program = _backwards(
                extended(whole, "symbolic", True, by),
                order,
                [time, *avals[:n], *[avals[k] for k in order], *avals[n:], *whole.output_types[n:]],
                (n, n, self.n_held + self.n_forcing),
            )
            counts = self.n_held + self.n_forcing, len(whole.output_types) - n
            carried = tuple(block.against for block in reversed(self.blocks))
            self._made[key] = Flow(program, whole, self.blocks, carried, counts, self.methods)
        found: Flow = self._made[key]
        return found

    def transposed(self) -> Flow:
        """The adjoint equation of what is carried and of forcing, along the same path."""
        key = ("transposed", rules_epoch())
        if key not in self._made:
            first, n, held = 1 + self.n_path, self.n_carried, self.n_held
            nodes, avals = self.program._input_nodes(), self.program.input_types
            order = reversed_order(self.carried)
            linear = [*[nodes[first + k] for k in order], *nodes[first + n + held :]]
            bars = extended(self.program, "symbolic", True, linear)
            bars._omitted |= frozenset(linear)  # being linear, it depends on none of them
            at = [avals[first + k] for k in order]
            inputs = [*avals[:first], *at, *avals[first + n : first + n + held], *self.program.output_types[n:]]
            program = _backwards(bars, order, inputs, (self.n_path, n, held))
            carried = tuple(block.against for block in reversed(self.carried))
            counts = held, len(self.program.output_types) - n
            self._made[key] = Flow(program, self.along, self.path, carried, counts, self.methods)
        found: Flow = self._made[key]
        return found

    def differentiable(self) -> list[int]:
        """Which of what is held has derivatives."""
        avals = self.program.input_types[1 + self.n_path + self.n_carried :]
        return [k for k in range(self.n_held) if avals[k].inexact]

    def _whole(self) -> Program:
        """The slopes of all blocks, and the integrands."""
        if self.along is None:
            return self.program
        return recorded(
            lambda t, *xs: self.slopes(t, xs[: self.n_path], xs[self.n_path :]), list(self.program.input_types)
        )

    def slopes(self, t: Any, path: Any, others: Any) -> list[Any]:
        """The slopes of all blocks, and the integrands, for traced values."""
        along: list[Any] = []
        if self.along is not None:
            held = others[self.n_carried : self.n_carried + self.n_held]
            along = applied(self.along, (t, *path, *held))[: self.n_path]
        return [*along, *applied(self.program, (t, *path, *others))]

    # ---- on plain numbers

    def solve(self, given: Given) -> Values:
        """What `__call__` gives."""
        scale = _largest([*given.impulses, *given.forcing]) if self.path else 1.0
        if not 0.0 < scale < np.inf:  # tolerances are relative to it: see _units
            return [np.full(aval.shape, scale * 0.0, aval.dtype) for aval in self.results(len(given.times))]
        return _Solution(self, given, self._units(given, scale)).found()

    def _units(self, given: Given, scale: float) -> list[float]:
        """What absolute tolerances are relative to: for y, 1, and for the blocks above, what they begin with."""
        found: list[float] = []
        for block in self.path:
            first, last = len(found), len(found) + block.size
            own = _largest([*given.lefts[first:last], *given.rights[first:last]]) or 1.0
            found += [own if found else 1.0] * block.size
        return [*found, *[scale] * len(self.program.output_types)]

    def attempt(self, i: int) -> Program:
        """The program of a step of the blocks up to i, and of the integrands where that is the last."""
        if ("attempt", i) not in self._made:
            time, *avals = self.program.input_types
            n, m = sum(block.size for block in self.blocks[: i + 1]), self.n_path + self.n_carried
            later = [np.zeros(aval.shape, aval.dtype)[()] for aval in avals[n:m]]

            def attempt(*values: Any) -> list[Any]:
                def slopes(state: Values, t: Any) -> Values:
                    state = [*state, *later]
                    found = self.slopes(t, state[: self.n_path], [*state[self.n_path :], *values[n + 2 :]])
                    return found if n == m else found[:n]

                return attempted(self.method(i).scheme, slopes, n, *values)

            self._made["attempt", i] = recorded(attempt, [*avals[:n], time, time, *avals[m:]])
        found: Program = self._made["attempt", i]
        return found

    def method(self, i: int) -> Method:
        """The method by which block i is found."""
        return self.methods[min(i, 1)]


def applied(program: Program, values: tuple[Any, ...]) -> list[Any]:
    """What a program gives for traced values: its operations once more, or a call of it, where it has guards."""
    last = program._last
    if last._guards:
        return program._applied(values)
    return inline(last._graph, list(last._outputs), program._input_nodes(), list(values))


def _largest(arrays: Values) -> float:
    return max((float(np.max(np.abs(x))) for x in arrays if np.size(x)), default=0.0)


def reversed_order(blocks: tuple[Block, ...]) -> list[int]:
    """The places of the values of blocks, last block first."""
    ends = np.cumsum([block.size for block in blocks]).tolist()
    return [k for block, end in zip(blocks[::-1], ends[::-1], strict=True) for k in range(end - block.size, end)]


def _restored(values: Values, order: list[int]) -> Values:
    """Values that stand in this order, each in its place."""
    return [values[order.index(k)] for k in range(len(order))]


def _backwards(bars: Program, order: list[int], inputs: list[AbstractValue], counts: tuple[int, int, int]) -> Program:
    """The equation of adjoints that stand in this order, from an adjoint program: its slopes have the sign turned.

    The adjoint program takes ``(t, *path, *held, *adjoints, *forcing)``, and is linear in the last two.
    """
    path, carried, held = counts
    bars._linear = len(inputs) - 1 - path - held

    def slopes(t: Any, *values: Any) -> list[Any]:
        at, adjoints = values[:path], values[path : path + carried]
        fixed, forcing = values[path + carried : path + carried + held], values[path + carried + held :]
        found = applied(bars, (t, *at, *fixed, *_restored(list(adjoints), order), *forcing))
        return [*[-x for x in found[:carried]], *found[carried:]]

    return recorded(slopes, inputs)


class _Solution:
    """The solution of a flow on plain numbers, block after block."""

    def __init__(self, flow: Flow, given: Given, units: list[float]) -> None:
        self.flow, self.given, self.units = flow, given, units
        self.times: list[float] = np.asarray(given.times).tolist()
        self.fixed = [*given.held, *given.forcing]
        self.starts = np.cumsum([0, *[block.size for block in flow.blocks]]).tolist()
        self.steps = {i: self._steps(i) for i in range(len(flow.blocks))}

    def _steps(self, i: int) -> Steps:
        program, n = self.flow.attempt(i), self.starts[i + 1]
        own = len(program.output_types) // 3  # of what is found, what comes first; then its errors, and slopes
        steps = Steps(self.flow.method(i), program, n, self.fixed, self.units[:own])
        if i:
            steps.slopes = "a derivative of rhs(y, t)"
        return steps

    def found(self) -> Values:
        """The rows of the carried, and the integrals."""
        lefts, rights = list(self.given.lefts), list(self.given.rights)
        found: Values = []
        totals: Values = []
        for i in range(len(self.flow.path), len(self.flow.blocks)):
            first = self.starts[i] - self.flow.n_path
            jumps = self.given.impulses[first : first + self.flow.blocks[i].size]
            rows, totals = self.block(i, jumps, lefts, rights)
            forwards = self.flow.blocks[i].forwards
            found += rows
            for own, jump in zip(rows, jumps, strict=True):
                left, right = interval_ends(own, jump, forwards)
                lefts.append(left)
                rights.append(right)
        return [*found, *(totals if self.flow.blocks[-1].forwards else [-x for x in totals])]

    def block(self, i: int, jumps: Values, lefts: Values, rights: Values) -> tuple[Values, Values]:
        """The rows of a block along those before it, and integrals in its direction."""
        last = i == len(self.flow.blocks) - 1
        count = len(self.times)
        totals = [np.zeros(a.shape) for a in self.flow.program.output_types[self.flow.n_carried :]] if last else []
        way = range(count) if self.flow.blocks[i].forwards else range(count - 1, -1, -1)
        now = [row[way[0]] for row in jumps]
        rows = [now]
        for k, after in pairwise(way):
            at, to = (lefts, rights) if k < after else (rights, lefts)
            between = min(k, after)
            path, path_end = [x[between] for x in at], [x[between] for x in to]
            now, totals = self.carry(i, self.times[k], self.times[after], path, path_end, now, totals)
            now = [x + row[after] for x, row in zip(now, jumps, strict=True)]
            rows.append(now)
        if not self.flow.blocks[i].forwards:
            rows.reverse()
        return [np.stack(row) for row in zip(*rows, strict=True)], totals

    def carry(
        self, i: int, begin: float, end: float, path: Values, path_end: Values, now: Values, totals: Values
    ) -> tuple[Values, Values]:
        """Block i and its integrals at the end of a way, along a path known at both its ends."""
        n, state = self.starts[i], self.starts[i + 1]
        tolerated = self.tolerated(i, path, path_end)
        farthest = STRAYED * max(norm(path, tolerated), norm(path_end, tolerated), MISSED)
        at: Values = [*path, *now, *totals]
        steps = self.steps[i]
        steps.taken = 0
        for _, _, at in steps.across(at, begin, end):  # noqa: B020
            if not norm(at[:n], tolerated) <= farthest:
                break
        if norm([a - b for a, b in zip(at[:n], path_end, strict=True)], tolerated) <= MISSED:
            return at[n:state], at[state:]
        if abs(end - begin) <= 1e-12 * max(abs(begin), abs(end)):
            raise ArgumentError(
                f"the continuous adjoint of odeint cannot find y at t = {end:.6g} from y at t = {begin:.6g} to its "
                "tolerance. Raise adjoint_rtol and adjoint_atol, lower rtol and atol, or use adjoint='discrete'."
            )
        middle = (begin + end) / 2
        first, second, third = self.retraced(i, (begin, middle, end), path, path_end)
        now, totals = self.carry(i, begin, middle, first, second, now, totals)
        return self.carry(i, middle, end, second, third, now, totals)

    def retraced(self, i: int, times: tuple[float, float, float], path: Values, path_end: Values) -> list[Values]:
        """The blocks before i at three times, each found anew from where it starts."""
        found: list[Values] = [[], [], []]
        forwards = self.flow.blocks[i].forwards
        for j in range(i):
            along = self.flow.blocks[j].forwards == forwards
            begin, middle, end = times if along else times[::-1]
            first, second, third = found if along else found[::-1]
            start = (path if along else path_end)[self.starts[j] : self.starts[j + 1]]
            half, _ = self.carry(j, begin, middle, first, second, start, [])
            whole, _ = self.carry(j, middle, end, second, third, half, [])
            for at, own in zip((first, second, third), (start, half, whole), strict=True):
                at.extend(own)
        return found

    def tolerated(self, i: int, a: Values, b: Values) -> Values:
        """What error the path of block i may have in a step."""
        methods = self.flow.methods
        rtol, atol = max(m.rtol for m in methods), max(m.atol for m in methods)
        units = self.units[: self.starts[i]]
        return [atol * unit + rtol * np.maximum(np.abs(x), np.abs(y)) for x, y, unit in zip(a, b, units, strict=True)]


# ---- the primitive and its rule -------------------------------------------------------------------------------------


def interval_ends(rows: Any, jumps: Any, forwards: bool) -> tuple[Any, Any]:
    """What a block is where the intervals between times begin, and where they end, from what it is after its jumps."""
    if forwards:
        return rows[:-1], (rows - jumps)[1:]
    return (rows - jumps)[:-1], rows[1:]


def _flow_rule(g: Any, p: Any, *inputs: Any, flow: Flow) -> tuple[Any, ...]:
    """The adjoint of a flow: the flow of the adjoint equation, each block against its direction.

    Where a block runs backwards, it is its adjoint with the sign turned that the adjoint equation carries.
    """
    gs, ps = (x if isinstance(x, tuple) else (x,) for x in (g, p))
    given, n = flow.given(inputs), flow.n_carried
    ways = [block.forwards for block in flow.blocks for _ in range(block.size)]
    path, carried = ways[: flow.n_path], ways[flow.n_path :]
    g_rows = _signed(gs[:n], carried)
    ended = [interval_ends(*at) for at in zip(ps[:n], given.impulses, carried, strict=True)]
    whole = Given(
        given.times,
        [*given.held, *given.forcing],
        [*given.lefts, *[left for left, _ in ended]],
        [*given.rights, *[right for _, right in ended]],
        list(gs[n:]),
        [*[np.zeros((rows.shape[0] + 1, *rows.shape[1:])) for rows in given.lefts], *g_rows],
    )
    order = reversed_order(flow.blocks)
    found = flow.adjoint()(whole._replace(impulses=[whole.impulses[k] for k in order]))
    bars = _restored(list(found[: len(order)]), order)
    totals = dict(zip(flow.differentiable(), found[len(order) :], strict=True))
    held = [totals.get(k) for k in range(flow.n_held)]
    times = _times_bar(flow, whole, bars, ways)
    bars = _signed(bars, ways)
    if not path:
        return (times, *held, *bars)
    starts = [_started(*at) for at in zip(bars, path, strict=False)]
    order = reversed_order(flow.carried)
    linear = flow.transposed()(given._replace(forcing=whole.forcing, impulses=[g_rows[k] for k in order]))
    impulses = _signed(_restored(list(linear[:n]), order), carried)
    return (times, *held, *[left for left, _ in starts], *[right for _, right in starts], *linear[n:], *impulses)


def _signed(values: Any, ways: list[bool]) -> Values:
    return [x if forwards else -x for x, forwards in zip(values, ways, strict=True)]


def _started(bars: Any, forwards: bool) -> tuple[Any, Any]:
    """Adjoints of a path where the intervals begin and end, from those of its start and of its jumps."""
    zero = np.zeros((1, *bars.shape[1:]))
    if forwards:
        return bars[:-1], np.concatenate([-bars[1:-1], zero])
    return np.concatenate([zero, -bars[1:-1]]), bars[1:]


def _times_bar(flow: Flow, whole: Given, bars: Values, ways: list[bool]) -> Any:
    """The adjoint of the times: what an interval's end adds to it, and what its begin takes away."""
    program = flow._whole()
    takes = "x" * (1 + len(ways)) + "k" * len(whole.held)
    slopes = Loop(program, takes, "y" * len(program.output_types), whole.lefts[0].shape[0])
    ended = [
        interval_ends(rows, jumps, not forwards)
        for rows, jumps, forwards in zip(bars, whole.impulses, ways, strict=True)
    ]

    def energy(times: Any, state: Values, adjoints: Values) -> Any:
        found = slopes(times, *state, *whole.held)
        weights = [*adjoints, *whole.forcing]
        terms = [np.sum(w * x, axis=tuple(range(1, x.ndim))) for w, x in zip(weights, found, strict=True)]
        return sum(terms[1:], terms[0])

    zero = np.zeros(1)
    added = energy(whole.times[1:], whole.rights, [right for _, right in ended])
    taken = energy(whole.times[:-1], whole.lefts, [left for left, _ in ended])
    return np.concatenate([zero, added]) - np.concatenate([taken, zero])


@restoring
def _from_pickle(program: Any, along: Any, path: Any, carried: Any, counts: tuple[int, int], methods: Any) -> Flow:
    """A flow out of a pickle."""
    if not isinstance(program, Program) or not isinstance(along, (Program, type(None))):
        raise refusal("a flow has no equation")
    for block in (*path, *carried):
        whole_number(Block(*block).size, 0, len(program.input_types), "the size of a block")
        truths((block.forwards,), 1, "the direction of a block")
    if not all(isinstance(method, Method) for method in methods) or len(methods) != 2:
        raise refusal(f"a flow is solved by {methods!r}")
    made = Flow(program, along, tuple(path), tuple(carried), counts, tuple(methods))
    sizes = made.n_path + made.n_carried + made.n_held + made.n_forcing + 1
    if len(program.input_types) != sizes or len(program.output_types) < made.n_carried:
        raise refusal(f"a flow of {sizes} values has an equation of {len(program.input_types)}")
    return made


# flow(times, *held, *lefts, *rights, *forcing, *impulses, flow=...)
_declare = declare_family(
    "flow",
    "flow",
    lambda flow, times, *operands: flow.results(times.shape[0]),
    lambda flow, values: flow.solve(flow.given(values)),
    _flow_rule,
)
