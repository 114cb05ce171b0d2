"""Taylor coefficients along many lines at once: arrays whose last axis is that of the lines, kept in factors.

What an elementwise function makes of z with z(t) = z₀ + z₁ t has the coefficients cₖ z₁ᵏ, where cₖ is the same on all
lines. So a coefficient is a factor, without lines, times a power of an array with lines: chains of elementwise
operations are done once for all lines, and the powers of z₁ are made once for all chains. The lines come last, where
loops are long, and where broadcasting the axes before them needs no care.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hoad._core.trace.traced import graph_of, is_traced, plain_value
from hoad._transform.scaling import constant, exponents

ROOM = 600  # the power of 2 that powers may reach, with room for what they are multiplied by


class Spread:
    """An array with lines along the last axis, and what was made of it.

    It `is_scaled` if its powers stay in range wherever it is computed, and `is_unit` if it is the unit vectors.
    """

    def __init__(self, array: Any, is_unit: bool = False, is_scaled: bool = False) -> None:
        self.array = array
        self.is_unit, self.is_scaled = is_unit, is_scaled
        self._powers: dict[int, Any] = {1: array}
        self._totals: dict[Any, Any] = {}

    def power(self, k: int) -> Any:
        """The array to the power of k."""
        if k not in self._powers:
            self._powers[k] = np.multiply(self.power(k - 1), self.array)
        return self._powers[k]

    def total(self, k: int, other: Spread, j: int, weights: Any) -> Any:
        """Sum over the lines of this to the power of k times the other to the power of j."""
        if other is self:
            k, j = k + j, 0
        key = k, id(other), j
        if key not in self._totals:
            left, right = (k - 1, 1) if j == 0 else (k, j)
            self._totals[key] = other, summed(np.multiply(self.power(left), other.power(right)), weights)
        return self._totals[key][1]


def summed(array: Any, weights: Any) -> Any:
    """The sum over the lines, with weights or without."""
    return np.sum(array, axis=-1) if weights is None else np.matmul(array, weights)


def over_lines(x: Any) -> Any:
    """What has no lines, to be taken together with what has."""
    return np.reshape(x, (*np.shape(x), 1)) if np.ndim(x) else x


class Monomial(NamedTuple):
    """factor · spread ** power, where the factor has no lines."""

    factor: Any
    spread: Spread
    power: int


# A monomial; an array where coefficients are summed over the lines; None where they are zero.
Coefficient = Any


class Lines:
    """The arithmetic of coefficients up to a degree along so many lines.

    If `collapsed`, those of the highest order are summed over the lines, multiplied with weights (count), if any.
    """

    def __init__(self, count: int, degree: int, weights: Any, collapsed: bool) -> None:
        self.count, self.degree, self.weights, self.collapsed = count, degree, weights, collapsed
        self._multiplied: dict[int, Spread] = {}

    def is_summed(self, k: int) -> bool:
        """Whether coefficients of order k are summed over the lines."""
        return self.collapsed and k == self.degree

    def summed(self, array: Any) -> Any:
        """An array with lines, summed over them."""
        return summed(array, self.weights)

    def array(self, x: Monomial, shape: tuple[int, ...] | None = None) -> Any:
        """The array of a coefficient; of shape (*shape, count), if that is given."""
        power = x.spread.power(x.power)
        found = power if is_one(x.factor) else np.multiply(over_lines(x.factor), power)
        if shape is None or np.shape(found) == (*shape, self.count):
            return found
        return np.broadcast_to(found, (*shape, self.count))

    def total(self, terms: Sequence[Coefficient], k: int) -> Coefficient:
        """Their sum."""
        terms = [x for x in terms if x is not None]
        if self.is_summed(k) or len(terms) < 2:
            return _sum(terms)
        groups: dict[tuple[int, int], list[Monomial]] = {}
        for x in terms:
            groups.setdefault((id(x.spread), x.power), []).append(x)
        merged = [Monomial(_sum([x.factor for x in group]), *group[0][1:]) for group in groups.values()]
        return merged[0] if len(merged) == 1 else self.monomial(_sum([self.array(x) for x in merged]))

    def monomial(self, array: Any) -> Monomial:
        """An array with lines as a coefficient.

        Where its numbers are so large or small that their powers would leave the range, the factor takes their size:
        the powers of z₁ are met by those of z₀ below a fraction, as in cₖ z₁ᵏ = z₁ᵏ / z₀ᵏ. What is recorded so holds
        for all sizes, what is recorded without under a guard: it costs less.
        """
        if not np.size(array) or (_has_value(array) and self._is_in_range(plain_value(array))):
            return Monomial(1.0, Spread(array), 1)
        sizes = np.exp2(exponents(_size(array)))
        return Monomial(sizes, Spread(np.multiply(array, over_lines(1.0 / sizes)), is_scaled=True), 1)

    def _is_in_range(self, array: Any) -> Any:
        """Whether the powers of an array stay in range."""
        top = 2.0 ** (ROOM // self.degree)
        sizes = _size(array)
        return np.all((sizes == 0.0) | (np.clip(sizes, 1.0 / top, top) == sizes))

    def hold_guards(self) -> None:
        """Let what was recorded hold only where all that was multiplied, and not scaled, is in range."""
        for spread in self._multiplied.values():
            if is_traced(spread.array) and not spread.is_scaled:
                bool(self._is_in_range(spread.array))

    def scale(self, x: Coefficient, by: Any, k: int) -> Coefficient:
        """A coefficient times what has no lines."""
        return self._each(lambda y: np.multiply(y, by) if not is_one(y) else by, x, k)

    def divide(self, x: Coefficient, by: Any, k: int) -> Coefficient:
        """A coefficient over what has no lines."""
        return self._each(lambda y: np.divide(y, by), x, k)

    def negative(self, x: Coefficient, k: int) -> Coefficient:
        """-x."""
        return self._each(np.negative, x, k)

    def _each(self, f: Callable[[Any], Any], x: Coefficient, k: int) -> Coefficient:
        if x is None or self.is_summed(k):
            return None if x is None else f(x)
        self._multiplied[id(x.spread)] = x.spread
        return Monomial(f(x.factor), x.spread, x.power)

    def product(self, x: Coefficient, y: Coefficient, k: int) -> Coefficient:
        """Part of a coefficient of order k: the product of two of lower orders."""
        if x is None or y is None:
            return None
        self._multiplied.update({id(x.spread): x.spread, id(y.spread): y.spread})
        factor = y.factor if is_one(x.factor) else x.factor if is_one(y.factor) else np.multiply(x.factor, y.factor)
        if self.is_summed(k):
            total = x.spread.total(x.power, y.spread, y.power, self.weights)
            return total if is_one(factor) else np.multiply(factor, total)
        if x.spread is y.spread:
            return Monomial(factor, x.spread, x.power + y.power)
        product = np.multiply(x.spread.power(x.power), y.spread.power(y.power))
        return Monomial(factor, Spread(product, is_scaled=True), 1)


class Curve(Lines):
    """The arithmetic of coefficients along one curve: each is an array of the shape of the value, of any dtype."""

    def __init__(self, degree: int) -> None:
        super().__init__(1, degree, None, True)

    def is_summed(self, k: int) -> bool:
        return True

    def summed(self, array: Any) -> Any:
        return array

    def array(self, x: Any, shape: tuple[int, ...] | None = None) -> Any:
        return x if shape is None or np.shape(x) == shape else np.broadcast_to(x, shape)

    def product(self, x: Coefficient, y: Coefficient, k: int) -> Coefficient:
        return None if x is None or y is None else np.multiply(x, y)


def _has_value(array: Any) -> bool:
    return not is_traced(array) or graph_of(array).valued


def _size(array: Any) -> Any:
    """The largest number that each item has on its lines, without a derivative."""
    return np.max(np.abs(constant(array)), axis=-1)


def is_one(x: Any) -> bool:
    return not is_traced(x) and isinstance(x, float) and x == 1.0


def _sum(terms: Sequence[Any]) -> Any:
    if not terms:
        return None
    found = terms[0]
    for x in terms[1:]:
        found = np.add(found, x)
    return found
