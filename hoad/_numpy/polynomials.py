"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.inspect import depends_on_inputs
from hoad._core.trace.errors import check_degree, keeps_zero
from hoad._core.trace.traced import graph_of, is_traced, node_of
from hoad._numpy.creation import concatenate
from hoad._numpy.decompositions import are_real, eigvals, lstsq
from hoad._numpy.products import inv, matmul, outer
from hoad._numpy.rearranging import flip
from hoad._numpy.reductions import sum
from hoad._numpy.registry import as_traced, implements
from hoad._numpy.sequences import convolve
from hoad._numpy.shape import copy, reshape
from hoad.errors import ShapeError


def _coefficients(p: Any) -> Any:
    """The coefficients in a vector, or in a ``poly1d``."""
    return np.atleast_1d(as_traced(p.coeffs if isinstance(p, np.poly1d) else p))


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's scheme."""
    p, x = as_traced(p.coeffs if isinstance(p, np.poly1d) else p), as_traced(x)
    if not p.ndim:
        raise ShapeError(
            f"np.polyval takes a vector of coefficients, the highest power first, but was given a number ({here()}). "
            "Write [p] for a constant."
        )
    found: Any = np.zeros_like(x)
    for k in range(p.shape[0]):
        found = found * x + p[k]
    return found


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    x = as_traced(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = x.shape[0] if N is None else operator.index(N)
    if count < 0:
        raise ValueError(f"np.vander needs a number of columns, not {count}")
    powers = reshape(x, (x.shape[0], 1)) ** np.arange(count)
    return powers if increasing else copy(flip(powers, 1))


# ---- arithmetic -----------------------------------------------------------------------------------------------------


def _wide(p: Any, count: int) -> Any:
    """p with leading zeros."""
    more = count - p.shape[0]
    return concatenate([np.zeros(more, p.dtype), p]) if more > 0 else p


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = _coefficients(a1), _coefficients(a2)
    count = max(len(a1), len(a2))
    return _wide(a1, count) + _wide(a2, count)


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    a1, a2 = _coefficients(a1), _coefficients(a2)
    count = max(len(a1), len(a2))
    return _wide(a1, count) - _wide(a2, count)


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """Leading zeros are dropped before, as in NumPy; which they are is guarded."""
    return convolve(_trimmed(_coefficients(a1)), _trimmed(_coefficients(a2)))


def _trimmed(p: Any) -> Any:
    """p without leading zeros, but for one number; in a derivative those that depend on its arguments are kept."""
    while len(p) > 1 and p[0] == 0 and not (_depends(p[0]) and keeps_zero(graph_of(p[0]), trims=True)):
        p = p[1:]
    return p


def _depends(coefficient: Any) -> bool:
    return is_traced(coefficient) and depends_on_inputs(graph_of(coefficient), node_of(coefficient))


@implements(np.polydiv)
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Long division; what is left is shortened by leading terms that are zero but for rounding, which is guarded."""
    u, v = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    dtype = np.result_type(u.dtype, v.dtype)
    m, n = len(u) - 1, len(v) - 1
    scale = 1.0 / v[0]
    quotient: list[Any] = []
    left = u.astype(dtype)
    for _ in range(m - n + 1):
        d = scale * left[len(quotient)]
        k = len(quotient)
        quotient.append(d)
        parts = [left[:k], left[k : k + n + 1] - d * v, left[k + n + 1 :]]
        left = concatenate([x for x in parts if len(x)])
    while len(left) > 1 and np.abs(left[0]) <= 1e-8:  # as np.allclose has it
        left = left[1:]
    return np.stack(quotient).astype(dtype) if quotient else np.zeros(1, dtype), left


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    m, p = operator.index(m), _coefficients(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(m):
        n = len(p) - 1
        p = p[:-1] * np.arange(n, 0, -1)
    return p


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    m, p = operator.index(m), _coefficients(p)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.atleast_1d(as_traced(np.zeros(m) if k is None else k))
    if len(constants) < m and len(constants) != 1:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(m):
        last = constants[i : i + 1] if len(constants) > 1 else constants[:1]
        p = concatenate([p / np.arange(len(p), 0, -1), last])
    return p


# ---- roots and fits -------------------------------------------------------------------------------------------------


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The product of x minus each root; of a matrix, of its eigenvalues. Real where the roots come in pairs."""
    zeros = np.atleast_1d(as_traced(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0]:
        zeros = eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    elif zeros.dtype.kind not in "fc":
        zeros = zeros.astype(np.float64)
    if not len(zeros):
        return 1.0
    found: Any = np.ones(1, zeros.dtype)
    for k in range(len(zeros)):
        found = convolve(found, concatenate([np.ones(1, zeros.dtype), -zeros[k : k + 1]]))
    if zeros.dtype.kind == "c" and _in_pairs(zeros):
        return np.real(found).copy()
    return found


def _in_pairs(z: Any) -> bool:
    """Whether the complex numbers are pairs of conjugates, or real: by comparisons that are guarded."""
    left = [z[k] for k in range(len(z))]
    while left:
        one = left.pop()
        if np.imag(one) == 0:
            continue
        partner = [k for k, y in enumerate(left) if np.real(y) == np.real(one) and np.imag(y) == -np.imag(one)]
        if not partner:
            return False
        left.pop(partner[0])
    return True


@implements(np.roots)
def roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix, and zeros for the coefficients that are zero at the end (guarded)."""
    p = _coefficients(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    nonzero = [k for k in range(len(p)) if p[k] != 0]
    for k in set(range(nonzero[0] if nonzero else 0)) | set(range(nonzero[-1] + 1 if nonzero else 0, len(p))):
        if _depends(p[k]):
            check_degree(graph_of(p[k]))
    if not nonzero:
        return np.array([])
    last = len(p) - 1 - nonzero[-1]
    p = p[nonzero[0] : nonzero[-1] + 1]
    p = p if p.dtype.kind in "fc" else p.astype(np.float64)
    count = len(p) - 1
    if not count:
        return np.zeros(last)
    below = np.eye(count, k=-1, dtype=p.dtype)[1:]
    found = eigvals(concatenate([reshape(-p[1:] / p[0], (1, -1)), below]))
    if p.dtype.kind == "f" and found.dtype.kind == "c" and are_real(found):  # as np.roots, whatever eigvals returns
        found = np.real(found)
    return concatenate([found, np.zeros(last, found.dtype)])


@implements(np.polyfit)
def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """Least squares in powers of x, in units of the norm of each column."""
    order = int(deg) + 1
    x, y = as_traced(x) + 0.0, as_traced(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    left, right = vander(x, order), y
    if w is not None:
        w = as_traced(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = np.sqrt(sum(left * left, axis=0))
    left = left / scale
    found, residuals, rank, s = lstsq(left, right, rcond)
    found = (found.T / scale).T
    if rank != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    if full:
        return found, residuals, rank, s, rcond
    if not cov:
        return found
    base = inv(matmul(left.T, left)) / outer(scale, scale)
    factor: Any = 1
    if not (isinstance(cov, str) and cov == "unscaled"):
        if len(x) <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (len(x) - order)
    return found, (base if y.ndim == 1 else base[:, :, None]) * factor
