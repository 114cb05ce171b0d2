"""The Hessian and the gradient of a formula of Black and Scholes in six variables, at many points."""

from __future__ import annotations

from typing import Any

import numpy as np

from problems.problem import Function, Problem, for_any_size

LOW = np.array([80.0, 80.0, 0.01, 0.0, 0.1, 0.5])
HIGH = np.array([120.0, 120.0, 0.05, 0.03, 0.4, 2.0])


def price(m: Any, x: Any) -> Any:
    """Spot, strike, rate, dividend, volatility and years, with the logistic form of the normal distribution."""
    spot, strike, rate, dividend, sigma, years = x[0], x[1], x[2], x[3], x[4], x[5]
    spread = sigma * m.sqrt(years)
    d = (m.log(spot / strike) + (rate - dividend + sigma * sigma / 2) * years) / spread
    return spot * m.exp(-dividend * years) * normal(m, d) - strike * m.exp(-rate * years) * normal(m, d - spread)


def normal(m: Any, d: Any) -> Any:
    return 1 / (1 + m.exp(-1.5976 * d - 0.070565992 * d * d * d))


def perturbed(m: Any, x: Any) -> Any:
    """The same size with other operations and constants."""
    a, b, c, d, e, g = x[0], x[1], x[2], x[3], x[4], x[5]
    r = m.sqrt(a * a + b * b) * c
    return m.sin(r * e) * m.exp(-g * c) + m.tanh(a / b - d) * m.log(g * r) / (1 + e * e)


def problem(asked: str, f: Function) -> Problem:
    return Problem(asked, for_any_size(f), lambda rng, n: (rng.uniform(LOW, HIGH, (n, 6)),), rtol=1e-7)


PROBLEMS = {
    "Black-Scholes": problem("entries", price),
    "Black-Scholes, perturbed": problem("entries", perturbed),
    "Black-Scholes gradients": problem("gradients", price),
    "Black-Scholes gradients, perturbed": problem("gradients", perturbed),
}
