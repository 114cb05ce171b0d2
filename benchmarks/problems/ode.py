"""1000 steps of the classical Runge-Kutta method: the gradient of the end in parameters and start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from problems.problem import Function, Problem

STEP = 0.01

Rates = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def lotka_volterra(m: Any, p: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Prey and predators."""
    return p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y


def oscillator(m: Any, p: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Van der Pol's, with a pendulum for its spring: the perturbed sibling."""
    return p[0] * y, p[1] * (1 - x * x) * y - p[2] * x - p[3] * m.sin(x)


def step(m: Any, rates: Rates, p: Any, x: Any, y: Any) -> tuple[Any, Any]:
    h = STEP
    a, b = rates(m, p, x, y)
    c, d = rates(m, p, x + h / 2 * a, y + h / 2 * b)
    e, f = rates(m, p, x + h / 2 * c, y + h / 2 * d)
    g, k = rates(m, p, x + h * e, y + h * f)
    return x + h / 6 * (a + 2 * c + 2 * e + g), y + h / 6 * (b + 2 * d + 2 * f + k)


def unrolled(rates: Rates) -> Callable[[int], Function]:
    """The Python loop of n steps from z = (four parameters, two numbers to start from)."""

    def of_steps(n: int) -> Function:
        def end(m: Any, z: Any) -> Any:
            p, x, y = [z[0], z[1], z[2], z[3]], z[4], z[5]
            for _ in range(n):
                x, y = step(m, rates, p, x, y)
            return x + y

        return end

    return of_steps


def scanned(rates: Rates) -> Callable[[int], Function]:
    """The loop as JAX compiles it in a second instead of minutes."""

    def of_steps(n: int) -> Function:
        def end(m: Any, z: Any) -> Any:
            from jax import lax

            def body(state: Any, _: Any) -> tuple[Any, None]:
                return step(m, rates, z, *state), None

            (x, y), _ = lax.scan(body, (z[4], z[5]), None, length=n)
            return x + y

        return end

    return of_steps


LOW, HIGH = np.array([0.9, 0.4, 0.3, 0.8, 0.8, 0.8]), np.array([1.1, 0.6, 0.5, 1.0, 1.2, 1.2])


def problem(rates: Rates, native: str) -> Problem:
    return Problem(
        "gradient",
        unrolled(rates),
        lambda rng, n: (rng.uniform(LOW, HIGH),),
        forms={"JAX": scanned(rates)},
        native=native,
    )


PROBLEMS = {
    "Lotka-Volterra": problem(lotka_volterra, "lotka_volterra"),
    "Lotka-Volterra, perturbed": problem(oscillator, "oscillator"),
}
