"""Functions of SciPy on traced values."""

from __future__ import annotations

import importlib
from typing import Any

# The parts of SciPy, each with the files here that have its functions, and register them when they are imported.
FILES = {
    "scipy.linalg": (
        "eigenvalues",
        "equations",
        "factors",
        "lapack",
        "least_squares",
        "matrix_functions",
        "matrix_roots",
        "no_derivative",
        "orthogonal",
        "special_matrices",
        "systems",
    ),
    "scipy.integrate": ("quadrature",),
    "scipy.integrate._ode": ("initial_values",),
    "scipy.interpolate._ppoly": ("splines",),
    "scipy.interpolate._dierckx": ("splines",),
    "scipy.interpolate._rgi_cython": ("splines",),
    "scipy.interpolate._interpnd": ("splines",),
    "scipy.fft": ("transforms",),
    "scipy.signal": ("filters",),
    "scipy.optimize": ("curve_fit", "roots_and_minima", "constrained"),
    "scipy.sparse._sparsetools": ("sparse_products",),
    "scipy.sparse._csparsetools": ("sparse_products",),
    "scipy.sparse.linalg": ("sparse_products",),
    "scipy.special": ("nodes",),
    "scipy.spatial.distance": ("distances",),
}


def implemented(part: str) -> dict[Any, Any]:
    """The table from functions of SciPy's to hoad's, with those of a part of SciPy in it."""
    for file in FILES.get(part, ()):
        importlib.import_module(f"hoad._scipy.{file}")
    table: dict[Any, Any] = importlib.import_module("hoad._scipy.registry").IMPLEMENTED
    return table
