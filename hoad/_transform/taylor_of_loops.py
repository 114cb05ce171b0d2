"""The Taylor coefficients of a program with loops and calls: stage by stage, each of them expanded as a whole.

What comes out of a loop needs all coefficients of what goes in, and the other way round only where the steps of the
loop say so. So a program is cut at its loops and calls: what is before one is a program to be expanded, and so is what
is behind; a loop of series has the same letters, and steps that are expansions of its steps. What the loop carries are
then coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.record.recording import inline
from hoad._core.taylor.series import NotClosedError
from hoad._program.callee import Callee, called
from hoad._program.program import Program
from hoad._transform.composite import Stretch
from hoad._transform.loops import Loop
from hoad._transform.programs import nodes_behind, recorded, selected

FLOATS = ("floats",)  # by which a program knows the one of its outputs that are floats

Series = tuple[Any, int]  # so many coefficients along axis 0, or a value, of which there is one


def stages_of(
    program: Program, given: tuple[int, ...], degree: int, expansion: Callable[..., Callee]
) -> Program | None:
    """The program of all coefficients; None for one without a loop or call that moves along the curve.

    ``expansion(callee, given)`` computes the coefficients of the results of a callee.
    """
    stages = _Stages(program, given, degree, expansion)
    if not stages.cuts:
        return None
    avals = [given_aval(aval, n) for aval, n in zip(program.input_types, given, strict=True)]
    try:
        return recorded(stages.coefficients, avals)
    except NotClosedError:
        return None


def series_aval(aval: AbstractValue, count: int | None, lanes: int | None = None) -> AbstractValue:
    """Shape and dtype of so many coefficients along axis 0, if they are counted, then lanes, if any."""
    return intern_aval(aval.dtype, (*[n for n in (count, lanes) if n is not None], *aval.shape))


def given_aval(aval: AbstractValue, count: int, lanes: int | None = None) -> AbstractValue:
    """The same of an input; of which one is given, that is as it is."""
    return aval if count == 1 and lanes is None else series_aval(aval, count, lanes)


class _Stages:
    """A program between its loops and calls."""

    def __init__(self, program: Program, given: Sequence[int], degree: int, expansion: Callable[..., Callee]) -> None:
        last = program._last
        self.graph, self.outputs = last._graph, list(last._outputs)
        self.inputs, self.given, self.degree, self.expansion = program._input_nodes(), given, degree, expansion
        self.moving = {node for node, n in zip(self.inputs, given, strict=True) if n > 1}
        self.cuts = [i for i in nodes_behind(self.graph, self.outputs, self.inputs)[0] if self._is_cut(i)]

    def _is_cut(self, i: int) -> bool:
        """Whether a node is a loop or call that moves along the curve; notes every node that does."""
        primitive, operands, params, *_ = node_row(self.graph, i)
        if self.moving.isdisjoint(operands):
            return False
        self.moving.add(i)
        if primitive.name not in ("scan", "call"):
            return False
        return isinstance(params[0], (Loop, Program, Stretch)) or params[0]._along_curve is not None

    # ---- what is recorded

    def coefficients(self, *series: Any) -> list[Any]:
        """Those of the outputs, for those of the inputs."""
        known = {node: (x, n) for node, x, n in zip(self.inputs, series, self.given, strict=True)}
        for i in self.cuts:
            _, operands, (callee,), *_ = node_row(self.graph, i)
            values = self._expanded(operands, known)
            if callee._along_curve is not None:
                found = callee._along_curve(*zip(*values, strict=True), self.degree)
                known |= {i + k: (x, self.degree + 1) for k, x in enumerate(found)}
            else:
                results = self._of_loop(callee, values) if isinstance(callee, Loop) else self._of_call(callee, values)
                known |= {i + k: x for k, x in enumerate(results)}
        return [whole(*x, self.degree) for x in self._expanded(self.outputs, known)]

    def _expanded(self, operands: list[int], known: dict[int, Series]) -> list[Series]:
        """Operands in terms of nodes that are known."""
        found = dict(known)
        new = [k for k in dict.fromkeys(operands) if k >= 0 and k not in known]
        avals = operand_avals(self.graph, new)
        moving = [k for k, aval in zip(new, avals, strict=True) if k in self.moving and aval.inexact]
        still = [k for k in new if k not in moving]
        if moving:
            ends = nodes_behind(self.graph, moving, known)[1]
            made = recorded(lambda *xs: inline(self.graph, moving, ends, list(xs)), operand_avals(self.graph, ends))
            values = [known[k] for k in ends]
            found |= zip(moving, self._through(made, [n for _, n in values], [x for x, _ in values]), strict=True)
        if still:
            values = inline(self.graph, still, list(known), [self._value(*x) for x in known.values()])
            found |= {k: (x, 1) for k, x in zip(still, values, strict=True)}
        return [found[k] if k >= 0 else (const_value(self.graph, k), 1) for k in operands]

    def _through(self, program: Program, given: Sequence[int], values: Sequence[Any]) -> list[Series]:
        """What a program gives for series of some of its inputs: series, but for integers and booleans."""
        last, avals = program._last, program.output_types
        others = [k for k, aval in zip(last._outputs, avals, strict=True) if not aval.inexact]
        plain = [self._value(x, n) for x, n in zip(values, given, strict=True)]
        found = iter(called(self.expansion(Stretch(_of_floats(program)), tuple(given)), values))
        rest = iter(inline(last._graph, others, program._input_nodes(), plain) if others else ())
        return [(next(found), self.degree + 1) if aval.inexact else (next(rest), 1) for aval in avals]

    def _of_call(self, callee: Any, values: list[Series]) -> list[Series]:
        program = callee if isinstance(callee, Program) else callee._made()
        return self._through(program, [n for _, n in values], [x for x, _ in values])

    def _of_loop(self, loop: Loop, values: list[Series]) -> list[Series]:
        """The loop of series: its steps are the expansions of the steps."""
        inputs = list(zip(loop.program.input_types, loop.takes, values, strict=True))
        given = [self.degree + 1 if aval.inexact and (n > 1 or letter == "c") else 1 for aval, letter, (_, n) in inputs]
        body = recorded(
            lambda *xs: [x for x, _ in self._through(loop.program, given, xs)],
            [given_aval(aval, n) for aval, n in zip(loop.program.input_types, given, strict=True)],
        )
        entering = [
            self._rows(whole(x, was, self.degree), letter, n) if n > 1 else x
            for (_, letter, (x, was)), n in zip(inputs, given, strict=True)
        ]
        found = Loop(body, loop.takes, loop.gives, loop.length, loop.backwards, workers=loop.workers)(*entering)
        counts = [self.degree + 1 if aval.inexact else 1 for aval in loop.program.output_types]
        return [(self._rows(x, letter, n), n) for x, letter, n in zip(found, loop.gives, counts, strict=True)]

    def _rows(self, x: Any, letter: str, n: int) -> Any:
        """Coefficients of rows as rows of coefficients, and back; of anything else, as they are."""
        return np.swapaxes(x, 0, 1) if letter in "xy" and n > 1 else x

    def _value(self, x: Any, n: int) -> Any:
        return x[0] if n > 1 else x


def _of_floats(program: Program) -> Program:
    """The program of those of its outputs that have series, made once: many calls may be of one program."""
    if FLOATS not in program._known_series:
        outputs = zip(program._last._outputs, program.output_types, strict=True)
        program._known_series[FLOATS] = selected(program, [k for k, aval in outputs if aval.inexact])
    found: Program = program._known_series[FLOATS]
    return found


def whole(x: Any, n: int, degree: int) -> Any:
    """All coefficients to a degree of that of which n are given."""
    first = np.reshape(x, (1, *np.shape(x))) if n == 1 else x[: degree + 1]
    return np.concatenate([first, np.zeros((degree + 1 - len(first), *np.shape(first)[1:]), first.dtype)])
