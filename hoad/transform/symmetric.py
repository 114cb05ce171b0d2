"""The distinct entries of a symmetric tensor from univariate coefficients, and where each stands in the whole."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from hoad.transform.directions import combination_of_pattern


class Entries:
    """How the distinct entries of the tensor of order k in n variables are combined.

    With `by_reverse` from the coefficients of order k - 1 of the gradient: where b = a + eᵢ, entry b is ∂ᵃ of the i-th
    derivative, and i is chosen so that few coefficients are needed. Otherwise from those of order k of the function.

    Attributes
    ----------
    degree : int
        The order of the coefficients.
    directions : ndarray (n, lines)
        The lines.
    order : ndarray (C(n + k - 1, k))
        Where among the combinations each entry is, in the order of sorted tuples of places.
    """

    def __init__(self, n: int, k: int, by_reverse: bool) -> None:
        self.degree = k - 1 if by_reverse else k
        lines = list(itertools.combinations_with_replacement(range(n), self.degree))
        self.directions = np.zeros((n, len(lines)))
        np.add.at(self.directions, (np.array(lines).T, np.arange(len(lines))), 1.0)
        places = {line: at for at, line in enumerate(lines)}
        groups: dict[tuple[float, ...], list[tuple[int, list[int]]]] = {}
        for at, b in enumerate(itertools.combinations_with_replacement(range(n), k)):
            i = _last(b) if by_reverse else None
            weights, sources = _terms(b if i is None else _without(b, i))
            first = 0 if i is None else i * len(lines)
            groups.setdefault(weights, []).append((at, [first + places[s] for s in sources]))
        self._groups = [(weights, np.array([source for _, source in rows]).T) for weights, rows in groups.items()]
        self.order = np.argsort([at for rows in groups.values() for at, _ in rows], kind="stable")

    def combined(self, coefficients: Any) -> Any:
        """The entries along the last axis from coefficients along it; `order` says where each is."""
        parts = [_combined(coefficients, weights, sources) for weights, sources in self._groups]
        return np.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]


def _combined(coefficients: Any, weights: tuple[float, ...], sources: Any) -> Any:
    """Sums of coefficients, those of one weight together."""
    found = None
    for weight, group in itertools.groupby(zip(weights, sources, strict=True), key=lambda term: term[0]):
        terms = [coefficients[..., at] for _, at in group]
        total = functools.reduce(np.add, terms)
        total = total if weight == 1.0 else np.multiply(weight, total)
        found = total if found is None else np.add(found, total)
    return found


def _last(b: tuple[int, ...]) -> int:
    """The place whose derivative is taken by the gradient: without it few places are left, or one is rarer."""
    return min(b, key=b.count)


def _without(b: tuple[int, ...], i: int) -> tuple[int, ...]:
    at = b.index(i)
    return b[:at] + b[at + 1 :]


def _terms(b: tuple[int, ...]) -> tuple[tuple[float, ...], list[tuple[int, ...]]]:
    """(factors, directions) of the coefficients that a derivative by sorted places is made of, by rising factors."""
    distinct = tuple(dict.fromkeys(b))
    weights, patterns = _ordered(tuple(b.count(i) for i in distinct))
    return weights, [sum(((i,) * n for i, n in zip(distinct, s, strict=True)), ()) for s in patterns]


@functools.lru_cache(maxsize=512)
def _ordered(pattern: tuple[int, ...]) -> tuple[tuple[float, ...], list[tuple[int, ...]]]:
    terms = sorted((float(factor), s) for s, factor in combination_of_pattern(pattern).items())
    return tuple(factor for factor, _ in terms), [s for _, s in terms]


@functools.lru_cache(maxsize=32)
def entries_of(n: int, k: int, by_reverse: bool) -> Entries:
    """The entries of order k in n variables, made once."""
    return Entries(n, k, by_reverse)


@functools.lru_cache(maxsize=32)
def unpacking(n: int, k: int) -> Any:
    """For each of the nᵏ entries in C order the place of its equal among the distinct ones."""
    whole = np.sort(np.indices((n,) * k).reshape(k, -1), axis=0)
    distinct = np.array(list(itertools.combinations_with_replacement(range(n), k))).reshape(-1, k).T
    radix = n ** np.arange(k - 1, -1, -1)
    return np.searchsorted(radix @ distinct, radix @ whole)


__all__ = ["Entries", "entries_of", "unpacking"]
