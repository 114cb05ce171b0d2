"""What to write instead of a function that has no rule: an expression that is recorded and gives the same.

Every such row is evaluated by a test beside the function it stands for. x and y are arrays, n is a number.
"""

from __future__ import annotations

from hoad._core.trace.errors import ADVICE

# Functions of SciPy that are written in Python, about plain arrays: (function, a call of it, what to write)
IN_PYTHON = [
    ("scipy.special.logsumexp", "logsumexp(x)", "np.max(x) + np.log(np.sum(np.exp(x - np.max(x))))"),
    ("scipy.special.softmax", "softmax(x)", "np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)))"),
    ("scipy.special.log_softmax", "log_softmax(x)", "x - np.max(x) - np.log(np.sum(np.exp(x - np.max(x))))"),
    ("scipy.special.polygamma", "polygamma(n, x)", "(-1) ** (n + 1) * gamma(n + 1.0) * zeta(n + 1, x)"),
    ("scipy.special.factorial", "factorial(x)", "gamma(x + 1.0)"),
    ("scipy.special.comb", "comb(x + n, n)", "1.0 / ((x + n + 1.0) * beta(x + 1.0, n + 1.0))"),
    ("scipy.special.spherical_jn", "spherical_jn(n, x)", "np.sqrt(0.5 * np.pi / x) * jv(n + 0.5, x)"),
    ("scipy.special.spherical_yn", "spherical_yn(n, x)", "np.sqrt(0.5 * np.pi / x) * yv(n + 0.5, x)"),
    ("scipy.special.spherical_in", "spherical_in(n, x)", "np.sqrt(0.5 * np.pi / x) * iv(n + 0.5, x)"),
    ("scipy.special.spherical_kn", "spherical_kn(n, x)", "np.sqrt(0.5 * np.pi / x) * kv(n + 0.5, x)"),
]

# Others: (function, a call of it, what to write).
IN_SCIPY = [
    ("scipy.signal.convolve", "scipy.signal.convolve(x, y)", "np.convolve(x, y)"),
    ("scipy.signal.fftconvolve", "scipy.signal.fftconvolve(x, y)", "np.convolve(x, y)"),
    ("scipy.signal.correlate", "scipy.signal.correlate(x, y)", "np.correlate(x, y, 'full')"),
    ("scipy.integrate.trapezoid", "scipy.integrate.trapezoid(x)", "np.trapezoid(x)"),
    (
        "scipy.integrate.cumulative_trapezoid",
        "scipy.integrate.cumulative_trapezoid(x)",
        "np.cumsum(0.5 * (x[1:] + x[:-1]))",
    ),
    (
        "scipy.interpolate.interp1d",
        "scipy.interpolate.interp1d(np.arange(3.0), x)(0.7)",
        "np.interp(0.7, np.arange(3.0), x)",
    ),
]

# Solvers of SciPy, which stay what they are: hoad runs them on plain numbers, or has another.
ROOT = "Let it solve for plain numbers, and hoad.implicit.root differentiate: hoad.implicit.root(residual, solver)(p)."
ARGMIN = ROOT.replace("implicit.root", "implicit.argmin").replace("(residual", "(cost")
FLOW = "Use hoad.ode.odeint, of rhs(y, t), or rhs(t, y) with tfirst=True; or hoad.ode.taylor_integrate, of rhs(t, y)."
QUADRATURE = (
    "Sum over nodes and weights, x, w = np.polynomial.legendre.leggauss(n), as np.sum(w * f(x)) on [-1, 1]; or solve "
    "y' = f(t) with hoad.ode.odeint."
)
DENSITY = "hoad.adopt(f) takes SciPy's code along, as in hoad.grad(hoad.adopt(f))."
ROOTS = ["newton", "brentq", "brenth", "bisect", "ridder", "toms748", "root_scalar", "root", "fsolve"]
MINIMA = ["minimize", "minimize_scalar", "fmin", "fmin_bfgs", "fmin_cg", "least_squares", "leastsq", "curve_fit"]
MINIMA += ["brent", "golden", "fminbound", "bracket", "basinhopping", "shgo", "differential_evolution"]
SOLVERS = [  # (where they are, what to do, their names); "*" is any object, of which they are methods
    ("scipy.optimize", ROOT, ROOTS),
    (
        "scipy.optimize",
        ROOT.replace("implicit.root", "implicit.fixed_point").replace("(residual", "(f"),
        ["fixed_point"],
    ),
    ("scipy.optimize", ARGMIN, MINIMA),
    ("scipy.integrate", FLOW, ["solve_ivp", "odeint"]),
    ("scipy.integrate", QUADRATURE, ["quad", "quad_vec", "fixed_quad", "dblquad", "nquad"]),
    ("scipy.stats.*", DENSITY, ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"]),
]

# Of these and others, what hoad.scipy has under the same name.
NAMESAKES = {
    "scipy.optimize": [
        *ROOTS,
        "fixed_point",
        "minimize",
        "minimize_scalar",
        "least_squares",
        "curve_fit",
        "leastsq",
        "fmin_bfgs",
        "fmin_cg",
        "fmin_ncg",
        "fmin_l_bfgs_b",
    ],
    "scipy.integrate": ["quad", "dblquad", "nquad"],
    "scipy.spatial.distance": ["cdist", "pdist", "squareform"],
    "scipy.signal": [
        "lfilter",
        "sosfilt",
        "filtfilt",
        "sosfiltfilt",
        "savgol_filter",
        "upfirdn",
        "convolve2d",
        "correlate2d",
        "medfilt",
    ],
    "scipy.sparse.linalg": ["spsolve", "splu", "factorized"],
}

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]
ITERATIONS = ["cg", "bicg", "bicgstab", "cgs", "gmres", "lgmres", "minres", "qmr", "gcrotmk", "tfqmr"]

# Sparse matrices, which hold plain numbers: (what to write, names); "*" is a matrix of any format.
BY_VECTORS = (
    "Write A @ x for products with a vector x, A @ (x * u) for A diag(x) u, and x * (A @ u) for diag(x) A u, or for a "
    "number x times A"
)
BY_ENTRIES = (
    "A matrix of SciPy's holds plain numbers. For A @ u write y = np.zeros(m, like=x), then "
    "np.add.at(y, rows, values * u[columns])"
)
ITERATIVE = (
    "Use hoad.scipy.sparse.linalg.spsolve(A, b); or let it solve for plain numbers, and hoad.implicit.linear_solve "
    "differentiate: hoad.implicit.linear_solve(lambda y: A @ y, solver)(b), with solver(matvec, b) that calls it"
)
OF_SPARSE = [
    (BY_VECTORS, "scipy.sparse.*", ["multiply"]),
    ("Write x * u for diags_array(x) @ u, and A @ (x * u) for A diag(x) u", "scipy.sparse", ["diags_array", "diags"]),
    ("Write x * u for spdiags(x, 0, n, n) @ u", "scipy.sparse", ["spdiags"]),
    ("Write A.toarray() + x, which is dense as A + x is", "scipy.sparse.*", ["_add_dense", "_rsub_dense"]),
    (BY_ENTRIES, "scipy.sparse", [f"{name}_{kind}" for name in FORMATS for kind in ("array", "matrix")]),
    (BY_ENTRIES, "scipy.sparse.*", ["__setitem__", "setdiag", "_matmul_vector"]),
    ("Use hoad.scipy.sparse.linalg.spsolve(A, b)", "scipy.sparse.linalg", ["spsolve_triangular"]),
    (ITERATIVE, "scipy.sparse.linalg", ITERATIONS),
]

# Functions of scipy.linalg that hoad.scipy.linalg has, too.
IN_HOAD = """
bandwidth block_diag cdf2rdf cho_factor cho_solve cho_solve_banded cholesky cholesky_banded circulant companion
convolution_matrix coshm cosm det diagsvd eig eig_banded eigh eigh_tridiagonal eigvals eigvals_banded eigvalsh
eigvalsh_tridiagonal expm expm_cond expm_frechet fiedler fiedler_companion fractional_matrix_power funm hankel
hessenberg inv ishermitian issymmetric khatri_rao leslie logm lstsq lu lu_factor lu_solve matmul_toeplitz
matrix_balance norm orth orthogonal_procrustes pinv pinvh polar qr qr_multiply rq signm sinhm sinm solve solve_banded
solve_circulant solve_continuous_are solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov
solve_lyapunov solve_sylvester solve_toeplitz solve_triangular solveh_banded sqrtm subspace_angles svd svdvals tanhm
tanm toeplitz
""".split()

# Functions of scipy.fft that NumPy has by the same name, with a rule.
TRANSFORMS = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn"]
TRANSFORMS += ["hfft", "ihfft"]

# Text, which has no derivative.
CONSTANT = ["array2string", "array_repr", "array_str"]

# What is not of numbers that could be traced, or leaves Python: (why, what to do, functions).
FIELDS = "np.lib.recfunctions works on arrays of records, whose fields are no traced numbers."
DATES = "It works on dates, which have no derivative."
APART = [
    (
        "It writes numbers to a file, which no derivative follows.",
        "Give it hoad.value(x).",
        ["np.save", "np.savez", "np.savez_compressed", "np.savetxt"],
    ),
    (DATES, "Give it plain dates.", ["np.busday_count", "np.busday_offset", "np.is_busday", "np.datetime_as_string"]),
    (DATES, "Give it plain dates; nan is what np.isnan finds.", ["np.isnat"]),
]

# Methods and attributes of arrays: (why, what to do, names).
MEMORY = "How a traced array lies in memory is not known before the recording is run."
BYTES = "A traced array has no bytes before the recording is run."
SHARED = "A traced array has no memory before the recording is run."
OF_ARRAYS = [
    (MEMORY, "Use x.shape, x.dtype and x.size.", ["strides", "flags", "base"]),
    (BYTES, "Use hoad.value(x).tobytes() and the like.", ["tobytes", "data", "ctypes"]),
    (
        SHARED,
        "Give the other library hoad.value(x).",
        ["__array_interface__", "__array_struct__", "__dlpack__", "__dlpack_device__"],
    ),
    ("NumPy calls it on new arrays of a subclass, which a traced one is not.", "Leave it out.", ["__array_finalize__"]),
    ("NumPy calls it on plain results, which traced ones are not.", "Take the result itself.", ["__array_wrap__"]),
    ("A traced array is made by recording, not of a pickle.", "Read plain arrays of pickles.", ["__setstate__"]),
    ("It writes numbers to a file, which no derivative follows.", "Write them from hoad.value(x).", ["tofile", "dump"]),
    ("It makes bytes of the numbers, which no derivative follows.", "Use hoad.value(x).dumps().", ["dumps"]),
]

for _why, _advice, _names in APART:
    for _name in _names:
        ADVICE[_name] = f"{_why} {_advice}"
ADVICE["np.lib.recfunctions.*"] = f"{FIELDS} Use one traced array for each field."
for _why, _advice, _names in OF_ARRAYS:
    for _name in _names:
        ADVICE[f"np.{_name}"] = f"{_why} {_advice}"
for _name, _call, _expression in IN_PYTHON:
    ADVICE[_name] = (
        f"Write {_expression} for {_call}, or make it one operation with a rule of its own (see @hoad.primitive); or "
        "take hoad.value(x) if plain numbers are meant."
    )
for _name, _call, _expression in IN_SCIPY:
    ADVICE[_name] = f"Write {_expression} for {_call}; or take hoad.value(x) if plain numbers are meant."
for _place, _advice, _names in SOLVERS:
    for _name in _names:
        ADVICE[f"{_place}.{_name}"] = f"{_advice} Or take hoad.value(x) if plain numbers are meant."
for _place, _names in NAMESAKES.items():
    for _name in _names:
        _other = f"Use hoad.{_place}.{_name}, which takes the same arguments"
        _found = ADVICE.get(f"{_place}.{_name}")
        ADVICE[f"{_place}.{_name}"] = (
            f"{_other}; or take hoad.value(x) if plain numbers are meant." if _found is None else f"{_other}. {_found}"
        )
for _advice, _place, _names in OF_SPARSE:
    for _name in _names:
        ADVICE[f"{_place}.{_name}"] = f"{_advice}; or take hoad.value(x) if plain numbers are meant."
for _name in IN_HOAD:
    ADVICE[f"scipy.linalg.{_name}"] = (
        f"Use hoad.scipy.linalg.{_name}, which takes the same arguments; or take hoad.value(x) if plain numbers are "
        "meant."
    )
for _name in TRANSFORMS:
    ADVICE[f"scipy.fft.{_name}"] = f"Use np.fft.{_name}; or take hoad.value(x) if plain numbers are meant."
for _name in CONSTANT:
    ADVICE[f"np.{_name}"] = "Give it hoad.value(x) in place of x: its result is text."
