"""Functions of SciPy on traced values."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
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
    "scipy.integrate": ("odepack", "quadrature"),
    "scipy.integrate._ode": ("initial_values",),
    "scipy.interpolate": ("scattered", "splines"),
    "scipy.interpolate._ppoly": ("splines",),
    "scipy.interpolate._dfitpack": ("fitpack",),
    "scipy.interpolate._fitpack": ("fitpack",),
    "scipy.interpolate._dierckx": ("splines",),
    "scipy.interpolate._rgi_cython": ("splines",),
    "scipy.interpolate._interpnd": ("splines",),
    "scipy.fft": ("transforms", "cosine_transforms"),
    "scipy.signal": ("filters", "peaks", "windows"),
    "scipy.signal._sigtools": ("windows",),
    "scipy.optimize": ("curve_fit", "roots_and_minima", "constrained", "nonnegative", "older_solvers"),
    "scipy.sparse._sparsetools": ("sparse_products",),
    "scipy.sparse._csparsetools": ("sparse_products",),
    "scipy.sparse.linalg": ("sparse_products",),
    "scipy.special": ("nodes", "spherical_bessel", "spherical_harmonics"),
    "scipy.stats": ("box_probabilities", "covariances", "expectiles", "sample_distances"),
    "scipy.stats._stats": ("kernel_densities",),
    "scipy.spatial.distance": ("distances",),
}
DISTRIBUTIONS = "scipy.stats._continuous_distns"
# Modules that compute in place, most of them compiled, of whose functions hoad has some or none: the others take
# constants alone, and say so.
COMPILED = (
    "scipy.fft._duccfft.pyduccfft",
    "scipy.fft._pocketfft.pypocketfft",
    "scipy.interpolate._bspl",
    "scipy.interpolate._dfitpack",
    "scipy.interpolate._dierckx",
    "scipy.interpolate._fitpack",
    "scipy.interpolate._ppoly",
    "scipy.interpolate._rbfinterp_pythran",
    "scipy.interpolate.dfitpack",
    "scipy.optimize._pava_pybind",
    "scipy.signal._peak_finding_utils",
    "scipy.signal._upfirdn_apply",
    "scipy.sparse.linalg._dsolve._superlu",
    "scipy.spatial._hausdorff",
    "scipy.stats._ansari_swilk_statistics",
    "scipy.stats._ksstats",
    "scipy.stats._qmvnt_cy",
    "scipy.stats._qmc_cy",
    "scipy.stats._sobol",
    "scipy.stats._stats",
    "scipy.stats._stats_pythran",
)


def implemented(part: str) -> dict[Any, Any]:
    """The table from functions of SciPy's to hoad's, with those of a part of SciPy in it."""
    for file in FILES.get(part, ()):
        importlib.import_module(f"hoad._scipy.{file}")
    table: dict[Any, Any] = importlib.import_module("hoad._scipy.registry").IMPLEMENTED
    return table


def of_plain_values(name: str) -> list[tuple[Any, Any]]:
    """Pairs of a function of a compiled module that is loaded, and what adopted code finds in its place."""
    pairs: list[tuple[Any, Any]] = importlib.import_module("hoad._scipy.compiled").of_plain_values(sys.modules[name])
    return pairs


def of_distributions() -> list[tuple[ModuleType, list[tuple[Any, Any]]]]:
    """Modules with pairs of a function that SciPy's distributions call, which are loaded, and what is found instead."""
    pairs: list[tuple[ModuleType, list[tuple[Any, Any]]]]
    pairs = importlib.import_module("hoad._scipy.switched_formulas").of_distributions()
    return pairs
