"""Factors of matrices: Cholesky, LU, QR and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._numpy.complex import is_complex
from hoad._numpy.products import inexact
from hoad._numpy.rearranging import take
from hoad._numpy.registry import as_traced
from hoad._numpy.spectra import decomposed
from hoad._ops import primitives as prim
from hoad._scipy.registry import (
    adjoint,
    common,
    decided,
    identity_like,
    implements,
    over_stacks,
    refused,
)
from hoad._scipy.systems import triangular_solution
from hoad._scipy.triangular import from_half_band, half_band, triangular
from hoad.rules.registry import defvjp, primitive

# ---- Cholesky -------------------------------------------------------------------------------------------------------


@implements(scipy.linalg.cholesky, stacks=True, a=2)
def cholesky(a: Any, lower: bool = False, **_: Any) -> Any:
    """The Cholesky factor: a = rᴴ r, or l lᴴ with lower=True, and dl = l Φ(l⁻¹ da l⁻ᴴ) with Φ the lower half.

    Both triangles of a have to be given: its derivative is that by a symmetric matrix, or by a Hermitian one.

    Notes
    -----
    Cost: one factorisation, and a few products for each sweep.

    References
    ----------
    Murray (2016), "Differentiation of the Cholesky decomposition".

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: 2 * np.sum(np.log(np.diag(linalg.cholesky(a)))))(np.diag([2.0, 4.0]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return np.linalg.cholesky(a, upper=not lower)


@implements(scipy.linalg.cho_factor, a=2)
def cho_factor(a: Any, lower: bool = False, **_: Any) -> Any:
    """The Cholesky factor for `cho_solve`, and `lower`; the other triangle is that of a.

    Notes
    -----
    Cost: as of `cholesky`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.cho_solve(linalg.cho_factor(a), np.ones(2))[0])(np.diag([2.0, 4.0]))
    array([[-0.25  , -0.0625],
           [-0.0625, -0.    ]])
    """
    c = np.linalg.cholesky(a, upper=not lower)
    return (c + np.triu(a, 1) if lower else c + np.tril(a, -1)), lower


@implements(scipy.linalg.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, **_: Any) -> Any:
    """x of a x = b, for the Cholesky factor of a by `cho_factor`.

    Notes
    -----
    Cost: two substitutions, and two more for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda b: linalg.cho_solve((np.diag([2.0, 4.0]), False), b)[0])(np.ones(2))
    array([0.25, 0.  ])
    """
    c, lower = c_and_lower

    def one(c: Any, b: Any) -> Any:
        first = triangular_solution(c, b, 0 if lower else 2, bool(lower), False)
        return triangular_solution(c, first, 2 if lower else 0, bool(lower), False)

    return over_stacks(one, (inexact(c), 2), (inexact(b), "1|2"))


@implements(scipy.linalg.cholesky_banded, ab=2)
def cholesky_banded(ab: Any, lower: bool = False, **_: Any) -> Any:
    """The diagonals of the Cholesky factor of a matrix, from its diagonals on one side.

    Notes
    -----
    Cost: one factorisation of the whole matrix, O(n³), where SciPy's takes O(n w²) for w diagonals.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda ab: linalg.cholesky_banded(ab)[0, 0])(np.array([[4.0, 9.0]]))
    array([[0.25, 0.  ]])
    """
    if not ab.size:
        return ab
    factor = np.linalg.cholesky(from_half_band(ab, lower), upper=not lower)
    return half_band(factor, ab, lower)


# ---- LU -------------------------------------------------------------------------------------------------------------


def _packed_shapes(a: Any) -> Any:
    return (a.shape, a.dtype), (a.shape[:1], np.dtype(np.int32)), ((min(a.shape),), np.dtype(np.int32))


@primitive(nout=3, shape=_packed_shapes)
def packed_lu(a: Any) -> Any:
    """L and U in one matrix, the rows of a in the order of L U, and LAPACK's exchanges of rows."""
    lu, exchanges = scipy.linalg.lu_factor(a, check_finite=False)
    return lu, _order(a.shape[0], exchanges), np.asarray(exchanges, np.int32)


def _order(rows: int, exchanges: Any) -> Any:
    order = np.arange(rows, dtype=np.int32)
    for k, other in enumerate(exchanges):
        order[[k, other]] = order[[other, k]]
    return order


@primitive(shape=lambda exchanges, *, rows: ((rows,), np.dtype(np.int32)))
def rows_of_exchanges(exchanges: Any, *, rows: int) -> Any:
    """The order of rows that exchanges one after the other lead to."""
    return _order(rows, exchanges)


defvjp(rows_of_exchanges, lambda g, p, exchanges, *, rows: (None,))


def _packed_lu(g: Any, p: Any, a: Any) -> Any:
    """L⁻ᵀ (tril(Lᵀ L̄) + triu(Ū Uᵀ)) U⁻ᵀ of a square matrix; of further rows or columns first L̄ U⁻ᵀ or L⁻ᵀ Ū."""
    packed, order, _ = p
    n = min(a.shape)
    square = packed[:n, :n]
    by_l, by_u = np.tril(g[0][:n, :n], -1), np.triu(g[0][:n, :n])
    below, beside = packed[n:, :], packed[:, n:]
    if a.shape[0] > n:
        by_below = triangular(square, g[0][n:, :].T, lower=False, unit=False).T
        by_u = by_u - np.triu(below.T @ by_below)
    if a.shape[1] > n:
        by_beside = triangular(square.T, g[0][:, n:], lower=False, unit=True)
        by_l = by_l - np.tril(by_beside @ beside.T, -1)
    inside = np.tril((np.tril(square, -1) + np.eye(n, dtype=a.dtype)).T @ by_l, -1) + np.triu(by_u @ np.triu(square).T)
    made = triangular(square.T, triangular(square, inside.T, lower=False, unit=False).T, lower=False, unit=True)
    if a.shape[0] > n:
        made = np.concatenate([made, by_below])
    if a.shape[1] > n:
        made = np.concatenate([made, by_beside], axis=1)
    return (made[np.argsort(order)],)


defvjp(packed_lu, _packed_lu)


@implements(scipy.linalg.lu_factor, a=2)
def lu_factor(a: Any, **_: Any) -> Any:
    """L and U in one matrix, and the exchanges of rows, which are found again at each replay.

    With a′ the rows of a in the order of L U: dL = L tril(M) and dU = triu(M) U, where M = L⁻¹ da′ U⁻¹ and tril leaves
    out the diagonal.

    Notes
    -----
    Cost: one factorisation, and two substitutions for each sweep.

    References
    ----------
    de Hoog, Anderssen and Lukas (2011), "Differentiation of matrix functionals using triangular factorization".

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.lu_factor(a)[0][1, 1])(np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([[ 0.25, -0.5 ],
           [-0.5 ,  1.  ]])
    """
    packed, _, exchanges = packed_lu(a)
    return packed, exchanges


@implements(scipy.linalg.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, **_: Any) -> Any:
    """x of a x = b, aᵀ x = b or aᴴ x = b, for the factors of a by `lu_factor`.

    Notes
    -----
    Cost: two substitutions, and two more for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.lu_solve(linalg.lu_factor(a), np.ones(2))[0])(np.diag([2.0, 4.0]))
    array([[-0.25 , -0.125],
           [ 0.   ,  0.   ]])
    """
    lu, exchanges = lu_and_piv

    def one(lu: Any, exchanges: Any, b: Any) -> Any:
        order = rows_of_exchanges(exchanges, rows=lu.shape[0])
        if not trans:
            x = triangular_solution(lu, take(b, order, 0), 0, True, True)
            return triangular_solution(lu, x, 0, False, False)
        x = triangular_solution(lu, triangular_solution(lu, b, trans, False, False), trans, True, True)
        return x[np.argsort(order)]

    return over_stacks(one, (inexact(lu), 2), (as_traced(exchanges), 1), (inexact(b), "1|2"))


@implements(scipy.linalg.lu, a=2)
def lu(a: Any, permute_l: bool = False, p_indices: bool = False, **_: Any) -> Any:
    """P, L and U of a = P L U; with the exchanges of rows found again at each replay, P has no derivative.

    Notes
    -----
    Cost: one factorisation, and two substitutions for each sweep; its derivative is that of `lu_factor`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.lu(a)[2][1, 1])(np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([[ 0.25, -0.5 ],
           [-0.5 ,  1.  ]])
    """
    m, n = a.shape
    k = min(m, n)
    if k == 0:
        order = np.arange(m, dtype=np.int32)
        factors = np.zeros((m, 0), a.dtype), np.zeros((0, n), a.dtype)
    else:
        packed, order, _ = packed_lu(a)
        factors = np.tril(packed[:, :k], -1) + np.eye(m, k, dtype=a.dtype), np.triu(packed[:k])
    back = np.argsort(order)
    if permute_l:
        return factors[0][back], factors[1]
    if p_indices:
        return back.astype(np.int32), *factors
    return np.equal(back[:, None], np.arange(m)).astype(prim.real_dtype(a.dtype)), *factors


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
        r = np.linalg.qr(a, mode="r")
        return (np.concatenate([r, np.zeros((m - r.shape[0], n), a.dtype)]),)
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

    Vectors keep the signs that LAPACK gives them. With `full_matrices`, the matrix has to be square: it does not
    determine the further columns. Vectors of complex matrices have no derivative, for their phases are not determined.

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

    Both are smooth where a has full rank, also where singular values are equal (of a complex matrix: where they are
    not).

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
    u, s, vh = decomposed(prim.SVD, None, a)
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

    Singular values have to differ. How many are not 0 is guarded.

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
    for k in range(n - 2):
        column = a[k + 1 :, k]
        first = column[0]
        size = np.sqrt(np.sum(np.real(column * np.conjugate(column))))
        beta = -np.copysign(size, np.real(first))
        v = np.concatenate([np.zeros(k + 1, a.dtype), np.ones(1, a.dtype), column[1:] / (first - beta)])[:, None]
        tau = (beta - first) / beta
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
