"""Truncated power series whose coefficients are arrays: by them, derivatives are held against defining equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ORDER = 4


class Series:
    """The coefficients of 1, t, ..., t⁴."""

    __array_ufunc__ = None  # the operators of arrays leave those below to their other side

    def __init__(self, coefficients: Any) -> None:
        self.c = [np.asarray(x) for x in coefficients]

    def _combined(self, other: Any, product: Callable[[Any, Any], Any]) -> Series:
        other = as_series(other)
        return Series(sum(product(self.c[i], other.c[k - i]) for i in range(k + 1)) for k in range(ORDER + 1))

    def __add__(self, other: Any) -> Series:
        return Series(a + b for a, b in zip(self.c, as_series(other).c, strict=True))

    def __neg__(self) -> Series:
        return Series(-a for a in self.c)

    def __sub__(self, other: Any) -> Series:
        return self + -as_series(other)

    def __rsub__(self, other: Any) -> Series:
        return -self + other

    def __mul__(self, other: Any) -> Series:
        return self._combined(other, np.multiply)

    def __matmul__(self, other: Any) -> Series:
        return self._combined(other, np.matmul)

    def __rmatmul__(self, other: Any) -> Series:
        return as_series(other) @ self

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, index: Any) -> Series:
        return Series(a[index] for a in self.c)

    @property
    def T(self) -> Series:
        return Series(a.T for a in self.c)

    def each(self, f: Callable[[Any], Any]) -> Series:
        """A linear function of it."""
        return Series(map(f, self.c))


def as_series(x: Any) -> Series:
    x = x if isinstance(x, Series) else Series([x, *(np.zeros_like(x) for _ in range(ORDER))])
    return x


def of_function(f: Callable[[Any], Any], x: Series) -> Series:
    """The series of a function of matrices, by f of one block Toeplitz matrix of five times the size."""
    n = x.c[0].shape[0]
    whole = sum(np.kron(np.eye(ORDER + 1, k=k), x.c[k]) for k in range(ORDER + 1))
    found = f(whole)
    return Series(found[:n, k * n : (k + 1) * n] for k in range(ORDER + 1))


def eye(a: Any) -> np.ndarray:
    """The identity of as many rows as the last axis of a series has columns."""
    return np.eye(a.c[0].shape[-1])
