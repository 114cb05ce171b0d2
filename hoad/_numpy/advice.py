"""What to write instead of a function that has no rule, by its name; a test follows each advice."""

from __future__ import annotations

from hoad._core.trace.errors import ADVICE

# Packages of SciPy that `hoad.scipy` has as a whole: what it does not implement, it takes along, as `hoad.adopt` does.
IN_HOAD = tuple(f"scipy.{name}" for name in "integrate interpolate linalg signal spatial special stats".split())

# Solvers of SciPy, which stay what they are: hoad runs them on plain numbers, or has another.
ROOT = "Let it solve for plain numbers, and hoad.implicit.root differentiate: hoad.implicit.root(residual, solver)(p)"
ARGMIN = ROOT.replace("implicit.root", "implicit.argmin").replace("(residual", "(cost")
FLOW = "Use hoad.ode.odeint, of rhs(y, t), or rhs(t, y) with tfirst=True; or hoad.ode.taylor_integrate, of rhs(t, y)"
FLOW += "; or, adopted, solve_ivp with method='DOP853', or 'BDF' where it is stiff"
ROOTS = ["newton", "brentq", "brenth", "bisect", "ridder", "toms748", "root_scalar", "root", "fsolve"]
MINIMA = ["minimize", "minimize_scalar", "fmin", "fmin_bfgs", "fmin_cg", "least_squares", "leastsq", "curve_fit"]
MINIMA += ["brent", "golden", "fminbound", "bracket", "basinhopping", "shgo", "differential_evolution"]
SOLVERS = [  # (where they are, what to do, their names)
    ("optimize", ROOT, ROOTS),
    ("optimize", ROOT.replace("implicit.root", "implicit.fixed_point").replace("(residual", "(f"), ["fixed_point"]),
    ("optimize", ARGMIN, MINIMA),
    ("integrate", FLOW, ["solve_ivp", "odeint"]),
]

# What hoad.scipy has under the same name in the other packages.
NAMESAKES = {
    "scipy.optimize": [
        *ROOTS,
        "fixed_point",
        "minimize",
        "minimize_scalar",
        "least_squares",
        "curve_fit",
        "nnls",
        "leastsq",
        "fmin_bfgs",
        "fmin_cg",
        "fmin_ncg",
        "fmin_l_bfgs_b",
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
    "Write y = np.zeros(m, like=x), then np.add.at(y, rows, values * u[columns]), for A @ u: a matrix of SciPy's holds "
    "plain numbers"
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
for _place, _advice, _names in SOLVERS:
    for _name in _names:
        ADVICE[f"scipy.{_place}.{_name}"] = _advice
for _place, _names in NAMESAKES.items():
    for _name in _names:
        _found = ADVICE.get(_other := f"{_place}.{_name}")
        ADVICE[_other] = f"Use hoad.{_other}" if _found is None else f"Use hoad.{_other}. {_found}"
for _advice, _place, _names in OF_SPARSE:
    for _name in _names:
        ADVICE[f"{_place}.{_name}"] = _advice
for _package in IN_HOAD:
    ADVICE[f"{_package}.**"] = f"Use hoad.{_package} in place of {_package}"
for _name in TRANSFORMS:
    ADVICE[f"scipy.fft.{_name}"] = f"Use np.fft.{_name}"
for _name in CONSTANT:
    ADVICE[f"np.{_name}"] = "Give it hoad.value(x) in place of x: its result is text."
