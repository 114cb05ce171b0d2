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
    "scipy.fft": ("transforms",),
    "scipy.signal": ("filters",),
    "scipy.optimize": ("curve_fit", "roots_and_minima"),
    "scipy.sparse._sparsetools": ("sparse_products",),
    "scipy.sparse._csparsetools": ("sparse_products",),
    "scipy.sparse.linalg": ("sparse_products",),
    "scipy.special": ("nodes",),
    "scipy.spatial.distance": ("distances",),
}
