"""scipy.optimize: solutions by all that the functions depend on."""

from __future__ import annotations

from typing import Any

import numpy as np
from _scipy.problems import bowl, bowl_slope, misfit
from covered.scipy_calls import Call, of

P = 1.5
X = np.linspace(0.0, 2.0, 9)
Y = 1.5 * np.exp(-0.75 * X) + 0.01 * np.sin(9.0 * X)
A = np.array([[2.0, 0.5], [0.25, 1.5], [1.0, -0.5]])
B = np.array([1.0, 2.0, 0.5])
SMOOTH = "The derivative is that of the solution, by the implicit function theorem."
START = "The solution does not depend on where the search begins."
NO_DERIVATIVE_FREE = "Of a solution that is found so, call minimize or root from there."


def kepler(x: Any, p: Any) -> Any:
    return x * np.exp(x) - p


def slope(x: Any, p: Any) -> Any:
    return (1.0 + x) * np.exp(x)


def pair(z: Any, p: Any) -> Any:
    return np.array([z[0] ** 2 - p, z[1] - p * z[0]])


def model(x: Any, a: Any, b: Any) -> Any:
    return a * x + b * x**2


def fit(f: Any, x: Any, y: Any, s: Any) -> Any:
    return f(model, x, y, sigma=s, p0=[1.5, 0.75], jac=lambda x, a, b: np.stack([x, x**2], 1))


ARGS = {"args": P}
BRACKETED = {"brentq": {}, "brenth": {}, "bisect": {"maxiter": 200}, "ridder": {}, "toms748": {}}
TIGHT = {"options": {"gtol": 1e-13}}
# Searches: what is called with the function of z and its starting point.
SEARCHES: dict[str, Any] = {
    "fmin": lambda f, p: f(lambda z: bowl(z, p), [1.0, 1.0], disp=False),
    "fmin_powell": lambda f, p: f(lambda z: bowl(z, p), [1.0, 1.0], disp=False),
    "fmin_tnc": lambda f, p: f(lambda z: bowl(z, p), [1.0, 1.0], lambda z: bowl_slope(z, p), disp=0)[0],
    "fmin_cobyla": lambda f, p: f(lambda z: bowl(z, p), [1.0, 1.0], [lambda z: 9.0 - z[0]]),
    "fmin_slsqp": lambda f, p: f(lambda z: bowl(z, p), [1.0, 1.0], disp=False),
    "fminbound": lambda f, p: f(lambda z: (z - p * p) ** 2, 0.0, 9.0),
    "brent": lambda f, p: f(lambda z: (z - p * p) ** 2 + p),
    "golden": lambda f, p: f(lambda z: (z - p * p) ** 2 + p),
    "bracket": lambda f, p: f(lambda z: (z - p * p) ** 2 + p)[:3],
    "broyden1": lambda f, p: f(lambda z: pair(z, p), [1.0, 1.0]),
    "broyden2": lambda f, p: f(lambda z: pair(z, p), [1.2, 1.8]),
    "anderson": lambda f, p: f(lambda z: pair(z, p), [1.2, 1.8]),
    "newton_krylov": lambda f, p: f(lambda z: pair(z, p), [1.2, 1.8]),
    "linearmixing": lambda f, p: f(lambda z: 0.5 * (p - z), [1.2, 1.8], alpha=0.5),
    "diagbroyden": lambda f, p: f(lambda z: 0.5 * (z - p), [1.2, 1.8]),
    "excitingmixing": lambda f, p: f(lambda z: 0.5 * (p - z), [1.2, 1.8], alpha=0.5),
    "basinhopping": lambda f, p: f(lambda z: bowl(z, p), [1.0, 1.0], niter=1, rng=1).x,
    "brute": lambda f, p: f(lambda z: bowl(z, p), [(0.5, 2.0), (0.5, 2.0)], Ns=4),
    "differential_evolution": lambda f, p: f(lambda z: bowl(z, p), [(0.5, 2.0), (0.5, 2.0)], maxiter=2, rng=1).x,
    "dual_annealing": lambda f, p: f(lambda z: bowl(z, p), [(0.5, 2.0), (0.5, 2.0)], maxiter=2, rng=1).x,
    "direct": lambda f, p: f(lambda z: bowl(z, p), [(0.5, 2.0), (0.5, 2.0)], maxiter=5).x,
    "shgo": lambda f, p: f(lambda z: bowl(z, p), [(0.5, 2.0), (0.5, 2.0)], n=4).x,
    "line_search": lambda f, p: f(lambda z: bowl(z, p), lambda z: bowl_slope(z, p), np.ones(2), np.array([1.0, -0.5]))[
        0
    ],
}
FOLLOWING: dict[str, Any] = {
    "fmin_cg": lambda f, p: f(lambda z: bowl(z, p), np.ones(2), lambda z: bowl_slope(z, p), gtol=1e-12, disp=False),
    "fmin_bfgs": lambda f, p: f(lambda z: bowl(z, p), np.ones(2), lambda z: bowl_slope(z, p), gtol=1e-12, disp=False),
    "fmin_ncg": lambda f, p: f(lambda z: bowl(z, p), np.ones(2), lambda z: bowl_slope(z, p), avextol=1e-14, disp=False),
    "fmin_l_bfgs_b": lambda f, p: f(lambda z: (bowl(z, p), bowl_slope(z, p)), np.ones(2), pgtol=1e-12, factr=0.1)[:2],
    "leastsq": lambda f, p: f(lambda z: misfit(z, p), np.ones(2), ftol=1e-15, xtol=1e-15)[0],
}
ROWS: list[Call] = [
    *(
        row
        for name, more in BRACKETED.items()
        for row in of(
            f"optimize.{name}",
            ARGS,
            call=lambda f, p, m=more: f(kepler, 0.0, 3.0, args=(p,), xtol=1e-15, **m),
            D="args",
        )
    ),
    *of("optimize.brentq", {"f": P}, call=lambda f, p: f(lambda x: kepler(x, p), 0.0, 3.0, xtol=1e-15), D="f"),
    *of(
        "optimize.brentq", {"a": 0.25, "b": 3.25}, call=lambda f, a, b: f(kepler, a, b, args=(P,)), C="a b", note=START
    ),
    *of("optimize.newton", ARGS, call=lambda f, p: f(kepler, 1.0, slope, (p,), tol=1e-14), D="args"),
    *of("optimize.newton", {"x0": 1.0}, call=lambda f, x: f(kepler, x, slope, (P,), tol=1e-14), C="x0", note=START),
    *of("optimize.root_scalar", ARGS, call=lambda f, p: f(kepler, (p,), bracket=[0.0, 3.0], xtol=1e-15).root, D="args"),
    *of("optimize.root", ARGS, call=lambda f, p: f(pair, np.ones(2), (p,), tol=1e-13).x, D="args"),
    *of("optimize.root", {"x0": np.ones(2)}, call=lambda f, x: f(pair, x, (P,), tol=1e-13).x, C="x0", note=START),
    *of(
        "optimize.root",
        ARGS,
        call=lambda f, p: f(pair, np.ones(2), (p,), "lm", tol=1e-13).x,
        D="args",
        tag="method='lm'",
    ),
    *of("optimize.fsolve", ARGS, call=lambda f, p: f(pair, np.ones(2), (p,), xtol=1e-13), D="args"),
    *of(
        "optimize.fixed_point",
        ARGS,
        call=lambda f, p: f(lambda x, p: 0.5 * (x + p / x), 1.0, (p,), xtol=1e-14),
        D="args",
    ),
    *of(
        "optimize.minimize",
        ARGS,
        call=lambda f, p: f(bowl, np.ones(2), (p,), jac=bowl_slope, **TIGHT).x,
        D="args",
        note=SMOOTH,
    ),
    *of(
        "optimize.minimize",
        ARGS,
        call=lambda f, p: f(bowl, np.ones(2), (p,), jac=bowl_slope, **TIGHT).fun,
        D="args",
        tag="fun",
    ),
    *of(
        "optimize.minimize",
        {"x0": np.ones(2)},
        call=lambda f, x: f(bowl, x, (P,), jac=bowl_slope, **TIGHT).x,
        C="x0",
        note=START,
    ),
    *of(
        "optimize.minimize",
        {"bounds": 1.0},
        call=lambda f, b: (
            f(bowl, np.ones(2), (P,), jac=bowl_slope, method="SLSQP", tol=1e-15, bounds=[(0.5, b), (0, 2)]).x
        ),
        D="bounds",
        tag="an active bound",
    ),
    *of(
        "optimize.minimize",
        {"constraints": 1.0},
        call=lambda f, b: (
            f(
                bowl,
                np.ones(2),
                (P,),
                jac=bowl_slope,
                constraints={"type": "ineq", "fun": lambda z, b: b - z[0], "args": (b,)},
                tol=1e-15,
            ).x
        ),
        D="constraints",
        tag="its args",
    ),
    *of(
        "optimize.minimize_scalar",
        ARGS,
        call=lambda f, p: f(lambda z, p: (z - p * p) ** 2 + p, args=(p,)).x,
        D="args",
        rtol=1e-5,
    ),
    *of(
        "optimize.minimize_scalar",
        {"bounds": 1.0},
        call=lambda f, b: f(lambda z: (z - 99.0) ** 2, bounds=(0.0, b)).x,
        D="bounds",
        tag="an active bound",
        rtol=1e-4,
    ),
    *of(
        "optimize.least_squares",
        ARGS,
        call=lambda f, p: f(misfit, np.ones(2), args=(p,), ftol=1e-15, xtol=1e-15, gtol=1e-15).x,
        D="args",
        rtol=1e-5,
    ),
    *of(
        "optimize.curve_fit",
        {"xdata": X, "ydata": Y, "sigma": 1.0 + X},
        call=lambda *a: fit(*a)[0],
        D="xdata ydata sigma",
        rtol=1e-5,
    ),
    *of(
        "optimize.curve_fit",
        {"ydata": Y, "x": X, "s": 1.0 + X},
        call=lambda f, y, x, s: fit(f, x, y, s)[1],
        D="ydata",
        tag="covariance",
        rtol=1e-5,
    ),
    *of(
        "optimize.curve_fit",
        {"ydata": Y, "bounds": 0.5},
        call=lambda f, y, b: f(model, X, y, [0.25, 0.0], bounds=([0.0, -9.0], [b, 9.0]))[0],
        D="ydata bounds",
        tag="an active bound",
        rtol=1e-5,
    ),
    *of("optimize.rosen", {"x": 0.01 * (1.0 + X[:3])}, D="x"),
    *of("optimize.rosen_der", {"x": 0.01 * (1.0 + X[:3])}, D="x"),
    *of("optimize.rosen_hess", {"x": 0.01 * (1.0 + X[:3])}, call=lambda f, x: f(x) / 100, D="x"),
    *of("optimize.rosen_hess_prod", {"x": 0.01 * (1.0 + X[:3]), "p": 0.01 * Y[:3]}, D="x p"),
    *of("optimize.nnls", {"A": A, "b": B}, call=lambda f, a, b: f(a, b)[0], D="A b"),
    *of("optimize.lsq_linear", {"A": A, "b": B}, call=lambda f, a, b: f(a, b).x, N="A b"),
    *of(
        "optimize.isotonic_regression",
        {"y": Y, "weights": 1 + X},
        call=lambda f, y, w: f(y, weights=w).x,
        N="y weights",
    ),
    *of(
        "optimize.linprog",
        {"c": np.array([1.0, 2.0]), "A_ub": -A, "b_ub": -B},
        call=lambda f, *a: f(*a).fun,
        N="c A_ub b_ub",
    ),
    *of("optimize.milp", {"c": np.array([1.0, 2.0])}, call=lambda f, c: f(c, bounds=(0.5, 2.0)).fun, N="c"),
    *of(
        "optimize.linear_sum_assignment", {"cost_matrix": A}, N="cost_matrix", note="It is constant almost everywhere."
    ),
    *of("optimize.quadratic_assignment", {"A": A[:2], "B": A[1:]}, call=lambda f, a, b: f(a, b).fun, N="A B"),
    *of(
        "optimize.approx_fprime",
        {"xk": X[:2] + 1.0},
        call=lambda f, x: f(x, bowl, 1e-6, P),
        I="xk",
        note="A difference of two values.",
    ),
    *of(
        "optimize.check_grad",
        {"x0": X[:2] + 1.0},
        call=lambda f, x: f(bowl, bowl_slope, x, P),
        I="x0",
        note="A difference of two values.",
    ),
    *(
        row
        for name, call in FOLLOWING.items()
        for row in of(f"optimize.{name}", {"func": P}, call=call, D="func", rtol=1e-5)
    ),
    *(row for name, call in SEARCHES.items() for row in of(f"optimize.{name}", {"func": P}, call=call, N="func")),
]
LEFT = {
    "What solvers take and give": (
        "BFGS Bounds BroydenFirst HessianUpdateStrategy InverseJacobian KrylovJacobian LbfgsInvHessProduct "
        "LinearConstraint NonlinearConstraint OptimizeResult RootResults SR1"
    ),
    "Texts": "linprog_verbose_callback show_options",
}
