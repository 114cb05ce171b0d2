"""The chained function of Rosenbrock, as a loop over its terms and vectorised."""

from __future__ import annotations

from typing import Any

import numpy as np

from problems.problem import Function, Problem, for_any_size, uniform


def loop(m: Any, x: Any) -> Any:
    s = 0.0
    for i in range(len(x) - 1):
        s = s + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return s


def vectorised(m: Any, x: Any) -> Any:
    return m.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def gradient(x: np.ndarray) -> np.ndarray:
    a = x[:-1]
    r = x[1:] - a**2
    g = np.zeros_like(x)
    g[:-1] = -400 * a * r - 2 * (1 - a)
    g[1:] += 200 * r
    return g


def bands(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The diagonal of the Hessian, and the band beside it."""
    a, b = x[:-1], x[1:]
    diagonal = np.zeros_like(x)
    diagonal[:-1] = 1200 * a**2 - 400 * b + 2
    diagonal[1:] += 200
    return diagonal, -400 * a


def hessian(x: np.ndarray) -> np.ndarray:
    return banded(*bands(x))


def banded(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """The symmetric matrix with one band beside its diagonal."""
    h = np.zeros((len(diagonal), len(diagonal)))
    np.fill_diagonal(h, diagonal)
    np.fill_diagonal(h[1:], beside)
    np.fill_diagonal(h[:, 1:], beside)
    return h


# ------------------------------------------------------------------- the same coupling, another mix of operations


def loop_perturbed(m: Any, x: Any) -> Any:
    s = 0.0
    for i in range(len(x) - 1):
        s = s + m.sin(x[i] * x[i + 1]) + 7 * (x[i] - 0.4 * x[i + 1]) ** 4
    return s


def vectorised_perturbed(m: Any, x: Any) -> Any:
    return m.sum(m.sin(x[:-1] * x[1:]) + 7 * (x[:-1] - 0.4 * x[1:]) ** 4)


def gradient_perturbed(x: np.ndarray) -> np.ndarray:
    a, b = x[:-1], x[1:]
    c, cube = np.cos(a * b), 28 * (a - 0.4 * b) ** 3
    g = np.zeros_like(x)
    g[:-1] = b * c + cube
    g[1:] += a * c - 0.4 * cube
    return g


def bands_perturbed(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = x[:-1], x[1:]
    s, c, square = np.sin(a * b), np.cos(a * b), 84 * (a - 0.4 * b) ** 2
    diagonal = np.zeros_like(x)
    diagonal[:-1] = -(b**2) * s + square
    diagonal[1:] += -(a**2) * s + 0.16 * square
    return diagonal, c - a * b * s - 0.4 * square


def hessian_perturbed(x: np.ndarray) -> np.ndarray:
    return banded(*bands_perturbed(x))


def problem(asked: str, f: Function, derivative: Function, native: str | None = None) -> Problem:
    return Problem(asked, for_any_size(f), uniform(-1.5, 1.5), for_any_size(derivative), native=native)


PROBLEMS = {
    "loop": problem("gradient", loop, gradient, "rosenbrock"),
    "loop, perturbed": problem("gradient", loop_perturbed, gradient_perturbed, "sine_quartic"),
    "vectorised": problem("gradient", vectorised, gradient, "rosenbrock"),
    "vectorised, perturbed": problem("gradient", vectorised_perturbed, gradient_perturbed, "sine_quartic"),
    "vectorised Hessian": problem("hessian", vectorised, hessian),
    "vectorised Hessian, perturbed": problem("hessian", vectorised_perturbed, hessian_perturbed),
}
