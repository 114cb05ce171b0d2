"""Triangular factors of matrices: Cholesky and LU."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._numpy.products import inexact
from hoad._numpy.rearranging import take
from hoad._numpy.registry import as_traced
from hoad._ops import primitives as prim
from hoad._scipy.registry import (
    implements,
    over_stacks,
)
from hoad._scipy.systems import triangular_solution
from hoad._scipy.triangular import from_half_band, half_band, triangular
from hoad.rules.registry import defvjp, primitive

# Whether `cho_factor` leaves the other triangle as it is, as up to SciPy 1.17.
KEEPS_TRIANGLE = bool(scipy.linalg.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0][1, 0])

# ---- Cholesky -------------------------------------------------------------------------------------------------------


@implements(scipy.linalg.cholesky, stacks=True, a=2)
def cholesky(a: Any, lower: bool = False, **_: Any) -> Any:
    """The Cholesky factor: a = rᴴ r, or l lᴴ with lower=True, and dl = l Φ(l⁻¹ da l⁻ᴴ) with Φ the lower half.

    The derivative is that by a symmetric (Hermitian) matrix; of one that is not, by the triangle that is read.

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
    """The Cholesky factor for `cho_solve`, and `lower`; the other triangle is that of a, or 0 from SciPy 1.18 on.

    Notes
    -----
    Cost: as of `cholesky`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.cho_solve(linalg.cho_factor(a), np.ones(2))[0])(np.diag([2.0, 4.0]))
    array([[-0.25  , -0.0625],
           [-0.0625,  0.    ]])
    """
    c = np.linalg.cholesky(a, upper=not lower)
    if not KEEPS_TRIANGLE:
        return c, lower
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
        if not b.size:
            return b
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
