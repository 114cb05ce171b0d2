"""Functions of numbers, element by element: ufuncs by each argument, parts of numbers, and rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from covered.points import POSITIVE, UNIT, M, S, V, W
from covered.rows import Kind, Row

D, C, S_ = Kind.DIFFERENTIABLE, Kind.CONSTANT, Kind.STRUCTURAL

# What is analytic, and takes complex numbers as well.
ANALYTIC = {
    **dict.fromkeys(["sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh"], V),
    **dict.fromkeys(["exp", "exp2", "expm1", "square", "reciprocal", "negative", "positive"], V),
    **dict.fromkeys(["arcsin", "arccos", "arctanh"], UNIT),
    **dict.fromkeys(["log", "log2", "log10", "log1p", "sqrt"], POSITIVE),
    "arccosh": POSITIVE + 1,
}
# What IEEE 754 rounds correctly; of others, NumPy takes one of several kernels by what the processor has.
ROUNDED_ONCE = ["square", "reciprocal", "negative", "positive", "sqrt"]
REAL = ["absolute", "fabs", "cbrt", "degrees", "radians", "rad2deg", "deg2rad", "conjugate"]
STEPS = ["floor", "ceil", "rint", "trunc", "sign", "signbit", "isnan", "isinf", "isfinite", "logical_not", "spacing"]

# Of two arguments: (where the first is, where the second is, whether it is analytic).
SECOND = np.array([0.75, 1.75, -1.5])
BINARY: dict[str, tuple[Any, Any, bool]] = {
    **dict.fromkeys(["add", "subtract", "multiply", "divide"], (V, SECOND, True)),
    **dict.fromkeys(["power", "float_power"], (POSITIVE, SECOND, True)),
    **dict.fromkeys(["arctan2", "hypot", "logaddexp", "logaddexp2"], (V, SECOND, False)),
    **dict.fromkeys(["maximum", "minimum", "fmax", "fmin", "copysign"], (V, SECOND, False)),
    **dict.fromkeys(["fmod", "remainder"], (V, SECOND, False)),
}
PARTLY = np.array([0.0, np.nan, np.inf])
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
COMPARISONS += ["logical_and", "logical_or", "logical_xor", "floor_divide"]
GUARDED = "A branch on its result is guarded."


def _ufuncs() -> Iterator[Row]:
    for name, x in ANALYTIC.items():
        yield Row(f"numpy.{name}", D, getattr(np, name), x, exact=name in ROUNDED_ONCE)
    for name in REAL:
        yield Row(f"numpy.{name}", D, getattr(np, name), V, analytic=False)
    for name in STEPS:
        yield Row(f"numpy.{name}", C, getattr(np, name), V)
    for name, (a, b, analytic) in BINARY.items():
        f = getattr(np, name)
        yield Row(f"numpy.{name}", D, lambda x, f=f, b=b: f(x, b), a, analytic=analytic)
        yield Row(f"numpy.{name}", D, lambda x, f=f, a=a: f(a, x), b, "x2", analytic=analytic)
    for name in COMPARISONS:
        f = getattr(np, name)
        yield Row(f"numpy.{name}", C, lambda x, f=f: f(x, SECOND), V)
        yield Row(f"numpy.{name}", C, lambda x, f=f: f(V, x), SECOND, "x2")
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        f = getattr(np, name)
        yield Row(f"numpy.{name}", C, lambda x, f=f: f(x > 0, x < 1), V, note="Of booleans.")


ROWS = [
    *_ufuncs(),
    Row("numpy.invert", C, lambda x: np.invert(x > 0), V, note="Of booleans."),
    Row("numpy.nextafter", D, lambda x: np.nextafter(x, W), V, analytic=False),
    Row("numpy.nextafter", C, lambda x: np.nextafter(V, x), W, "x2"),
    Row("numpy.heaviside", C, lambda x: np.heaviside(x, 0.5), V),
    Row("numpy.heaviside", D, lambda x: np.heaviside([0.0, 1.0, -1.0], x), V, "x2", analytic=False),
    Row("numpy.divmod", D, lambda x: np.divmod(x, SECOND), V, analytic=False),
    Row("numpy.divmod", D, lambda x: np.divmod(V, x), SECOND, "x2", analytic=False),
    Row("numpy.modf", D, np.modf, V * 1.1, analytic=False),
    Row(
        "numpy.frexp",
        D,
        np.frexp,
        V * 1.1,
        note="The exponent is constant.",
        analytic=False,
    ),
    Row("numpy.ldexp", D, lambda x: np.ldexp(x, [1, -2, 3]), V, analytic=False),
    # numbers of two parts
    Row("numpy.real", D, np.real, V, analytic=False),
    Row("numpy.imag", D, lambda x: np.imag(x * (1 + 2j)), V, analytic=False),
    Row("numpy.angle", D, lambda x: np.angle(x + 0.5j), V, analytic=False),
    Row("numpy.angle", D, lambda x: np.angle(x * (2 + 1j), deg=True), V, "deg=True", analytic=False),
    Row("numpy.iscomplex", C, np.iscomplex, V),
    Row("numpy.isreal", C, np.isreal, V),
    # rounding, and what is put in place of a number
    Row("numpy.round", C, lambda x: np.round(x, 1), V * 1.03),
    Row("numpy.around", C, lambda x: np.around(x, 1), V * 1.03),
    Row("numpy.clip", D, lambda x: np.clip(x, -0.5, 1.0), M, analytic=False),
    Row("numpy.clip", D, lambda x: np.clip(M, x, 3.0), S, "a_min", analytic=False),
    Row("numpy.clip", D, lambda x: np.clip(M, -3.0, x), W, "a_max", analytic=False),
    Row("numpy.clip", D, lambda x: np.clip(x, None, x[0]), V, "a, a_max", analytic=False),
    Row("numpy.nan_to_num", D, np.nan_to_num, V, analytic=False),
    Row(
        "numpy.nan_to_num",
        D,
        lambda x: np.nan_to_num(x + PARTLY, nan=x[0], posinf=x[1]),
        V,
        "x, nan",
        analytic=False,
    ),
    Row(
        "numpy.nan_to_num",
        Kind.IMPOSSIBLE,
        lambda x: np.nan_to_num([1.0, np.nan], nan=x),
        S,
        "nan alone",
        note="NumPy calls hoad only if x is traced.",
    ),
    Row("numpy.sinc", D, np.sinc, V),
]
