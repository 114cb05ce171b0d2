"""Pseudo-inverses and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._numpy.registry import as_traced
from hoad._ops import primitives as prim
from hoad._scipy.registry import (
    common,
    decided,
    implements,
    refused,
)
from hoad._scipy.symmetric_part import symmetric_part
from hoad.rules.registry import defvjp, primitive


def _threshold(s: Any, shape: Any, atol: Any, rtol: Any) -> Any:
    """The size above which SciPy takes a singular value for one that is not 0."""
    rtol = max(shape) * np.finfo(s.dtype).eps if rtol is None else rtol
    return (atol or 0.0) + np.max(s, initial=0.0) * rtol


def _options(atol: Any, rtol: Any) -> dict[str, float | None]:
    return {name: None if x is None else float(x) for name, x in (("atol", atol), ("rtol", rtol))}


@primitive(shape=lambda a, **_: a.shape[::-1])
def pseudo_inverse(a: Any, *, atol: float | None, rtol: float | None) -> Any:
    return scipy.linalg.pinv(a, atol=atol, rtol=rtol, check_finite=False)


@primitive(shape=lambda a, **_: a.shape)
def hermitian_pseudo_inverse(a: Any, *, atol: float | None, rtol: float | None) -> Any:
    return scipy.linalg.pinvh(a, atol=atol, rtol=rtol, check_finite=False)


def _by_pinv(g: Any, p: Any, a: Any, *, atol: Any, rtol: Any) -> Any:
    return prim.PINV.require_rule()(g, p, a, rcond=0.0)  # the rule holds at whatever rank there is


defvjp(pseudo_inverse, _by_pinv)
defvjp(hermitian_pseudo_inverse, _by_pinv)


def _traced_tolerance(name: str, atol: Any, rtol: Any) -> None:
    if any(np.ndim(x) for x in (atol, rtol) if x is not None):
        raise refused(name, "with an array for a tolerance", "Give one number.")


@implements(scipy.linalg.pinv, a=2)
def pinv(a: Any, atol: Any = None, rtol: Any = None, return_rank: bool = False, **_: Any) -> Any:
    """The pseudo-inverse a⁺, with its derivative along matrices of the same rank.

    Notes
    -----
    Cost: one singular value decomposition, and some products for each sweep.

    References
    ----------
    Golub and Pereyra (1973), SIAM J. Numer. Anal. 10, section 4.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.pinv(a)[0, 0])(np.array([[2.0], [0.0]]))
    array([[-0.25],
           [ 0.  ]])
    """
    _traced_tolerance("pinv", atol, rtol)
    found = pseudo_inverse(a, **_options(atol, rtol))
    if not return_rank:
        return found
    s = np.linalg.svdvals(a)
    return found, np.sum(np.greater(s, _threshold(s, a.shape, atol, rtol)))


@implements(scipy.linalg.pinvh, a=2)
def pinvh(a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False, **_: Any) -> Any:
    """The pseudo-inverse of a Hermitian matrix, with its derivative along Hermitian matrices of the same rank.

    Of a matrix that is not Hermitian, the triangle that is read counts.

    Notes
    -----
    Cost: one eigendecomposition, and some products for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.pinvh(a)[0, 0])(np.diag([2.0, 4.0]))
    array([[-0.25,  0.  ],
           [ 0.  ,  0.  ]])
    """
    _traced_tolerance("pinvh", atol, rtol)
    a = symmetric_part(a, lower=lower)
    found = hermitian_pseudo_inverse(a, **_options(atol, rtol))
    if not return_rank:
        return found
    sizes = np.abs(np.linalg.eigvalsh(a))
    return found, np.sum(np.greater(sizes, _threshold(sizes, a.shape, atol, rtol)))


@implements(scipy.linalg.lstsq, a=2, b="1|2")
def lstsq(a: Any, b: Any, cond: Any = None, lapack_driver: str | None = None, **_: Any) -> Any:
    """x of the least ‖a x - b‖, and residuals, rank and singular values; along matrices of the same rank.

    Notes
    -----
    Cost: one singular value decomposition for x, one for the singular values, and some solves for each sweep.

    References
    ----------
    Golub and Pereyra (1973), SIAM J. Numer. Anal. 10, section 4.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda b: linalg.lstsq(np.ones((2, 1)), b)[0][0])(np.array([1.0, 3.0]))
    array([0.5, 0.5])
    """
    a, b = common(a, b)
    m, n = a.shape
    if m == 0 or n == 0:
        x = np.zeros((n, *b.shape[1:]), b.dtype)
        return x, np.linalg.norm(b, axis=0) ** 2 if n == 0 else np.zeros(0), 0, np.zeros(0)
    limit = np.finfo(a.dtype).eps if cond is None else cond
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=limit)
    if lapack_driver == "gelsy":
        return x, np.zeros(0, s.dtype), rank, None
    if m <= n or not decided(np.equal(rank, n)):
        residuals = np.zeros(0, x.dtype)
    elif b.ndim == 1:
        residuals = as_traced(residuals)[0]
    return x, residuals, rank, s
