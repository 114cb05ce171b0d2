"""Matrix equations: Sylvester, Lyapunov and Riccati, differentiated as the equations that they are.

References
----------
Kao and Hennequin (2020), "Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations",
arXiv:2011.11430.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hoad._numpy.complex import conjugate
from hoad._numpy.products import inexact
from hoad._scipy.registry import adjoint, common, identity_like, implements, over_stacks
from hoad.rules.registry import defvjp, primitive


@primitive(linear=(2,), shape=lambda a, b, q: q.shape)
def sylvester(a: Any, b: Any, q: Any) -> Any:
    """x of a x + x b = q."""
    return np.asarray(scipy.linalg.solve_sylvester(a, b, q)) if q.size else np.zeros(q.shape, np.result_type(a, b, q))


def _sylvester(g: Any, p: Any, a: Any, b: Any, q: Any) -> Any:
    """y of aᵀ y + y bᵀ = g is the adjoint of q."""
    y = sylvester(a.T, b.T, g)
    return -y @ p.T, -p.T @ y, y


defvjp(sylvester, _sylvester)


@implements(scipy.linalg.solve_sylvester, a=2, b=2, q=2)
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """x of a x + x b = q, with a dx + dx b = dq - da x - x db.

    Notes
    -----
    Cost: two Schur decompositions, and two more for each sweep.

    References
    ----------
    Kao and Hennequin (2020), arXiv:2011.11430, section 3.1.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> a, b, q = np.diag([1.0, 2.0]), np.eye(2), np.ones((2, 2))
    >>> hoad.grad(lambda q: linalg.solve_sylvester(a, b, q)[0, 0])(q)
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    return sylvester(*common(a, b, q))


@implements(scipy.linalg.solve_continuous_lyapunov, a=2, q=2)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """x of a x + x aᴴ = q, with a dx + dx aᴴ = dq - da x - x daᴴ.

    Notes
    -----
    Cost: two Schur decompositions, where SciPy's has one, and two more for each sweep.

    References
    ----------
    Kao and Hennequin (2020), arXiv:2011.11430, section 3.2.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.solve_continuous_lyapunov(a, np.eye(2))[0, 0])(np.diag([1.0, 2.0]))
    array([[-0.5,  0. ],
           [ 0. ,  0. ]])
    """
    a, q = common(a, q)
    return sylvester(a, adjoint(a), q)


@implements(scipy.linalg.solve_discrete_lyapunov, a=2, q=2)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Any:
    """x of x = a x aᴴ + q, with dx - a dx aᴴ = dq + da x aᴴ + a x daᴴ.

    Notes
    -----
    Cost: as SciPy's: one system of n² equations, or with method="bilinear" two inverses and an equation of
    `solve_continuous_lyapunov`, and another for each sweep.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> hoad.grad(lambda a: linalg.solve_discrete_lyapunov(a, np.eye(2))[0, 0])(np.diag([0.5, 0.2])).round(6)
    array([[1.777778, 0.      ],
           [0.      , 0.      ]])
    """
    a, q = common(a, q)
    n = a.shape[0]
    if (method or ("bilinear" if n >= 10 else "direct")).lower() == "direct":
        return np.reshape(np.linalg.solve(np.eye(n * n, dtype=a.dtype) - np.kron(a, conjugate(a)), np.ravel(q)), (n, n))
    eye = identity_like(a)
    behind = np.linalg.inv(adjoint(a) + eye)
    b = (adjoint(a) - eye) @ behind
    c = 2.0 * np.linalg.inv(a + eye) @ q @ behind
    return sylvester(adjoint(b), b, -c)


# ---- Riccati --------------------------------------------------------------------------------------------------------
#
# Both equations are of the form x = ... with a gain k and the closed loop a - b k, in terms of which derivatives are
# the same: w solves an equation of Lyapunov's, of the closed loop, and the adjoints follow from it. q and r are
# symmetric (Hermitian), and so is x: the derivatives are those by symmetric matrices.


def _adjoints(w: Any, xw: Any, k: Any) -> tuple[Any, ...]:
    """Those of a, b, q, r, s for that of x, in the pairing Re tr(gᴴ dx)."""
    by_s = -2.0 * w @ adjoint(k)
    return 2.0 * xw, -2.0 * xw @ adjoint(k), w, k @ w @ adjoint(k), by_s


def _symmetric(g: Any) -> Any:
    g = conjugate(g)
    return 0.5 * (g + adjoint(g))


def _square_shape(a: Any, b: Any, q: Any, r: Any, s: Any) -> Any:
    return q.shape


@primitive(shape=_square_shape)
def continuous_are(a: Any, b: Any, q: Any, r: Any, s: Any) -> Any:
    """x of aᴴ x + x a - (x b + s) r⁻¹ (bᴴ x + sᴴ) + q = 0."""
    return scipy.linalg.solve_continuous_are(a, b, _hermitian(q), _hermitian(r), s=s)


def _hermitian(a: Any) -> Any:
    """A matrix that is Hermitian but for rounding, as one that is: SciPy compares by a tolerance of its own."""
    return 0.5 * (a + np.conjugate(a.T))


def _continuous_are(g: Any, p: Any, a: Any, b: Any, q: Any, r: Any, s: Any) -> Any:
    """(a - b k) w + w (a - b k)ᴴ = -x̄."""
    k = np.linalg.solve(r, adjoint(b) @ p + adjoint(s))
    closed = a - b @ k
    w = sylvester(closed, adjoint(closed), -_symmetric(g))
    return tuple(map(conjugate, _adjoints(w, p @ w, k)))


@primitive(shape=_square_shape)
def discrete_are(a: Any, b: Any, q: Any, r: Any, s: Any) -> Any:
    """x of aᴴ x a - x - (aᴴ x b + s) (r + bᴴ x b)⁻¹ (bᴴ x a + sᴴ) + q = 0."""
    return scipy.linalg.solve_discrete_are(a, b, _hermitian(q), _hermitian(r), s=s)


def _discrete_are(g: Any, p: Any, a: Any, b: Any, q: Any, r: Any, s: Any) -> Any:
    """w - (a - b k) w (a - b k)ᴴ = x̄."""
    k = np.linalg.solve(r + adjoint(b) @ p @ b, adjoint(b) @ p @ a + adjoint(s))
    closed = a - b @ k
    w = _stein(closed, _symmetric(g))
    return tuple(map(conjugate, _adjoints(w, p @ closed @ w, k)))


def _stein(a: Any, q: Any) -> Any:
    """x of x = a x aᴴ + q."""
    n = a.shape[0]
    return np.linalg.solve(np.eye(n * n, dtype=a.dtype) - np.kron(a, conjugate(a)), q.reshape(n * n)).reshape(n, n)


defvjp(continuous_are, _continuous_are)
defvjp(discrete_are, _discrete_are)


def _riccati(equation: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> Any:
    """The solution of the equation with e, by that without: y = eᴴ x e solves the one of e⁻¹ a and e⁻¹ b."""
    given = [(inexact(x), 2) for x in (a, b, q, r, e, s) if x is not None]

    def one(a: Any, b: Any, q: Any, r: Any, *others: Any) -> Any:
        rest = iter(others)
        e = None if not has_e else next(rest)
        s = np.zeros_like(b) if not has_s else next(rest)
        if e is None:
            return equation(*common(a, b, q, r, s))
        a, b, q, r, s, e = common(a, b, q, r, s, e)
        y = equation(np.linalg.solve(e, a), np.linalg.solve(e, b), q, r, s)
        return adjoint(np.linalg.solve(adjoint(e), adjoint(np.linalg.solve(adjoint(e), y))))

    has_e, has_s = e is not None, s is not None
    return over_stacks(one, *given)


@implements(scipy.linalg.solve_continuous_are)
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """x of the Riccati equation aᴴ x + x a - x b r⁻¹ bᴴ x + q = 0, by implicit differentiation.

    With k = r⁻¹ bᴴ x and c = a - b k, dx solves cᴴ dx + dx c = -(daᴴ x + x da - x db k - kᴴ dbᴴ x + kᴴ dr k + dq). The
    derivatives by q and r are those by symmetric matrices.

    Notes
    -----
    Cost: one decomposition of twice the size, and one equation of Lyapunov's for each sweep.

    References
    ----------
    Kao and Hennequin (2020), arXiv:2011.11430, section 3.3.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> one = np.eye(1)
    >>> hoad.grad(lambda q: linalg.solve_continuous_are(0 * one, one, q, one)[0, 0])(4 * one).round(12)
    array([[0.25]])
    """
    return _riccati(continuous_are, a, b, q, r, e, s)


@implements(scipy.linalg.solve_discrete_are)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """x of the Riccati equation x = aᴴ x a - aᴴ x b (r + bᴴ x b)⁻¹ bᴴ x a + q, by implicit differentiation.

    With k = (r + bᴴ x b)⁻¹ bᴴ x a and c = a - b k, dx solves dx - cᴴ dx c = y + yᴴ + kᴴ dr k + dq with y =
    cᴴ x (da - db k). The derivatives by q and r are those by symmetric matrices.

    Notes
    -----
    Cost: one decomposition of twice the size, and one system of n² equations for each sweep.

    References
    ----------
    Kao and Hennequin (2020), arXiv:2011.11430, section 3.4.

    Examples
    --------
    >>> from hoad.scipy import linalg
    >>> one = np.eye(1)
    >>> hoad.grad(lambda q: linalg.solve_discrete_are(0 * one, one, q, one)[0, 0])(4 * one).round(12)
    array([[1.]])
    """
    return _riccati(discrete_are, a, b, q, r, e, s)
