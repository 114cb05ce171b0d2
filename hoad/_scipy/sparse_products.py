"""Products with constant sparse matrices, and solutions of systems of them, as operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import running
from hoad._numpy.registry import as_traced
from hoad._ops.dependence import OF_PRIMITIVE, Entrywise
from hoad._scipy.compiled import in_place_of, module, of_plain_values
from hoad._scipy.registry import IMPLEMENTED, implements, refused
from hoad.rules.registry import defvjp, primitive

_tools = module("scipy.sparse._sparsetools")
_linear = "scipy.sparse.linalg"


class Matrix:
    """A sparse matrix as a parameter of an operation, with its factors where they are asked for."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self._transpose: Matrix | None = None
        self._factors: Any = None

    @property
    def T(self) -> Matrix:
        if self._transpose is None:
            self._transpose = Matrix(self.matrix.T)
            self._transpose._transpose = self
        return self._transpose

    def product(self, x: Any) -> Any:
        return self.matrix @ x

    def solution(self, b: Any) -> Any:
        if self._factors is None:
            self._factors = scipy.sparse.linalg.splu(scipy.sparse.csc_array(self.matrix))
        if b.dtype.kind == "c" and self.matrix.dtype.kind != "c":  # of real factors
            return self._factors.solve(b.real.copy()) + 1j * self._factors.solve(b.imag.copy())
        return self._factors.solve(np.array(b, np.result_type(self.matrix.dtype, b.dtype)))

    def __reduce__(self) -> Any:
        return Matrix, (self.matrix,)

    def __repr__(self) -> str:
        return f"<sparse matrix of shape {self.matrix.shape}>"


def _shape_of_product(x: Any, *, matrix: Matrix) -> Any:
    return (matrix.matrix.shape[0], *x.shape[1:]), np.result_type(matrix.matrix.dtype, x.dtype)


@primitive(linear=(0,), shape=_shape_of_product)
def sparse_product(x: Any, *, matrix: Matrix) -> Any:
    return matrix.product(x)


@primitive(linear=(0,), shape=_shape_of_product)
def sparse_solution(b: Any, *, matrix: Matrix) -> Any:
    return matrix.solution(b)


def _entries(asked: Any) -> Entrywise:
    """Those of the matrix, for each column of the operand apart."""
    matrix = dict(asked.params)["matrix"].matrix.tocoo()
    columns = np.arange(math.prod(asked.own[1:]))
    m, n = (np.ravel(matrix.coords[k][:, None] * len(columns) + columns) for k in (0, 1))
    values = np.repeat(matrix.data, len(columns))
    return Entrywise((math.prod(asked.whole), math.prod(asked.own)), m, n, values)


OF_PRIMITIVE[sparse_product.__hoad_primitive__] = _entries  # type: ignore[attr-defined]


def _like(x: Any, g: Any) -> Any:
    """The adjoint of a real operand of a complex matrix is real."""
    return np.real(g) if g.dtype.kind == "c" and x.dtype.kind != "c" else g


defvjp(sparse_product, lambda g, p, x, *, matrix: (_like(x, sparse_product(g, matrix=matrix.T)),))
defvjp(sparse_solution, lambda g, p, b, *, matrix: (_like(b, sparse_solution(g, matrix=matrix.T)),))


# ---- what products of SciPy's classes end in ------------------------------------------------------------------------


def _times(matrix: Any, x: Any) -> Any:
    return sparse_product(as_traced(x), matrix=Matrix(matrix)) if holds_traced(x) else matrix @ x


def _compressed(kind: Any, m: int, n: int, indptr: Any, indices: Any, data: Any) -> Any:
    return kind((data, indices, indptr), shape=(m, n), copy=True)  # which a recording keeps


for _name, _kind in (("csr", scipy.sparse.csr_array), ("csc", scipy.sparse.csc_array)):

    def _vector(m: int, n: int, indptr: Any, indices: Any, data: Any, x: Any, kind: Any = _kind) -> Any:
        return _times(_compressed(kind, m, n, indptr, indices, data), x)

    def _vectors(m: int, n: int, count: int, indptr: Any, indices: Any, data: Any, x: Any, kind: Any = _kind) -> Any:
        return np.ravel(_times(_compressed(kind, m, n, indptr, indices, data), np.reshape(x, (n, count))))

    in_place_of(_tools, f"{_name}_matvec", out=6)(_vector)
    in_place_of(_tools, f"{_name}_matvecs", out=7)(_vectors)


def _blocks(m: int, n: int, r: int, c: int, indptr: Any, indices: Any, data: Any) -> Any:
    return scipy.sparse.bsr_array((np.reshape(data, (-1, r, c)), indices, indptr), shape=(m * r, n * c))


@in_place_of(_tools, "bsr_matvec", out=8)
def bsr_matvec(m: int, n: int, r: int, c: int, indptr: Any, indices: Any, data: Any, x: Any) -> Any:
    return _times(_blocks(m, n, r, c, indptr, indices, data), x)


@in_place_of(_tools, "bsr_matvecs", out=9)
def bsr_matvecs(m: int, n: int, count: int, r: int, c: int, indptr: Any, indices: Any, data: Any, x: Any) -> Any:
    return np.ravel(_times(_blocks(m, n, r, c, indptr, indices, data), np.reshape(x, (n * c, count))))


@in_place_of(_tools, "coo_matvec")
def coo_matvec(_: int, row: Any, col: Any, data: Any, x: Any, result: Any) -> None:
    result[...] = _times(scipy.sparse.coo_array((data, (row, col)), (result.shape[0], x.shape[0])).tocsr(), x)


@in_place_of(_tools, "coo_matmat_dense")
def coo_matmat_dense(_: int, count: int, row: Any, col: Any, data: Any, x: Any, result: Any) -> None:
    x = np.reshape(x, (-1, count))
    matrix = scipy.sparse.coo_array((data, (row, col)), (result.shape[0], x.shape[0])).tocsr()
    result[...] = _times(matrix, x)


@in_place_of(_tools, "dia_matvecs", out=8)
def dia_matvecs(m: int, n: int, _: int, length: int, offsets: Any, data: Any, count: int, x: Any) -> Any:
    return _times(scipy.sparse.dia_array((data, offsets), shape=(m, n)), x)


@in_place_of(_tools, "dia_matvec", out=7)
def dia_matvec(m: int, n: int, count: int, length: int, offsets: Any, data: Any, x: Any) -> Any:
    return _times(scipy.sparse.dia_array((data, offsets), shape=(m, n)), x)


of_plain_values(_tools)
of_plain_values(module("scipy.sparse._csparsetools"))


# ---- systems --------------------------------------------------------------------------------------------------------


@implements(scipy.sparse.linalg.spsolve)
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """x of A x = b, for a constant sparse matrix.

    Notes
    -----
    Cost: one sparse factorisation, another of the transpose for derivatives, and two substitutions for each sweep.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hoad.scipy.sparse import linalg
    >>> a = scipy.sparse.csc_array(np.diag([2.0, 4.0]))
    >>> hoad.grad(lambda b: np.sum(linalg.spsolve(a, b)))(np.ones(2))
    array([0.5 , 0.25])
    """
    with Apart():
        matrix = Matrix(scipy.sparse.csc_array(A))
    found = sparse_solution(as_traced(b), matrix=matrix)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


class Factors:
    """What `splu` returns while something is recorded: `solve` takes traced right sides."""

    def __init__(self, matrix: Any, factors: Any) -> None:
        self._matrix = Matrix(matrix)
        self._matrix._factors = factors

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if not holds_traced(rhs):
            return self._matrix._factors.solve(rhs, trans)
        if trans == "H" and self._matrix.matrix.dtype.kind == "c":
            raise refused("splu", "solved with trans='H'", "Use np.conj of what trans='T' gives.", _linear)
        return sparse_solution(as_traced(rhs), matrix=self._matrix if trans == "N" else self._matrix.T)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._matrix._factors, name)


class IncompleteFactors(Factors):
    """What `spilu` returns while something is recorded."""

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if holds_traced(rhs):
            raise refused("spilu", "solved for traced values", "Use splu.", _linear)
        return self._matrix._factors.solve(rhs, trans)


def spilu(A: Any, *args: Any, **kwargs: Any) -> Any:
    """Incomplete factors of a constant sparse matrix, whose `solve` takes plain right sides."""
    with Apart():
        found = scipy.sparse.linalg.spilu(A, *args, **kwargs)
        return found if running() is None else IncompleteFactors(scipy.sparse.csc_array(A), found)


def splu(A: Any, *args: Any, **kwargs: Any) -> Any:
    """The factors of a constant sparse matrix, whose `solve` takes traced right sides."""
    with Apart():
        found = scipy.sparse.linalg.splu(A, *args, **kwargs)
        return found if running() is None else Factors(scipy.sparse.csc_array(A), found)


IMPLEMENTED[scipy.sparse.linalg.splu] = splu
IMPLEMENTED[scipy.sparse.linalg.spilu] = spilu
