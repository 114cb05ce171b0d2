"""scipy.integrate: quadratures by limits and by what their functions depend on, samples, differential equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from covered.scipy_calls import Call, of

T = np.linspace(0.0, 1.0, 9) ** 1.5
Y = np.exp(T)
P = 1.5
COMPILED = "Use hoad.ode.odeint."
NO_STEPS = "It gives no results by itself. Use solve_ivp."


def decay(t: Any, y: Any, p: Any) -> Any:
    return [-p * y[0]]


def solved(method: str) -> Any:
    def call(f: Any, y0: Any, t1: Any, p: Any) -> Any:
        found = f(decay, (0.0, t1), [y0], method, args=(p,), rtol=1e-8, atol=1e-10)
        return found.y[0, -1]

    return call


def growing(x: Any, p: Any) -> Any:
    return np.exp(-p * x)


def boundary(f: Any, x: Any, y: Any, p: Any) -> Any:
    return f(
        lambda x, y: np.stack([y[1], -p * y[0]]),
        lambda a, b: np.array([a[0], b[0] - 1.0]),
        x,
        y,
    ).y


QUAD: dict[str, Any] = {"p": P, "a": 0.25, "b": 1.25}
IVP: dict[str, Any] = {"y0": 1.25, "t_span": 1.0, "args": P}
XS = np.linspace(0.0, 1.0, 5)
ROWS: list[Call] = [
    *of("integrate.quad", QUAD, call=lambda f, p, a, b: f(growing, a, b, args=(p,))[0], D="a b"),
    *of("integrate.quad", {"args": P}, call=lambda f, p: f(growing, 0.25, 1.25, args=(p,))[0], D="args"),
    *of("integrate.quad", {"func": P}, call=lambda f, p: f(lambda x: growing(x, p), 0.25, np.inf)[0], D="func"),
    *of(
        "integrate.quad",
        {"func": P},
        call=lambda f, p: f(lambda x: growing(x, p), 0.25, 1.25, weight="cos", wvar=2.0)[0],
        N="func",
        tag="weight=",
        note="Write the weight into the function.",
    ),
    *of(
        "integrate.dblquad",
        QUAD,
        call=lambda f, p, a, b: f(lambda y, x, p: growing(x * y, p), a, b, 0, 1, (p,))[0],
        D="a b",
    ),
    *of(
        "integrate.dblquad",
        {"func": P, "gfun": 0.25, "hfun": 1.25},
        call=lambda f, p, c, d: f(lambda y, x: growing(x * y, p), 0, 1, c, lambda x: d * x + 1)[0],
        D="func gfun hfun",
    ),
    *of(
        "integrate.tplquad",
        {"func": P},
        call=lambda f, p: f(lambda z, y, x: p * p * x * y * z, 0, 1, 0, 1, 0, 1)[0],
        D="func",
        slow=True,
    ),
    *of(
        "integrate.nquad",
        {"func": P, "ranges": 1.25},
        call=lambda f, p, b: f(lambda x, y: growing(x, p) * y, [[0.0, 1.0], [0.0, b]])[0],
        D="func ranges",
    ),
    *of(
        "integrate.fixed_quad",
        {"func": P, "a": 0.25, "b": 1.25},
        call=lambda f, p, a, b: f(lambda x: growing(x, p), a, b, n=4)[0],
        D="func a b",
    ),
    *of(
        "integrate.quad_vec",
        {"f": P, "a": 0.25, "b": 1.25},
        call=lambda f, p, a, b: f(lambda x: growing(x * T, p), a, b)[0],
        D="f",
        N="a b",
    ),
    *of(
        "integrate.tanhsinh",
        {"f": P, "a": 0.25, "b": 1.25},
        call=lambda f, p, a, b: f(lambda x: growing(x, p), a, b).integral,
        D="f",
        slow=True,
    ),
    *of(
        "integrate.cubature",
        {"f": P, "a": np.array([0.25]), "b": np.array([1.25])},
        call=lambda f, p, a, b: f(lambda x: growing(x, p), a, b).estimate,
        D="f a b",
    ),
    *of("integrate.nsum", {"f": 2.5}, call=lambda f, p: f(lambda k: k**-p, 1, 9).sum, D="f", slow=True),
    *of("integrate.simpson", {"y": Y, "x": T}, D="y x"),
    *of("integrate.simpson", {"y": Y, "dx": 0.5}, call=lambda f, y, d: f(y, dx=d), D="dx"),
    *of("integrate.trapezoid", {"y": Y, "x": T}, D="y x"),
    *of("integrate.trapezoid", {"y": Y, "dx": 0.5}, call=lambda f, y, d: f(y, dx=d), D="dx"),
    *of("integrate.romb", {"y": Y, "dx": 0.5}, D="y dx"),
    *of("integrate.cumulative_trapezoid", {"y": Y, "x": T}, D="y x"),
    *of("integrate.cumulative_trapezoid", {"y": Y, "dx": 0.5}, call=lambda f, y, d: f(y, dx=d), D="dx"),
    *of("integrate.cumulative_simpson", {"y": Y, "x": T}, call=lambda f, y, x: f(y, x=x), D="y x"),
    *of(
        "integrate.cumulative_simpson",
        {"y": Y, "dx": 0.5, "initial": 0.25},
        call=lambda f, y, d, i: f(y, dx=d, initial=i),
        D="dx initial",
    ),
    *of(
        "integrate.newton_cotes",
        {"rn": np.array([0.75, 2.25, 3.0])},
        call=lambda f, r: f(np.concatenate([[0.0], r, [4.0]]))[0],
        N="rn",
    ),
    *of(
        "integrate.solve_ivp", IVP, call=solved("RK45"), tag="method='RK45', 'RK23', 'DOP853'", D="y0 args", N="t_span"
    ),
    *of("integrate.solve_ivp", IVP, call=solved("LSODA"), tag="method='LSODA'", N="y0 args", note=COMPILED),
    *of("integrate.solve_ivp", IVP, call=solved("BDF"), tag="method='BDF'", D="y0 args"),
    *of("integrate.solve_ivp", IVP, call=solved("Radau"), tag="method='Radau'", N="y0 args", note=COMPILED),
    *of(
        "integrate.odeint",
        {"y0": np.array([1.25]), "t": np.array([0.0, 1.0]), "args": P},
        call=lambda f, y0, t, p: f(lambda y, t, p: -p * y, y0, t, (p,), rtol=1e-11, atol=1e-11),
        D="y0 t args",
    ),
    *of(
        "integrate.solve_bvp",
        {"x": XS, "y": np.ones((2, 5)), "fun": P},
        call=boundary,
        N="x y fun",
    ),
]
LEFT = {
    "Objects that go step by step, which solve_ivp has": (
        "BDF DOP853 DenseOutput LSODA OdeSolution OdeSolver RK23 RK45 Radau complex_ode ode"
    ),
    "Nodes and weights of whole numbers": "lebedev_rule",
    "It draws random numbers": "qmc_quad",
}
