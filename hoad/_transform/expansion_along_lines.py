"""Taylor expansion of a function along many lines through one point, in traced operations on all lines at once.

The value is the same on all lines and is computed once; coefficients of the highest order can be summed over the lines
as they are made, for they enter linearly: what is asked for is seldom more than such a sum. What comes out is recorded
like any other operations, so it is differentiated, compiled and mapped as they are.

References
----------
Griewank, Utke and Walther (2000), Evaluating higher derivative tensors by forward propagation of univariate Taylor
series, Mathematics of Computation 69, 1117-1130; Dangel et al. (2025), Collapsing Taylor mode automatic
differentiation, arXiv:2505.13644.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.record.recording import inline
from hoad._core.taylor.series import NotClosedError
from hoad._core.trace.calls import record_known
from hoad._core.trace.traced import is_traced, traced_node
from hoad._ops.primitives import IDENTITY
from hoad._program.program import Program
from hoad._pytree.containers import Parts
from hoad._transform.coefficients import Coefficients
from hoad._transform.composite import Apart, hold_guards, program_of
from hoad._transform.expansion import Taylor, any_float, arithmetic_of, expand, of_floats
from hoad._transform.monomials import Coefficient, Lines, Monomial, Spread


class Family:
    """A function recorded at a point (floats and arrays, traced or not), to be expanded along lines through it.

    It is called once, apart from what runs around it.
    """

    def __init__(self, f: Callable[..., Any], points: Sequence[Any]) -> None:
        apart = Apart(of_floats(f), points, any_float)
        segment = apart.segment
        self.parts: Parts = apart.parts  # what f returned, without the numbers and arrays that can be expanded
        self._program: Program = program_of(segment)
        captured = [
            record_known(apart.graph, IDENTITY, None, [k], [x])[0]
            for k, x in zip(segment.constants, apart.constants, strict=True)
        ]
        self._first = len(captured)
        self._values = [*captured, *points, *[traced_node(apart.graph, k) for k in segment.outer]]
        hold_guards(self._program, self._values)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Those of the results."""
        return [aval.shape for aval in self._program.output_types]

    def expanded(
        self, directions: Sequence[Any], degree: int, weights: Any = None, collapsed: bool = False
    ) -> list[list[Any]]:
        """For each result the coefficients of order 0, ..., `degree`; from 1 on the lines are along the last axis.

        The directions (*shape, lines) are those of the lines for each point; the degree is 1 or more. If `collapsed`,
        the coefficients of the highest order are summed over the lines, with weights (lines), ones by default.
        """
        lines = Lines(np.shape(directions[0])[-1], degree, weights, collapsed)
        given = [1] * len(self._values)
        given[self._first : self._first + len(directions)] = [2] * len(directions)
        try:
            arithmetic = arithmetic_of(self._program, given, degree)
            if not arithmetic.is_real:
                raise NotClosedError("numbers that are not float64, on many lines")
            slopes = zip(arithmetic.closure.inputs[self._first :], directions, strict=False)
            along = {node: [_along(x, lines)] for node, x in slopes}
            found = Coefficients(arithmetic, lines, self._values, along).results()
            lines.hold_guards()
            return found
        except NotClosedError:
            by_curve = self._by_curve(lines, directions, given) if lines.count == 1 else None
            return self._by_node(lines, directions) if by_curve is None else by_curve

    def _by_curve(self, lines: Lines, directions: Sequence[Any], given: Sequence[int]) -> list[list[Any]] | None:
        """In the operations of one curve, through loops and in numbers of any dtype; None where there are none."""
        made = Taylor(self._program, tuple(given), lines.degree, None, (False,) * len(given))._spelled()
        if made is None:
            return None
        values = list(self._values)
        for k, v in enumerate(directions, self._first):
            x = values[k]
            values[k] = np.stack([x, np.reshape(v, np.shape(x)).astype(x.dtype)])
        last = made._last
        series = inline(last._graph, list(last._outputs), made._input_nodes(), values)
        return [self._in_orders(c[0], np.reshape(c, (*np.shape(c), 1)), lines) for c in series]

    def _in_orders(self, value: Any, series: Any, lines: Lines) -> list[Any]:
        """The value and the coefficients along lines, those of the highest order summed if they are to be."""
        orders = [value, *[series[k] for k in range(1, lines.degree + 1)]]
        return [*orders[:-1], lines.summed(orders[-1])] if lines.collapsed else orders

    def _by_node(self, lines: Lines, directions: Sequence[Any]) -> list[list[Any]]:
        """By one node that expands the program line by line."""
        curves: list[Any] = [None] * len(self._values)
        curves[self._first : self._first + len(directions)] = [np.moveaxis(x, -1, 0)[np.newaxis] for x in directions]
        outputs = list(self._program._last._outputs)

        def again(*values: Any) -> list[Any]:
            last = self._program._last
            return inline(last._graph, outputs, self._program._input_nodes(), list(values))

        found = expand(again, self._values, curves, lines.degree, lines.count)
        return [self._in_orders(c[0, 0], np.moveaxis(c, 1, -1), lines) for c in found]


def _along(directions: Any, lines: Lines) -> Coefficient:
    """Directions as coefficients of order 1."""
    if lines.is_summed(1):
        return lines.summed(directions)
    return Monomial(1.0, Spread(directions, is_unit=True), 1) if _is_unit(directions) else lines.monomial(directions)


def _is_unit(directions: Any) -> bool:
    """Whether directions are the unit vectors, in order."""
    if is_traced(directions) or directions.ndim != 2 or directions.shape[0] != directions.shape[1]:
        return False
    return bool(np.array_equal(directions, np.eye(len(directions))))
