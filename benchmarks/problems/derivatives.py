"""All derivatives to an order of exp(sin x) tanh x / (1 + x²), of a number or at n points."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np

from problems.problem import Function, Problem, for_any_size

ORDERS = (10, 20, 50)

Series = list[Any]


def function(m: Any, x: Any) -> Any:
    return m.exp(m.sin(x)) * m.tanh(x) / (1 + x * x)


def perturbed(m: Any, x: Any) -> Any:
    """The same size with other operations and constants."""
    return m.log(2.5 + m.cos(x)) * m.cosh(0.5 * x) / (3 + m.exp(-x))


# ------------------------------------------------------------------------------------------------------ by hand


def convolved(a: Series, b: Series, k: int) -> Any:
    """Σ a[j] b[k - j]."""
    return sum(a[j] * b[k - j] for j in range(k + 1))


def series(x: Any, order: int) -> Series:
    """The Taylor coefficients of the function, by recurrences between those of its parts."""
    s, c = [np.sin(x)], [np.cos(x)]
    e, t, u = [np.exp(s[0])], [np.tanh(x)], [1 / np.cosh(x) ** 2]
    q = [e[0] * t[0] / (1 + x * x)]
    for k in range(1, order + 1):
        s.append(c[k - 1] / k)
        c.append(-s[k - 1] / k)
        e.append(sum(j * s[j] * e[k - j] for j in range(1, k + 1)) / k)
        t.append(u[k - 1] / k)
        u.append(-2 * convolved(t, u, k - 1) / k)
        q.append((convolved(e, t, k) - 2 * x * q[k - 1] - (q[k - 2] if k > 1 else 0.0)) / (1 + x * x))
    return q


def perturbed_series(x: Any, order: int) -> Series:
    s, c = [np.sin(x)], [np.cos(x)]
    a, h, g, w = [2.5 + c[0]], [np.cosh(0.5 * x)], [np.sinh(0.5 * x)], [3 + np.exp(-x)]
    p, v = [np.log(a[0])], np.exp(-x)
    q = [p[0] * h[0] / w[0]]
    for k in range(1, order + 1):
        s.append(c[k - 1] / k)
        c.append(-s[k - 1] / k)
        a.append(c[k])
        p.append((a[k] - sum(j * p[j] * a[k - j] for j in range(1, k)) / k) / a[0])
        h.append(g[k - 1] / (2 * k))
        g.append(h[k - 1] / (2 * k))
        v = -v / k
        w.append(v)
        q.append((convolved(p, h, k) - sum(w[j] * q[k - j] for j in range(1, k + 1))) / w[0])
    return q


def by_hand(coefficients: Callable[[Any, int], Series], order: int) -> Function:
    factorials = [float(factorial(k)) for k in range(order + 1)]
    return lambda x: np.array([f * c for f, c in zip(factorials, coefficients(x, order), strict=True)])


# ------------------------------------------------------------------------------------------------------ problems


def point(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """A number where n is 1."""
    return (np.asarray(rng.uniform(-2.0, 2.0, n if n > 1 else ())),)


def problem(f: Function, coefficients: Callable[[Any, int], Series], order: int, native: str) -> Problem:
    written = by_hand(coefficients, order)
    return Problem(
        f"derivatives {order}", for_any_size(f), point, for_any_size(written), native=native, rtol=1e-8, order=order
    )


PROBLEMS = {
    **{f"derivatives {k}": problem(function, series, k, "sine_tanh") for k in ORDERS},
    **{f"derivatives {k}, perturbed": problem(perturbed, perturbed_series, k, "log_cosh") for k in ORDERS},
}
