"""Taylor coefficients of a program in traced operations: what `transform.series` chose, spelled out.

What comes out is recorded like any other operations, so it is differentiated, compiled and mapped as they are.

References
----------
Griewank and Walther (2008), Evaluating Derivatives, chapter 13: tables 13.1 and 13.2, proposition 13.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import mask, select, strong_divide, strong_multiply, strong_multiply_both
from hoad._core.taylor.series import NotClosedError
from hoad._core.taylor.taylor_schedule import unsigned
from hoad._core.trace.calls import apply_primitive
from hoad._ops.primitives import GETITEM
from hoad._transform.batched_linear import Shape, assembly, lines_times, on_lines, product_of_lines, times_lines
from hoad._transform.monomials import Coefficient, Lines, is_one, over_lines
from hoad._transform.taylor_arithmetic import Arithmetic


class Coefficients:
    """The coefficients of all nodes of an arithmetic, order by order, in traced operations.

    The inputs have `values`, and those that are not constant the coefficients `along` from order 1 on.
    """

    def __init__(
        self, arithmetic: Arithmetic, lines: Lines, values: Sequence[Any], along: Mapping[int, Sequence[Coefficient]]
    ) -> None:
        self.arithmetic, self.lines = arithmetic, lines
        self.closure = arithmetic.closure
        self.values: dict[int, Any] = dict(zip(self.closure.inputs, values, strict=True))
        self.coefficients: dict[tuple[int, int], Coefficient] = {
            (node, k): x for node, series in along.items() for k, x in enumerate(series, 1)
        }
        order, lags = arithmetic.order(), arithmetic.lags
        for step in range(arithmetic.degree + 1):
            for node in order:
                k = step - lags[node]
                if k == 0:
                    self.values[node] = self._value(node)
                elif 0 < k <= arithmetic.tops[node]:
                    self.coefficients[node, k] = self._coefficient(node, k)

    def results(self) -> list[list[Any]]:
        """For each output its coefficients."""
        return [[self._result(y, k) for k in range(self.lines.degree + 1)] for y in self.arithmetic.outputs]

    def _result(self, operand: int, k: int) -> Any:
        return self.value(operand) if k == 0 else self._whole(operand, k)

    # ---- values

    def value(self, operand: int) -> Any:
        """The value of an operand, the same on all lines."""
        return self.values[operand] if operand >= 0 else self.closure.value(operand)

    def _value(self, i: int) -> Any:
        name, primitive, operands, _, _ = self.arithmetic.row(i)
        if name in ("result", "rate") or primitive.nout > 1:
            raise NotClosedError("rates, and several results, on many lines")
        if name == "start":
            return self.value(operands[0])
        return self._applied(i, [self.value(k) for k in operands])

    def _applied(self, i: int, values: list[Any]) -> Any:
        """What the operation of a node gives for these operands."""
        name, primitive, _, params, aval = self.arithmetic.row(i)
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
        _, primitive, operands, _, _ = self.arithmetic.row(i)
        if i in self.arithmetic.instead:
            return self.at(self.arithmetic.instead[i], k)
        if i in self.arithmetic.slopes:
            return self._slopes(i, k)
        if i in self.arithmetic.powers:
            return self._power(k, i, *operands)
        if primitive.series == "copy":
            return self.at(operands[0], k)
        step = _STEPS.get(primitive.series)
        if step is not None:
            return step(self, i, k, operands)
        if primitive.series == "scale":
            return self.lines.scale(self.at(operands[0], k), primitive.factor, k)
        if primitive.series in ("each", "item"):
            return self._linear(i, k)
        return self._other(i, k)

    def _other(self, i: int, k: int) -> Coefficient:
        raise NotClosedError(f"{self.arithmetic.row(i)[0]} on many lines")

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
        return self._made(
            strong_multiply(by, x) if self.lines.is_summed(k) else strong_multiply(over_lines(by), self.lines.array(x)),
            k,
        )

    def _difference(self, i: int, k: int, operands: list[int]) -> Coefficient:
        x, y = (self.at(operand, k) for operand in operands)
        return self.lines.total([x, self.lines.negative(y, k)], k)

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

    def _strong_product(self, k: int, operands: list[int], product: Any) -> Coefficient:
        """As a product, where zeros of x, or of either factor, absorb what is not finite in the other."""
        x, y = operands
        return self._made(self._strong_sum(k, x, y, range(k + 1), product), k)

    def _strong_sum(self, k: int, x: int, y: int, orders: Iterable[int], product: Any = strong_multiply) -> Any:
        """Σ x[j] y[k - j] over some orders j, as an array."""
        found = None
        for j in orders:
            if (j and self.at(x, j) is None) or (j < k and self.at(y, k - j) is None):
                continue
            term = product(self._array(x, j, k), self._array(y, k - j, k))
            if self.lines.is_summed(k) and 0 < j < k:
                term = self.lines.summed(term)
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
        return None if found is None else self._made(strong_divide(found, self._array(y, 0, k)), k)

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
        return array if array is None or self.lines.is_summed(k) else self.lines.monomial(array)

    def _mask(self, i: int, k: int, operands: list[int]) -> Coefficient:
        if self.at(operands[1], k) is None:
            return None
        return self._made(mask(self._array(operands[0], 0, k), self._array(operands[1], k, k)), k)

    def _select(self, i: int, k: int, operands: list[int]) -> Coefficient:
        if all(self.at(x, k) is None for x in operands[1:]):
            return None
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
            return self.lines.monomial(self._total(operands[0], k))
        values = [self._whole(x, k) for x in operands]
        if self.lines.is_summed(k):
            return self._applied(i, values)
        return self._made(on_lines(name, primitive, params, aval, values, self.lines.count), k)

    def _whole(self, operand: int, k: int) -> Any:
        """A coefficient as an array of its full shape; the value of what has none, as indices."""
        aval = self.closure.aval(operand)
        if not aval.inexact:
            return self.value(operand)
        x = self.at(operand, k)
        shape = aval.shape if self.lines.is_summed(k) else (*aval.shape, self.lines.count)
        if x is None:
            return np.zeros(shape, aval.dtype)
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
        return self.lines.summed(found) if self.lines.is_summed(k) else found

    def _is_unit(self, operand: int, k: int, matrix: Any) -> bool:
        """Whether a coefficient is the unit vectors: a product with it is a matrix, as it is or transposed."""
        x = self.at(operand, k)
        return x.spread.is_unit and x.power == 1 and is_one(x.factor) and np.ndim(matrix) == 2


# By the series of a primitive.
_STEPS: dict[str | None, Callable[[Coefficients, int, int, list[int]], Coefficient]] = {
    "add": lambda self, i, k, operands: self.lines.total([self.at(x, k) for x in operands], k),
    "subtract": Coefficients._difference,
    "negative": lambda self, i, k, operands: self.lines.negative(self.at(operands[0], k), k),
    "multiply": Coefficients._product,
    "square": Coefficients._product,
    "divide": Coefficients._quotient,
    "reciprocal": Coefficients._quotient,
    "strong_multiply": lambda self, i, k, operands: self._strong_product(k, operands, strong_multiply),
    "strong_multiply_both": lambda self, i, k, operands: self._strong_product(k, operands, strong_multiply_both),
    "strong_divide": Coefficients._strong_quotient,
    "mask": Coefficients._mask,
    "select": Coefficients._select,
    "matmul": Coefficients._matmul,
}
