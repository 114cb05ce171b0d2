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

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hoad._core.calls import apply_primitive, record_known
from hoad._core.recording import inline
from hoad._core.series import NotClosedError
from hoad._core.traced import is_traced, traced_node
from hoad._core.ufuncs import mask, sdiv, select, smul
from hoad.containers import Parts
from hoad.primitive import GETITEM, IDENTITY
from hoad.program import Program
from hoad.transform.composite import Apart, hold_guards, program_of
from hoad.transform.lined import Shape, assembly, lines_times, on_lines, product_of_lines, times_lines
from hoad.transform.monomials import Coefficient, Lines, Monomial, Spread, is_one, monomial, over_lines, summed
from hoad.transform.series import SAME, SCALED, Arithmetic, is_linear, unsigned
from hoad.transform.taylor import any_float, arithmetic_of, expand


class Family:
    """A function recorded at a point, to be expanded along lines through it.

    Parameters
    ----------
    f : callable
        Called once, apart from what runs around it.
    points : sequence
        Where: floats and arrays, traced or not.

    Attributes
    ----------
    parts : Parts
        What f returned, without the numbers and arrays that can be expanded.
    """

    def __init__(self, f: Callable[..., Any], points: Sequence[Any]) -> None:
        apart = Apart(f, points, any_float)
        segment = apart.segment
        self.parts: Parts = apart.parts
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
        return [aval.shape for aval in self._program.results]

    def expanded(
        self, directions: Sequence[Any], degree: int, weights: Any = None, collapsed: bool = False
    ) -> list[list[Any]]:
        """For each result the coefficients of order 0, ..., `degree`; from 1 on the lines are along the last axis.

        Parameters
        ----------
        directions : sequence of ndarray (*shape, lines)
            For each point the directions of the lines.
        degree : int
            The highest order, 1 or more.
        weights : ndarray (lines), optional
            Of the lines in a sum over them; ones by default.
        collapsed : bool, optional
            Whether the coefficients of the highest order are summed over the lines.
        """
        lines = Lines(np.shape(directions[0])[-1], degree, weights, collapsed)
        given = [1] * len(self._values)
        given[self._first : self._first + len(directions)] = [2] * len(directions)
        try:
            arithmetic = arithmetic_of(self._program, given, degree)
            curves = {self._first + k: [x] for k, x in enumerate(directions)}
            return _Expansion(arithmetic, lines, self._values, curves).results()
        except NotClosedError:
            return self._by_node(lines, directions)

    def _by_node(self, lines: Lines, directions: Sequence[Any]) -> list[list[Any]]:
        """By one node that expands the program line by line."""
        curves: list[Any] = [None] * len(self._values)
        curves[self._first : self._first + len(directions)] = [np.moveaxis(x, -1, 0)[np.newaxis] for x in directions]
        outputs = list(self._program._last._outputs)

        def again(*values: Any) -> list[Any]:
            last = self._program._last
            return inline(last._graph, outputs, self._program._input_nodes(), list(values))

        found = []
        for series in expand(again, self._values, curves, lines.degree, lines.count):
            orders = [series[0, 0], *[np.moveaxis(series[k], 0, -1) for k in range(1, lines.degree + 1)]]
            found.append([*orders[:-1], summed(orders[-1], lines.weights)] if lines.collapsed else orders)
        return found


def of_series(program: Program, given: Sequence[int], degree: int, values: Sequence[Any]) -> list[Any]:
    """The coefficients of what a program gives, in traced operations, for those `given` of its inputs.

    Raises `NotClosedError` where there are no such operations.
    """
    arithmetic = arithmetic_of(program, given, degree)
    curves = {
        k: [x[j][..., np.newaxis] for j in range(1, n)]
        for k, (x, n) in enumerate(zip(values, given, strict=True))
        if n > 1
    }
    starts = [x[0] if n > 1 else x for x, n in zip(values, given, strict=True)]
    found = _Expansion(arithmetic, Lines(1, degree, None, False), starts, curves).results()
    shapes = [aval.shape for aval in program.results]
    return [np.stack([np.reshape(c, shape) for c in series]) for series, shape in zip(found, shapes, strict=True)]


class _Expansion:
    """The coefficients of all nodes of an arithmetic, order by order."""

    def __init__(
        self, arithmetic: Arithmetic, lines: Lines, values: Sequence[Any], curves: Mapping[int, Sequence[Any]]
    ) -> None:
        """The curves are the coefficients of some inputs from order 1 on, lines along the last axis."""
        self.arithmetic, self.lines = arithmetic, lines
        self.closure = arithmetic.closure
        self.values: dict[int, Any] = dict(zip(self.closure.inputs, values, strict=True))
        self.coefficients: dict[tuple[int, int], Coefficient] = {}
        for at, curve in curves.items():
            for k, x in enumerate(curve, 1):
                whole = Monomial(1.0, Spread(x, _is_unit(x)), 1)
                self.coefficients[self.closure.inputs[at], k] = (
                    summed(x, lines.weights) if lines.is_summed(k) else whole
                )
        order = arithmetic.order()
        if any(arithmetic.lags[node] for node in order):
            raise NotClosedError("rates on many lines")
        for node in order:
            self.values[node] = self._value(node)
        for k in range(1, arithmetic.degree + 1):
            for node in order:
                if k <= arithmetic.tops[node]:
                    self.coefficients[node, k] = self._coefficient(node, k)

    def results(self) -> list[list[Any]]:
        """For each output its coefficients."""
        return [[self._result(y, k) for k in range(self.lines.degree + 1)] for y in self.arithmetic.outputs]

    def _result(self, operand: int, k: int) -> Any:
        if k == 0:
            return self.value(operand)
        shape = self.closure.aval(operand).shape
        x = self.at(operand, k)
        if x is None:
            return np.zeros(shape if self.lines.is_summed(k) else (*shape, self.lines.count))
        return np.broadcast_to(x, shape) if self.lines.is_summed(k) else self.lines.array(x, shape)

    # ---- values

    def value(self, operand: int) -> Any:
        """The value of an operand, the same on all lines."""
        return self.values[operand] if operand >= 0 else self.closure.value(operand)

    def _value(self, i: int) -> Any:
        name, primitive, operands, params, aval = self.arithmetic.row(i)
        if name == "result":
            raise NotClosedError("one of several results")
        values = [self.value(k) for k in operands]
        if name == "assemble":
            return assembly(aval, params, values)
        if name == "item":
            return apply_primitive(GETITEM, ((), (), params[0]), *values)
        return apply_primitive(primitive, params, *values)

    # ---- coefficients

    def at(self, operand: int, k: int) -> Coefficient:
        """Coefficient k of an operand; not for k = 0."""
        return self.coefficients.get((operand, k))

    def _coefficient(self, i: int, k: int) -> Coefficient:
        name, primitive, operands, _, _ = self.arithmetic.row(i)
        if i in self.arithmetic.instead:
            return self.at(self.arithmetic.instead[i], k)
        if i in self.arithmetic.slopes:
            return self._slopes(i, k)
        if i in self.arithmetic.powers:
            return self._power(k, i, *operands)
        if name in SAME or name == "stop_gradient":
            return self.at(operands[0], k)
        step = _STEPS.get(name)
        if step is not None:
            return step(self, i, k, operands)
        if name in SCALED:
            return self.lines.scale(self.at(operands[0], k), SCALED[name], k)
        if not is_linear(name, primitive):
            raise NotClosedError(f"{primitive.name} on many lines")
        return self._linear(i, k)

    def _slopes(self, i: int, k: int) -> Coefficient:
        """p[k] = (Σ j x[j] h[k - j]) / k, over all terms h x'."""
        terms = []
        for h, x in self.arithmetic.slopes[i]:
            inner, sign = unsigned(self.closure, h)
            strong = self.closure.is_strong(inner)
            found = [self._scaled(self.at(x, k), self.value(inner), k, strong)]
            for j in range(1, k):
                product = self.lines.product(self.at(x, j), self.at(inner, k - j), k)
                found.append(self.lines.scale(product, j / k, k))
            terms += [self.lines.negative(term, k) for term in found] if sign < 0 else found
        return self.lines.total(terms, k)

    def _power(self, k: int, i: int, x: int, y: int) -> Coefficient:
        """p[k] = (Σ (j y - (k - j)) r[j] p[k - j]) / k with r = x / x[0], for a y that is constant."""
        exponent, ratio = self.value(y), self.arithmetic.powers[i]
        terms = [self.lines.scale(self.at(ratio, k), exponent * self.value(i), k)]
        for j in range(1, k):
            product = self.lines.product(self.at(ratio, j), self.at(i, k - j), k)
            terms.append(self.lines.scale(product, (j * exponent - (k - j)) / k, k))
        return self.lines.total(terms, k)

    def _scaled(self, x: Coefficient, by: Any, k: int, strong: bool) -> Coefficient:
        """x times a value, of which zeros absorb what is not finite if they are `strong`."""
        if not strong or x is None:
            return self.lines.scale(x, by, k)
        return self._made(smul(by, x) if self.lines.is_summed(k) else smul(over_lines(by), self.lines.array(x)), k)

    def _sum(self, i: int, k: int, operands: list[int]) -> Coefficient:
        return self.lines.total([self.at(x, k) for x in operands], k)

    def _difference(self, i: int, k: int, operands: list[int]) -> Coefficient:
        x, y = (self.at(operand, k) for operand in operands)
        return self.lines.total([x, self.lines.negative(y, k)], k)

    def _negative(self, i: int, k: int, operands: list[int]) -> Coefficient:
        return self.lines.negative(self.at(operands[0], k), k)

    def _product(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """Σ x[j] y[k - j]; of a square, the products once."""
        x, y = operands[0], operands[-1]
        terms = [self.lines.product(self.at(x, j), self.at(y, k - j), k) for j in range(1, k)]
        if x == y:
            terms = [self.lines.scale(term, 2.0, k) for term in terms[: (k - 1) // 2]] + terms[(k - 1) // 2 : k // 2]
            return self.lines.total([self.lines.scale(self.at(x, k), 2.0 * self.value(x), k), *terms], k)
        terms.append(self.lines.scale(self.at(x, k), self.value(y), k))
        terms.append(self.lines.scale(self.at(y, k), self.value(x), k))
        return self.lines.total(terms, k)

    def _strong_product(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """As a product, where zeros of x absorb what is not finite in y."""
        x, y = operands
        return self._made(self._strong_sum(k, x, y, range(k + 1)), k)

    def _strong_sum(self, k: int, x: int, y: int, orders: Iterable[int]) -> Any:
        """Σ x[j] y[k - j] over some orders j, as an array."""
        found = None
        for j in orders:
            if (j and self.at(x, j) is None) or (j < k and self.at(y, k - j) is None):
                continue
            term = smul(self._array(x, j, k), self._array(y, k - j, k))
            if self.lines.is_summed(k) and 0 < j < k:
                term = summed(term, self.lines.weights)
            found = term if found is None else np.add(found, term)
        return found

    def _strong_quotient(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """As a quotient, where zeros before the division absorb what it is by."""
        x, y = operands
        found = self._strong_sum(k, i, y, range(k))
        if self.at(x, k) is not None:
            top = self._array(x, k, k)
            found = top if found is None else np.subtract(top, found)
        elif found is not None:
            found = np.negative(found)
        return None if found is None else self._made(sdiv(found, self._array(y, 0, k)), k)

    def _array(self, operand: int, j: int, k: int) -> Any:
        """Coefficient j as an array, to be taken together with others to one of order k."""
        x = self.value(operand) if j == 0 else self.at(operand, j)
        if self.lines.is_summed(k) and j in (0, k):
            return 0.0 if x is None else x
        if j == 0:
            return over_lines(x)
        return 0.0 if x is None else self.lines.array(x)

    def _made(self, array: Any, k: int) -> Coefficient:
        """An array as a coefficient of order k."""
        return array if array is None or self.lines.is_summed(k) else monomial(array)

    def _mask(self, i: int, k: int, operands: list[int]) -> Coefficient:
        return self._made(mask(self._array(operands[0], 0, k), self._array(operands[1], k, k)), k)

    def _select(self, i: int, k: int, operands: list[int]) -> Coefficient:
        return self._made(select(self._array(operands[0], 0, k), *[self._array(x, k, k) for x in operands[1:]]), k)

    def _quotient(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """p[k] = (x[k] - Σ y[j] p[k - j]) / y[0]."""
        x, y = operands if len(operands) == 2 else (None, operands[0])
        terms = [] if x is None else [self.at(x, k)]
        for j in range(1, k):
            product = self.lines.product(self.at(y, j), self.at(i, k - j), k)
            terms.append(self.lines.negative(product, k))
        terms.append(self.lines.negative(self.lines.scale(self.at(y, k), self.value(i), k), k))
        return self.lines.divide(self.lines.total(terms, k), self.value(y), k)

    # ---- on each coefficient by itself

    def _linear(self, i: int, k: int) -> Coefficient:
        """What a linear operation makes of coefficient k."""
        name, primitive, operands, params, aval = self.arithmetic.row(i)
        if all(self.at(x, k) is None for x in operands if self.closure.aval(x).inexact):
            return None
        is_total = name == "sum" and len(params[0]) == self.closure.aval(operands[0]).ndim
        if is_total and not self.lines.is_summed(k):
            return monomial(self._total(operands[0], k))
        values = [self._whole(x, k) for x in operands]
        if self.lines.is_summed(k):
            if name == "assemble":
                return assembly(aval, params, values)
            if name == "item":
                return apply_primitive(GETITEM, ((), (), params[0]), *values)
            return apply_primitive(primitive, params, *values)
        return self._made(on_lines(name, primitive, params, aval, values, self.lines.count), k)

    def _whole(self, operand: int, k: int) -> Any:
        """A coefficient as an array of its full shape; the value of what has none, as indices."""
        aval = self.closure.aval(operand)
        if not aval.inexact:
            return self.value(operand)
        x = self.at(operand, k)
        shape = aval.shape if self.lines.is_summed(k) else (*aval.shape, self.lines.count)
        if x is None:
            return np.zeros(shape)
        if not self.lines.is_summed(k):
            return self.lines.array(x, aval.shape)
        return x if np.shape(x) == shape else np.broadcast_to(x, shape)

    def _total(self, operand: int, k: int) -> Any:
        """The sum of all items of a coefficient."""
        x = self.at(operand, k)
        shape = self.closure.aval(operand).shape
        power = x.spread.power(x.power)
        if is_one(x.factor) or np.shape(power) != (*shape, self.lines.count):
            return np.sum(self.lines.array(x, shape), axis=tuple(range(len(shape))))
        factor = np.reshape(np.broadcast_to(x.factor, shape), (-1,))
        return np.matmul(factor, np.reshape(power, (-1, self.lines.count)))

    # ---- matrix products

    def _matmul(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """Σ x[j] y[k - j]."""
        x, y = operands
        shapes = self.closure.aval(x).shape, self.closure.aval(y).shape
        found = None
        for j in range(k + 1):
            if (j and self.at(x, j) is None) or (j < k and self.at(y, k - j) is None):
                continue
            term = self._matrix_term(x, y, j, k, shapes)
            found = term if found is None else np.add(found, term)
        return self._made(found, k)

    def _matrix_term(self, x: int, y: int, j: int, k: int, shapes: tuple[Shape, Shape]) -> Any:
        if self.lines.is_summed(k) and j in (0, k):
            return np.matmul(self._whole(x, k), self.value(y)) if j else np.matmul(self.value(x), self._whole(y, k))
        if j == 0:
            matrix = self.value(x)
            return matrix if self._is_unit(y, k, matrix) else times_lines(matrix, self._whole(y, k), *shapes)
        if j == k:
            matrix = self.value(y)
            return (
                np.transpose(matrix) if self._is_unit(x, k, matrix) else lines_times(self._whole(x, k), matrix, *shapes)
            )
        found = product_of_lines(self._whole(x, j), self._whole(y, k - j), *shapes)
        return summed(found, self.lines.weights) if self.lines.is_summed(k) else found

    def _is_unit(self, operand: int, k: int, matrix: Any) -> bool:
        """Whether a coefficient is the unit vectors: a product with it is a matrix, as it is or transposed."""
        x = self.at(operand, k)
        return x.spread.is_unit and x.power == 1 and is_one(x.factor) and np.ndim(matrix) == 2


_STEPS: dict[str, Callable[[_Expansion, int, int, list[int]], Coefficient]] = {
    "add": _Expansion._sum,
    "subtract": _Expansion._difference,
    "negative": _Expansion._negative,
    "multiply": _Expansion._product,
    "square": _Expansion._product,
    "divide": _Expansion._quotient,
    "reciprocal": _Expansion._quotient,
    "smul": _Expansion._strong_product,
    "sdiv": _Expansion._strong_quotient,
    "mask": _Expansion._mask,
    "select": _Expansion._select,
    "matmul": _Expansion._matmul,
}


def _is_unit(directions: Any) -> bool:
    """Whether directions are the unit vectors, in order."""
    if is_traced(directions) or directions.ndim != 2 or directions.shape[0] != directions.shape[1]:
        return False
    return bool(np.array_equal(directions, np.eye(len(directions))))


__all__ = ["Family"]
