"""Factors with orthonormal columns: QR, singular values and Hessenberg forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.trace.calls import apply_primitive
from hoad._numpy.complex import is_complex
from hoad._numpy.decompositions import reflection
from hoad._ops import primitives as prim
from hoad._scipy.registry import (
    adjoint,
    common,
    decided,
    identity_like,
    implements,
    refused,
)
from hoad.rules.registry import defvjp, primitive

# ---- QR -------------------------------------------------------------------------------------------------------------


@primitive(shape=lambda a: (a.shape[1:], np.dtype(np.int32)))
def column_order(a: Any) -> Any:
    """The order of columns that LAPACK finds."""
    return np.asarray(scipy.linalg.qr(a, mode="r", pivoting=True, check_finite=False)[1], np.int32)


defvjp(column_order, lambda g, p, a: (None,))


@implements(scipy.linalg.qr, a=2)
def qr(a: Any, mode: str = "full", pivoting: bool = False, **_: Any) -> Any:
    """Q and R of a = Q R, and with pivoting the order of columns, which is found again at each replay.

    The first columns of a have to be independent, as many as R has rows. Further columns of Q, with mode="full", are
    functions of the matrix as LAPACK's reflections make them.

    Notes
    -----
    Cost: one factorisation, and a few products for each sweep; with mode="full" of a matrix with more rows than columns
    one reflection of the whole matrix for each column.

    References
    ----------
    Walter and Lehmann (2012), "Algorithmic differentiation of linear algebra functions", arXiv:1001.1654.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.qr(a, mode="economic")[1][0, 0])(np.array([[3.0], [4.0]]))
    array([[-0.6],
           [-0.8]])
    """
    if mode == "raw":
        raise refused("qr", "with mode='raw'", "Use mode='economic': the reflections are LAPACK's own.")
    order = None
    if pivoting:
        order = column_order(a) if a.size else np.arange(a.shape[1], dtype=np.int32)
        a = a[:, order]
    factors = _qr(a, mode)
    return (*factors, order) if pivoting else factors


def _qr(a: Any, mode: str) -> tuple[Any, ...]:
    m, n = a.shape
    if not a.size:
        k = min(m, n) if mode == "economic" else m
        q, r = np.eye(m, k, dtype=a.dtype), np.zeros((k, n), a.dtype)
        return (r,) if mode == "r" else (q, r)
    if mode == "r":
        found: Any = np.linalg.qr(a, mode="r")
        return (np.concatenate([found, np.zeros((m - found.shape[0], n), a.dtype)]),)
    return tuple(np.linalg.qr(a, mode="reduced" if mode == "economic" else "complete"))


@implements(scipy.linalg.qr_multiply, a=2, c="1|2")
def qr_multiply(a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False, **_: Any) -> Any:
    """Q c or c Q, and R of a = Q R.

    Notes
    -----
    Cost: as of `qr` with mode="economic", and one product more.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda c: linalg.qr_multiply(np.array([[3.0], [4.0]]), c)[0][0])(np.ones(2))
    array([-0.6, -0.8])
    """
    vector = c.ndim < 2
    if vector:
        c = c[:, None] if mode == "left" else c[None]
    q, *rest = qr(a, mode="economic", pivoting=pivoting)
    if mode == "left" and c.shape[0] > q.shape[1]:  # with overwrite_c, SciPy takes all columns of Q
        q = qr(a, pivoting=pivoting)[0]
    q = np.conjugate(q) if conjugate and is_complex(q) else q
    product = q @ c if mode == "left" else c @ q
    return (np.ravel(product) if vector else product, *rest)


@implements(scipy.linalg.rq, a=2)
def rq(a: Any, mode: str = "full", **_: Any) -> Any:
    """R and Q of a = R Q: the factors of aᴴ with its columns in reverse, turned round.

    The last rows of a have to be independent, as many as R has columns.

    Notes
    -----
    Cost: as of `qr`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.rq(a, mode="economic")[0][0, 0])(np.array([[3.0, 4.0]]))
    array([[-0.6, -0.8]])
    """
    m, n = a.shape
    if not a.size:
        k = min(m, n) if mode == "economic" else n
        q, r = np.eye(k, n, dtype=a.dtype), np.zeros((m, k), a.dtype)
        return r if mode == "r" else (r, q)
    if m > n:  # the last rows have all of Q
        q, r = _qr(adjoint(a[m - n :])[::-1, ::-1], "economic")
        q = adjoint(q)[::-1, ::-1]
        r = np.concatenate([a[: m - n] @ adjoint(q), adjoint(r)[::-1, ::-1]])
        return r if mode == "r" else (r, q)
    q, r = _qr(adjoint(a)[::-1, ::-1], "economic" if mode == "economic" else "full")
    r, q = adjoint(r)[::-1, ::-1], adjoint(q)[::-1, ::-1]
    return r if mode == "r" else (r, q)


# ---- singular values ------------------------------------------------------------------------------------------------


@implements(scipy.linalg.svd, stacks=True, a=2)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, **_: Any) -> Any:
    """U, s and Vᴴ of a = U diag(s) Vᴴ, or s alone, with ds = real(diag(Uᴴ da V)).

    Vectors keep the signs that LAPACK gives them. The matrix determines further vectors, as with `full_matrices`, only
    but for a rotation, and pairs of complex ones but for a phase; both are held constant. What they do not change has
    derivatives. What they do has none, and raises `NoRuleError` in reverse mode; forward mode cannot see it.

    Notes
    -----
    Cost: one decomposition, and a few products for each sweep.

    References
    ----------
    Giles (2008), report NA-08/01, section 3.2; Townsend (2016), "Differentiating the singular value decomposition".

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.svd(a)[1][0])(np.diag([2.0, 1.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    if not compute_uv:
        return svdvals(a)
    return tuple(np.linalg.svd(a, full_matrices=full_matrices))


@implements(scipy.linalg.svdvals, stacks=True, a=2)
def svdvals(a: Any, **_: Any) -> Any:
    """The singular values s of a = U diag(s) Vᴴ, with ds = real(diag(Uᴴ da V)).

    Notes
    -----
    Cost: one decomposition, and a few products for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: np.sum(linalg.svdvals(a) ** 3))(np.diag([2.0, 1.0]))
    array([[12.,  0.],
           [ 0.,  3.]])
    """
    return np.linalg.svdvals(a) if a.size else np.zeros((*a.shape[:-2], min(a.shape[-2:])), prim.real_dtype(a.dtype))


@implements(scipy.linalg.polar, a=2)
def polar(a: Any, side: str = "right") -> Any:
    """u and p of a = u p, or of a = p u with side="left": u has orthonormal columns, p is positive semidefinite.

    Both are smooth where a has full rank, also where singular values are equal.

    Notes
    -----
    Cost: one singular value decomposition, and a few products for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.polar(a)[0][0, 1])(2 * np.eye(2))
    array([[ 0.  ,  0.25],
           [-0.25,  0.  ]])
    """
    u = _orthonormal_part(a)[0]
    p = adjoint(u) @ a if side == "right" else a @ adjoint(u)
    return u, 0.5 * (p + adjoint(p))


def _orthonormal_part(a: Any) -> tuple[Any, Any]:
    """U Vᴴ and s of a = U diag(s) Vᴴ."""
    u, s, vh = apply_primitive(prim.SVD, None, a)
    return u @ vh, s


@implements(scipy.linalg.orthogonal_procrustes, A=2, B=2)
def orthogonal_procrustes(A: Any, B: Any, **_: Any) -> Any:
    """The orthogonal R of the least ‖A R - B‖, and the sum of the singular values of Aᴴ B.

    It is smooth where Aᴴ B has full rank.

    Notes
    -----
    Cost: one singular value decomposition, and a few products for each sweep.

    References
    ----------
    Schönemann (1966), "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda b: linalg.orthogonal_procrustes(np.eye(2), b)[0][0, 1])(np.eye(2))
    array([[ 0. ,  0.5],
           [-0.5,  0. ]])
    """
    A, B = common(A, B)
    r, s = _orthonormal_part(adjoint(A) @ B)
    return r, np.sum(s)


@implements(scipy.linalg.orth, A=2)
def orth(A: Any, rcond: Any = None) -> Any:
    """An orthonormal basis of the space of columns: the left singular vectors, with the signs that LAPACK gives them.

    Singular values have to differ. How many are not 0 is guarded. Complex vectors have phases, which are held constant
    as in `svd`.

    Notes
    -----
    Cost: as of `svd`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.jacobian(linalg.orth)(np.array([[-2.0], [0.0]]))[1, 0]
    array([[0. ],
           [0.5]])
    """
    u, s, _ = np.linalg.svd(A, full_matrices=False)
    return u[:, : _rank(A, s, rcond)]


def _rank(a: Any, s: Any, rcond: Any = None) -> int:
    """How many singular values are above the rounding of the largest, guarded."""
    limit = np.max(s, initial=0.0) * (np.finfo(s.dtype).eps * max(a.shape) if rcond is None else rcond)
    return sum(decided(np.greater(s[k], limit)) for k in range(s.shape[0]))


@implements(scipy.linalg.subspace_angles, A=2, B=2)
def subspace_angles(A: Any, B: Any) -> Any:
    """The angles between the spaces of the columns of two matrices, largest first.

    The columns of each have to be independent, and an angle has a derivative where it is another than all others and
    than 0.

    Notes
    -----
    Cost: two QR factorisations and two singular value decompositions, and a few products for each sweep.

    References
    ----------
    Knyazev and Argentati (2002), SIAM J. Sci. Comput. 23.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> line = np.array([[1.0], [0.0]])
    >>> hoad.grad(lambda b: linalg.subspace_angles(line, b)[0])(np.array([[1.0], [1.0]]))
    array([[-0.5],
           [ 0.5]])
    """
    A, B = common(A, B)
    for x in (A, B):
        if x.shape[0] < x.shape[1] or _rank(x, np.linalg.svdvals(x)) < x.shape[1]:
            raise refused("subspace_angles", "of columns that are not independent", "Leave out those that are not.")
    a, b = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    overlap = adjoint(a) @ b
    cosines = np.linalg.svdvals(overlap)
    rest = b - a @ overlap if a.shape[1] >= b.shape[1] else a - b @ adjoint(overlap)
    sines = np.linalg.svdvals(rest)
    by_sine, last = np.greater_equal(cosines**2, 0.5), cosines[::-1]
    return np.where(by_sine, _inverse(np.arcsin, sines, by_sine), _inverse(np.arccos, last, ~by_sine))


def _inverse(function: Any, x: Any, used: Any) -> Any:
    """arcsin or arccos where it is used, and of a number that has a slope where it is not."""
    return function(np.clip(np.where(used, x, 0.5), -1.0, 1.0))


# ---- similar matrices -----------------------------------------------------------------------------------------------


@implements(scipy.linalg.hessenberg, a=2)
def hessenberg(a: Any, calc_q: bool = False, **_: Any) -> Any:
    """H = Qᴴ a Q with zeros below the first subdiagonal, and Q, by the reflections of LAPACK.

    It is smooth where no column is 0 below its subdiagonal.

    Notes
    -----
    Cost: one reflection of the whole matrix for each column, each a few operations.

    References
    ----------
    Golub and Van Loan, Matrix Computations, section 7.4.2.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> a = np.array([[1.0, 2.0, 3.0], [3.0, 5.0, 6.0], [4.0, 8.0, 9.0]])
    >>> hoad.grad(lambda a: linalg.hessenberg(a)[1, 0])(a)[:, 0]
    array([ 0. , -0.6, -0.8])
    """
    n = a.shape[0]
    q = identity_like(a)
    for k in range(n - 1 if is_complex(a) else n - 2):
        v, tau = reflection(a[k + 1 :, k : k + 1])
        v = np.pad(v, [(k + 1, 0), (0, 0)])
        a = a - np.conjugate(tau) * (v @ (adjoint(v) @ a))
        a = a - tau * ((a @ v) @ adjoint(v))
        q = q - tau * ((q @ v) @ adjoint(v))
        a = np.where(np.arange(n)[:, None] * (np.arange(n) == k) > k + 1, 0.0, a)
    return (a, q) if calc_q else a


@primitive(shape=lambda a, **_: a)
def balancing(a: Any, *, permute: bool, scale: bool) -> Any:
    """The matrix of a permutation and of powers of 2 that makes rows and columns alike in size."""
    made = scipy.linalg.matrix_balance(a, permute=permute, scale=scale)[1]
    return np.asarray(made, a.dtype)


@primitive(nout=2, shape=lambda a, **_: ((a.shape[:1], prim.real_dtype(a.dtype)), (a.shape[:1], np.dtype(np.intp))))
def balancing_parts(a: Any, *, permute: bool, scale: bool) -> Any:
    """The same as the powers of 2, and the order of rows."""
    scales, order = scipy.linalg.matrix_balance(a, permute=permute, scale=scale, separate=True)[1]
    return np.asarray(scales, prim.real_dtype(a.dtype)), np.asarray(order, np.intp)


for _constant in (balancing, balancing_parts):
    defvjp(_constant, lambda g, p, a, **_: (None,))


@implements(scipy.linalg.matrix_balance, A=2)
def matrix_balance(A: Any, permute: Any = True, scale: Any = True, separate: Any = False, **_: Any) -> Any:
    """T⁻¹ A T with rows and columns alike in size, and T, powers of 2 and a permutation, which has no derivative.

    T is found again at each replay.

    Notes
    -----
    Cost: one search for T, and two products.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.matrix_balance(a)[0][0, 1])(np.array([[1.0, 1024.0], [1.0, 1.0]]))
    array([[0.      , 0.03125],
           [0.      , 0.     ]])
    """
    options = {"permute": bool(permute), "scale": bool(scale)}
    t = balancing(A, **options)
    balanced = np.linalg.solve(t, A @ t)
    return balanced, balancing_parts(A, **options) if separate else t
