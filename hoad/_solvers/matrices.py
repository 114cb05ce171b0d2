"""Jacobians and Hessians in the form that a solver is fastest with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._drivers.hessian import hessian
from hoad._drivers.jacobian import jacobian
from hoad._drivers.products import hvp
from hoad._jit.jit import jit
from hoad._pytree.containers import flatten
from hoad._sparse.drivers import sparse_hessian, sparse_jacobian
from hoad.errors import GuardError

Function = Callable[..., Any]

SMALL = 50  # unknowns up to which a dense matrix takes no longer than a sparse one
FILLED = 0.2  # the part of the entries above which a sparse matrix is no faster to compute and to solve with
MANY = 200  # unknowns from which on products are faster than a dense Hessian, for a solver that takes either


def vector(y: Any) -> Any:
    """All numbers of a result in one vector."""
    leaves = flatten(y)[0]
    rows = [np.reshape(leaf, (-1,)) for leaf in leaves]
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def as_vector(f: Function) -> Function:
    """f, with all numbers of its result in one vector."""
    return lambda *args, **kwargs: vector(f(*args, **kwargs))


class Matrix:
    """A Jacobian or a Hessian, called as its function is; whether it is sparse is decided at the first point."""

    def __init__(self, f: Function, kind: str, form: str = "auto") -> None:
        self.dense = jit(jacobian(f) if kind == "jacobian" else hessian(f))
        self.sparse: Any = sparse_jacobian(f) if kind == "jacobian" else sparse_hessian(f)
        self.form, self.asked = form, form
        self.size = -1  # of x, for which it was decided
        self.plan: Any = None
        self.ends: Any = None  # where each row ends among the entries

    def is_sparse_at(self, x: Any, *args: Any) -> bool:
        """Whether the matrix is sparse, here and at other points of this size."""
        if self.size != np.size(x):
            self.size = np.size(x)
            self.form, self.plan, self.ends = self.asked, None, None
        if self.plan is None and (self.form == "sparse" or (self.form == "auto" and self.size > SMALL)):
            self.plan = self.sparse.plan(x, *args)
        if self.form == "auto":
            thin = self.plan is not None and self.plan.nnz <= FILLED * self.plan.shape[0] * self.plan.shape[1]
            self.form = "sparse" if thin else "dense"
        return self.form == "sparse"

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not self.is_sparse_at(x, *args):
            return self.dense(x, *args, **kwargs)
        from scipy.sparse import csr_array

        try:
            entries = self.plan.values(x, *args)
        except GuardError:  # f takes another branch than where the plan was made
            return self.sparse(x, *args)
        if self.ends is None:
            self.ends = np.searchsorted(self.plan.rows, np.arange(self.plan.shape[0] + 1))
        return csr_array((entries, np.array(self.plan.columns), self.ends.copy()), shape=self.plan.shape)


class Product:
    """The product of a Hessian with a vector, as SciPy calls it: ``(x, p, *args)``."""

    def __init__(self, f: Function) -> None:
        self.product = jit(hvp(f))

    def __call__(self, x: Any, p: Any, *args: Any) -> Any:
        return self.product(x, *args, p)


class SparseProduct:
    """The same, of a sparse Hessian that is computed once at each x."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.x: Any = None
        self.found: Any = None

    def __call__(self, x: Any, p: Any, *args: Any) -> Any:
        if self.x is None or not np.array_equal(x, self.x):
            self.x, self.found = np.array(x), self.matrix(x, *args)
        return self.found @ p


def hessian_for(f: Function, form: str, method: str, point: tuple[Any, ...]) -> dict[str, Any]:
    """What a method of `scipy.optimize.minimize` is given for the Hessian of f: ``hess`` or ``hessp``."""
    if method in WITH_MATRIX:
        return {"hess": Matrix(f, "hessian", "dense")}
    if form == "product":
        return {"hessp": Product(f)}
    matrix = Matrix(f, "hessian", form)
    if matrix.is_sparse_at(*point):  # trust-constr adds up matrices of its own; the others multiply, some by np.dot
        return {"hess": matrix} if method == "trust-constr" else {"hessp": SparseProduct(matrix)}
    if form == "auto" and np.size(point[0]) >= MANY:
        return {"hessp": Product(f)}
    return {"hess": matrix}


WITH_MATRIX = ("dogleg", "trust-exact")  # methods of SciPy's that factor the Hessian
WITH_PRODUCT = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")  # that multiply with it
WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
