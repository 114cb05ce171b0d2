"""From results that are not finite back to the nodes where that began.

A nan or an infinity first appears where an item of a result is not finite though every item it depends on is. All
others are passed on. So the search follows items, from a result through what it depends on, and ends where they first
appear, at inputs and at constants that were not finite before. What a strong zero, a ``where`` or a finite quotient
absorbed is never reached.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.primitive import UFUNC
from hoad._core.graph.tape import AbstractValue, Graph
from hoad._core.record.recording import evaluate_nodes
from hoad._inspect.debug_nans import Mask, Test
from hoad._ops.dependence import links
from hoad._ops.primitives import INPUT, MASK, RESULT, SELECT
from hoad._program.callee import Callee
from hoad._program.program import Program
from hoad._transform.checkpoint_segments import Span
from hoad._transform.composite import adjoint_along
from hoad._transform.loops import Loop

LONG = 64  # steps of a loop after which a search goes to where the trouble began at once


class FirstNonfinite(NamedTuple):
    """A node where it begins: which of its items; which operand, if that is a constant that was not finite before."""

    graph: Graph
    node: int
    items: Mask
    operand: int | None = None
    inner: Inner | None = None


class Inner(NamedTuple):
    """The nonfinite within the program of a node."""

    program: Program
    nonfinite: FirstNonfinite
    place: str  # what that is, for messages, as "step 3 of a loop"; nothing where there is no need to say it
    transposed: tuple[bool, ...] = ()  # of each derivation of the program, whether it transposes the one before


class Operation(NamedTuple):
    """A node with its operands, as numbers, abstract values and values; for a further result, those of the first."""

    primitive: Any
    params: Any
    numbers: list[int]
    avals: Sequence[AbstractValue]
    values: list[Any]
    result: AbstractValue
    value: Any
    which: int


def operation_of(graph: Graph, i: int) -> Operation:
    """Node i of a graph, with the values that it has."""
    primitive, numbers, params, aval, value, _ = node_row(graph, i)
    which = 0
    if primitive is RESULT:
        which = params[0]
        primitive, numbers, params = node_row(graph, numbers[0])[:3]
    values = [node_row(graph, k)[4] if k >= 0 else const_value(graph, k) for k in numbers]
    return Operation(primitive, params, numbers, operand_avals(graph, numbers), values, aval, value, which)


def merge_mask(found: dict[int, Mask], k: int, items: Mask) -> None:
    """Let items be among those that are known for k."""
    found[k] = items | found[k] if k in found else items


class Causes:
    """What items that are not finite come of."""

    def __init__(self) -> None:
        self.nonfinites: list[FirstNonfinite] = []
        self.inputs: dict[int, Mask] = {}


def find_causes(graph: Graph, wanted: dict[int, Mask], test: Test) -> Causes:
    """The nonfinite values, and inputs not finite before, that these items come of; values must be there."""
    found = Causes()
    pending = {i: mask for i, mask in wanted.items() if i >= 0}
    ahead = [-i for i in pending]
    heapq.heapify(ahead)
    while ahead:
        i = -heapq.heappop(ahead)
        mask = pending.pop(i, None)
        if mask is None:
            continue
        operation = operation_of(graph, i)
        if operation.primitive is INPUT:
            found.inputs[i] = mask
            continue
        passed, nonfinites = _origins(graph, i, operation, mask, test)
        found.nonfinites += nonfinites
        for k, items in passed.items():
            operand = operation.numbers[k]
            if operand < 0:
                found.nonfinites.append(FirstNonfinite(graph, i, items, k))
                continue
            merge_mask(pending, operand, items)
            heapq.heappush(ahead, -operand)
    return found


def earliest(nonfinites: list[FirstNonfinite]) -> FirstNonfinite:
    """The nonfinite at the first node."""
    return min(nonfinites, key=lambda nonfinite: nonfinite.node)


Passed = dict[int, Mask]  # by operand, the items that were not finite before


def _origins(graph: Graph, i: int, x: Operation, mask: Mask, test: Test) -> tuple[Passed, list[FirstNonfinite]]:
    """Where items of a node come from: operands, nonfinite values here."""
    within = WITHIN.get(x.primitive.name) if x.primitive.of_programs else None
    found = None if within is None else within(x, mask, test)
    if found is None:
        passed, new = _passed(x, mask, test)
        return passed, [FirstNonfinite(graph, i, new)] if new.any() else []
    passed, inner = found
    if inner is None and not passed:
        return {}, [FirstNonfinite(graph, i, mask)]
    return passed, [] if inner is None else [FirstNonfinite(graph, i, mask, None, inner)]


def _passed(x: Operation, mask: Mask, test: Test) -> tuple[Passed, Mask]:
    """The items of operands that these items come of, and those of them that come of none.

    A nan is rather of a nan than of an infinity, and an infinity of an infinity.
    """
    if x.primitive.kind == UFUNC and x.result.shape == () and x.primitive not in (MASK, SELECT):
        return _passed_by_numbers(x, mask, test)
    passed: Passed = {}
    new = np.zeros_like(mask)
    suspects = {k: items for k, value in enumerate(x.values) if (items := test.items(value)).any()}
    if not suspects:
        return passed, mask
    ties = {k: links(x.primitive, x.params, x.avals, x.result, k, x.values) for k in suspects}
    nan = mask & np.isnan(np.ravel(x.value))
    for items, is_kind in ((nan, np.isnan), (mask & ~nan, np.isinf)):
        alike = {k: bad & is_kind(np.ravel(x.values[k])) for k, bad in suspects.items()}
        left = items
        for chosen in (alike, suspects):
            reached = {k: left & _reached(ties[k], chosen[k]) for k in chosen}
            for k, reach in reached.items():
                if reach.any():
                    sources = ties[k].back(reach) & chosen[k]
                    merge_mask(passed, k, sources)
            left = left & ~np.logical_or.reduce(list(reached.values()))
        new |= left
    return passed, new


def _passed_by_numbers(x: Operation, mask: Mask, test: Test) -> tuple[Passed, Mask]:
    """As `_passed`, of an operation on numbers."""
    suspects = [k for k, value in enumerate(x.values) if test.of(value)]
    alike = [k for k in suspects if np.isnan(x.values[k]) == np.isnan(x.value)]
    return dict.fromkeys(alike or suspects, mask), np.zeros_like(mask) if suspects else mask


def _reached(tie: Any, items: Mask) -> Mask:
    return np.asarray(tie.forward(items[:, None].view(np.uint8))[:, 0] != 0)


# ---- within programs ------------------------------------------------------------------------------------------------


def valued(program: Program, values: Sequence[Any]) -> Program:
    """The program with these inputs, and what its outputs need computed."""
    made = program._moved(dict(zip(program._input_nodes(), values, strict=True)))
    outputs = [k for k in made._last._outputs if k >= 0]
    evaluate_nodes(made._last._graph, outputs)
    return made


def _inside(
    program: Program, values: Sequence[Any], wanted: Passed, test: Test, fixed: int = 0
) -> tuple[Passed, FirstNonfinite | None]:
    """Of items of outputs: items of inputs, and the first nonfinite value; the first inputs may be constants."""
    made = valued(program, values)
    outputs = made._last._outputs
    nodes: dict[int, Mask] = {}
    for k, mask in wanted.items():
        merge_mask(nodes, outputs[k], mask)
    causes = find_causes(made._last._graph, nodes, test)
    place = {node: k for k, node in enumerate(program._input_nodes())}
    passed = {place[node]: mask for node, mask in causes.inputs.items() if place[node] >= fixed}
    nonfinites = causes.nonfinites + [
        FirstNonfinite(made._last._graph, node, mask) for node, mask in causes.inputs.items() if place[node] < fixed
    ]
    return passed, earliest(nonfinites) if nonfinites else None


def _within_call(x: Operation, mask: Mask, test: Test) -> tuple[Passed, Inner | None] | None:
    """Through the program that a call runs; None where there is none to be seen."""
    entered = _entered(x.params[0], x.values)
    if entered is None:
        return None
    program, values, operands, place = entered
    fixed = len(values) - len(operands)  # first inputs that are not operands
    inside, nonfinite = _inside(program, values, {x.which: mask}, test, fixed)
    passed: Passed = {}
    for k, items in inside.items():
        merge_mask(passed, operands[k - fixed], items)
    return passed, None if nonfinite is None else Inner(program, nonfinite, place, _transposed(program))


def _entered(callee: Callee, values: list[Any]) -> tuple[Program, list[Any], list[int], str] | None:
    """The program of a call, the values of its inputs, which operands the last of these are, and what it is called."""
    numbers = list(range(len(values)))
    if isinstance(callee, Span):
        program, constants, place = _program_of_span(callee, values)
        return program, [*constants, *values], numbers, place
    found = callee._entered(tuple(numbers))
    if found is None:
        return None
    program, operands = found
    return program, [values[k] for k in operands], list(operands), "a program that it calls"


def _program_of_span(span: Span, values: list[Any]) -> tuple[Program, list[Any], str]:
    """The program of a span of steps, or of a derivative of it, the arrays it captured, and what it is called.

    Of a single step that of the step; of more, one that calls each half.
    """
    loop, place = span._loop, ""
    constants: list[Any] = []
    if span._high - span._low == 1:
        primal = tuple(values[: len(loop.state) + len(loop.args)])
        program, constants, _ = loop.recorded(span._low, primal)
        place = f"step {span._low} of a loop"
    else:
        program = span._two_spans((span._low + span._high) // 2, span._slots)
    return adjoint_along(span._path, program), constants, place


def _transposed(callee: Any) -> tuple[bool, ...]:
    """Of each derivation of a program or a loop, from the first on, whether it transposes the one before."""
    found: list[bool] = []
    while callee._origin is not None:
        callee, linear = callee._origin
        found.insert(0, linear)
    return tuple(found)


class _Steps:
    """What went into every step of a loop."""

    def __init__(self, loop: Loop, values: Sequence[Any]) -> None:
        self.loop = loop
        self.carried = [k for k, letter in enumerate(loop.takes) if letter == "c"]
        self.returned = [k for k, letter in enumerate(loop.gives) if letter == "c"]
        self.values = values
        self.states: list[list[Any]] = []
        if loop.is_parallel:
            self.states = [[]] * loop.length
            return
        run = loop.program._lowered().run
        state = [values[k] for k in self.carried]
        for t in range(loop.length):
            self.states.append(state)
            given = run(self.inputs(t))
            state = [given[k] for k in self.returned]

    def row(self, t: int) -> int:
        """The row that a step takes, and gives; the steps of a map may come in any order."""
        return self.loop.length - 1 - t if self.loop.backwards and not self.loop.is_parallel else t

    def inputs(self, t: int) -> list[Any]:
        """All inputs of a step."""
        state = iter(self.states[t])
        of_letter: dict[str, Callable[[Any], Any]] = {
            "c": lambda value: next(state),
            "x": lambda value: value[self.row(t)],
            "k": lambda value: value,
        }
        return [of_letter[letter](value) for letter, value in zip(self.loop.takes, self.values, strict=True)]

    def bad(self, t: int, test: Test) -> Passed:
        """The items of what is carried into a step that are not finite, by the output that gave them."""
        found = {k: test.items(value) for k, value in zip(self.returned, self.states[t], strict=True)}
        return {k: mask for k, mask in found.items() if mask.any()}


def within_loop(loop: Loop, values: Sequence[Any], which: int, mask: Mask, test: Test) -> tuple[Passed, Inner | None]:
    """What items of a loop's result come of: items of its inputs, by place, and the first nonfinite value within."""
    steps = _Steps(loop, values)
    if not loop.length:
        return {steps.carried[steps.returned.index(which)]: mask}, None
    wanted = _wanted(loop, steps, which, mask, test)
    passed: Passed = {}
    found: Inner | None = None
    while wanted:
        t, asked = wanted.popitem()
        t, asked = _earlier(steps, t, asked, test)
        into, nonfinite = _inside(loop.program, steps.inputs(t), asked, test)
        if nonfinite is not None:
            place = f"input {t} of a map" if loop.is_parallel else f"step {steps.row(t)} of a loop"
            found = Inner(loop.program, nonfinite, place, _transposed(loop))
        for k, items in into.items():
            letter = loop.takes[k]
            if letter == "c" and t:
                merge_mask(wanted.setdefault(t - 1, {}), steps.returned[steps.carried.index(k)], items)
                continue
            whole = passed.setdefault(k, np.zeros(np.size(values[k]), bool))
            rows = whole.reshape(loop.length, -1)[steps.row(t)] if letter == "x" else whole
            rows |= items
    return passed, found


def _wanted(loop: Loop, steps: _Steps, which: int, mask: Mask, test: Test) -> dict[int, Passed]:
    """The step, of several the first, whose outputs items of a result of the loop come of, and the items of these."""
    letter = loop.gives[which]
    if letter == "c":
        return {loop.length - 1: {which: mask}}
    if letter == "y":
        rows = mask.reshape(loop.length, -1)
        given = ((t, rows[steps.row(t)]) for t in range(loop.length))
    else:
        run = loop.program._lowered().run
        given = ((t, mask & test.items(run(steps.inputs(t))[which])) for t in range(loop.length))
    return next(({t: {which: items}} for t, items in given if items.any()), {})


def _earlier(steps: _Steps, t: int, asked: Passed, test: Test) -> tuple[int, Passed]:
    """The step where a long row of carries that are not finite began, if there is one before step t."""
    before = t
    while before and steps.bad(before, test):
        before -= 1
    return (t, asked) if t - before < LONG else (before, steps.bad(before + 1, test))


WITHIN: dict[str, Callable[[Operation, Mask, Test], tuple[Passed, Inner | None] | None]] = {
    "call": _within_call,
    "scan": lambda x, mask, test: within_loop(x.params[0], x.values, x.which, mask, test),
}
