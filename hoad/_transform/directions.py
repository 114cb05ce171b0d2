"""Mixed partial derivatives from univariate Taylor coefficients: along which directions, and how they are combined.

Along x + s t, the coefficient of order k is Σ sᵃ/a! ∂ᵃf over all multi-indices a with |a| = k: a form of degree k in s.
Enough integer directions determine it, so every partial derivative of order k is a fixed combination of coefficients.
The numbers in it are fractions, found exactly.

References
----------
Griewank, Utke and Walther (2000), Evaluating higher derivative tensors by forward propagation of univariate Taylor
series, Mathematics of Computation 69, 1117-1130: equation (12), its factors multiplied out so that all but the last
division is done in whole numbers.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

MultiIndex = tuple[int, ...]
Direction = tuple[int, ...]
Combination = dict[Direction, Fraction]


def multi_indices(n: int, k: int) -> list[MultiIndex]:
    """All multi-indices of n entries with sum k, in the order of the sorted tuples of places that they count."""
    return [counted(places, n) for places in itertools.combinations_with_replacement(range(n), k)]


def counted(places: Iterable[int], n: int) -> MultiIndex:
    """How often each of n places is among these."""
    found = [0] * n
    for place in places:
        found[place] += 1
    return tuple(found)


def combination(index: MultiIndex) -> Combination:
    """What ∂ᵃ is of the coefficients of order k = |a| along directions with sum k and no entries where a has none."""
    places = [j for j, n in enumerate(index) if n]
    found = {}
    for reduced, factor in combination_of_pattern(tuple(index[j] for j in places)).items():
        direction = [0] * len(index)
        for j, s in zip(places, reduced, strict=True):
            direction[j] = s
        found[tuple(direction)] = factor
    return found


@functools.lru_cache(maxsize=512)
def combination_of_pattern(index: MultiIndex) -> Combination:
    """As `combination`, for an index without zeros."""
    order = sum(index)
    parts = [part for part in itertools.product(*[range(n + 1) for n in index]) if any(part)]
    signs = [(-1) ** (order - sum(part)) * math.prod(map(math.comb, index, part)) for part in parts]
    found = {}
    for direction in multi_indices(len(index), order):
        total = sum(
            sign * math.prod(_falling(order * k, sum(part), j) for k, j in zip(part, direction, strict=True))
            for sign, part in zip(signs, parts, strict=True)
        )
        if total:
            found[direction] = Fraction(total, order**order * math.prod(map(math.factorial, direction)))
    return found


@functools.lru_cache(maxsize=4096)
def _falling(x: int, step: int, n: int) -> int:
    """x (x - step) ... (x - (n - 1) step)."""
    return math.prod(x - j * step for j in range(n))


# ---- few directions for some partial derivatives ---------------------------------------------------------------------


def primitive_direction(direction: Direction) -> tuple[Direction, int]:
    """(d, c) with direction = c d, where the entries of d have no common factor and the first but 0 is positive.

    The coefficient of order k along c d is cᵏ times that along d.
    """
    factor = math.gcd(*direction)
    if next(s for s in direction if s) < 0:
        factor = -factor
    return tuple(s // factor for s in direction), factor


def signed(index: MultiIndex) -> Combination:
    """What ∂ᵃ is of the coefficients of order k = |a| along Σ (aⱼ - 2 vⱼ) eⱼ, 0 <= v <= a, of which half are enough.

    ∂ᵃf = 2⁻ᵏ Σ (-1)^|v| Π C(aⱼ, vⱼ) cₖ(a - 2 v): central differences, which are exact for a form of degree k.
    """
    order = sum(index)
    found: dict[Direction, Fraction] = {}
    for v in itertools.product(*[range(n + 1) for n in index]):
        direction = tuple(n - 2 * w for n, w in zip(index, v, strict=True))
        if not any(direction):
            continue
        reduced, factor = primitive_direction(direction)
        weight = Fraction((-1) ** sum(v) * math.prod(map(math.comb, index, v)) * factor**order, 2**order)
        found[reduced] = found.get(reduced, Fraction(0)) + weight
    return {direction: weight for direction, weight in found.items() if weight}


def shared(indices: Sequence[MultiIndex]) -> tuple[list[Direction], list[list[tuple[int, Fraction]]]]:
    """(directions, for each index the pairs of a direction's place and its factor): few directions for all of them.

    Those of high order and of few places come first; what the directions found so far determine takes no others.
    """
    directions: list[Direction] = []
    rows: dict[MultiIndex, Combination] = {}
    for index in sorted(set(indices), key=lambda a: (-sum(a), sum(map(bool, a)), a)):
        known = _determined(index, directions)
        rows[index] = _fewest(index, directions) if known is None else known
        directions += [s for s in rows[index] if s not in directions]
    used = [s for s in directions if any(s in row for row in rows.values())]
    places = {s: k for k, s in enumerate(used)}
    return used, [[(places[s], factor) for s, factor in rows[index].items()] for index in indices]


def _fewest(index: MultiIndex, known: list[Direction]) -> Combination:
    """The combination, of two, that needs fewer directions beyond those that are known."""
    ways = [signed(index), _reduced(combination(index), sum(index))]
    return min(ways, key=lambda way: (sum(s not in known for s in way), len(way)))


def _reduced(found: Combination, order: int) -> Combination:
    """A combination for directions without common factors."""
    reduced: Combination = {}
    for direction, weight in found.items():
        s, factor = primitive_direction(direction)
        reduced[s] = reduced.get(s, Fraction(0)) + weight * factor**order
    return reduced


def _determined(index: MultiIndex, directions: list[Direction]) -> Combination | None:
    """What ∂ᵃ is of the coefficients along some of these directions; None if they do not determine it."""
    order = sum(index)
    if order == 0:
        return {}
    inside = [s for s in directions if all(i or not j for i, j in zip(index, s, strict=True))]
    if not inside:
        return None
    support = [j for j, n in enumerate(index) if n]
    forms = [
        counted([support[j] for j in places], len(index))
        for places in itertools.combinations_with_replacement(range(len(support)), order)
    ]
    matrix = [[_monomial(a, s) for s in inside] for a in forms]
    found = _solved(matrix, [Fraction(a == index) for a in forms])
    return None if found is None else {s: factor for s, factor in zip(inside, found, strict=True) if factor}


def _monomial(a: MultiIndex, s: Direction) -> Fraction:
    """sᵃ / a!."""
    return Fraction(math.prod(j**i for i, j in zip(a, s, strict=True)), math.prod(map(math.factorial, a)))


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """A solution of equations, by elimination; None if there is none."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    columns = len(matrix[0])
    pivots: list[int] = []
    for column in range(columns):
        at = next((r for r in range(len(pivots), len(rows)) if rows[r][column]), None)
        if at is None:
            continue
        top = len(pivots)
        rows[top], rows[at] = rows[at], rows[top]
        rows[top] = [x / rows[top][column] for x in rows[top]]
        for r, row in enumerate(rows):
            if r != top and row[column]:
                rows[r] = [x - row[column] * y for x, y in zip(row, rows[top], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    found = [Fraction(0)] * columns
    for row, column in zip(rows, pivots, strict=False):
        found[column] = row[-1]
    return found
