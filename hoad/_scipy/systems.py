"""Linear systems of equations, inverses and determinants."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._numpy.complex import conjugate, is_complex
from hoad._numpy.products import inexact
from hoad._scipy.registry import (
    adjoint,
    as_column,
    common,
    identity_like,
    implements,
    over_stacks,
    transposed,
)
from hoad._scipy.special_matrices import circulant_spectrum, toeplitz_of
from hoad._scipy.symmetric_part import symmetric_part
from hoad._scipy.triangular import band_of_half, banded, from_band, triangular

HERMITIAN = ("pos", "positive definite", "her", "hermitian")
SYMMETRIC = ("sym", "symmetric")


def structured(a: Any, assume_a: str | None, lower: bool) -> Any:
    """What SciPy reads of a matrix with a structure that is assumed; the symmetric part of a symmetric one."""
    if assume_a in HERMITIAN:
        return symmetric_part(a, lower=lower)
    if assume_a in SYMMETRIC:
        return symmetric_part(a, lower=lower, conjugated=False)
    if assume_a == "upper triangular":
        return np.triu(a)
    if assume_a == "lower triangular":
        return np.tril(a)
    if assume_a == "diagonal":
        return a * identity_like(a)
    if assume_a == "tridiagonal":
        return np.tril(np.triu(a, -1), 1)
    return a


@implements(scipy.linalg.solve, stacks=True, a=2, b="1|2")
def solve(a: Any, b: Any, lower: bool = False, assume_a: str | None = None, transposed: bool = False, **_: Any) -> Any:
    """x of a x = b, with a dx = db - da x.

    Of a matrix that is assumed to be symmetric, positive definite or Hermitian, the derivative is that by a symmetric
    matrix; where it is not symmetric, by the triangle that is read. Of one that is assumed to be triangular, diagonal
    or tridiagonal, the other entries are not read, and have derivative 0.

    Notes
    -----
    Cost: one LU factorisation, whatever is assumed, and another solve for each sweep.

    References
    ----------
    Giles (2008), report NA-08/01, section 2.3.1.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> hoad.grad(lambda b: np.sum(linalg.solve(a, b, assume_a="pos")))(np.ones(2)) * 11
    array([2., 3.])
    """
    a = structured(a if a.ndim else np.reshape(a, (1, 1)), assume_a, lower)
    a, b = common(np.swapaxes(a, -1, -2) if transposed else a, b)
    if a.shape[-1] == 1 and b.shape[0] != 1:  # a number divides whatever b is
        return b / np.reshape(a, ())
    return np.linalg.solve(a, b)


@implements(scipy.linalg.inv, stacks=True, a=2)
def inv(a: Any, assume_a: str | None = None, lower: bool = False, **_: Any) -> Any:
    """a⁻¹, with d(a⁻¹) = -a⁻¹ da a⁻¹.

    What `assume_a` means is the same as for `solve`.

    Notes
    -----
    Cost: one LU factorisation, whatever is assumed, and two products for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.inv(a)[0, 0])(np.diag([2.0, 4.0]))
    array([[-0.25,  0.  ],
           [ 0.  ,  0.  ]])
    """
    return np.linalg.inv(structured(a, assume_a, lower))


@implements(scipy.linalg.det, stacks=True, a=2)
def det(a: Any, **_: Any) -> Any:
    """det a, with d det a = Σ cᵢⱼ daᵢⱼ for the cofactors c.

    It has its derivatives where a is singular too.

    Notes
    -----
    Cost: one LU factorisation; one singular value decomposition for all derivatives.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(linalg.det)(np.diag([2.0, 3.0]))
    array([[ 3., -0.],
           [-0.,  2.]])
    """
    return np.linalg.det(a)


@implements(scipy.linalg.norm, stacks=True, a=2)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    """A norm of a vector or a matrix, with the subgradient 0 at 0.

    Notes
    -----
    Cost: a pass over the items; of a matrix with ord 2, -2 or "nuc" a singular value decomposition.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(linalg.norm)(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    return np.linalg.norm(a, ord, axis, keepdims)


# ---- triangular systems ---------------------------------------------------------------------------------------------


@implements(scipy.linalg.solve_triangular, a=2, b="1|2")
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, **_: Any) -> Any:
    """x of a x = b, or of aᵀ x = b or aᴴ x = b, for a triangle of a; the other has derivative 0.

    Notes
    -----
    Cost: one substitution, and another for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> a = np.array([[2.0, 0.0], [1.0, 4.0]])
    >>> hoad.grad(lambda a: linalg.solve_triangular(a, np.ones(2), lower=True)[1])(a)
    array([[ 0.0625 ,  0.     ],
           [-0.125  , -0.03125]])
    """
    return triangular_solution(a, b, trans, bool(lower), bool(unit_diagonal))


def triangular_solution(a: Any, b: Any, trans: Any, lower: bool, unit: bool) -> Any:
    """`solve_triangular` of one matrix, with options that are checked."""
    a, b = common(a, b)
    trans = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    if trans:
        a, lower = (transposed(a) if trans == 1 else adjoint(a)), not lower
    return np.reshape(triangular(a, as_column(b), lower=lower, unit=unit), b.shape)


# ---- banded systems -------------------------------------------------------------------------------------------------


@implements(scipy.linalg.solve_banded, ab=2, b="1|2")
def solve_banded(l_and_u: Any, ab: Any, b: Any, **_: Any) -> Any:
    """x of a x = b, for the diagonals ab of a: aᵢⱼ is ab[u + i - j, j].

    What of ab lies outside of the matrix has derivative 0.

    Notes
    -----
    Cost: O(n (l + u)²), as SciPy's, and another solve for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> ab = np.array([[0.0, 1.0], [2.0, 4.0]])
    >>> hoad.grad(lambda ab: linalg.solve_banded((0, 1), ab, np.ones(2))[0])(ab)
    array([[ 0.     , -0.125  ],
           [-0.1875 ,  0.03125]])
    """
    below, above = map(int, l_and_u)
    ab, b = common(ab, b)
    return banded_solution(ab, b, below, above)


def banded_solution(ab: Any, b: Any, below: int, above: int) -> Any:
    if b.size == 0:
        return b
    return np.reshape(banded(ab, as_column(b), below=below, above=above), b.shape)


@implements(scipy.linalg.solveh_banded, ab=2, b="1|2")
def solveh_banded(ab: Any, b: Any, lower: bool = False, **_: Any) -> Any:
    """x of a x = b, for the diagonals on one side of a Hermitian positive definite a.

    An item of ab stands for two entries of a, and its derivative is that by both.

    Notes
    -----
    Cost: O(n w²) for w diagonals, and another solve for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> ab = np.array([[2.0, 4.0], [1.0, 0.0]])
    >>> hoad.grad(lambda ab: linalg.solveh_banded(ab, np.ones(2), lower=True)[0])(ab) * 49
    array([[-12.,   1.],
           [ -1.,   0.]])
    """
    ab, b = common(ab, b)
    width = ab.shape[0] - 1
    return banded_solution(band_of_half(ab, lower), b, width, width)


@implements(scipy.linalg.cho_solve_banded)
def cho_solve_banded(cb_and_lower: Any, b: Any, **_: Any) -> Any:
    """x of a x = b, for the Cholesky factor of a by `cholesky_banded`.

    Notes
    -----
    Cost: two substitutions, and two more for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> ab = np.array([[4.0, 9.0]])
    >>> hoad.grad(lambda ab: linalg.cho_solve_banded((linalg.cholesky_banded(ab), False), np.ones(2))[0])(ab)
    array([[-0.0625,  0.    ]])
    """
    cb, lower = cb_and_lower

    def one(cb: Any, b: Any) -> Any:
        cb, b = common(cb, b)
        width = cb.shape[0] - 1
        # Of what lies outside of the matrix, nothing is known.
        factor = from_band(cb, *((width, 0) if lower else (0, width)))
        first, second = (factor, adjoint(factor)) if lower else (adjoint(factor), factor)
        return triangular_solution(second, triangular_solution(first, b, 0, True, False), 0, False, False)

    return over_stacks(one, (inexact(cb), 2), (inexact(b), "1|2"))


# ---- Toeplitz and circulant systems ---------------------------------------------------------------------------------


def _column_and_row(c_or_cr: Any) -> tuple[Any, Any]:
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        return inexact(c), inexact(r)
    c = inexact(c_or_cr)
    return c, conjugate(c)


@implements(scipy.linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any, **_: Any) -> Any:
    """x of T x = b, for the Toeplitz matrix T of a first column and a first row.

    Notes
    -----
    Cost: one LU factorisation of the whole matrix, O(n³), where SciPy's takes O(n²).

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda c: linalg.solve_toeplitz(c, np.ones(2))[0])(np.array([2.0, 1.0])) * 9
    array([-1., -1.])
    """

    def one(c: Any, r: Any, b: Any) -> Any:
        a, b = common(toeplitz_of(c, r), b)
        return np.linalg.solve(a, b)

    c, r = _column_and_row(c_or_cr)
    return over_stacks(one, (c, 1), (r, 1), (inexact(b), "1|2"))


@implements(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr: Any, x: Any, **_: Any) -> Any:
    """T x, for the Toeplitz matrix T of a first column and a first row.

    Notes
    -----
    Cost: three Fourier transforms, and three more for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda c: linalg.matmul_toeplitz(c, np.array([1.0, 2.0]))[0])(np.array([3.0, 4.0])).round(12)
    array([1., 2.])
    """

    def one(c: Any, r: Any, x: Any) -> Any:
        rows, length = c.shape[0], c.shape[0] + r.shape[0] - 1
        if not x.size:
            return np.zeros((rows, *x.shape[1:]), x.dtype)
        by_column, real = as_column(x), not any(map(is_complex, (c, r, x)))
        there, back = (np.fft.rfft, np.fft.irfft) if real else (np.fft.fft, np.fft.ifft)
        around = there(np.concatenate([*common(c, r[:0:-1])]))
        made = back(around[:, None] * there(by_column, length, 0), length, 0)[:rows]
        return np.reshape(made, (rows, *x.shape[1:]))

    c, r = _column_and_row(c_or_cr)
    return over_stacks(one, (c, 1), (r, 1), (inexact(x), "1|2"))


@implements(scipy.linalg.solve_circulant)
def solve_circulant(
    c: Any,
    b: Any,
    singular: str = "raise",
    tol: Any = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> Any:
    """x of C x = b, for the circulant matrix C of a first column: F⁻¹ (F b / F c) with Fourier transforms F.

    Notes
    -----
    Cost: three Fourier transforms, and three more for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda b: linalg.solve_circulant(np.array([2.0, 1.0]), b)[0])(np.ones(2)) * 3
    array([ 2., -1.])
    """
    c, b = (np.reshape(x, (1,)) if x.ndim == 0 else x for x in (inexact(c), inexact(b)))
    found = circulant_spectrum(c, b, tol, caxis, baxis)
    x = np.fft.ifft(found, axis=-1)
    if not (is_complex(c) or is_complex(b)):
        x = np.real(x)
    return x if outaxis == -1 else np.moveaxis(x, -1, outaxis)
