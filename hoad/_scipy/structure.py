"""What SciPy says of the structure of a matrix, on which no derivative depends, and what has no derivative at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.trace.traced import guard_value
from hoad._numpy.registry import as_traced
from hoad._scipy.registry import implements, refuses
from hoad.rules.registry import defvjp, primitive


@primitive(shape=lambda a: ((2, *a.shape[:-2]), np.dtype(np.intp)))
def bandwidths(a: Any) -> Any:
    return np.array(scipy.linalg.bandwidth(a), np.intp)


@primitive(shape=lambda a, **_: (a.shape[:-2], np.dtype(bool)))
def is_symmetric(a: Any, *, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    check = scipy.linalg.ishermitian if hermitian else scipy.linalg.issymmetric
    return np.asarray(check(a, atol=atol, rtol=rtol))


defvjp(bandwidths, lambda g, p, a: (None,))
defvjp(is_symmetric, lambda g, p, a, **_: (None,))


@implements(scipy.linalg.bandwidth)
def bandwidth(a: Any) -> Any:
    """How many diagonals below and above the main one hold something else than 0, as guarded numbers.

    Notes
    -----
    Cost: that of SciPy's function.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.bandwidth(a)[0] * a[0, 0])(np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    below, above = guard_value(bandwidths(as_traced(a)))
    return (below, above) if below.ndim else (int(below), int(above))


def _symmetric(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    found = is_symmetric(as_traced(a), atol=atol, rtol=rtol, hermitian=hermitian)
    return guard_value(found) if found.ndim else bool(found)


@implements(scipy.linalg.issymmetric)
def issymmetric(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """Whether a matrix is symmetric, guarded.

    Notes
    -----
    Cost: that of SciPy's function.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: a[0, 1] if linalg.issymmetric(a) else a[0, 0])(np.eye(2))
    array([[0., 1.],
           [0., 0.]])
    """
    return _symmetric(a, atol, rtol, False)


@implements(scipy.linalg.ishermitian)
def ishermitian(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """Whether a matrix is Hermitian, guarded.

    Notes
    -----
    Cost: that of SciPy's function.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: a[0, 1] if linalg.ishermitian(a) else a[0, 0])(np.eye(2))
    array([[0., 1.],
           [0., 0.]])
    """
    return _symmetric(a, atol, rtol, True)


# ---- what is refused ------------------------------------------------------------------------------------------------

PHASES = (
    "A Schur form depends on an order of eigenvalues, and its vectors on phases, that the matrix does not determine."
)
BLOCKS = "Which of its blocks have one row and which two depends on values, and pivoting changes them."
SIGNS = "SciPy turns rows and columns in the order of the update, which leaves signs that no formula gives."

null_space = refuses(
    scipy.linalg.null_space,
    "A matrix does not determine the basis of its null space.",
    "Use the projection on it, np.eye(n) - pinv(a) @ a.",
)
schur = refuses(scipy.linalg.schur, PHASES, "Use eig, eigvals, or a function of the matrix such as expm or sqrtm.")
rsf2csf = refuses(scipy.linalg.rsf2csf, PHASES, "Use eig or eigvals.")
qz = refuses(scipy.linalg.qz, PHASES, "Use eigvals(a, b).")
ordqz = refuses(scipy.linalg.ordqz, PHASES, "Use eigvals(a, b).")
cossin = refuses(
    scipy.linalg.cossin,
    "The blocks determine the cosines and sines, but not all of the vectors.",
    "Use svd of one of the blocks.",
)
ldl = refuses(scipy.linalg.ldl, BLOCKS, "Use cholesky of a positive definite matrix, else lu or solve.")
qr_delete = refuses(scipy.linalg.qr_delete, SIGNS, "Use qr of the matrix without its rows or columns.")
qr_insert = refuses(scipy.linalg.qr_insert, SIGNS, "Use qr of the matrix with its new rows or columns.")
qr_update = refuses(scipy.linalg.qr_update, SIGNS, "Use qr(Q @ R + np.outer(u, v.conj())).")
clarkson_woodruff_transform = refuses(
    scipy.linalg.clarkson_woodruff_transform,
    "It draws a random matrix at each call.",
    "Draw the matrix once, s = clarkson_woodruff_transform(np.eye(n), k), and use s @ a.",
)
