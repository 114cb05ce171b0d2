"""The distinct entries of a symmetric tensor from univariate coefficients, and where each stands in the whole."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from hoad.transform.directions import combination, counted, multi_indices


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
        lines = multi_indices(n, self.degree)
        self.directions = np.array(lines, np.float64).reshape(len(lines), n).T
        places = {line: at for at, line in enumerate(lines)}
        groups: dict[tuple[float, ...], list[tuple[int, list[int]]]] = {}
        for at, b in enumerate(itertools.combinations_with_replacement(range(n), k)):
            if by_reverse:
                ways = ((combination(counted(_without(b, i), n)), i) for i in dict.fromkeys(b))
                found, i = min(ways, key=lambda way: len(way[0]))
            else:
                found, i = combination(counted(b, n)), 0
            terms = sorted((float(w), i * len(lines) + places[s]) for s, w in found.items())
            groups.setdefault(tuple(w for w, _ in terms), []).append((at, [source for _, source in terms]))
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


def _without(b: tuple[int, ...], i: int) -> tuple[int, ...]:
    at = b.index(i)
    return b[:at] + b[at + 1 :]


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
