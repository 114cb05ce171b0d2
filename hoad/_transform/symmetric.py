"""The distinct entries of a symmetric tensor from univariate coefficients, and where each stands in the whole."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from hoad._transform.directions import combination_of_pattern


class Entries:
    """How the distinct entries of the tensor of order k in n variables are combined.

    With `by_reverse` from the coefficients of order k - 1 of the gradient: where b = a + eᵢ, entry b is ∂ᵃ of the i-th
    derivative, and i is chosen so that few coefficients are needed. Otherwise from those of order k of the function.
    """

    def __init__(self, n: int, k: int, by_reverse: bool) -> None:
        self.degree = k - 1 if by_reverse else k  # of the coefficients
        lines, entries = sorted_places(n, self.degree), sorted_places(n, k)
        self.directions = np.zeros((n, len(lines)))  # the lines
        np.add.at(self.directions, (lines.T, np.arange(len(lines))), 1.0)
        first = np.zeros(len(entries), dtype=np.intp)
        if by_reverse:
            last = _last(entries)
            first = entries[last] * len(lines)
            entries = entries[~last].reshape(-1, self.degree)
        starts, rows_of = _alike(entries)
        groups: dict[tuple[float, ...], list[tuple[Any, Any]]] = {}
        for at, rows in zip(starts, rows_of, strict=True):
            weights, columns = _terms(at)
            found = [_place(entries[np.ix_(rows, column)], lines, n) for column in columns]
            groups.setdefault(weights, []).append((rows, np.array(found) + first[rows]))
        self._groups = [
            (weights, np.concatenate([sources for _, sources in parts], axis=1)) for weights, parts in groups.items()
        ]
        # Where among the combinations each entry is, in the order of sorted tuples of places.
        self.order = np.argsort(np.concatenate([rows for parts in groups.values() for rows, _ in parts]))

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


def sorted_places(n: int, k: int) -> Any:
    """All sorted tuples of k of n places, in their order: a row for each."""
    found = itertools.chain.from_iterable(itertools.combinations_with_replacement(range(n), k))
    return np.fromiter(found, dtype=np.intp).reshape(math.comb(n + k - 1, k), k)


def _place(places: Any, among: Any, n: int) -> Any:
    """Where sorted tuples of places stand among all of them."""
    radix = n ** np.arange(among.shape[1] - 1, -1, -1)
    return np.searchsorted(among @ radix, places @ radix)


def _last(entries: Any) -> Any:
    """A mask of the place whose derivative is taken by the gradient, one a row: the rarest, so that few are left."""
    counts = (entries[:, :, None] == entries[:, None, :]).sum(-1)
    return np.arange(entries.shape[1]) == counts.argmin(axis=1)[:, None]


def _alike(entries: Any) -> tuple[list[tuple[int, ...]], list[Any]]:
    """The patterns of equal places in sorted rows, each by the column where every column's place is first met; and
    the rows of each."""
    columns = np.arange(entries.shape[1])
    is_new = np.diff(entries, axis=1, prepend=-1) > 0
    patterns, of = np.unique(np.maximum.accumulate(columns * is_new, axis=1), axis=0, return_inverse=True)
    return [tuple(p) for p in patterns.tolist()], [np.flatnonzero(of.ravel() == k) for k in range(len(patterns))]


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
    found = np.zeros(1, dtype=np.intp)
    for order in range(1, k + 1):
        shorter = sorted_places(n, order - 1)
        longer = np.column_stack([np.repeat(shorter, n, axis=0), np.tile(np.arange(n), len(shorter))])
        with_one_more = _place(np.sort(longer, axis=1), sorted_places(n, order), n).reshape(-1, n)
        found = with_one_more[found].ravel()
    return found
