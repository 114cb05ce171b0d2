"""Systems of triangular and of banded matrices, as operations of SciPy's routines."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad.rules.registry import defvjp, primitive


@primitive(linear=(1,), shape=lambda a, b, **_: b.shape)
def triangular(a: Any, b: Any, *, lower: bool, unit: bool) -> Any:
    """x of a x = b with one triangle of a, for a matrix b."""
    return scipy.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit, check_finite=False)


def _triangular(g: Any, p: Any, a: Any, b: Any, *, lower: bool, unit: bool) -> Any:
    w = triangular(a.T, g, lower=not lower, unit=unit)
    by_a = -(w @ p.T)
    return np.tril(by_a, -1 if unit else 0) if lower else np.triu(by_a, 1 if unit else 0), w


defvjp(triangular, _triangular)


@primitive(linear=(1,), shape=lambda ab, b, **_: b.shape)
def banded(ab: Any, b: Any, *, below: int, above: int) -> Any:
    """x of a x = b, for a as its diagonals and a matrix b."""
    return scipy.linalg.solve_banded((below, above), ab, b, check_finite=False)


def _banded(g: Any, p: Any, ab: Any, b: Any, *, below: int, above: int) -> Any:
    w = banded(band_of_transpose(ab, below, above), g, below=above, above=below)
    n = ab.shape[1]
    rows = np.arange(-above, below + 1)[:, None] + np.arange(n)  # of the entries of ab
    inside = (rows >= 0) & (rows < n)
    return np.where(inside, -np.sum(w[np.where(inside, rows, 0)] * p, axis=-1), 0.0), w


defvjp(banded, _banded)


def band_of_transpose(ab: Any, below: int, above: int) -> Any:
    """The diagonals of aᵀ from those of a."""
    n, total = ab.shape[1], below + above
    row = np.arange(total + 1)[:, None]
    column = row - below + np.arange(n)
    inside = (column >= 0) & (column < n)
    return np.where(inside, ab[total - row, np.where(inside, column, 0)], 0.0)


def band_of_half(ab: Any, lower: bool) -> Any:
    """All diagonals of a Hermitian matrix from those on one side."""
    width = ab.shape[0] - 1
    other = band_of_transpose(ab, width, 0) if lower else band_of_transpose(ab, 0, width)
    if other.dtype.kind == "c":
        other = np.conjugate(other)
    return np.concatenate([other[:-1], ab] if lower else [ab, other[1:]])


def from_band(ab: Any, below: int, above: int) -> Any:
    """The matrix of these diagonals."""
    n = ab.shape[1]
    i, j = np.arange(n)[:, None], np.arange(n)
    row = above + i - j
    inside = (row >= 0) & (row <= below + above)
    return np.where(inside, ab[np.where(inside, row, 0), np.broadcast_to(j, (n, n))], 0.0)


def from_half_band(ab: Any, lower: bool) -> Any:
    """The Hermitian matrix of the diagonals on one side."""
    width = ab.shape[0] - 1
    return from_band(band_of_half(ab, lower), width, width)


def half_band(a: Any, ab: Any, lower: bool) -> Any:
    """The diagonals of a triangle, laid out as ab is, of which what lies outside of the matrix is kept."""
    width, n = ab.shape[0] - 1, ab.shape[1]
    i = np.arange(ab.shape[0])[:, None] + np.arange(n) - (0 if lower else width)
    inside = (i >= 0) & (i < n)
    return np.where(inside, a[np.where(inside, i, 0), np.broadcast_to(np.arange(n), i.shape)], ab)
