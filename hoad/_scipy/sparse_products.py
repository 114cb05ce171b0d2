"""Products with constant sparse matrices, and solutions of systems of them, as operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from hoad._core.base.frame_globals import Apart
from hoad._core.base.where import here
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced
from hoad._numpy.registry import as_traced
from hoad._ops.dependence import OF_PRIMITIVE, Entrywise, mixing
from hoad._scipy.compiled import as_constant, module, of_plain_values
from hoad._scipy.registry import IMPLEMENTED, implements, refused
from hoad.errors import ShapeError, TracedValueError
from hoad.rules.registry import defvjp, primitive

_tools = module("scipy.sparse._sparsetools")
_linear = "scipy.sparse.linalg"


# ---- products --------------------------------------------------------------------------------------------------------

# The parts of a matrix are operands: so the recording keeps a copy of each, one for all products with it.
KINDS = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array, "coo": scipy.sparse.coo_array}
TRANSPOSED = {"csr": "csc", "csc": "csr", "coo": "coo"}


def _matrix(parts: Any, shape: tuple[int, int], kind: str) -> Any:
    data, *places = parts
    return KINDS[kind]((data, tuple(places)) if kind == "coo" else (data, *places), shape=shape)


def _shape_of_product(x: Any, data: Any, first: Any, second: Any, *, shape: tuple[int, int], kind: str) -> Any:
    return (shape[0], *x.shape[1:]), np.result_type(data.dtype, x.dtype)


@primitive(linear=(0,), shape=_shape_of_product)
def sparse_product(x: Any, data: Any, first: Any, second: Any, *, shape: tuple[int, int], kind: str) -> Any:
    """The product of a matrix and x; `first` and `second` are the rows and columns of coo, else indices and indptr."""
    return _matrix((data, first, second), shape, kind) @ x


def _like(x: Any, g: Any) -> Any:
    """The adjoint of a real operand of a complex matrix is real."""
    return np.real(g) if g.dtype.kind == "c" and x.dtype.kind != "c" else g


def _of_transpose(g: Any, parts: Any, shape: tuple[int, int], kind: str) -> Any:
    data, first, second = parts
    places = (second, first) if kind == "coo" else (first, second)
    return sparse_product(g, data, *places, shape=shape[::-1], kind=TRANSPOSED[kind])


def _pull_back(g: Any, p: Any, x: Any, data: Any, first: Any, second: Any, *, shape: tuple[int, int], kind: str) -> Any:
    return _like(x, _of_transpose(g, (data, first, second), shape, kind)), None, None, None


defvjp(sparse_product, _pull_back)


def _entries(asked: Any) -> Any:
    """Those of the matrix, for each column of the operand apart."""
    parts = asked.values[1:]
    if asked.k or any(x is None for x in parts):
        return mixing(asked.own, asked.whole)
    matrix = _matrix(parts, **dict(asked.params)).tocoo()
    columns = np.arange(math.prod(asked.own[1:]))
    m, n = (np.ravel(matrix.coords[k][:, None] * len(columns) + columns) for k in (0, 1))
    values = np.repeat(matrix.data, len(columns))
    return Entrywise((math.prod(asked.whole), math.prod(asked.own)), m, n, values)


OF_PRIMITIVE[sparse_product.__hoad_primitive__] = _entries  # type: ignore[attr-defined]


def product(a: Any, b: Any) -> Any:
    """a @ b, of which one is a sparse matrix and the other a traced vector or matrix."""
    on_right = is_traced(a)
    x, constant = (np.transpose(a), b) if on_right else (b, a)
    _check_products(type(constant))
    if a.ndim > 2 or b.ndim > 2:
        raise ShapeError(
            f"a product of shapes {a.shape} and {b.shape} with a sparse matrix in it is not recorded ({here()}). "
            "Multiply by vectors and matrices, one after another."
        )
    if x.shape[0] != constant.shape[0 if on_right else -1]:
        raise ShapeError(f"the shapes {a.shape} and {b.shape} of a product with a sparse matrix do not fit ({here()}).")
    with Apart():
        matrix = constant if constant.ndim == 2 else constant.reshape(1, -1)
        if matrix.format == "lil" and holds_traced(matrix.data):  # by adopted code
            matrix, lists = matrix.copy(), as_constant(matrix.data)
            matrix.data = lists
        matrix = matrix if matrix.format in KINDS else matrix.tocsr()
        kind, shape = matrix.format, matrix.shape
        places = (matrix.row, matrix.col) if kind == "coo" else (matrix.indices, matrix.indptr)
        parts = [np.asarray(part) for part in (matrix.data, *places)]
    if constant.ndim == 1:
        return sparse_product(x, *parts, shape=shape, kind=kind)[0]
    if on_right:
        return np.transpose(_of_transpose(x, parts, shape, kind))
    return sparse_product(x, *parts, shape=shape, kind=kind)


# By which SciPy's classes multiply.
METHODS = ("__matmul__", "_matmul_dispatch", "_matmul_vector", "_matmul_multivector")


def _check_products(kind: type) -> None:
    """Raise for a class of the user's that multiplies in its own way."""
    for name in METHODS:
        method = getattr(kind, name, None)
        if method is not None and not str(method.__module__).startswith(("scipy.sparse", "hoad.")):
            raise TracedValueError(
                f"{kind.__name__} multiplies in its own way, by {name}, which is not recorded ({here()}). Take "
                "scipy.sparse.csr_array(matrix) if its entries say all."
            )


# SciPy's classes leave products with traced arrays to these: what else of theirs is compiled takes plain values.
of_plain_values(_tools)
of_plain_values(module("scipy.sparse._csparsetools"))


# ---- systems --------------------------------------------------------------------------------------------------------


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


def _shape_of_solution(b: Any, *, matrix: Matrix) -> Any:
    return (matrix.matrix.shape[0], *b.shape[1:]), np.result_type(matrix.matrix.dtype, b.dtype)


@primitive(linear=(0,), shape=_shape_of_solution)
def sparse_solution(b: Any, *, matrix: Matrix) -> Any:
    return matrix.solution(b)


defvjp(sparse_solution, lambda g, p, b, *, matrix: (_like(b, sparse_solution(g, matrix=matrix.T)),))


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
        matrix = Matrix(scipy.sparse.csc_array(A, copy=True))
    found = sparse_solution(as_traced(b), matrix=matrix)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


class Factors:
    """What `splu` returns: SciPy's factors, whose `solve` takes traced right sides too, wherever they were made."""

    def __init__(self, matrix: Any, factors: Any) -> None:
        self._matrix, self._factors = Matrix(matrix), factors
        self._matrix._factors = factors

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if not holds_traced(rhs):
            return self._factors.solve(rhs, trans)
        if trans == "H" and self._matrix.matrix.dtype.kind == "c":
            raise refused("splu", "solved with trans='H'", "Use np.conj of what trans='T' gives.", _linear)
        return sparse_solution(as_traced(rhs), matrix=self._matrix if trans == "N" else self._matrix.T)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also before there are factors, in a copy
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._factors, name)


class IncompleteFactors(Factors):
    """What `spilu` returns."""

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if holds_traced(rhs):
            raise refused("spilu", "solved for traced values", "Use splu.", _linear)
        return self._factors.solve(rhs, trans)


def spilu(A: Any, *args: Any, **kwargs: Any) -> Any:
    """Incomplete factors of a constant sparse matrix, whose `solve` takes plain right sides."""
    with Apart():
        return IncompleteFactors(scipy.sparse.csc_array(A, copy=True), scipy.sparse.linalg.spilu(A, *args, **kwargs))


def splu(A: Any, *args: Any, **kwargs: Any) -> Any:
    """The factors of a constant sparse matrix, whose `solve` takes traced right sides."""
    with Apart():
        return Factors(scipy.sparse.csc_array(A, copy=True), scipy.sparse.linalg.splu(A, *args, **kwargs))


IMPLEMENTED[scipy.sparse.linalg.splu] = splu
IMPLEMENTED[scipy.sparse.linalg.spilu] = spilu
