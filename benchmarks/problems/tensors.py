"""Tensors of order 3 to 6 of logsumexp(A x) + Σ x³, and the Laplacian of a perceptron in its n inputs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from problems.hessians import matrix
from problems.problem import Function, Problem, uniform

ORDERS = (3, 4, 5, 6)
WIDTHS = (64, 64, 1)

# ------------------------------------------------------------------------------------------------------- tensors


def logsumexp(n: int) -> Function:
    a = matrix(n)
    return lambda m, x: m.log(m.sum(m.exp(m.asarray(a) @ x))) + m.sum(x**3)


def norm(n: int) -> Function:
    """Another function of A x, another sum."""
    a = matrix(n)
    return lambda m, x: m.sqrt(1 + m.sum((m.asarray(a) @ x) ** 2)) + m.sum(x * m.sin(x))


def tensor(f: Callable[[int], Function], order: int) -> Problem:
    return Problem(f"tensor {order}", f, uniform(-1.0, 1.0))


# ----------------------------------------------------------------------------------------------------- Laplacians


def layers(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(3)
    return [(rng.normal(size=(b, a)) / np.sqrt(a), 0.1 * rng.normal(size=b)) for a, b in pairwise((n, *WIDTHS))]


def perceptron(activation: Callable[[Any, Any], Any]) -> Callable[[int], Function]:
    def of_inputs(n: int) -> Function:
        *hidden, (w, b) = layers(n)

        def f(m: Any, x: Any) -> Any:
            for weights, bias in hidden:
                x = activation(m, m.asarray(weights) @ x + m.asarray(bias))
            return (m.asarray(w) @ x + m.asarray(b))[0]

        return f

    return of_inputs


def forward_laplacian(jet: Callable[[Any, Any], tuple[Any, Any, Any]]) -> Callable[[int], Function]:
    """Value, Jacobian and Laplacian from layer to layer, from an activation with its two derivatives."""

    def of_inputs(n: int) -> Function:
        *hidden, (w, _) = layers(n)

        def laplacian(m: Any, x: Any) -> Any:
            jacobian, total = m.eye(n), m.zeros(n)
            for weights, bias in hidden:
                weights = m.asarray(weights)
                jacobian, total = weights @ jacobian, weights @ total
                x, slope, curvature = jet(m, weights @ x + m.asarray(bias))
                total = slope * total + curvature * m.sum(jacobian**2, axis=1)
                jacobian = slope[:, None] * jacobian
            return (m.asarray(w) @ total)[0]

        return laplacian

    return of_inputs


def tanh(m: Any, z: Any) -> tuple[Any, Any, Any]:
    y = m.tanh(z)
    return y, 1 - y * y, -2 * y * (1 - y * y)


def sine(m: Any, z: Any) -> tuple[Any, Any, Any]:
    y = m.sin(z)
    return y, m.cos(z), -y


def laplacian(activation: Callable[[Any, Any], Any], jet: Callable[[Any, Any], tuple[Any, Any, Any]]) -> Problem:
    by_hand = forward_laplacian(jet)
    return Problem(
        "laplacian",
        perceptron(activation),
        uniform(-1.0, 1.0),
        lambda n: lambda x: by_hand(n)(np, x),
        {"JAX by hand": by_hand},
    )


PROBLEMS = {
    **{f"tensor {k}": tensor(logsumexp, k) for k in ORDERS},
    **{f"tensor {k}, perturbed": tensor(norm, k) for k in ORDERS},
    "perceptron Laplacian": laplacian(lambda m, z: m.tanh(z), tanh),
    "perceptron Laplacian, perturbed": laplacian(lambda m, z: m.sin(z), sine),
}
