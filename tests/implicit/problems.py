"""Implicit functions of one parameter whose solutions are known: the table that the tests run through.

Each row: name, what makes x(θ) of hoad, the same in closed form (of mpmath numbers), a point, and by which solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import scipy.optimize
from scipy.sparse import diags_array
from scipy.sparse.linalg import LinearOperator, cg, spsolve

import hoad
from hoad import implicit


class Problem(NamedTuple):
    """An equation, its solution in closed form, and where it is looked at."""

    name: str
    solution: Callable[[Any], Any]
    exact: Callable[[Any], Any]
    point: float


def bisected(residual: Callable[..., Any], low: float, high: float) -> Callable[..., Any]:
    """A root by SciPy's bracketing solver."""
    return lambda *args: scipy.optimize.brentq(residual, low, high, args=args, xtol=1e-15, rtol=1e-15)


def newton(residual: Callable[..., Any], start: Any) -> Callable[..., Any]:
    """A root of a system by SciPy's hybrid method."""
    return lambda *args: scipy.optimize.root(residual, start, args=args, tol=1e-14).x


def scalar(residual: Callable[..., Any], low: float, high: float) -> Callable[..., Any]:
    """A root of one equation."""
    return implicit.root(residual, bisected(residual, low, high))


def iterated(f: Callable[..., Any], start: Any, steps: int = 500) -> Callable[..., Any]:
    """A fixed point by iterating."""

    def solver(*args: Any) -> Any:
        x = start
        for _ in range(steps):
            x = f(x, *args)
        return x

    return implicit.fixed_point(f, solver)


def dense(matvec: Callable[[Any], Any], b: Any) -> Any:
    """A linear system by its columns."""
    return np.linalg.solve(np.stack([matvec(column) for column in np.eye(b.size)], axis=1), b)


def conjugate_gradients(matvec: Callable[[Any], Any], b: Any) -> Any:
    """A symmetric linear system by SciPy's conjugate gradients."""
    return cg(LinearOperator((b.size, b.size), matvec=matvec, dtype=float), b, rtol=1e-15, atol=0.0)[0]


def sparse(matvec: Callable[[Any], Any], b: Any) -> Any:
    """A tridiagonal system by SciPy's sparse LU: its diagonals by three products."""
    n = b.size
    place = np.arange(n)
    products = np.stack([matvec((place % 3 == color) * 1.0) for color in range(3)])
    below, middle, above = (products[(place + k) % 3, place] for k in (-1, 0, 1))
    return spsolve(diags_array([below[1:], middle, above[:-1]], offsets=[-1, 0, 1], format="csc"), b)


def minimized(objective: Callable[..., Any], start: Any) -> Callable[..., Any]:
    """A minimum by SciPy's trust regions."""
    slope, curvature = hoad.grad(objective), hoad.hessian(objective)

    def solver(*args: Any) -> Any:
        options = {"gtol": 1e-14}
        method = "trust-exact"
        return scipy.optimize.minimize(objective, start, args, method, slope, curvature, options=options).x

    return implicit.argmin(objective, solver)


def upwind(y: Any, k: Any) -> Any:
    """(1 + k) y_i - k y_{i-1}."""
    return (1.0 + k) * y - k * np.concatenate([np.zeros(1), y[:-1]])


def valley(x: Any, a: Any) -> Any:
    """Least at (a, a²)."""
    return (x[0] - a) ** 2 + (x[1] - x[0] ** 2) ** 2


def reaction(u: Any, a: Any) -> Any:
    """u³ + u + L u = a, which is uniform."""
    return u**3 + u + (2 * u - np.roll(u, 1) - np.roll(u, -1)) - a


def circle(u: Any, a: Any) -> Any:
    """x² + y² = a², y = x."""
    return (
        np.stack([u[0] ** 2 + u[1] ** 2 - a**2, u[0] - u[1]])
        if hasattr(u, "graph")
        else np.array([u[0] ** 2 + u[1] ** 2 - a**2, u[0] - u[1]])
    )


def pair(u: Any, a: Any) -> Any:
    """x y = a, x - y = 1, in a dict."""
    return {"x": u["x"] * u["y"] - a, "y": u["x"] - u["y"] - 1.0}


def solved_pair(a: Any) -> Any:
    x = (1 + np.sqrt(1 + 4 * a)) / 2
    return {"x": x, "y": x - 1.0}


def line(u: Any, k: Any) -> Any:
    """(1 + k L) u with L the second difference on a ring of four."""
    return u + k * (2 * u - np.roll(u, 1) - np.roll(u, -1))


UNIT = np.array([1.0, 0.0, 0.0, 0.0])
HEAT = implicit.linear_solve(line, conjugate_gradients)
SKEW = implicit.linear_solve(lambda y, k: y + k * np.array([[0.0, 1.0], [-2.0, 0.0]]) @ y, dense)
QUARTIC = implicit.argmin(lambda x, a: 0.25 * x**4 - a * x, lambda a: np.cbrt(a))
RIDGE = implicit.argmin(
    lambda w, a: np.sum((w - np.array([1.0, 2.0])) ** 2) + a * np.sum(w**2), lambda a: np.array([1.0, 2.0]) / (1 + a)
)
CIRCLE = implicit.root(circle, newton(circle, [1.0, 0.5]))
CIRCLE_ITERATIVE = implicit.root(circle, newton(circle, [1.0, 0.5]), linear_solver=dense)
UPWIND = implicit.linear_solve(upwind, sparse)
VALLEY = minimized(valley, np.array([0.5, 0.5]))
REACTION = implicit.root(reaction, newton(reaction, np.ones(4)), linear_solver=conjugate_gradients)
PAIR = implicit.root(pair, solved_pair)
INNER = scalar(lambda x, a: x**2 - a, 0.0, 99.0)  # √a
OUTER = scalar(lambda x, a: x - a * INNER(x), 0.01, 99.0)  # x = a √x: a²

PROBLEMS = [
    Problem("square root", scalar(lambda x, a: x**2 - a, 0.0, 9.0), mp.sqrt, 1.7),
    Problem("cube root", scalar(lambda x, a: x**3 - a, 0.0, 9.0), mp.cbrt, 1.7),
    Problem("logarithm", scalar(lambda x, a: np.exp(x) - a, -9.0, 9.0), mp.log, 2.3),
    Problem("arcsine", scalar(lambda x, a: np.sin(x) - a, -1.5, 1.5), mp.asin, 0.4),
    Problem("arctangent", scalar(lambda x, a: np.tan(x) - a, -1.5, 1.5), mp.atan, 0.8),
    Problem("Lambert W", scalar(lambda x, a: x * np.exp(x) - a, 0.0, 9.0), mp.lambertw, 1.3),
    Problem("area hyperbolic sine", scalar(lambda x, a: np.sinh(x) - a, -9.0, 9.0), mp.asinh, 0.9),
    Problem(
        "quadratic", scalar(lambda x, a: x**2 + a * x - 1.0, 0.0, 9.0), lambda a: (mp.sqrt(a * a + 4) - a) / 2, 0.6
    ),
    Problem("reciprocal", scalar(lambda x, a: 1.0 / x - a, 0.01, 99.0), lambda a: 1 / a, 0.7),
    Problem("golden mean", iterated(lambda x, a: 1.0 + a / x, 1.0), lambda a: (1 + mp.sqrt(1 + 4 * a)) / 2, 1.0),
    Problem("Heron", iterated(lambda x, a: 0.5 * (x + a / x), 1.0), mp.sqrt, 2.2),
    Problem("contraction", iterated(lambda x, a: 0.5 * x * a + 1.0, 0.0), lambda a: 1 / (1 - a / 2), 0.3),
    Problem(
        "affine map",
        lambda a: np.sum(iterated(lambda x, a: 0.5 * a * x[::-1] + np.array([1.0, 2.0]), np.zeros(2))(a)),
        lambda a: 3 / (1 - a / 2),
        0.3,
    ),
    Problem("circle", lambda a: CIRCLE(a)[0] * CIRCLE(a)[1] ** 2, lambda a: (a / mp.sqrt(2)) ** 3, 1.9),
    Problem("circle, iterative", lambda a: CIRCLE_ITERATIVE(a)[0] ** 3, lambda a: (a / mp.sqrt(2)) ** 3, 1.9),
    Problem(
        "two unknowns in a dict",
        lambda a: PAIR(a)["x"] ** 2 * PAIR(a)["y"],
        lambda a: ((1 + mp.sqrt(1 + 4 * a)) / 2) ** 2 * ((mp.sqrt(1 + 4 * a) - 1) / 2),
        1.1,
    ),
    Problem("minimum of a quartic", QUARTIC, mp.cbrt, 1.4),
    Problem("ridge regression", lambda a: np.sum(RIDGE(a) ** 3), lambda a: 9 / (1 + a) ** 3, 0.5),
    Problem(
        "heat on a ring",  # eigenvalues of L on the unit vector: 0, 2, 2, 4
        lambda k: HEAT(UNIT, k)[0],
        lambda k: (1 + 2 / (1 + 2 * k) + 1 / (1 + 4 * k)) / 4,
        0.5,
    ),
    Problem(
        "a matrix that is not symmetric",
        lambda k: SKEW(np.array([1.0, 1.0]) * k, k)[0],
        lambda k: k * (1 - k) / (1 + 2 * k * k),
        0.4,
    ),
    Problem("a sparse system, by LU", lambda k: UPWIND(np.eye(7)[0], k)[5], lambda k: k**5 / (1 + k) ** 6, 0.7),
    Problem("minimum in a valley, by trust regions", lambda a: VALLEY(a)[1] * VALLEY(a)[0], lambda a: a**3, 0.8),
    Problem(
        "reaction and diffusion, without a matrix",
        lambda a: np.sum(REACTION(a)) / 4,
        lambda a: 2 / mp.sqrt(3) * mp.sinh(mp.asinh(3 * mp.sqrt(3) * a / 2) / 3),
        1.2,
    ),
    Problem("a root in a root", OUTER, lambda a: a * a, 1.5),
]
