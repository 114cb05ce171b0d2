"""The distinct entries of a symmetric tensor from univariate coefficients, and where each stands in the whole."""

from __future__ import annotations

import functools
import itertools
import math
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
    directions : ndarray (lines, n)
        The lines.
    """

    def __init__(self, n: int, k: int, by_reverse: bool) -> None:
        self.degree = k - 1 if by_reverse else k
        lines = multi_indices(n, self.degree)
        self.directions = np.array(lines, np.float64).reshape(len(lines), n)
        places = {line: at for at, line in enumerate(lines)}
        groups: dict[int, list[tuple[int, list[int], list[float]]]] = {}
        for at, b in enumerate(itertools.combinations_with_replacement(range(n), k)):
            if by_reverse:
                found, i = min(((combination(counted(_without(b, i), n)), i) for i in set(b)), key=lambda way: len(way[0]))
                sources = [places[s] * n + i for s in found]
            else:
                found = combination(counted(b, n))
                sources = [places[s] for s in found]
            groups.setdefault(len(found), []).append((at, sources, [float(w) for w in found.values()]))
        self._groups = [
            (np.array([row[1] for row in rows]), np.array([row[2] for row in rows])) for rows in groups.values()
        ]
        self._order = np.argsort([row[0] for rows in groups.values() for row in rows], kind="stable")

    def distinct(self, coefficients: Any, shape: tuple[int, ...]) -> Any:
        """The entries along the last axis, from coefficients with the lines along the first."""
        m = math.prod(shape)
        source = np.reshape(coefficients, (-1, m) if shape else (-1,))
        parts = []
        for at, weights in self._groups:
            terms = source[at] * weights.reshape(*weights.shape, *[1] * (source.ndim - 1))
            parts.append(np.sum(terms, axis=1))
        found = (np.concatenate(parts) if len(parts) > 1 else parts[0])[self._order]
        return np.reshape(np.transpose(found), (*shape, len(self._order))) if shape else found


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
