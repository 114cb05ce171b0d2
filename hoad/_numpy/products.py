"""Products and linear algebra."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.calls import apply_primitive, are_matrices, has_factors, product_of_floats
from hoad._core.trace.traced import Array, Traced, is_traced
from hoad._numpy.complex import refuse_complex, squared_size
from hoad._numpy.indexing import where
from hoad._numpy.reductions import max, min, sum
from hoad._numpy.registry import FLOAT64, as_traced, implements, normal_axis, only_defaults
from hoad._numpy.shape import moveaxis, ravel, reshape, squeeze, transpose
from hoad._numpy.spectra import multiplied
from hoad._ops import primitives as prim
from hoad.errors import TracedValueError

Function = Callable[..., Any]

TO_DENSE = "A @ x, or A.toarray() for an array"
SPARSE = ("scipy.sparse.", "hoad.scipy.")  # where classes of sparse matrices are


def is_sparse(x: Any) -> bool:
    if isinstance(x, (Traced, np.ndarray)):
        return False
    return any(kind.__module__.startswith(SPARSE) for kind in type(x).__mro__)


def without_sparse(name: str, advice: str = TO_DENSE) -> Callable[[Function], Function]:
    """Let a function raise for sparse matrices, of which NumPy makes objects, with what to write instead."""

    def decorated(function: Function) -> Function:
        @functools.wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            refuse_sparse(name, args, advice)
            return function(*args, **named)

        return checked

    return decorated


def refuse_sparse(name: str, operands: Iterable[Any], advice: str = "A @ x") -> None:
    """Raise if one of these is a sparse matrix, or the object that NumPy makes of one."""
    for x in operands:
        if type(x) is Array or type(x) is str or (type(x) is np.ndarray and x.dtype is FLOAT64):
            continue
        is_object = isinstance(x, np.ndarray) and x.dtype == object and not x.ndim
        found = x.item() if is_object else x
        if is_sparse(found):
            made = "np.asarray makes an object" if is_object else f"{name} would make an object"
            raise TracedValueError(f"{made} of the {type(found).__name__} A, not an array ({here()}). Write {advice}.")


def float_product(a: Any, b: Any) -> Any:
    """``a @ b`` of arrays of one or two axes of float64, the common case; None for anything else."""
    if type(a) is type(b) and are_matrices(a, b) and has_factors(a) and (found := multiplied(a, b)) is not None:
        return found
    return product_of_floats(a, b)


@implements(np.matmul, np.linalg.matmul)
def matmul(a: Any, b: Any, /, **options: Any) -> Any:
    if options:
        only_defaults("matmul", **options)
    if (found := float_product(a, b)) is not None:
        return found
    if is_sparse(a) or is_sparse(b):
        # by its name, for no module of this layer imports one of SciPy's
        return importlib.import_module("hoad._scipy.sparse_products").product(a, b)
    refuse_sparse("np.matmul", (a, b))
    a, b = as_traced(a), as_traced(b)
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        dtype = np.result_type(a.dtype, b.dtype)
        a, b = a.astype(dtype), b.astype(dtype)
    found = multiplied(a, b)
    return apply_primitive(prim.MATMUL, None, a, b) if found is None else found


@implements(np.dot, method="dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    if out is not None:
        only_defaults("dot", out=out)
    if (found := float_product(a, b)) is not None:
        return found
    refuse_sparse("np.dot", (a, b), TO_DENSE)
    a, b = as_traced(a), as_traced(b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if (a.ndim <= 2 and b.ndim <= 2) or b.ndim == 1:
        return matmul(a, b)
    axis = b.ndim - 2
    rows = reshape(a, (-1, a.shape[-1]))
    order = (axis, *[d for d in range(b.ndim) if d != axis])
    columns = reshape(transpose(b, order), (b.shape[axis], -1))
    return reshape(matmul(rows, columns), a.shape[:-1] + b.shape[:-2] + b.shape[-1:])


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    only_defaults("outer", out=out)
    a, b = as_traced(a), as_traced(b)
    return np.multiply(
        reshape(a, (-1, 1)) if is_traced(a) else a.reshape(-1, 1),
        b if b.ndim == 1 else ravel(b) if is_traced(b) else b.ravel(),
    )


@implements(np.divmod)
def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return np.floor_divide(x, y), np.remainder(x, y)


# ---- linear algebra -------------------------------------------------------------------------------------------------


def inexact(x: Any) -> Any:
    """x as floats or complex numbers."""
    x = as_traced(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


@implements(np.i0)
def i0(x: Any) -> Any:
    x = inexact(x)
    refuse_complex("i0", x)
    return apply_primitive(prim.BESSEL_I0, (0,), x)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    a = as_traced(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = tuple(a.shape)
    return reshape(inv(reshape(a, (math.prod(shape[ind:]), -1))), shape[ind:] + shape[:ind])


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = as_traced(a), as_traced(b)
    if axes is not None:
        order = list(range(a.ndim))
        for k in axes:
            order.remove(k)
            order.insert(a.ndim, k)
        a = transpose(a, order)
    shape = tuple(a.shape)[b.ndim - a.ndim :]
    count = math.prod(shape)
    if a.size != count**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return reshape(solve(reshape(a, (count, count)), ravel(b)), shape)


@implements(np.linalg.solve)
@without_sparse("np.linalg.solve", "hoad.scipy.sparse.linalg.spsolve(A, b), or A.toarray() for an array")
def solve(a: Any, b: Any) -> Any:
    a, b = inexact(a), inexact(b)
    if a.dtype is not b.dtype:
        dtype = np.result_type(a.dtype, b.dtype)
        a, b = a.astype(dtype), b.astype(dtype)
    if b.ndim == 1:
        return apply_primitive(prim.SOLVE, None, a, reshape(b, (-1, 1)) if is_traced(b) else b.reshape(-1, 1))[..., 0]
    return apply_primitive(prim.SOLVE, None, a, b)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    return apply_primitive(prim.INV, None, inexact(a))


@implements(np.linalg.det)
def det(a: Any) -> Any:
    return apply_primitive(prim.DET, None, inexact(a))


@functools.lru_cache(maxsize=8)
def kind_of_result(function: Any) -> Any:
    """The named tuple that a NumPy function of a matrix returns."""
    return type(function(np.eye(1)))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    sign, logabsdet = apply_primitive(prim.SLOGDET, None, inexact(a))
    return kind_of_result(np.linalg.slogdet)(sign, logabsdet)


def root(squares: Any) -> Any:
    """The square root, whose derivative at 0 is the subgradient 0."""
    zero = np.equal(squares, 0)
    return where(zero, 0.0, np.sqrt(where(zero, 1.0, squares)))


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = inexact(x)
    if axis is None:
        axes: tuple[int, ...] = tuple(range(x.ndim))
        if ord is None:
            return root(sum(squared_size(x), axes, keepdims=keepdims))
        if x.ndim not in (1, 2):
            raise ValueError("np.linalg.norm with ord needs one or two dimensions, or an axis")
    else:
        axes = tuple(normal_axis(a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
        if len(set(axes)) < len(axes):
            raise ValueError(f"duplicate axes in {axis}")
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return root(sum(squared_size(x), axes, keepdims=keepdims))
    if ord == np.inf:
        return max(np.abs(x), axes, keepdims=keepdims)
    if ord == -np.inf:
        return min(np.abs(x), axes, keepdims=keepdims)
    if ord == 1:
        return sum(np.abs(x), axes, keepdims=keepdims)
    if ord == 0:
        return sum(np.not_equal(x, 0).astype(prim.real_dtype(x.dtype)), axes, keepdims=keepdims)
    powers = sum(np.abs(x) ** ord, axes, keepdims=keepdims)
    zero = np.equal(powers, 0)
    return where(zero, 0.0, where(zero, 1.0, powers) ** (1.0 / ord))


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    row, column = axes
    if ord is None or ord == "fro":
        return root(sum(squared_size(x), axes, keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        inner, outer_axis = (row, column) if abs(ord) == 1 else (column, row)
        sums = sum(np.abs(x), inner, keepdims=True)
        found = max(sums, outer_axis, keepdims=True) if ord > 0 else min(sums, outer_axis, keepdims=True)
        return found if keepdims else squeeze(found, axes)
    if ord in (2, -2, "nuc"):
        (*_, s, _) = apply_primitive(prim.SVD, None, moveaxis(x, axes, (-2, -1)))
        s = where(np.equal(s, 0), 0.0, s)  # the subgradient 0, as of any norm
        found = sum(s, -1) if ord == "nuc" else max(s, -1) if ord > 0 else min(s, -1)
        return reshape(found, tuple(1 if d in axes else n for d, n in enumerate(x.shape))) if keepdims else found
    raise ValueError(f"Invalid norm order {ord!r} for matrices.")


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = inexact(x)
    if axis is None:
        found = norm(ravel(x), ord, 0)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    axes = tuple(normal_axis(a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    return _vector_norm(x, ord, axes, keepdims)


implements(np.linalg.matrix_norm)(lambda x, /, *, keepdims=False, ord="fro": norm(x, ord, (-2, -1), keepdims))


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    x = inexact(x)
    if p is None or p in (2, -2):
        (*_, s, _) = apply_primitive(prim.SVD, None, x)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))
