"""Sparse Hessians, as their entries row by row: of chained functions, vectorised and as loops over numbers."""

from __future__ import annotations

import numpy as np

from problems import rosenbrock
from problems.problem import Function, Problem, for_any_size, uniform


def entries(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Those of the symmetric matrix with one band beside its diagonal, row by row."""
    found = np.empty(3 * len(diagonal) - 2)
    found[::3] = diagonal
    found[1::3] = found[2::3] = beside
    return found


def rosenbrock_entries(x: np.ndarray) -> np.ndarray:
    return entries(*rosenbrock.bands(x))


def perturbed_entries(x: np.ndarray) -> np.ndarray:
    return entries(*rosenbrock.bands_perturbed(x))


def problem(f: Function, derivative: Function, native: str) -> Problem:
    return Problem("sparse hessian", for_any_size(f), uniform(-1.5, 1.5), for_any_size(derivative), native=native)


PROBLEMS = {
    "sparse Hessian": problem(rosenbrock.vectorised, rosenbrock_entries, "rosenbrock_entries"),
    "sparse Hessian, perturbed": problem(rosenbrock.vectorised_perturbed, perturbed_entries, "sine_quartic_entries"),
    "sparse Hessian of a loop": problem(rosenbrock.loop, rosenbrock_entries, "rosenbrock_entries"),
    "sparse Hessian of a loop, perturbed": problem(
        rosenbrock.loop_perturbed, perturbed_entries, "sine_quartic_entries"
    ),
}
