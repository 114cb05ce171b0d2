"""Functions of SciPy on traced values."""

# The parts of SciPy, each with the files here that have its functions, and register them when they are imported.
FILES = {
    "scipy.linalg": (
        "eigenvalues",
        "equations",
        "factors",
        "least_squares",
        "matrix_functions",
        "no_derivative",
        "orthogonal",
        "piecewise",
        "special_matrices",
        "systems",
        "triangular",
    ),
    "scipy.integrate": ("quadrature",),
    "scipy.interpolate._ppoly": ("piecewise",),
    "scipy.interpolate._dierckx": ("piecewise",),
    "scipy.interpolate._rgi_cython": ("piecewise",),
    "scipy.interpolate._interpnd": ("piecewise",),
    "scipy.optimize": ("curve_fit", "roots_and_minima"),
    "scipy.special": ("nodes",),
    "scipy.spatial.distance": ("distances",),
}
