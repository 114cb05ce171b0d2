"""Factors of matrices, and what is made of them."""

from __future__ import annotations

import builtins
import functools
import operator
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import guard_value, is_traced
from hoad._numpy.complex import complexed, conjugate, imag, is_complex, real, squared_size
from hoad._numpy.creation import concatenate
from hoad._numpy.indexing import where
from hoad._numpy.products import inexact, kind_of_result, matmul
from hoad._numpy.rearranging import argsort, flip, take_along_axis
from hoad._numpy.reductions import max, sum
from hoad._numpy.registry import as_traced, implements
from hoad._numpy.shape import reshape, swapaxes
from hoad._numpy.triangles import mirrored
from hoad._ops import primitives as prim
from hoad.errors import NoRuleError, ShapeError

ALWAYS_COMPLEX = np.iscomplexobj(np.linalg.eigvals(np.eye(1)))  # from NumPy 2.5 on


def _refuse(name: str, option: str, advice: str) -> NoRuleError:
    return NoRuleError(f"np.linalg.{name} with {option} is not recorded ({here()}). {advice}")


@functools.lru_cache(maxsize=8)
def epsilon(dtype: np.dtype[Any]) -> Any:
    """The distance from 1 to the next number."""
    return np.finfo(dtype).eps


def _matrices(name: str, a: Any) -> Any:
    a = inexact(a)
    if a.ndim < 2:
        raise np.linalg.LinAlgError(f"np.linalg.{name} needs matrices, but found shape {a.shape} ({here()}).")
    return a


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    a = _matrices("cholesky", a)
    if upper:
        return swapaxes(conjugate(cholesky(swapaxes(conjugate(a), -1, -2))), -1, -2)
    return apply_primitive(prim.CHOLESKY, None, mirrored(a))


def _eigh(a: Any, uplo: str) -> tuple[Any, Any]:
    uplo = uplo.upper()
    if uplo not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    w, v = apply_primitive(prim.EIGH, (uplo,), mirrored(a, lower=uplo == "L"))
    return w, v


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    return kind_of_result(np.linalg.eigh)(*_eigh(_matrices("eigh", a), UPLO))


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return _eigh(_matrices("eigvalsh", a), UPLO)[0]


def _eig(name: str, a: Any, values_alone: bool) -> tuple[Any, Any]:
    """Real results where all eigenvalues of a real matrix are, which is guarded, up to NumPy 2.4."""
    a = _matrices(name, a)
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    is_real = not is_complex(a)
    a = complexed(a)
    w, v = apply_primitive(prim.EIG, (is_real, values_alone), a)
    if is_real and not ALWAYS_COMPLEX and are_real(w):
        return apply_primitive(prim.REAL, None, w), apply_primitive(prim.REAL, None, v)
    return w, v


def are_real(w: Any) -> Any:
    """Whether all complex numbers are real, which is guarded."""
    return np.equal(max(np.abs(apply_primitive(prim.IMAG, None, w))), 0.0) if w.size else True


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    return kind_of_result(np.linalg.eig)(*_eig("eig", a, False))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    return _eig("eigvals", a, True)[0]


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    a = _matrices("svd", a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    m, n = a.shape[-2:]
    if compute_uv and full_matrices and m != n:
        u, s, vh, further = apply_primitive(prim.FULL_SVD, None, a)
        if m > n:
            u = concatenate([u, further], axis=-1)
        else:
            vh = concatenate([vh, further], axis=-2)
    else:
        u, s, vh = apply_primitive(prim.SVD, None, a)
    return kind_of_result(np.linalg.svd)(u, s, vh) if compute_uv else s


def _hermitian_svd(a: Any, compute_uv: bool) -> Any:
    """Singular values are the sizes of eigenvalues, whose signs the vectors on the right take."""
    w, v = _eigh(a, "L")
    order = flip(argsort(np.abs(w)), -1)
    w = take_along_axis(w, order, -1)
    if not compute_uv:
        return np.abs(w)
    u = take_along_axis(v, order[..., None, :], -1)
    vh = swapaxes(u * np.copysign(1.0, w)[..., None, :].astype(u.dtype), -1, -2)
    return kind_of_result(np.linalg.svd)(u, np.abs(w), conjugate(vh))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


def reflection(column: Any) -> tuple[Any, Any]:
    """v and tau of LAPACK's reflection I - tau v vᴴ, after which nothing is below the first item of a column.

    Where nothing is there before, tau is 0, and the item keeps its sign.
    """
    first, rest = column[..., :1, :], column[..., 1:, :]
    below = sum(squared_size(rest), axis=-2, keepdims=True)
    is_done = np.logical_and(np.equal(below, 0.0), np.equal(imag(first), 0.0))
    size = np.sqrt(where(is_done, 1.0, squared_size(first) + below))
    beta = -np.copysign(size, real(first))
    v = concatenate([np.ones(first.shape, column.dtype), rest / where(is_done, 1.0, first - beta)], axis=-2)
    return v, where(is_done, 0.0, (beta - first) / beta)


def _by_reflections(a: Any) -> tuple[Any, Any]:
    """Q of as many columns as rows, and R with zeros below, by the reflections of LAPACK (Golub and Van Loan, 5.2).

    The further columns of Q are functions of the matrix only in that they come from these reflections.
    """
    *outer, m, n = a.shape
    q = np.broadcast_to(np.eye(m, dtype=a.dtype), (*outer, m, m))
    r, rows = a, []
    for k in range(n):
        v, tau = reflection(r[..., :1])
        r = r - conjugate(tau) * matmul(v, matmul(swapaxes(conjugate(v), -1, -2), r))
        rows.append(concatenate([np.zeros((*outer, 1, k), a.dtype), r[..., :1, :]], axis=-1))
        r = r[..., 1:, 1:]
        turned = q[..., k:] - tau * matmul(matmul(q[..., k:], v), swapaxes(conjugate(v), -1, -2))
        q = concatenate([q[..., :k], turned], axis=-1) if k else turned
    return q, concatenate([*rows, np.zeros((*outer, m - n, n), a.dtype)], axis=-2)


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    a = _matrices("qr", a)
    m, n = a.shape[-2:]
    if mode == "complete" and m > n:
        return kind_of_result(np.linalg.qr)(*_by_reflections(a))
    if mode not in ("reduced", "complete", "r"):
        raise _refuse("qr", f"mode={mode!r}", "Use 'reduced' or 'r'.")
    if m >= n:
        q, r = apply_primitive(prim.QR, None, a)
    else:
        q, r = apply_primitive(prim.QR, None, a[..., :m])
        r = concatenate([r, matmul(swapaxes(conjugate(q), -1, -2), a[..., m:])], axis=-1)
    return r if mode == "r" else kind_of_result(np.linalg.qr)(q, r)


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    if rcond is not None and rtol is not np._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    a = _matrices("pinv", a)
    if rcond is None:
        rcond = rtol
    if rcond is None:
        rcond = epsilon(a.dtype) * builtins.max(a.shape[-2:])
    elif rcond is np._NoValue:
        rcond = 1e-15
    if not isinstance(rcond, float) and (is_traced(rcond) or np.ndim(rcond)):
        raise _refuse("pinv", "an array for rcond", "Give one number.")
    if hermitian:
        return _hermitian_pinv(a, float(rcond))
    return apply_primitive(prim.PINV, (float(rcond),), a)


def _hermitian_pinv(a: Any, rcond: float) -> Any:
    """V diag(1 / w) Vᴴ, without the eigenvalues that are 0 but for rounding; which they are is guarded."""
    w, v = _eigh(a, "L")
    kept = np.asarray(guard_value(np.abs(w) > rcond * np.max(np.abs(w), axis=-1, keepdims=True)))
    if np.all(kept):
        return (v / w[..., None, :]) @ swapaxes(conjugate(v), -1, -2)
    return apply_primitive(prim.PINV, (rcond,), a)


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    a, b = _matrices("lstsq", a), inexact(b)
    dtype = a.dtype
    if b.dtype is not dtype:
        dtype = np.result_type(dtype, b.dtype)
        a, b = a.astype(dtype), b.astype(dtype)
    if is_traced(rcond):
        raise _refuse("lstsq", "a traced rcond", "Give a number, or hoad.value(rcond).")
    m, n = a.shape
    if rcond is None:
        rcond = epsilon(dtype) * builtins.max(m, n)
    elif rcond < 0:
        rcond = epsilon(dtype)
    column = b.ndim == 1
    right = b if not column else reshape(b, (-1, 1)) if is_traced(b) else b.reshape(-1, 1)
    x = apply_primitive(prim.LSTSQ, (float(rcond),), a, right)
    if m > n:
        residuals = sum(squared_size(right - matmul(a, x)), axis=0)
    else:
        residuals = np.zeros(0, prim.real_dtype(dtype))
    s = svdvals(a)
    rank = 0
    if s.size:
        rank = apply_primitive(prim.SUM, ((0,), ()), where(np.greater(s, float(rcond) * max(s)), 1, 0))
    return (apply_primitive(prim.RESHAPE, ((n,),), x) if column else x), residuals, rank, s


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    name, tolerance = ("tol", tol) if rtol is None else ("rtol", rtol)
    given = [] if tolerance is None else [as_traced(tolerance)]
    return apply_primitive(prim.MATRIX_RANK, (bool(hermitian), name), as_traced(A), *given)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """Repeated squaring, by the bits of n from the lowest."""
    a = as_traced(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"np.linalg.matrix_power needs square matrices, but found shape {a.shape} ({here()}).")
    n = operator.index(n)
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    power = a if n > 0 else np.linalg.inv(a)
    made, left = None, abs(n)
    while left:
        if left % 2:
            made = power if made is None else matmul(made, power)
        left //= 2
        if left:
            power = matmul(power, power)
    return made


@functools.lru_cache(maxsize=64)
def _cheapest(sizes: tuple[int, ...]) -> list[int]:
    """Which of the matrices left is to be multiplied with the one behind it, in turn (Cormen et al., section 14.2).

    The sides of matrices i to j are sizes[i:j + 2].
    """
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    turns: list[int] = []

    def visit(i: int, j: int, at: int) -> None:
        """Make one of the matrices i to j, which begin at a place of the list."""
        if i < j:
            visit(i, split[i][j], at)
            visit(split[i][j] + 1, j, at + 1)
            turns.append(at)

    visit(0, count - 1, 0)
    return turns


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    if out is not None:
        raise _refuse("multi_dot", "out=", "Leave out= out.")
    parts = [as_traced(x) for x in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = parts[0].ndim, parts[-1].ndim
    if first == 1:
        parts[0] = reshape(parts[0], (1, -1))
    if last == 1:
        parts[-1] = reshape(parts[-1], (-1, 1))
    if [x.ndim for x in parts].count(2) < len(parts):
        raise np.linalg.LinAlgError("np.linalg.multi_dot needs matrices, and vectors at the ends only")
    for k in _cheapest((parts[0].shape[0], *[x.shape[1] for x in parts])):
        parts[k : k + 2] = [matmul(parts[k], parts[k + 1])]
    (whole,) = parts
    if first == last == 2:
        return whole
    shape = whole.shape[1 if first == 1 else 0 : 1 if last == 1 else 2]
    return reshape(whole, shape)
