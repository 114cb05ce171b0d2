"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.trace.calls import apply_primitive
from hoad._numpy.products import inexact
from hoad._numpy.triangles import mirrored
from hoad._ops import primitives as prim
from hoad._scipy.registry import adjoint, common, decided, implements, refused
from hoad._scipy.symmetric_part import symmetric_part
from hoad._scipy.triangular import from_half_band, triangular
from hoad.errors import NoRuleError
from hoad.rules.registry import defvjp, primitive

# ---- Hermitian matrices ---------------------------------------------------------------------------------------------
#
# Solvers of SciPy, which `prim.EIGH` calls by their names: they differ from NumPy's in the signs of vectors.


def by_lower(a: Any) -> Any:
    return scipy.linalg.eigh(a, check_finite=False)


def by_upper(a: Any) -> Any:
    return scipy.linalg.eigh(a, lower=False, check_finite=False)


def by_band(a: Any) -> Any:
    return scipy.linalg.eig_banded(_lower_band(a), lower=True, check_finite=False)


def by_band_in_part(a: Any) -> Any:
    """What SciPy gives of a part of the eigenvalues, of all of them."""
    n = a.shape[-1]
    return scipy.linalg.eig_banded(
        _lower_band(a), lower=True, select="i", select_range=(0, n - 1), max_ev=n, check_finite=False
    )


def _lower_band(a: Any) -> Any:
    n = a.shape[-1]
    rows, columns = np.nonzero(np.tril(a))
    width = int(np.max(rows - columns, initial=0))
    ab = np.zeros((width + 1, n), a.dtype)
    for k in range(width + 1):
        ab[k, : n - k] = np.diagonal(a, -k)
    return ab


def by_tridiagonal(a: Any) -> Any:
    return scipy.linalg.eigh_tridiagonal(np.diagonal(a).copy(), np.diagonal(a, -1).copy(), check_finite=False)


def by_tridiagonal_in_part(a: Any) -> Any:
    """What SciPy gives of a part of the eigenvalues, of all of them."""
    d, e, last = np.diagonal(a).copy(), np.diagonal(a, -1).copy(), a.shape[-1] - 1
    return scipy.linalg.eigh_tridiagonal(d, e, select="i", select_range=(0, last), check_finite=False)


def _pairs(a: Any, solver: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of a symmetric (or Hermitian) matrix."""
    if not a.size:
        return np.zeros(0, prim.real_dtype(a.dtype)), a
    w, v = apply_primitive(prim.EIGH, (f"{__name__}.{solver.__name__}" if callable(solver) else solver,), a)
    return w, v


def _chosen(w: Any, v: Any, by_index: Any, by_value: Any) -> tuple[Any, Any]:
    """Those in a range of indices, or of values; how many these are is guarded."""
    if by_index is not None:
        chosen = slice(int(by_index[0]), int(by_index[1]) + 1)
    elif by_value is not None:
        low, high = by_value
        below = sum(decided(np.less_equal(w[k], low)) for k in range(w.shape[0]))
        inside = sum(decided(np.less_equal(w[k], high)) for k in range(below, w.shape[0]))
        chosen = slice(below, below + inside)
    else:
        return w, v
    return w[chosen], v[:, chosen]


def _generalised(a: Any, b: Any, lower: bool, type: int) -> tuple[Any, Any]:
    """The symmetric matrix with the same eigenvalues, and what makes the vectors of its own."""
    a, b = common(symmetric_part(a, lower=lower), b)
    factor = np.linalg.cholesky(mirrored(b, lower))
    if type == 1:
        half = triangular(factor, a, lower=True, unit=False)
        inner = triangular(factor, adjoint(half), lower=True, unit=False)
    else:
        inner = adjoint(factor) @ a @ factor
    return 0.5 * (inner + adjoint(inner)), factor


def _eigh(a: Any, b: Any, lower: bool, type: int, by_index: Any, by_value: Any, values_alone: bool) -> tuple[Any, Any]:
    if b is None:
        w, v = _pairs(mirrored(a, lower), by_lower if lower else by_upper)
    else:
        inner, factor = _generalised(a, b, lower, type)
        w, v = _pairs(inner, "L")
        if not values_alone:
            v = factor @ v if type == 3 else triangular(adjoint(factor), v, lower=False, unit=False)
    return _chosen(w, v, by_index, by_value)


@implements(scipy.linalg.eigh, a=2, b=2)
def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    **_: Any,
) -> Any:
    """Eigenvalues w and vectors V of a Hermitian matrix, with dw = diag(Vᴴ da V); or of a v = w b v and the like.

    The derivative is that by a symmetric matrix; of one that is not, by the triangle that is read. Vectors keep the
    signs that LAPACK gives them, and have none where eigenvalues are equal; what is a function of the matrix, V f(w) Vᴴ
    with real f, has one there too. A complex matrix determines its vectors but for phases, which are held constant: vᴴ
    dv has no imaginary part. What phases do not change has derivatives. What they do has none, and raises `NoRuleError`
    in reverse mode; forward mode cannot see it. By values, how many eigenvalues are chosen is guarded.

    Notes
    -----
    Cost: one decomposition of the whole matrix, whatever is chosen of it, and a few products for each sweep.

    References
    ----------
    Giles (2008), report NA-08/01, section 3.1.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.eigh(a)[0][0])(np.diag([2.0, 4.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    w, v = _eigh(a, b, lower, type, subset_by_index, subset_by_value, eigvals_only)
    return w if eigvals_only else (w, v)


@implements(scipy.linalg.eigvalsh, a=2, b=2)
def eigvalsh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    **_: Any,
) -> Any:
    """The eigenvalues w of a Hermitian matrix, with dw = diag(Vᴴ da V); or of a v = w b v and the like.

    Notes
    -----
    Cost: as of `eigh`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda b: linalg.eigvalsh(np.diag([2.0, 4.0]), b)[0])(np.eye(2))
    array([[-2.,  0.],
           [ 0.,  0.]])
    """
    return _eigh(a, b, lower, type, subset_by_index, subset_by_value, True)[0]


def _ranges(select: Any, select_range: Any) -> tuple[Any, Any]:
    """The range of indices and that of values that an option chooses."""
    kind = {"i": 2, "v": 1, "a": 0, "index": 2, "value": 1, "all": 0}.get(select, select)
    return (select_range if kind == 2 else None), (select_range if kind == 1 else None)


def _of_band(a_band: Any, lower: bool, select: Any, select_range: Any) -> tuple[Any, Any]:
    ranges = _ranges(select, select_range)
    solver = by_band if ranges == (None, None) else by_band_in_part
    w, v = _pairs(from_half_band(a_band, lower), solver)
    return _chosen(w, v, *ranges)


@implements(scipy.linalg.eig_banded, a_band=2)
def eig_banded(
    a_band: Any, lower: bool = False, eigvals_only: bool = False, select: Any = "a", select_range: Any = None, **_: Any
) -> Any:
    """Eigenvalues and vectors of a Hermitian matrix, from its diagonals on one side.

    An item of a_band stands for two entries of the matrix, and its derivative is that by both. The rest is as for
    `eigh`.

    Notes
    -----
    Cost: as of `eigh`; derivatives are O(n³) whatever the number of diagonals.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.eig_banded(a)[0][0])(np.array([[0.0, 0.0], [2.0, 4.0]]))
    array([[0., 0.],
           [1., 0.]])
    """
    w, v = _of_band(a_band, lower, select, select_range)
    return w if eigvals_only else (w, v)


@implements(scipy.linalg.eigvals_banded, a_band=2)
def eigvals_banded(a_band: Any, lower: bool = False, select: Any = "a", select_range: Any = None, **_: Any) -> Any:
    """The eigenvalues of a Hermitian matrix, from its diagonals on one side.

    Notes
    -----
    Cost: as of `eig_banded`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.eigvals_banded(a)[0])(np.array([[0.0, 0.0], [2.0, 4.0]]))
    array([[0., 0.],
           [1., 0.]])
    """
    return _of_band(a_band, lower, select, select_range)[0]


def _tridiagonal(d: Any, e: Any, select: Any, select_range: Any) -> tuple[Any, Any]:
    d, e = common(d, e)
    a = np.diag(d) + np.diag(e, 1) + np.diag(e, -1) if d.shape[0] > 1 else np.diag(d)
    ranges = _ranges(select, select_range)
    solver = by_tridiagonal if ranges == (None, None) else by_tridiagonal_in_part
    w, v = _pairs(a, solver)
    return _chosen(w, v, *ranges)


@implements(scipy.linalg.eigh_tridiagonal, d=1, e=1)
def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: bool = False, select: Any = "a", select_range: Any = None, **_: Any
) -> Any:
    """Eigenvalues and vectors of a real symmetric matrix with diagonal d, and e beside it.

    Notes
    -----
    Cost: as of `eigh`; derivatives are O(n³).

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda e: linalg.eigh_tridiagonal(np.zeros(2), e)[0][1])(np.array([3.0])).round(12)
    array([1.])
    """
    w, v = _tridiagonal(d, e, select, select_range)
    return w if eigvals_only else (w, v)


@implements(scipy.linalg.eigvalsh_tridiagonal, d=1, e=1)
def eigvalsh_tridiagonal(d: Any, e: Any, select: Any = "a", select_range: Any = None, **_: Any) -> Any:
    """The eigenvalues of a real symmetric matrix with diagonal d, and e beside it.

    Notes
    -----
    Cost: as of `eigh_tridiagonal`.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda e: linalg.eigvalsh_tridiagonal(np.zeros(2), e)[1])(np.array([3.0])).round(12)
    array([1.])
    """
    return _tridiagonal(d, e, select, select_range)[0]


# ---- general matrices -----------------------------------------------------------------------------------------------


@primitive(shape=lambda w, a, b: ((a.shape[0],), np.dtype(np.intp)))
def order_of_pencil(w: Any, a: Any, b: Any) -> Any:
    """The places in w of the eigenvalues of a v = w b v, in the order in which SciPy gives them."""
    wanted = scipy.linalg.eigvals(a, b, check_finite=False)
    left, order = list(range(len(w))), []
    for value in wanted:
        order.append(min(left, key=lambda k: abs(w[k] - value)))
        left.remove(order[-1])
    return np.array(order, np.intp)


defvjp(order_of_pencil, lambda g, p, w, a, b: (None, None, None))


def _homogeneous(name: str) -> NoRuleError:
    return refused(
        name, "with homogeneous_eigvals=True", "The matrices do not determine how large the two numbers are: take w."
    )


@implements(scipy.linalg.eig, a=2, b=2)
def eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, homogeneous_eigvals: bool = False, **_: Any
) -> Any:
    """Eigenvalues w and vectors V of a matrix, with dw = diag(V⁻¹ da V).

    Vectors have the length 1, and their largest component is real, as LAPACK makes them. Where eigenvalues are equal
    they have no derivative. Those on the left, and those of a v = w b v, have none that hoad knows of.

    Notes
    -----
    Cost: one decomposition, and one inverse and a few products for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: np.real(linalg.eig(a)[0][0]))(np.diag([2.0, 4.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    if homogeneous_eigvals:
        raise _homogeneous("eig")
    if left:
        raise refused(
            "eig", "with left=True", "Vectors on the left are the rows of np.linalg.inv(v), each times some number."
        )
    if not right:
        return eigvals(a, b)
    if b is not None:
        raise refused("eig", "of two matrices for the vectors", "Use eig(solve(b, a)), or eigvals(a, b).")
    if not a.size:
        return np.zeros(0, complex), a
    w, v = np.linalg.eig(a)
    return _as_complex(w), v


@implements(scipy.linalg.eigvals, a=2, b=2)
def eigvals(a: Any, b: Any = None, homogeneous_eigvals: bool = False, **_: Any) -> Any:
    """The eigenvalues w of a matrix, with dw = diag(V⁻¹ da V); or of a v = w b v, for a matrix b that is not singular.

    Notes
    -----
    Cost: as of `eig`; of two matrices, one more decomposition by SciPy, whose order is kept.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: np.real(linalg.eigvals(a)[0]))(np.diag([2.0, 4.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    if homogeneous_eigvals:
        raise _homogeneous("eigvals")
    if not a.size:
        return np.zeros(0, complex)
    if b is None:
        return _as_complex(np.linalg.eigvals(a))
    a, b = common(inexact(a), inexact(b))
    w = _as_complex(np.linalg.eigvals(np.linalg.solve(b, a)))
    return w[order_of_pencil(w, a, b)]


def _as_complex(w: Any) -> Any:
    return w.astype(np.result_type(w.dtype, np.complex64))
