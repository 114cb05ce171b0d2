"""A dense Hessian: logsumexp(A x) + Σ x² sin x, with its perturbed sibling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from problems.problem import Function, Problem, uniform


def matrix(n: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(n, n)) / np.sqrt(n)


def logsumexp(n: int) -> Function:
    a = matrix(n)

    def f(m: Any, x: Any) -> Any:
        return m.log(m.sum(m.exp(m.asarray(a) @ x))) + m.sum(x**2 * m.sin(x))

    return f


def logsumexp_hessian(n: int) -> Function:
    a = matrix(n)

    def hessian(x: np.ndarray) -> np.ndarray:
        e = np.exp(a @ x)
        p = e / e.sum()
        mean = p @ a
        h = (a.T * p) @ a - np.outer(mean, mean)
        h[np.diag_indices(n)] += (2 - x**2) * np.sin(x) + 4 * x * np.cos(x)
        return h

    return hessian


def norm(n: int) -> Function:
    """Another function of A x, another sum."""
    a = matrix(n)

    def f(m: Any, x: Any) -> Any:
        return m.sqrt(1 + m.sum((m.asarray(a) @ x) ** 2)) + m.sum(x * m.exp(-(x**2)))

    return f


def norm_hessian(n: int) -> Function:
    a = matrix(n)

    def hessian(x: np.ndarray) -> np.ndarray:
        z = a @ x
        s = np.sqrt(1 + z @ z)
        g = z @ a
        h = (a.T @ a) / s - np.outer(g, g) / s**3
        h[np.diag_indices(n)] += (4 * x**3 - 6 * x) * np.exp(-(x**2))
        return h

    return hessian


def problem(f: Callable[[int], Function], by_hand: Callable[[int], Function]) -> Problem:
    return Problem("hessian", f, uniform(-1.0, 1.0), by_hand)


PROBLEMS = {
    "logsumexp Hessian": problem(logsumexp, logsumexp_hessian),
    "logsumexp Hessian, perturbed": problem(norm, norm_hessian),
}
