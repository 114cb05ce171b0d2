"""Taylor coefficients along many lines at once: arrays with a row for each line, kept in factors.

What an elementwise function makes of z with z(t) = z₀ + z₁ t has the coefficients cₖ z₁ᵏ, where cₖ is the same on all
lines. So a coefficient is a factor, without rows, times a power of an array of rows: chains of elementwise operations
are done once for all lines, and the powers of z₁ are made once for all chains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np



class Rows:
    """An array with a row for each line, and what was made of it; `is_unit` if its rows are the unit vectors."""

    def __init__(self, array: Any, is_unit: bool = False) -> None:
        self.array = array
        self.is_unit = is_unit
        self._powers: dict[int, Any] = {1: array}
        self._totals: dict[Any, Any] = {}
        self._spread: dict[int, Rows] = {}

    def power(self, k: int) -> Any:
        """The array to the power of k."""
        if k not in self._powers:
            self._powers[k] = np.multiply(self.power(k - 1), self.array)
        return self._powers[k]

    def total(self, k: int, other: Rows, j: int, weights: Any) -> Any:
        """Sum over the lines of this to the power of k times the other to the power of j."""
        if other is self:
            k, j = k + j, 0
        key = k, id(other), j
        if key not in self._totals:
            left, right = (k - 1, 1) if j == 0 else (k, j)
            self._totals[key] = other, _total(self.power(left), other.power(right), weights)
        return self._totals[key][1]

    def spread(self, ndim: int) -> Rows:
        """The rows with so many dimensions, as broadcasting gives them."""
        shape = np.shape(self.array)
        if len(shape) == ndim + 1:
            return self
        if ndim not in self._spread:
            self._spread[ndim] = Rows(np.reshape(self.array, (shape[0], *[1] * (ndim + 1 - len(shape)), *shape[1:])))
        return self._spread[ndim]


def _total(left: Any, right: Any, weights: Any) -> Any:
    product = np.multiply(left, right)
    if weights is not None:
        product = np.multiply(product, np.reshape(weights, (-1, *[1] * (np.ndim(product) - 1))))
    return np.sum(product, axis=0)


class Monomial(NamedTuple):
    """factor · rows ** power, where the factor has no rows."""

    factor: Any
    rows: Rows
    power: int


# What is None is zero; what is summed over the lines is an array without rows.
Coefficient = Any


class Lines:
    """The arithmetic of coefficients along lines.

    Parameters
    ----------
    count : int
        How many lines.
    degree : int
        The highest order.
    weights : ndarray (count) or None
        What the coefficients of the highest order are multiplied with to be summed over the lines; ones by None.
    collapsed : bool
        Whether they are summed.
    """

    def __init__(self, count: int, degree: int, weights: Any, collapsed: bool) -> None:
        self.count, self.degree, self.weights, self.collapsed = count, degree, weights, collapsed

    def is_summed(self, k: int) -> bool:
        """Whether coefficients of order k are summed over the lines."""
        return self.collapsed and k == self.degree

    def rows(self, x: Coefficient, shape: tuple[int, ...]) -> Any:
        """The array of a coefficient, of shape (count, *shape)."""
        found = self._plain(x)
        whole = (self.count, *shape)
        return found if np.shape(found) == whole else np.broadcast_to(found, whole)

    def _plain(self, x: Monomial) -> Any:
        power = x.rows.power(x.power)
        return power if is_one(x.factor) else np.multiply(x.factor, power)

    def spread(self, x: Coefficient, k: int, ndim: int) -> Coefficient:
        """A coefficient of order k of an operand, for an operation on elements with a result of so many dimensions."""
        if x is None or self.is_summed(k) or x.rows.spread(ndim) is x.rows:
            return x
        return Monomial(x.factor, x.rows.spread(ndim), x.power)

    def total(self, terms: Sequence[Coefficient], k: int) -> Coefficient:
        """Their sum."""
        terms = [x for x in terms if x is not None]
        if self.is_summed(k) or len(terms) < 2:
            return _sum(terms)
        groups: dict[tuple[int, int], list[Monomial]] = {}
        for x in terms:
            groups.setdefault((id(x.rows), x.power), []).append(x)
        merged = [Monomial(_sum([x.factor for x in group]), *group[0][1:]) for group in groups.values()]
        return merged[0] if len(merged) == 1 else Monomial(1.0, Rows(_sum([self._plain(x) for x in merged])), 1)

    def scale(self, x: Coefficient, by: Any, k: int) -> Coefficient:
        """A coefficient times what has no rows."""
        return self._each(lambda y: np.multiply(y, by) if not is_one(y) else by, x, k)

    def divide(self, x: Coefficient, by: Any, k: int) -> Coefficient:
        """A coefficient over what has no rows."""
        return self._each(lambda y: np.divide(y, by), x, k)

    def negative(self, x: Coefficient, k: int) -> Coefficient:
        """-x."""
        return self._each(np.negative, x, k)

    def _each(self, f: Callable[[Any], Any], x: Coefficient, k: int) -> Coefficient:
        if x is None or self.is_summed(k):
            return None if x is None else f(x)
        return Monomial(f(x.factor), x.rows, x.power)

    def product(self, x: Coefficient, y: Coefficient, k: int) -> Coefficient:
        """Part of a coefficient of order k: the product of two of lower orders, with rows."""
        if x is None or y is None:
            return None
        factor = y.factor if is_one(x.factor) else x.factor if is_one(y.factor) else np.multiply(x.factor, y.factor)
        if self.is_summed(k):
            total = x.rows.total(x.power, y.rows, y.power, self.weights)
            return total if is_one(factor) else np.multiply(factor, total)
        if x.rows is y.rows:
            return Monomial(factor, x.rows, x.power + y.power)
        return Monomial(factor, Rows(np.multiply(x.rows.power(x.power), y.rows.power(y.power))), 1)

    def summed(self, rows: Any) -> Any:
        """The sum of an array over the lines."""
        if self.weights is None:
            return np.sum(rows, axis=0)
        return np.sum(np.multiply(rows, np.reshape(self.weights, (-1, *[1] * (np.ndim(rows) - 1)))), axis=0)


def is_one(x: Any) -> bool:
    return isinstance(x, float) and x == 1.0


def _sum(terms: Sequence[Any]) -> Any:
    if not terms:
        return None
    found = terms[0]
    for x in terms[1:]:
        found = np.add(found, x)
    return found
