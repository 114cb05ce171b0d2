"""Roots and logarithms of matrices, and functions by their eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._core.trace.traced import is_traced, plain_value
from hoad._numpy.complex import is_complex
from hoad._scipy.equations import sylvester
from hoad._scipy.matrix_functions import FURTHER, MOST_TIMES, exponential, is_repeated_value, largest_sum
from hoad._scipy.registry import decided, implements, refused
from hoad.rules.registry import defvjp, primitive

NEAR = 0.25  # how far from the identity a root may be for the quadrature of its logarithm


def _root(a: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(scipy.linalg.sqrtm(a))


@primitive(shape=lambda a: (a.shape[:-2], np.dtype(bool)))
def has_complex_root(a: Any) -> Any:
    """Whether the principal square root of a real matrix is not real."""
    return np.asarray(np.iscomplexobj(_root(a)))


@primitive(shape=lambda a: a)
def principal_root(a: Any) -> Any:
    """The principal square root, or its real part where a guard will find that it is not real."""
    found = _root(a)
    return (found if a.dtype.kind == "c" else np.real(found)).astype(a.dtype)


def _principal_root(g: Any, p: Any, a: Any) -> Any:
    """y of pᵀ y + y pᵀ = g."""
    return (sylvester(p.T, p.T, g),)


defvjp(has_complex_root, lambda g, p, a: (None,))
defvjp(principal_root, _principal_root)


def square_root(a: Any) -> Any:
    """The principal square root of a matrix; whether that of a real one is real is guarded."""
    if not a.size:
        return a
    if not is_complex(a) and decided(has_complex_root(a)):
        a = a.astype(np.result_type(a.dtype, np.complex64))
    return principal_root(a)


def logarithm(a: Any) -> Any:
    """log(a) = 2ᵏ log(a^(1/2ᵏ)), near the identity by Gauss and Legendre's rule; k is guarded.

    At the distance `NEAR` of the identity, n nodes are the Padé approximant of degree n, with the error 0.003ⁿ.
    """
    if not a.size:
        return a
    eye = np.eye(a.shape[0], dtype=a.dtype)
    a, scale = _repeated_root(a, eye) if is_repeated_value(a) else _root_near_identity(a, eye)
    rest = a - eye
    nodes, weights = np.polynomial.legendre.leggauss(9)
    parts = [0.5 * w * np.linalg.solve(eye + 0.5 * (1.0 + t) * rest, rest) for t, w in zip(nodes, weights, strict=True)]
    return scale * sum(parts[1:], parts[0])


def _root_near_identity(a: Any, eye: Any) -> tuple[Any, float]:
    """a^(1/2ᵏ) near the identity, and 2ᵏ."""
    times = 0
    while not _is_near(a, eye):
        if times == MOST_TIMES:
            raise np.linalg.LinAlgError("the logarithm of a singular matrix does not exist")
        a, times = square_root(a), times + 1
    return a, 2.0**times


def _repeated_root(a: Any, eye: Any) -> tuple[Any, Any]:
    """The same in the body of a loop or a map, where k may be larger than in the recording."""
    scale: Any = 1.0
    further = FURTHER
    for _ in range(MOST_TIMES):
        if not further:
            break
        goes_on = np.logical_not(_distance(a, eye) < NEAR)
        root = square_root(np.where(goes_on, a, eye))
        further -= not plain_value(goes_on)
        a, scale = np.where(goes_on, root, a), np.where(goes_on, 2.0 * scale, scale)
    if not _is_near(a, eye):
        raise np.linalg.LinAlgError("the logarithm of a singular matrix does not exist")
    return a, scale


def _distance(a: Any, eye: Any) -> Any:
    return largest_sum(a - eye)


def _is_near(a: Any, eye: Any) -> bool:
    return decided(np.less(_distance(a, eye), NEAR))


def _without_estimate(name: str, disp: Any) -> None:
    if disp is False:
        raise refused(name, "with disp=False", "Leave disp out: the estimate of the error has no derivative.")


@implements(scipy.linalg.sqrtm, A=2)
def sqrtm(A: Any, disp: Any = None, **_: Any) -> Any:
    """The principal square root X of A, with X dX + dX X = dA.

    Notes
    -----
    Cost: one Schur decomposition, two with SciPy's question whether the root is real, and an equation of Sylvester's
    for each sweep.

    References
    ----------
    Higham (2008), Functions of Matrices, section 6.1.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.sqrtm(a)[0, 0])(np.diag([4.0, 9.0]))
    array([[0.25, 0.  ],
           [0.  , 0.  ]])
    """
    _without_estimate("sqrtm", disp)
    return square_root(A)


@implements(scipy.linalg.logm, A=2)
def logm(A: Any, disp: Any = None) -> Any:
    """The principal logarithm of A, by square roots and a quadrature.

    Notes
    -----
    Cost: k square roots (see `sqrtm`) until A^(1/2ᵏ) is near the identity, and nine solves.

    References
    ----------
    Higham (2008), Functions of Matrices, sections 11.4 and 11.5.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.logm(a)[0, 0])(np.diag([2.0, 1.0]))[0, 0].round(9).item()
    0.5
    """
    _without_estimate("logm", disp)
    return logarithm(A)


@implements(scipy.linalg.fractional_matrix_power, A=2)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """A to the power t, exp(t log(A)); by products where t is a plain whole number.

    t may be traced too. Where t is not whole, A must not be singular.

    Notes
    -----
    Cost: as of `logm` and `expm` together.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> slope = hoad.grad(lambda t: linalg.fractional_matrix_power(np.diag([1.0, 4.0]), t)[1, 1])(0.5)
    >>> round(slope / float(np.log(4.0)), 9)
    2.0
    """
    if not is_traced(t) and np.isreal(t) and float(np.real(t)).is_integer():
        return np.linalg.matrix_power(A, int(np.real(t))) if A.size else A
    return exponential(t * logarithm(A))


@implements(scipy.linalg.signm, A=2)
def signm(A: Any, disp: Any = None) -> Any:
    """The matrix sign A (A²)^(-1/2).

    Notes
    -----
    Cost: as of `sqrtm`, and one solve.

    References
    ----------
    Higham (2008), Functions of Matrices, section 5.1.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.signm(a)[0, 1])(np.diag([1.0, -1.0]))
    array([[0., 1.],
           [0., 0.]])
    """
    _without_estimate("signm", disp)
    return np.linalg.solve(square_root(A @ A), A) if A.size else A


@implements(scipy.linalg.funm, A=2)
def funm(A: Any, func: Any, disp: Any = True) -> Any:
    """V f(w) V⁻¹, for the eigenvalues w and vectors V of A, and a function f that is written with NumPy.

    Derivatives are nan where eigenvalues are equal. Of a symmetric matrix, V f(w) Vᵀ by `eigh` has them there too.

    Notes
    -----
    Cost: as of `eig`, and one solve.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.funm(a, np.exp)[0, 0])(np.diag([0.0, 1.0]))[0, 0].round(9).item()
    1.0
    """
    _without_estimate("funm", disp)
    w, v = np.linalg.eig(A)
    vectors = np.swapaxes(v, -1, -2)
    return np.swapaxes(np.linalg.solve(vectors, np.swapaxes(v * func(w), -1, -2)), -1, -2)
