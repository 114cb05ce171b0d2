"""Taylor expansion of a function along many lines through one point, in traced operations on arrays with a row a line.

The value is the same on all lines and is computed once; coefficients of the highest order can be summed over the lines
as they are made, for they enter linearly: what is asked for is seldom more than such a sum. What comes out is recorded
like any other operations, so it is differentiated, compiled and mapped as they are.

References
----------
Griewank, Utke and Walther (2000), Evaluating higher derivative tensors by forward propagation of univariate Taylor series,
Mathematics of Computation 69, 1117-1130; Dangel, Siebert, Zeinhofer and Walther (2025), Collapsing Taylor mode automatic
differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np


from hoad._core.calls import apply_assembly, apply_primitive, record_known
from hoad._core.primitive import Primitive
from hoad._core.recording import guard_rows, inline
from hoad._core.series import NotClosedError
from hoad._core.tape import Aval, intern_aval
from hoad._core.traced import Scalar, guard_value, is_traced, traced_node
from hoad._core.ufuncs import mask, sdiv, select, smul
from hoad.containers import Parts
from hoad.primitive import GETITEM, IDENTITY
from hoad.program import Program
from hoad.transform.composite import Apart, program_of
from hoad.transform.monomials import Coefficient, Lines, Monomial, Rows, is_one
from hoad.transform.series import SAME, SCALED, Arithmetic, unsigned
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
        self._guard()

    def _guard(self) -> None:
        """Let what is recorded hold only where f branches as it did."""
        last = self._program._last
        guarded = [node for node, _, _ in guard_rows(last._graph)[: last._guards]]
        for x in self._inlined(guarded) if guarded else ():
            if not is_traced(x):
                continue
            if isinstance(x, Scalar) and x.dtype == bool:
                bool(x)
            else:
                guard_value(x)

    def _inlined(self, operands: list[int]) -> list[Any]:
        return inline(self._program._last._graph, operands, self._program._input_nodes(), self._values)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Those of the results."""
        return [aval.shape for aval in self._program.results]

    def expanded(
        self, directions: Sequence[Any], degree: int, weights: Any = None, collapsed: bool = False
    ) -> list[list[Any]]:
        """For each result the coefficients of order 0, ..., `degree`, those from 1 on with the lines along axis 0.

        Parameters
        ----------
        directions : sequence of ndarray (lines, *shape)
            For each point the directions of the lines.
        degree : int
            The highest order, 1 or more.
        weights : ndarray (lines), optional
            Of the lines in a sum over them; ones by default.
        collapsed : bool, optional
            Whether the coefficients of the highest order are summed over the lines.
        """
        lines = Lines(len(directions[0]), degree, weights, collapsed)
        given = [1] * len(self._values)
        given[self._first : self._first + len(directions)] = [2] * len(directions)
        try:
            arithmetic = arithmetic_of(self._program, given, degree)
            return _Expansion(arithmetic, lines, self._values, self._first, directions).results()
        except NotClosedError:
            return self._by_node(lines, directions)

    def _by_node(self, lines: Lines, directions: Sequence[Any]) -> list[list[Any]]:
        """By one node that expands the program line by line."""
        curves: list[Any] = [None] * len(self._values)
        curves[self._first : self._first + len(directions)] = [x[np.newaxis] for x in directions]
        outputs = list(self._program._last._outputs)

        def again(*values: Any) -> list[Any]:
            last = self._program._last
            return inline(last._graph, outputs, self._program._input_nodes(), list(values))

        found = []
        for series in expand(again, self._values, curves, lines.degree, lines.count):
            orders = [series[0, 0], *[series[k] for k in range(1, lines.degree + 1)]]
            found.append([*orders[:-1], lines.summed(orders[-1])] if lines.collapsed else orders)
        return found


class _Expansion:
    """The coefficients of all nodes of an arithmetic, order by order."""

    def __init__(
        self, arithmetic: Arithmetic, lines: Lines, values: Sequence[Any], first: int, directions: Sequence[Any]
    ) -> None:
        self.arithmetic, self.lines = arithmetic, lines
        self.closure = arithmetic.closure
        self.values: dict[int, Any] = dict(zip(self.closure.inputs, values, strict=True))
        self.coefficients: dict[tuple[int, int], Coefficient] = {}
        for node, x in zip(self.closure.inputs[first:], directions, strict=False):
            summed = lines.is_summed(1)
            self.coefficients[node, 1] = lines.summed(x) if summed else Monomial(1.0, Rows(x, _is_unit(x)), 1)
        order = arithmetic.order()
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
        if not self.lines.is_summed(k):
            return np.zeros((self.lines.count, *shape)) if x is None else self.lines.rows(x, shape)
        return np.zeros(shape) if x is None else x

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
            return apply_assembly(aval, *params, *values)
        if name == "item":
            return apply_primitive(GETITEM, ((), (), params[0]), *values)
        return apply_primitive(primitive, params, *values)

    # ---- coefficients

    def at(self, operand: int, k: int, ndim: int | None = None) -> Coefficient:
        """Coefficient k of an operand, with so many dimensions if they are given; not for k = 0."""
        x = self.coefficients.get((operand, k))
        return x if ndim is None else self.lines.spread(x, k, ndim)

    def _coefficient(self, i: int, k: int) -> Coefficient:
        name, primitive, operands, params, aval = self.arithmetic.row(i)
        if i in self.arithmetic.instead:
            return self.at(self.arithmetic.instead[i], k)
        if i in self.arithmetic.slopes:
            return self._slopes(i, k, aval.ndim)
        if name in SAME or name == "stop_gradient":
            return self.at(operands[0], k)
        step = _STEPS.get(name)
        if step is not None:
            return step(self, i, k, operands)
        if name in SCALED:
            return self.lines.scale(self.at(operands[0], k), SCALED[name], k)
        return self._linear(i, k)

    def _slopes(self, i: int, k: int, ndim: int) -> Coefficient:
        """p[k] = (Σ j x[j] h[k - j]) / k, over all terms h x'."""
        terms = []
        for h, x in self.arithmetic.slopes[i]:
            inner, sign = unsigned(self.closure, h)
            strong = self.closure.is_strong(inner)
            found = [self._scaled(self.at(x, k, ndim), self.value(inner), k, strong, self.closure.aval(i).shape)]
            for j in range(1, k):
                product = self.lines.product(self.at(x, j, ndim), self.at(inner, k - j, ndim), k)
                found.append(self.lines.scale(product, j / k, k))
            terms += [self.lines.negative(term, k) for term in found] if sign < 0 else found
        return self.lines.total(terms, k)

    def _scaled(self, x: Coefficient, by: Any, k: int, strong: bool, shape: tuple[int, ...]) -> Coefficient:
        """x times a value, of which zeros absorb what is not finite if they are `strong`."""
        if not strong or x is None:
            return self.lines.scale(x, by, k)
        return self._made(smul(by, x if self.lines.is_summed(k) else self.lines.rows(x, shape)), k)

    def _sum(self, i: int, k: int, operands: list[int]) -> Coefficient:
        ndim = self.closure.aval(i).ndim
        return self.lines.total([self.at(x, k, ndim) for x in operands], k)

    def _difference(self, i: int, k: int, operands: list[int]) -> Coefficient:
        ndim = self.closure.aval(i).ndim
        x, y = (self.at(operand, k, ndim) for operand in operands)
        return self.lines.total([x, self.lines.negative(y, k)], k)

    def _negative(self, i: int, k: int, operands: list[int]) -> Coefficient:
        return self.lines.negative(self.at(operands[0], k), k)

    def _product(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """Σ x[j] y[k - j]; of a square, the products once."""
        ndim = self.closure.aval(i).ndim
        x, y = operands[0], operands[-1]
        terms = [self.lines.product(self.at(x, j, ndim), self.at(y, k - j, ndim), k) for j in range(1, k)]
        if x == y:
            terms = [self.lines.scale(term, 2.0, k) for term in terms[: (k - 1) // 2]] + terms[(k - 1) // 2 : k // 2]
            return self.lines.total([self.lines.scale(self.at(x, k, ndim), 2.0 * self.value(x), k), *terms], k)
        terms.append(self.lines.scale(self.at(x, k, ndim), self.value(y), k))
        terms.append(self.lines.scale(self.at(y, k, ndim), self.value(x), k))
        return self.lines.total(terms, k)

    def _strong_product(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """As a product, where zeros of x absorb what is not finite in y."""
        x, y = operands
        return self._made(self._strong_sum(i, k, x, y, range(k + 1)), k)

    def _strong_sum(self, i: int, k: int, x: int, y: int, orders: Iterable[int]) -> Any:
        """Σ x[j] y[k - j] over some orders j, as an array."""
        shape = self.closure.aval(i).shape
        found = None
        for j in orders:
            if (j and self.at(x, j) is None) or (j < k and self.at(y, k - j) is None):
                continue
            term = smul(self._array(x, j, shape), self._array(y, k - j, shape))
            if self.lines.is_summed(k) and 0 < j < k:
                term = self.lines.summed(term)
            found = term if found is None else np.add(found, term)
        return found

    def _strong_quotient(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """As a quotient, where zeros before the division absorb what it is by."""
        x, y = operands
        shape = self.closure.aval(i).shape
        found = self._strong_sum(i, k, i, y, range(k))
        if self.at(x, k) is not None:
            top = self._array(x, k, shape)
            found = top if found is None else np.subtract(top, found)
        elif found is not None:
            found = np.negative(found)
        return self._made(None if found is None else sdiv(found, self.value(y)), k)

    def _array(self, operand: int, k: int, shape: tuple[int, ...]) -> Any:
        """A coefficient as an array, for an operation on elements with a result of this shape."""
        if k == 0:
            return self.value(operand)
        x = self.at(operand, k, len(shape))
        if x is None:
            return 0.0
        return x if self.lines.is_summed(k) else self.lines.rows(x, shape)

    def _made(self, array: Any, k: int) -> Coefficient:
        """An array as a coefficient of order k."""
        return array if array is None or self.lines.is_summed(k) else Monomial(1.0, Rows(array), 1)

    def _mask(self, i: int, k: int, operands: list[int]) -> Coefficient:
        shape = self.closure.aval(i).shape
        return self._made(mask(self.value(operands[0]), self._array(operands[1], k, shape)), k)

    def _select(self, i: int, k: int, operands: list[int]) -> Coefficient:
        shape = self.closure.aval(i).shape
        x, y = (self._array(operand, k, shape) for operand in operands[1:])
        return self._made(select(self.value(operands[0]), x, y), k)

    def _quotient(self, i: int, k: int, operands: list[int]) -> Coefficient:
        """p[k] = (x[k] - Σ y[j] p[k - j]) / y[0]."""
        ndim = self.closure.aval(i).ndim
        x, y = operands if len(operands) == 2 else (None, operands[0])
        terms = [] if x is None else [self.at(x, k, ndim)]
        for j in range(1, k):
            product = self.lines.product(self.at(y, j, ndim), self.at(i, k - j), k)
            terms.append(self.lines.negative(product, k))
        terms.append(self.lines.negative(self.lines.scale(self.at(y, k, ndim), self.value(i), k), k))
        return self.lines.divide(self.lines.total(terms, k), self.value(y), k)

    # ---- on each coefficient by itself

    def _linear(self, i: int, k: int) -> Coefficient:
        """What a linear operation makes of coefficient k."""
        name, primitive, operands, params, aval = self.arithmetic.row(i)
        shapes = [self.closure.aval(x).shape for x in operands]
        if self.lines.is_summed(k):
            values = [self._whole(x, k, shape) for x, shape in zip(operands, shapes, strict=True)]
            if name == "assemble":
                return apply_assembly(aval, *params, *values)
            if name == "item":
                return apply_primitive(GETITEM, ((), (), params[0]), *values)
            return apply_primitive(primitive, params, *values)
        found = self._on_rows(name, primitive, params, aval, [self._whole(x, k, s) for x, s in zip(operands, shapes)])
        return self._made(found, k)

    def _whole(self, operand: int, k: int, shape: tuple[int, ...]) -> Any:
        """A coefficient as an array of its full shape; the value of what has none, as indices."""
        aval = self.closure.aval(operand)
        if not aval.inexact:
            return self.value(operand)
        x = self.at(operand, k)
        if self.lines.is_summed(k):
            x = np.zeros(shape) if x is None else x
            return x if np.shape(x) == shape else np.broadcast_to(x, shape)
        return np.zeros((self.lines.count, *shape)) if x is None else self.lines.rows(x, shape)

    def _on_rows(self, name: str, primitive: Primitive, params: Any, aval: Aval, values: list[Any]) -> Any:
        count, size = self.lines.count, self.closure.size
        x = values[0] if values else None
        if name == "sum":
            axes, shape = params
            return apply_primitive(primitive, (tuple(a + 1 for a in axes), (count, *shape)), x)
        if name == "item":
            width = int(np.prod(np.shape(x)[1:]))
            return apply_primitive(GETITEM, ((count,), (width,), params[0]), x)
        if name == "reshape":
            return np.reshape(x, (count, *aval.shape))
        if name == "transpose":
            return np.transpose(x, (0, *[a + 1 for a in params[0]]))
        if name == "broadcast_to":
            own = np.shape(x)[1:]
            return np.broadcast_to(np.reshape(x, (count, *[1] * (aval.ndim - len(own)), *own)), (count, *aval.shape))
        if name == "getitem":
            shape, strides, offset = params
            width = int(np.prod(np.shape(x)[1:]))
            return apply_primitive(primitive, ((count, *shape), (width, *strides), offset), x)
        if name == "concatenate":
            return apply_primitive(primitive, (params[0] + 1,), *values)
        if name == "gather":
            return apply_primitive(primitive, None, x, self._places(values[1], np.shape(x)))
        if name == "assemble":
            return self._assembled(params, aval, values)
        if name == "cumsum":
            return apply_primitive(primitive, (params[0] + 1,), x)
        raise NotClosedError(f"{primitive.name} on many lines")

    def _places(self, flat: Any, shape: tuple[int, ...]) -> Any:
        """Flat places in each row, for all rows of an array of this shape."""
        count, *own = shape
        starts = np.arange(count) * int(np.prod(own))
        return np.add(np.reshape(starts, (count, *[1] * np.ndim(flat))), flat)

    def _assembled(self, params: Any, aval: Aval, values: list[Any]) -> Any:
        offsets, parts = params
        count, size = self.lines.count, aval.itemsize
        step = aval.size * size
        wide: list[Any] = [(offset * size, (count,), (step,)) for offset in offsets.tolist()]
        at = len(wide)
        for part in parts:
            if part is None:
                values[at + 1] = self._places(values[at + 1], (count, *aval.shape))
                wide.append(None)
                at += 1
            else:
                start, shape, strides = part
                wide.append((start, (count, *shape), (step, *strides)))
            at += 1
        whole = intern_aval(aval.dtype, (count, *aval.shape))
        return apply_assembly(whole, np.zeros(0, np.int64), tuple(wide), *values)

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

    def _matrix_term(self, x: int, y: int, j: int, k: int, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
        if self.lines.is_summed(k):
            if j in (0, k):
                left = self._whole(x, k, shapes[0]) if j else self.value(x)
                return np.matmul(left, self.value(y) if j else self._whole(y, k, shapes[1]))
            rows = product_of_rows(self._whole(x, j, shapes[0]), self._whole(y, k - j, shapes[1]), *shapes)
            return self.lines.summed(rows)
        if j == 0:
            rows, matrix = self._whole(y, k, shapes[1]), self.value(x)
            return np.transpose(matrix) if self._is_unit(y, k, matrix) else left_of_rows(matrix, rows, *shapes)
        if j == k:
            rows, matrix = self._whole(x, k, shapes[0]), self.value(y)
            return matrix if self._is_unit(x, k, matrix) else right_of_rows(rows, matrix, *shapes)
        return product_of_rows(self._whole(x, j, shapes[0]), self._whole(y, k - j, shapes[1]), *shapes)

    def _is_unit(self, operand: int, k: int, matrix: Any) -> bool:
        """Whether a coefficient is the unit vectors, of which a product with a matrix is its rows or columns."""
        x = self.at(operand, k)
        return x.rows.is_unit and x.power == 1 and is_one(x.factor) and np.ndim(matrix) == 2


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


# ---- matrix products with a row for each line ------------------------------------------------------------------------

Shape = tuple[int, ...]


def left_of_rows(matrix: Any, rows: Any, left: Shape, right: Shape) -> Any:
    """A matrix times what each row holds: one product of matrices, where that is vectors or columns."""
    count = np.shape(rows)[0]
    if len(left) <= 2 and len(right) == 1:
        return np.matmul(rows, np.transpose(matrix))
    if len(left) == 2 and len(right) == 2 and right[1] == 1:
        return np.reshape(np.matmul(np.reshape(rows, (count, right[0])), np.transpose(matrix)), (count, left[0], 1))
    return product_of_rows(np.reshape(matrix, (1, *left)), rows, left, right)


def right_of_rows(rows: Any, matrix: Any, left: Shape, right: Shape) -> Any:
    """What each row holds times a matrix."""
    if len(right) > 2:
        return product_of_rows(rows, np.reshape(matrix, (1, *right)), left, right)
    if len(left) < 2:
        return np.matmul(rows, matrix)
    count, *stack, n = np.shape(rows)
    found = np.matmul(np.reshape(rows, (-1, n)), matrix)
    return np.reshape(found, (count, *stack, *right[1:]))


def product_of_rows(x: Any, y: Any, left: Shape, right: Shape) -> Any:
    """What each row of the one holds times what that of the other does."""
    if len(left) == 1 and len(right) == 1:
        return np.sum(np.multiply(x, y), axis=-1)
    outer = max(len(left), len(right), 2) - 2
    x = np.reshape(x, (np.shape(x)[0], *[1] * (outer + 2 - max(len(left), 2)), *([1] if len(left) == 1 else []), *left))
    tall = right if len(right) > 1 else (*right, 1)
    y = np.reshape(y, (np.shape(y)[0], *[1] * (outer + 2 - len(tall)), *tall))
    found = np.matmul(x, y)
    if len(left) == 1:
        return found[..., 0, :]
    return found[..., 0] if len(right) == 1 else found


__all__ = ["Family"]
