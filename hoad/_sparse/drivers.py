"""Sparse derivatives by dense ones. To be replaced: it has the interface, and none of the speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._drivers.hessian import hessian
from hoad._drivers.jacobian import jacobian


class SparsePlan:
    """The entries of a matrix that may be nonzero, and their values."""

    def __init__(self, matrix: Callable[..., Any], kept: Callable[[Any], Any], point: tuple[Any, ...]) -> None:
        self.matrix = matrix
        x, *args = point
        rng = np.random.default_rng(0)
        near = [np.asarray(x) * (1 + 0.01 * rng.random(np.shape(x))) + 1e-3 * rng.random(np.shape(x)) for _ in range(3)]
        others = [[a + 0.1 * rng.random(np.shape(a)) if isinstance(a, np.ndarray) else a for a in args] for _ in near]
        there: Any = sum(np.abs(kept(matrix(z, *a))) for z, a in zip(near, others, strict=True))
        self.shape = there.shape
        self.rows, self.columns = np.nonzero(there)
        self.nnz = self.rows.size

    def values(self, *point: Any, out: Any = None) -> Any:
        found = self.matrix(*point)[self.rows, self.columns]
        if out is None:
            return found
        out[...] = found
        return out


class _Sparse:
    def __init__(self, matrix: Callable[..., Any], format: str, kept: Callable[[Any], Any] = lambda a: a) -> None:
        self.matrix, self.format, self.kept = matrix, format, kept

    def plan(self, *point: Any) -> SparsePlan:
        return SparsePlan(self.matrix, self.kept, point)

    def __call__(self, *point: Any) -> Any:
        import scipy.sparse as sps

        plan = self.plan(*point)
        found = sps.coo_array((plan.values(*point), (plan.rows, plan.columns)), shape=plan.shape)
        return found.asformat(self.format)


def sparse_jacobian(f: Callable[..., Any], *, format: str = "csr") -> Any:
    return _Sparse(jacobian(f), format)


def sparse_hessian(f: Callable[..., Any], *, format: str = "csr") -> Any:
    return _Sparse(hessian(f), format)


def lagrangian_hessian(
    f: Callable[..., Any], g: Callable[..., Any], *, format: str = "csr", triangle: str = "lower"
) -> Any:
    def lagrangian(x: Any, lam: Any, sigma: Any, *args: Any) -> Any:
        return sigma * f(x, *args) + np.sum(lam * g(x, *args))

    def matrix(x: Any, lam: Any, sigma: Any = 1.0, *args: Any) -> Any:
        found = hessian(lagrangian)(x, lam, sigma, *args)
        return np.tril(found) if triangle == "lower" else found

    return _Sparse(matrix, format)
