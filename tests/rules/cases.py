"""The table of cases: a row for every primitive that has a derivative, and for NumPy's functions made of them.

A row says how a user writes the operation, what it is in mathematics (`oracle`, evaluated by mpmath to any number of
digits), and where to try it. `test_completeness` holds that rows, rules and primitives are the same set, so a rule
that nothing tests cannot exist.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules.sampling import Rng, Sampler, beside, between, integers, mixed, positive, sized

import hoad
import hoad.rules.special  # which declares its primitives only now
from hoad._core.graph.primitive import primitive_named
from hoad._core.kernels import ufuncs
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import is_traced

Function = Callable[..., Any]


@dataclass(frozen=True)
class Elementwise:
    """An operation on numbers, tried on arrays of points."""

    name: str
    f: Function
    oracle: Function
    at: tuple[Sampler, ...]
    primitives: tuple[str, ...]  # that recording f must use
    wrt: tuple[int, ...]  # operands that have derivatives
    singular: tuple[float, ...]  # points near which an error counts in distances from them
    tolerance: float  # of rounding: relative to the value, and to its change with a relative change of an operand
    room: str = "elementwise"
    closes: bool = True  # whether its rule and theirs ask for no ever new operations
    few: bool = False  # whether few points are enough, of an oracle that takes its time
    single: bool = True  # whether SciPy computes it in single precision too

    def sample(self, rng: Rng, count: int) -> tuple[np.ndarray, ...]:
        return tuple(sampler(rng, count) for sampler in self.at)


@dataclass(frozen=True)
class Structured:
    """An operation on arrays, tried on examples of different shapes."""

    name: str
    f: Function
    oracle: Function  # on object arrays of mpf
    examples: tuple[Callable[[Rng], tuple[np.ndarray, ...]], ...]
    primitives: tuple[str, ...]
    room: str
    tolerance: float  # relative to the norm of the derivative
    orders: int  # orders that exist


CASES: list[Elementwise | Structured] = []


def elementwise(
    name: str,
    f: Function,
    oracle: Function,
    *at: Sampler,
    uses: Sequence[str] | None = None,
    wrt: Sequence[int] | None = None,
    singular: Sequence[float] = (),
    tolerance: float = 1e-14,
    room: str = "elementwise",
    closes: bool = True,
    few: bool = False,
    single: bool = True,
) -> None:
    """Add a row."""
    operands = tuple(range(len(at)) if wrt is None else wrt)
    used = (name,) if uses is None else tuple(uses)
    CASES.append(
        Elementwise(name, f, oracle, at, used, operands, tuple(singular), tolerance, room, closes, few, single)
    )


def structured(
    room: str,
    name: str,
    f: Function,
    oracle: Function | None,
    *examples: Callable[[Rng], tuple[np.ndarray, ...]],
    uses: Sequence[str] | None = None,
    tolerance: float = 2e-14,
    orders: int = 4,
) -> None:
    """Add a row; without an oracle f itself is run on object arrays of mpf, which NumPy knows how to do."""
    used = (name,) if uses is None else tuple(uses)
    CASES.append(Structured(name, f, oracle or f, examples, used, room, tolerance, orders))


def shapes(*operands: tuple[int, ...], away: float = 0.0) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    """An example of arrays of these shapes, of items between 0.5 and 1.5 in size and of both signs."""
    return lambda rng: tuple(rng.uniform(0.5, 1.5, s) * rng.choice([-1.0, 1.0], s) + away for s in operands)


# ---- arithmetic -----------------------------------------------------------------------------------------------------

MEDIUM = sized(1e-3, 1e3)
WIDE = sized(1e-30, 1e30)

elementwise("add", np.add, lambda x, y: x + y, MEDIUM, MEDIUM)
elementwise("subtract", np.subtract, lambda x, y: x - y, MEDIUM, MEDIUM)
elementwise("multiply", np.multiply, lambda x, y: x * y, WIDE, WIDE)
elementwise("divide", np.divide, lambda x, y: x / y, WIDE, WIDE)
elementwise("negative", np.negative, lambda x: -x, MEDIUM)
elementwise("positive", np.positive, lambda x: x, MEDIUM)
elementwise("conjugate", np.conjugate, lambda x: x, MEDIUM)
elementwise("reciprocal", np.reciprocal, lambda x: 1 / x, WIDE)
elementwise("square", np.square, lambda x: x * x, WIDE)
elementwise("absolute", np.absolute, abs, MEDIUM)
elementwise("fabs", np.fabs, abs, MEDIUM)
elementwise("power", np.power, lambda x, y: x**y, positive(1e-5, 1e5), between(-8.0, 8.0), tolerance=2e-14)
elementwise("float_power", np.float_power, lambda x, y: x**y, positive(1e-5, 1e5), between(-8.0, 8.0), tolerance=2e-14)
for _n in (-3, -1, 0, 1, 2, 3, 5, 7):
    elementwise(f"power_{_n}", lambda x, n=_n: x**n, lambda x, n=_n: x**n, MEDIUM, uses=("power",))
elementwise("power_half", lambda x: x**0.5, mp.sqrt, positive(1e-30, 1e30), uses=("power",))
elementwise("power_of_two", lambda x: 2.0**x, lambda x: mp.mpf(2) ** x, between(-300.0, 300.0), uses=("power",))
elementwise("power_of_itself", lambda x: x**x, lambda x: x**x, positive(1e-3, 20.0), uses=("power",), tolerance=4e-14)

# ---- roots, exponentials and logarithms -----------------------------------------------------------------------------

elementwise("sqrt", np.sqrt, mp.sqrt, positive(1e-60, 1e60))
elementwise("i0", np.i0, lambda x: mp.besseli(0, x), between(-30.0, 30.0), tolerance=1e-14, closes=False)
elementwise("cbrt", np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), sized(1e-50, 1e50))
elementwise("exp", np.exp, mp.exp, between(-600.0, 600.0))
elementwise("exp2", np.exp2, lambda x: mp.mpf(2) ** x, between(-850.0, 850.0))
elementwise("expm1", np.expm1, mp.expm1, sized(1e-8, 600.0))
elementwise("log", np.log, mp.log, positive(1e-50, 1e50))
elementwise("log2", np.log2, lambda x: mp.log(x) / mp.log(2), positive(1e-50, 1e50))
elementwise("log10", np.log10, mp.log10, positive(1e-50, 1e50))
elementwise("log1p", np.log1p, mp.log1p, mixed(beside(-1.0, 1e-12, 0.5), positive(1e-9, 1e40)), singular=[-1.0])
elementwise(
    "logaddexp", np.logaddexp, lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), between(-200, 200), between(-200, 200)
)
elementwise(
    "logaddexp2",
    np.logaddexp2,
    lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y) / mp.log(2),
    between(-200, 200),
    between(-200, 200),
)
elementwise(
    "logaddexp_ties",
    lambda x: np.logaddexp(x, 1.0),
    lambda x: mp.log(mp.exp(x) + mp.e),
    between(1.0, 1.0),
    uses=("logaddexp",),
)
elementwise("logistic", ufuncs.logistic, lambda x: 1 / (1 + mp.exp(-x)), sized(1e-6, 600.0))

# ---- trigonometric and hyperbolic functions -------------------------------------------------------------------------

INSIDE = mixed(between(-0.99, 0.99), beside(1.0, -1e-12, -1e-2), beside(-1.0, 1e-12, 1e-2), sized(1e-9, 0.1))

elementwise("sin", np.sin, mp.sin, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
elementwise("cos", np.cos, mp.cos, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
elementwise("tan", np.tan, mp.tan, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
elementwise("arcsin", np.arcsin, mp.asin, INSIDE, singular=[-1.0, 1.0])
elementwise("arccos", np.arccos, mp.acos, INSIDE, singular=[-1.0, 1.0])
elementwise("arctan", np.arctan, mp.atan, sized(1e-9, 1e40))
elementwise("sinh", np.sinh, mp.sinh, sized(1e-9, 600.0))
elementwise("cosh", np.cosh, mp.cosh, sized(1e-9, 600.0))
elementwise("tanh", np.tanh, mp.tanh, mixed(sized(1e-9, 1.0), sized(1.0, 300.0)))
elementwise("sech_squared", ufuncs.sech_squared, lambda x: mp.sech(x) ** 2, mixed(sized(1e-9, 1.0), sized(1.0, 300.0)))
elementwise("arcsinh", np.arcsinh, mp.asinh, sized(1e-9, 1e40))
elementwise("arccosh", np.arccosh, mp.acosh, mixed(beside(1.0, 1e-12, 1.0), positive(2.0, 1e40)), singular=[1.0])
elementwise("arctanh", np.arctanh, mp.atanh, INSIDE, singular=[-1.0, 1.0])
elementwise("degrees", np.degrees, lambda x: x * 180 / mp.pi, MEDIUM)
elementwise("rad2deg", np.rad2deg, lambda x: x * 180 / mp.pi, MEDIUM)
elementwise("radians", np.radians, lambda x: x * mp.pi / 180, MEDIUM)
elementwise("deg2rad", np.deg2rad, lambda x: x * mp.pi / 180, MEDIUM)
elementwise("hypot", np.hypot, lambda x, y: mp.sqrt(x * x + y * y), sized(1e-8, 1e8), sized(1e-8, 1e8))
elementwise("arctan2", np.arctan2, mp.atan2, sized(1e-8, 1e8), sized(1e-8, 1e8))
elementwise(
    "x_over_hypot",
    ufuncs.x_over_hypot,
    lambda x, y: x / mp.sqrt(x * x + y * y),
    sized(1e-8, 1e8),
    sized(1e-8, 1e8),
)
elementwise(
    "sqrt_one_minus_square",
    ufuncs.sqrt_one_minus_square,
    lambda x: mp.sqrt((1 - x) * (1 + x)),
    INSIDE,
    singular=[-1.0, 1.0],
)

# ---- choices --------------------------------------------------------------------------------------------------------

elementwise("maximum", np.maximum, max, MEDIUM, MEDIUM)
elementwise("minimum", np.minimum, min, MEDIUM, MEDIUM)
elementwise("fmax", np.fmax, max, MEDIUM, MEDIUM)
elementwise("fmin", np.fmin, min, MEDIUM, MEDIUM)
elementwise("mask", lambda x: ufuncs.mask(x > 0.0, x) ** 2, lambda x: x * x if x > 0 else 0 * x, MEDIUM)
elementwise(
    "select",
    lambda x, y: np.where(x > y, x * y, np.exp(y)),
    lambda x, y: x * y if x > y else mp.exp(y),
    between(-3.0, 3.0),
    between(-3.0, 3.0),
)
elementwise(
    "clip",
    lambda x: np.clip(x, -1.0, 0.5) ** 2,
    lambda x: min(max(x, mp.mpf(-1)), mp.mpf(0.5)) ** 2,
    between(-2.0, 2.0),
    uses=["maximum", "minimum"],
)

# To the oracle, a number rounded to a double does not change with the tiny steps it takes.
elementwise("stop_gradient", lambda x: hoad.stop_gradient(x * x) * x, lambda x: mp.mpf(float(x * x)) * x, MEDIUM)

# ---- products with strong zeros -------------------------------------------------------------------------------------

elementwise("strong_multiply", ufuncs.strong_multiply, lambda x, y: x * y, WIDE, WIDE)
elementwise("strong_multiply_both", ufuncs.strong_multiply_both, lambda x, y: x * y, WIDE, WIDE)
elementwise("strong_divide", ufuncs.strong_divide, lambda x, y: x / y, WIDE, WIDE)

# ---- parts of numbers -----------------------------------------------------------------------------------------------


def _truncated(x: Any) -> Any:
    return mp.sign(x) * mp.floor(abs(x))


def _exponent(x: Any) -> Any:
    return mp.floor(mp.log(abs(x), 2))


elementwise("sign", np.sign, mp.sign, MEDIUM)
elementwise("floor", np.floor, mp.floor, MEDIUM)
elementwise("ceil", np.ceil, mp.ceil, MEDIUM)
elementwise("trunc", np.trunc, _truncated, MEDIUM)
elementwise("rint", np.rint, mp.nint, MEDIUM)
elementwise("round", lambda x: np.round(x, 1), lambda x: mp.nint(10 * x) / 10, MEDIUM, uses=["rint"])
elementwise("spacing", np.spacing, lambda x: mp.sign(x) * mp.mpf(2) ** (_exponent(x) - 52), MEDIUM)
elementwise("floor_divide", np.floor_divide, lambda x, y: mp.floor(x / y), MEDIUM, MEDIUM)
elementwise("remainder", np.remainder, lambda x, y: x - y * mp.floor(x / y), MEDIUM, MEDIUM)
elementwise("fmod", np.fmod, lambda x, y: x - y * _truncated(x / y), MEDIUM, MEDIUM)
elementwise("slope", lambda x: x * ufuncs.slope(x), abs, MEDIUM)
elementwise("smooth", lambda x: ufuncs.smooth(x * x * x, x**3), lambda x: x**3, MEDIUM)
for _n in (1, 2, 3):
    elementwise(
        f"powlog{_n}", getattr(ufuncs, f"powlog{_n}"), lambda x, y, n=_n: x**y * mp.log(x) ** n, positive(1e-3, 1e3),
        between(-4.0, 4.0), tolerance=4e-13,
    )  # fmt: skip
elementwise("copysign", np.copysign, lambda x, y: abs(x) * mp.sign(y), MEDIUM, MEDIUM)
elementwise("heaviside", np.heaviside, lambda x, y: mp.mpf(x > 0), MEDIUM, MEDIUM)
elementwise("nextafter", np.nextafter, lambda x, y: x, MEDIUM, MEDIUM)
elementwise("modf", lambda x: np.modf(x)[0] ** 2, lambda x: (x - _truncated(x)) ** 2, MEDIUM, uses=["modf", "result"])
elementwise("modf_whole", lambda x: np.modf(x)[1] * x, lambda x: _truncated(x) * x, MEDIUM, uses=["modf", "result"])
elementwise(
    "frexp",
    lambda x: np.frexp(x)[0] ** 2,
    lambda x: (x / mp.mpf(2) ** (_exponent(x) + 1)) ** 2,
    MEDIUM,
    uses=["frexp", "result"],
)
elementwise(
    "ldexp",
    lambda x, n: np.ldexp(x, n) ** 2,
    lambda x, n: (x * mp.mpf(2) ** n) ** 2,
    MEDIUM,
    integers(-5, 6),
    uses=["ldexp"],
    wrt=[0],
)

# ---- parts of complex numbers ---------------------------------------------------------------------------------------

NEAR = between(-3.0, 3.0)
_EXP = ("real", "complex", "exp")

elementwise("real", lambda x, y: np.exp(x + 1j * y).real, lambda x, y: mp.exp(x) * mp.cos(y), NEAR, NEAR, uses=_EXP)
elementwise("imag", lambda x, y: np.imag(np.exp(x + 1j * y)), lambda x, y: mp.exp(x) * mp.sin(y), NEAR, NEAR)
elementwise("complex", lambda x, y: np.exp(ufuncs.compose(x, y)).real, lambda x, y: mp.exp(x) * mp.cos(y), NEAR, NEAR)
elementwise(
    "complex_conjugate",
    lambda x, y: np.conj(np.exp(x + 1j * y)).imag,
    lambda x, y: -mp.exp(x) * mp.sin(y),
    NEAR,
    NEAR,
    uses=("conjugate", "imag"),
)

# ---- scipy.special --------------------------------------------------------------------------------------------------


def special(name: str, oracle: Function, *at: Sampler, of: Sequence[Any] = (), label: str = "", **further: Any) -> None:
    """Add a row for a ufunc of SciPy; `of` are its first arguments, which have no derivative."""
    function = getattr(sc, name)
    elementwise(
        label or f"special_{name}",
        (lambda *xs: function(*of, *xs)) if of else function,
        functools.partial(oracle, *map(mp.mpf, of)) if of else oracle,
        *at,
        uses=[f"scipy.special.{name}"],
        room="special",
        **further,
    )


def _harmonic(n: int) -> Any:
    """ψ(n + 1)."""
    return sum((mp.one / k for k in range(1, n + 1)), start=-mp.euler)


def second_kind(n: int, x: Any, sign: int) -> Any:
    """Of the functions of the second kind the series about 0 (DLMF 10.8.1 for Y, -1, and 10.31.1 for K, 1)."""
    n = int(n)
    q = sign * x * x / 4
    pole = sum(((-q) ** k * mp.factorial(n - k - 1) / mp.factorial(k) for k in range(n)), start=mp.zero)
    term, total, k = 1 / mp.factorial(n), mp.zero, 0
    sums = _harmonic(0) + _harmonic(n)
    first = mp.zero
    while abs(term) > mp.eps * abs(total) * mp.mpf(10) ** -80:
        total += term * sums
        first += term
        k += 1
        term *= q / (k * (n + k))
        sums += mp.one / k + mp.one / (n + k)
    half = x / 2
    if sign < 0:
        return (-pole / half**n + half**n * (2 * mp.log(half) * first - total)) / mp.pi
    return (pole / half**n + (-half) ** n * (total - 2 * mp.log(half) * first)) / 2


def _phi(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _box(x: Any, y: Any) -> Any:
    return (x**y - 1) / y


def _root(x: Any, y: Any) -> Any:
    return (1 + x * y) ** (1 / y)


def _entropy(x: Any, y: Any) -> Any:
    return x * mp.log(x / y)


POLES = [float(-k) for k in range(12)]
SHARES = mixed(beside(0.0, 1e-9, 0.4), between(0.1, 0.9), beside(1.0, -1e-9, -0.4))
AROUND = mixed(sized(1e-6, 1.0), sized(1.0, 20.0))
RIGHT = mixed(positive(1e-3, 1.0), positive(1.0, 30.0))


def _erfinv(z: Any) -> Any:
    """Newton's method, digits doubling: at hundreds of digits a seventh of the time that mpmath's own takes."""
    with mp.workdps(20):
        x = mp.erfinv(z)
    wanted, digits = mp.prec + 20, 50
    while digits < wanted:
        digits = min(2 * digits, wanted)
        with mp.workprec(digits + 10):
            x -= (mp.erf(x) - z) * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
    return +x


special("erf", mp.erf, sized(1e-9, 8.0))
special("erfc", mp.erfc, mixed(sized(1e-6, 1.0), between(-5.0, 20.0)))
special("erfi", mp.erfi, sized(1e-6, 15.0))
special("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), mixed(sized(1e-6, 10.0), positive(1.0, 1e6)))
special("dawsn", lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), sized(1e-6, 30.0))
special("erfinv", _erfinv, INSIDE, singular=[-1.0, 1.0], tolerance=2e-14)
special("erfcinv", lambda x: _erfinv(1 - x), mixed(positive(1e-12, 0.9), between(1.0, 1.9)), singular=[2.0])
special("ndtr", _phi, mixed(sized(1e-6, 1.0), between(-20.0, 8.0)))
special("log_ndtr", lambda x: mp.log(_phi(x)), mixed(sized(1e-6, 10.0), beside(0.0, -1.0, -1e4)), tolerance=2e-14)
special("ndtri", lambda x: mp.sqrt(2) * _erfinv(2 * x - 1), SHARES, singular=[1.0], tolerance=2e-14)
special(
    "gamma", mp.gamma, mixed(positive(1e-3, 40.0), between(-5.0, -0.1)), singular=POLES, tolerance=2e-14, closes=False
)
special(
    "gammaln",
    lambda x: mp.log(abs(mp.gamma(x))),
    mixed(positive(1e-6, 1e6), between(-5.0, -0.1)),
    singular=POLES,
    tolerance=2e-14,
)
special("loggamma", mp.loggamma, positive(1e-6, 1e6))
special(
    "rgamma", mp.rgamma, mixed(positive(1e-3, 40.0), between(-5.0, -0.1)), tolerance=2e-13
)  # sums in its series cancel
special("psi", mp.digamma, mixed(positive(1e-6, 1e6), between(-5.0, -0.1)), singular=POLES, tolerance=2e-14)
special(
    "zeta", lambda s, q: mp.psi(2, q) / -2, mixed(positive(1e-3, 1e4), between(-5.0, -0.1)), of=[3.0], singular=POLES
)
special("beta", mp.beta, positive(0.5, 8.0), positive(0.5, 8.0), tolerance=4e-14, closes=False)
special(
    "betaln",
    lambda x, y: mp.log(mp.beta(x, y)),
    positive(1e-2, 30.0),
    positive(1e-2, 30.0),
    tolerance=4e-14,
    closes=False,
)
for _a in (0.5, 3.0, 40.0):
    special(
        "gammainc",
        lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        between(0.5 * _a, 2.0 * _a),
        of=[_a],
        label=f"special_gammainc_{_a}",
    )
special("gammaincc", lambda a, x: 1 - mp.gammainc(a, 0, x, regularized=True), positive(0.1, 50.0), of=[2.5])
special(
    "gammaincinv",
    lambda a, y: -1 - mp.lambertw((y - 1) / mp.e, -1).real,
    SHARES,
    of=[2.0],
    singular=[1.0],
    tolerance=2e-13,
)
special(
    "gammainccinv", lambda a, y: -1 - mp.lambertw(-y / mp.e, -1).real, SHARES, of=[2.0], singular=[1.0], tolerance=2e-13
)
special("betainc", lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), SHARES, of=[2.5, 4.0], singular=[1.0])
special("betaincc", lambda a, b, x: mp.betainc(a, b, x, 1, regularized=True), SHARES, of=[2.5, 4.0], singular=[1.0])

for _name, _kind in (("j", mp.besselj), ("i", mp.besseli)):
    for _n in (0, 1):
        special(f"{_name}{_n}", functools.partial(_kind, _n), AROUND)
    special(f"{_name}v", _kind, RIGHT, of=[2.5], tolerance=2e-14)
    special(f"{_name}v", _kind, AROUND, of=[3.0], label=f"special_{_name}v_3")
for _name, _sign in (("y", -1), ("k", 1)):
    for _n in (0, 1):
        special(f"{_name}{_n}", lambda x, n=_n, sign=_sign: second_kind(n, x, sign), RIGHT, tolerance=2e-14)
    special(f"{_name}n", lambda n, x, sign=_sign: second_kind(n, x, sign), RIGHT, of=[2], tolerance=2e-14)
special("yv", lambda v, x: -mp.besselj(-v, x), RIGHT, of=[0.5], tolerance=2e-14)  # at half orders
special("kv", mp.besselk, RIGHT, of=[2.5])
for _n in (0, 1):
    special(f"i{_n}e", lambda x, n=_n: mp.exp(-abs(x)) * mp.besseli(n, x), sized(1e-3, 1e3), tolerance=4e-14)
    special(f"k{_n}e", lambda x, n=_n: mp.exp(x) * second_kind(n, x, 1), RIGHT, tolerance=4e-14)
special("ive", lambda v, x: mp.exp(-x) * mp.besseli(v, x), positive(1e-3, 1e3), of=[2.5], tolerance=4e-14)
special("kve", lambda v, x: mp.exp(x) * mp.besselk(v, x), positive(1e-3, 1e4), of=[2.5], tolerance=4e-14)
special("hyp1f1", mp.hyp1f1, between(-20.0, 20.0), of=[1.5, 3.0], tolerance=1e-13)
special("hyp2f1", mp.hyp2f1, between(-0.7, 0.7), of=[1.0, 2.0, 3.5], tolerance=4e-14)

special(
    "ellipk",
    mp.ellipk,
    mixed(sized(1e-6, 0.5), between(-10.0, 0.99), beside(1.0, -1e-6, -0.1)),
    singular=[1.0],
    closes=False,
)
special(
    "ellipe",
    mp.ellipe,
    mixed(sized(1e-6, 0.5), between(-10.0, 0.99), beside(1.0, -1e-6, -0.1)),
    singular=[1.0],
    closes=False,
)
special("expit", lambda x: 1 / (1 + mp.exp(-x)), sized(1e-6, 600.0))
special("logit", lambda x: mp.log(x / (1 - x)), SHARES, singular=[1.0])
special("log_expit", lambda x: -mp.log(1 + mp.exp(-x)), sized(1e-6, 600.0))
special("exprel", lambda x: mp.expm1(x) / x, mixed(sized(1e-6, 1.0), between(-50.0, 50.0)), tolerance=1e-13)
special("expm1", mp.expm1, sized(1e-8, 600.0))
special("exp2", lambda x: mp.mpf(2) ** x, between(-850.0, 850.0))
special("exp10", lambda x: mp.mpf(10) ** x, between(-250.0, 250.0))
special("log1p", mp.log1p, mixed(beside(-1.0, 1e-12, 0.5), positive(1e-9, 1e40)), singular=[-1.0])
special("cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), sized(1e-50, 1e50))
special("cosm1", lambda x: mp.cos(x) - 1, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
special("xlogy", lambda x, y: x * mp.log(y), MEDIUM, positive(1e-3, 1e3))
special("xlog1py", lambda x, y: x * mp.log1p(y), MEDIUM, positive(1e-6, 1e3))
special("entr", lambda x: -x * mp.log(x), positive(1e-3, 1e3))
special("rel_entr", _entropy, positive(1e-3, 1e3), positive(1e-3, 1e3))
special("kl_div", lambda x, y: _entropy(x, y) - x + y, positive(1e-3, 1e3), positive(1e-3, 1e3))
special("wrightomega", lambda x: mp.lambertw(mp.exp(x)).real, between(-5.0, 30.0), tolerance=2e-14)
special("boxcox", _box, positive(1e-2, 1e2), sized(1e-3, 3.0), tolerance=1e-13, closes=False)
special("boxcox1p", lambda x, y: _box(1 + x, y), positive(1e-2, 1e2), sized(1e-3, 3.0), tolerance=1e-13, closes=False)
special(
    "inv_boxcox",
    _root,
    positive(1e-2, 2.0),
    mixed(positive(1e-3, 2.0), between(-0.4, -0.01)),
    tolerance=1e-13,
    closes=False,
)
special(
    "inv_boxcox1p",
    lambda x, y: _root(x, y) - 1,
    positive(1e-2, 2.0),
    mixed(positive(1e-3, 2.0), between(-0.4, -0.01)),
    tolerance=1e-13,
    closes=False,
)
special("huber", lambda d, x: x * x / 2 if abs(x) <= d else d * (abs(x) - d / 2), positive(0.1, 10.0), MEDIUM)
special("pseudo_huber", lambda d, x: d * d * (mp.sqrt(1 + (x / d) ** 2) - 1), positive(0.1, 10.0), sized(0.1, 10.0))
elementwise(
    "special_lambertw",
    lambda x: sc.lambertw(x).real,
    lambda x: mp.lambertw(x).real,
    mixed(positive(1e-3, 1e3), beside(-1 / np.e, 1e-2, 0.3)),
    uses=["scipy.special.lambertw", "real"],
    singular=[-1 / np.e],
    tolerance=4e-14,
    room="special",
)

# ---- reductions -----------------------------------------------------------------------------------------------------

SMALL = shapes((2, 3))
reduction, shaping, linalg = (functools.partial(structured, room) for room in ("reduction", "shaping", "linalg"))


def _interpolated(t: Any, places: list[Any], y: Any) -> Any:
    k = max(k for k in range(len(places) - 1) if places[k] <= t)
    share = (t - places[k]) / (places[k + 1] - places[k])
    return (1 - share) * y[k] + share * y[k + 1]


def mapped(f: Function) -> Function:
    """A function of one mpf, on each item of an object array."""
    return np.frompyfunc(f, 1, 1)


_exp, _log, _sqrt, _abs = mapped(mp.exp), mapped(mp.log), mapped(mp.sqrt), mapped(abs)

reduction("sum", lambda x: np.sum(x * x), None, SMALL, shapes((4,)), shapes((1, 3, 1)))
reduction("sum_axis", lambda x: np.sum(x**3, axis=1), None, SMALL, shapes((2, 3, 2)), uses=["sum"])
reduction("sum_axes", lambda x: np.sum(x**3, axis=(0, -1)), None, shapes((2, 3, 2)), uses=["sum"])
reduction("sum_keepdims", lambda x: x * np.sum(x, axis=0, keepdims=True), None, SMALL, uses=["sum"])
reduction("sum_method", lambda x: (x * x).sum(axis=-1), None, SMALL, uses=["sum"])
reduction("mean", lambda x: np.mean(x**3, axis=0) * np.mean(x), None, SMALL, uses=["sum", "divide"])
reduction("max", lambda x: np.max(x) ** 3, None, SMALL, shapes((5,)))
reduction("max_axis", lambda x: np.max(x, axis=1, keepdims=True) * x, None, SMALL, uses=["max"])
reduction("min", lambda x: np.min(x) ** 3, None, SMALL, shapes((5,)))
reduction("min_axes", lambda x: np.min(x, axis=(0, 2)) ** 2, None, shapes((2, 3, 2)), uses=["min"])
reduction("prod", lambda x: np.prod(x), None, SMALL, shapes((5,)), uses=["multiply"])
reduction("prod_axis", lambda x: np.prod(x, axis=0), None, shapes((3, 2)), uses=["multiply"])
reduction(
    "prod_of_zeros",
    lambda x: np.prod(x, axis=1),
    None,
    lambda rng: (np.array([[0.0, 2.0, 3.0, 0.5], [0.0, 0.0, 3.0, 0.5], [0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.0]]),),
    uses=["multiply"],
)

# ---- shapes and places ----------------------------------------------------------------------------------------------


def written(x: Any, places: Any) -> Any:
    """Some of x put in other places of it."""
    y = x**3
    y[places] = x[1:3] ** 2
    return y * x


shaping("reshape", lambda x: np.reshape(x, (3, 2)) ** 3, None, SMALL)
shaping(
    "reshape_in_columns", lambda x: np.reshape(x, 6, order="F")[1:] ** 3, None, SMALL, uses=["reshape", "transpose"]
)
shaping("ravel", lambda x: np.ravel(x)[::2] ** 3, None, SMALL, uses=["reshape", "getitem"])
shaping("transpose", lambda x: np.transpose(x) ** 3, None, SMALL, shapes((2, 1, 3)))
shaping(
    "transpose_axes",
    lambda x: np.transpose(x, (2, 0, 1))[1:] ** 3,
    None,
    shapes((2, 3, 2)),
    uses=["transpose", "getitem"],
)
shaping("swapaxes", lambda x: np.swapaxes(x, 0, -1) ** 3, None, shapes((2, 3, 2)), uses=["transpose"])
shaping("expand_dims", lambda x: np.expand_dims(x, (0, 2)) ** 3, None, SMALL, uses=["reshape"])
shaping("squeeze", lambda x: np.squeeze(x) ** 3, None, shapes((1, 3, 1)), uses=["reshape"])
shaping(
    "broadcast_to",
    lambda x: np.broadcast_to(x, (2, 4, 3)) ** 3,
    None,
    shapes((3,)),
    shapes((4, 1)),
    shapes((1, 1, 3)),
    shapes(()),
)
shaping("getitem", lambda x: x[1:, ::-2] ** 3 * x[0, 0], None, shapes((3, 4)), uses=["getitem", "item"])
shaping("getitem_row", lambda x: x[1] * x[-1] * x[0], None, shapes((3, 2)), uses=["getitem"])
shaping("getitem_newaxis", lambda x: x[:, None] * x[None, ...], None, shapes((3,)), uses=["multiply"])
shaping("getitem_overlapping", lambda x: x[1:] ** 2 * x[:-1] + x[::2].sum(), None, shapes((5,)), uses=["getitem"])
shaping("item", lambda x: x[0] * x[-1] * x[1] ** 2 + x[0] ** 3, None, shapes((3,)))
shaping("gather", lambda x: x[np.array([0, 2, 2, 1, 2])] ** 3, None, shapes((3,)))
shaping("gather_rows", lambda x: x[[[0, 1], [1, 1]]] ** 3, None, shapes((2, 3)), uses=["gather"])
shaping("gather_points", lambda x: x[[0, 1, 1], [2, 0, 0]] ** 3, None, SMALL, uses=["gather"])
shaping("gather_across", lambda x: x[:, [2, 0, 0], 1:] ** 3, None, shapes((2, 3, 2)), uses=["gather"])
shaping("gather_where", lambda x: x[np.array([True, False, True])] ** 3, None, shapes((3, 2)), uses=["gather"])
shaping(
    "gather_at_traced",
    lambda x: x[np.floor(x[:2] * 0 + 1).astype(int)] ** 3,
    lambda x: x[[1, 1]] ** 3,
    shapes((3,)),
    uses=["gather", "flat_index", "astype"],
)
shaping("put", lambda x: written(x, np.array([0, 2])), None, shapes((4,)))
shaping("put_again", lambda x: written(x, np.array([1, 1])), None, shapes((4,)), uses=["put"])
shaping(
    "put_at_traced",
    lambda x: written(x, np.floor(x[:2] * 0 + 1).astype(int)),
    lambda x: written(x, [1, 1]),
    shapes((4,)),
    uses=["put", "flat_index", "astype"],
)
shaping("assemble", lambda x: np.stack([x[0] * x[1], x[2], x[0] ** 3]) ** 2, None, shapes((3,)))
shaping("concatenate", lambda x, y: np.concatenate([x, y, x]) ** 3, None, shapes((2, 3), (1, 3)))
shaping(
    "concatenate_columns",
    lambda x, y: np.concatenate([x * x, y], axis=1) ** 2,
    None,
    shapes((2, 3), (2, 1)),
    uses=["concatenate"],
)
shaping(
    "stack",
    lambda x, y: np.stack([x, y, x * y], axis=-1) ** 2,
    None,
    shapes((2, 3), (2, 3)),
    uses=["concatenate", "reshape"],
)
shaping(
    "astype",
    lambda x: x.astype(np.float32).astype(np.float64) ** 2,
    lambda x: x**2,
    lambda rng: (rng.integers(1, 9, (2, 3)) / 4.0,),
    tolerance=1e-6,
)
shaping("identity", lambda x: hoad.grad(lambda y: np.sum(y**3))(x), lambda x: 3 * x**2, SMALL)

# ---- Fourier transforms, by the definitions -------------------------------------------------------------------------

fourier = functools.partial(structured, "fft")
_re = mapped(mp.re)


def dft(n: int, axis: int, sign: int, scale: Function = lambda n: mp.one) -> Function:
    """Σ xⱼ exp(sign 2πi jk / n) times scale(n), of as many items as there are of the n."""

    def transform(x: Any) -> Any:
        x = np.moveaxis(x, axis, -1)[..., :n]
        phases = [[mp.expjpi(mp.mpf(2 * sign * j * k) / n) for k in range(n)] for j in range(x.shape[-1])]
        return np.moveaxis(x.dot(np.array(phases, dtype=object)) * scale(n), -1, axis)

    return transform


def _over_n(n: int) -> Any:
    return 1 / mp.mpf(n)


def _hermitian(n: int) -> Function:
    """The half of a spectrum of n as a whole, without the imaginary parts that it cannot have."""

    def whole(x: Any) -> Any:
        x = x[..., : n // 2 + 1]
        ends = [0, n // 2] if n % 2 == 0 else [0]
        x = np.stack([_re(x[..., k]) if k in ends else x[..., k] for k in range(x.shape[-1])], axis=-1)
        inner = [k for k in range(x.shape[-1]) if k not in ends]
        return np.concatenate([x, mapped(mp.conj)(x[..., inner[::-1]])], axis=-1)

    return whole


fourier(
    "fft",
    lambda x: np.real(np.fft.fft(x) ** 3),
    lambda x: _re(dft(x.shape[-1], -1, -1)(x) ** 3),
    shapes((4,)),
    shapes((2, 3)),
)
fourier(
    "fft_padded",
    lambda x: np.imag(np.fft.fft(x, 5, 0, "ortho") ** 2),
    lambda x: mapped(mp.im)(dft(5, 0, -1, lambda n: 1 / mp.sqrt(n))(x) ** 2),
    SMALL,
    uses=["fft", "concatenate"],
)
fourier(
    "fft_cropped",
    lambda x: np.real(np.fft.fft(x, 2, norm="forward") ** 3),
    lambda x: _re(dft(2, -1, -1, _over_n)(x) ** 3),
    SMALL,
    uses=["fft", "getitem"],
)
fourier(
    "ifft2",
    lambda x: np.real(np.fft.ifft2(x, norm="forward") ** 3),
    lambda x: _re(dft(3, 1, 1)(dft(2, 0, 1)(x)) ** 3),
    SMALL,
    uses=["ifft"],
)
fourier(
    "ifft",
    lambda x: np.imag(np.fft.ifft(np.fft.fft(x) ** 2, 4)),
    lambda x: mapped(mp.im)(dft(4, -1, 1, _over_n)(dft(3, -1, -1)(x) ** 2)),
    SMALL,
)
fourier(
    "rfft",
    lambda x: np.real(np.fft.rfft(x) ** 3),
    lambda x: _re(dft(x.shape[-1], -1, -1)(x)[..., : x.shape[-1] // 2 + 1] ** 3),
    *[shapes((n,)) for n in (1, 2, 3, 4, 5)],
)
fourier(
    "irfft",
    lambda x: np.fft.irfft(np.exp(1j * x) * x, 4) ** 2,
    lambda x: _re(dft(4, -1, 1, _over_n)(_hermitian(4)(mapped(mp.expj)(x) * x))) ** 2,
    shapes((3,)),
    shapes((2, 4)),
)
fourier(
    "irfft_odd",
    lambda x: np.fft.irfft(np.exp(1j * x) * x, 5, norm="ortho") ** 2,
    lambda x: _re(dft(5, -1, 1, lambda n: 1 / mp.sqrt(n))(_hermitian(5)(mapped(mp.expj)(x) * x))) ** 2,
    shapes((3,)),
    uses=["irfft"],
)
fourier(
    "hfft",
    lambda x: np.fft.hfft(np.exp(1j * x), 3) ** 2,
    lambda x: _re(dft(3, -1, -1)(_hermitian(3)(mapped(mp.expj)(x)))) ** 2,
    shapes((2,)),
    uses=["irfft", "conjugate"],
)

# ---- linear algebra, by the definitions -----------------------------------------------------------------------------


def _cofactor(a: Any, i: int, j: int) -> Any:
    rows, columns = ([m for m in range(len(a)) if m != k] for k in (i, j))
    return (-1) ** (i + j) * _determinant(a[rows][:, columns])


def _determinant(a: Any) -> Any:
    """Laplace's expansion along the first row."""
    if len(a) < 2:
        return a[0, 0] if len(a) else mp.one
    return sum((a[0, j] * _cofactor(a, 0, j) for j in range(len(a))), start=mp.zero)


def _adjugate(a: Any) -> Any:
    n = len(a)
    return np.array([[_cofactor(a, j, i) for j in range(n)] for i in range(n)], dtype=object).reshape(n, n)


def stacked(f: Function) -> Function:
    """A function of one matrix, on a stack of them."""

    def on_stack(a: Any) -> Any:
        if a.ndim == 2:
            return np.asarray(f(a), dtype=object)
        return np.stack([on_stack(item) for item in a])

    return on_stack


det, adjugate = stacked(_determinant), stacked(_adjugate)
inverse = stacked(lambda a: _adjugate(a) / _determinant(a))


def _swap(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def matrices(*shape: int) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    """Well conditioned square matrices."""
    return lambda rng: (rng.uniform(-0.5, 0.5, shape) + 2.0 * np.eye(shape[-1]),)


def with_right_side(matrix: tuple[int, ...], right: tuple[int, ...]) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    return lambda rng: (*matrices(*matrix)(rng), rng.uniform(-1.0, 1.0, right))


linalg("matmul", np.matmul, None, *[
    shapes(a, b)
    for a, b in [
        ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 2)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 1)),
        ((2, 1, 1, 3), (2, 3, 2)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)), ((1, 1), (1, 1)),
    ]
])  # fmt: skip
linalg("matmul_with_itself", lambda x: x @ x.T @ x, None, SMALL, uses=["matmul", "transpose"])
linalg(
    "dot",
    np.dot,
    None,
    shapes((3,), (3,)),
    shapes((2, 3), (3,)),
    shapes((2, 3), (3, 2)),
    shapes((2, 2, 3), (3,)),
    shapes((2, 3), (2, 3, 2)),
    uses=["matmul"],
)
linalg("outer", np.outer, None, shapes((2,), (3,)), shapes((2, 2), (2,)), uses=["multiply"])
linalg(
    "solve",
    np.linalg.solve,
    lambda a, b: inverse(a) @ b,
    with_right_side((3, 3), (3, 2)),
    with_right_side((2, 2, 2), (2, 2, 1)),
    with_right_side((2, 2, 2), (2, 1)),
    with_right_side((2, 2), (3, 2, 1)),
    with_right_side((3, 3), (3,)),
    with_right_side((1, 1), (1,)),
)
linalg("inv", np.linalg.inv, inverse, matrices(3, 3), matrices(2, 2, 2), matrices(1, 1))
linalg("det", np.linalg.det, det, matrices(3, 3), matrices(2, 2, 2), matrices(1, 1))
linalg(
    "det_of_singular",
    np.linalg.det,
    det,
    lambda rng: (np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),),
    lambda rng: (np.array([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 3.0]]]),),
    lambda rng: (np.zeros((2, 2)),),
    uses=["det"],
)
COFACTORS = primitive_named("cofactors")
DET_GRADIENT = primitive_named("det_gradient")


def det_gradient(a: Any) -> Any:
    return apply_primitive(DET_GRADIENT, None, a) if is_traced(a) else DET_GRADIENT.function(None, a)


def cofactors_of(a: Any) -> Any:
    """The cofactors as the rule of det asks for them, by the singular values of the point."""
    if not is_traced(a):
        return COFACTORS.function(None, a, *np.linalg.svd(a))
    point = apply_primitive(primitive_named("stop_gradient"), None, a)
    return apply_primitive(COFACTORS, None, a, *apply_primitive(primitive_named("det_svd"), None, point))


linalg(
    "det_gradient",
    det_gradient,
    lambda a: _swap(adjugate(a)),
    matrices(3, 3),
    matrices(2, 4, 4),
    matrices(2, 2),
    uses=["det_gradient"],
    tolerance=1e-13,
)
linalg(
    "cofactors",
    cofactors_of,
    lambda a: _swap(adjugate(a)),
    matrices(3, 3),
    matrices(2, 2, 2),
    matrices(1, 1),
    uses=["cofactors", "det_svd"],
    tolerance=1e-13,
)
linalg(
    "slogdet",
    lambda a: np.linalg.slogdet(a)[1] * np.linalg.slogdet(a)[0],
    lambda a: mapped(mp.sign)(det(a)) * _log(_abs(det(a))),
    matrices(3, 3),
    lambda rng: (-matrices(2, 3, 3)(rng)[0],),
    uses=["slogdet", "result"],
)

for _ord in (None, 2):
    linalg(
        f"norm_{_ord}",
        lambda x, p=_ord: np.linalg.norm(x, p),
        lambda x: _sqrt(np.sum(x * x)),
        shapes((3,)),
        uses=["sum"],
    )
linalg("norm_fro", lambda x: np.linalg.norm(x, "fro"), lambda x: _sqrt(np.sum(x * x)), SMALL, uses=["sum"])
linalg("norm_of_all", lambda x: np.linalg.norm(x), lambda x: _sqrt(np.sum(x * x)), shapes((2, 1, 2)), uses=["sum"])
linalg(
    "norm_axis",
    lambda x: np.linalg.norm(x, axis=1, keepdims=True),
    lambda x: _sqrt(np.sum(x * x, axis=1, keepdims=True)),
    SMALL,
    uses=["sum"],
)
linalg("norm_1", lambda x: np.linalg.norm(x, 1) ** 2, lambda x: np.sum(_abs(x)) ** 2, shapes((3,)), uses=["absolute"])
linalg(
    "norm_3",
    lambda x: np.linalg.norm(x, 3),
    lambda x: mapped(mp.cbrt)(np.sum(_abs(x) ** 3)),
    shapes((3,)),
    uses=["power"],
)
linalg("norm_inf", lambda x: np.linalg.norm(x, np.inf) ** 2, lambda x: np.max(_abs(x)) ** 2, shapes((3,)), uses=["max"])
linalg(
    "norm_-inf", lambda x: np.linalg.norm(x, -np.inf) ** 2, lambda x: np.min(_abs(x)) ** 2, shapes((3,)), uses=["min"]
)
for _ord, _pick, _axis in ((1, np.max, 0), (-1, np.min, 0), (np.inf, np.max, 1), (-np.inf, np.min, 1)):
    linalg(
        f"norm_{_ord}_of_matrix",
        lambda x, p=_ord: np.linalg.norm(x, p) ** 2,
        lambda x, pick=_pick, axis=_axis: pick(np.sum(_abs(x), axis=axis)) ** 2,
        SMALL,
        uses=["sum", "absolute"],
    )

# ---- factors of matrices, by iterations that share nothing with LAPACK but the start and the signs ------------------

decompositions = functools.partial(structured, "decompositions")


def symmetric(a: Any) -> Any:
    return (a + _swap(a)) / 2


def flat(*parts: Any) -> Any:
    """All results in one row."""
    return np.concatenate([np.ravel(part) for part in parts])


def each_matrix(f: Function) -> Function:
    """A function of one matrix (and more operands that are not stacked) with several results, on a stack."""

    def on_stack(a: Any) -> Any:
        if a.ndim == 2:
            return f(a)
        return tuple(np.stack(parts) for parts in zip(*map(on_stack, a), strict=True))

    return on_stack


def _cholesky_factor(a: Any) -> Any:
    """Column by column."""
    a = symmetric(a)
    n = len(a)
    made = np.full((n, n), mp.zero, dtype=object)
    for j in range(n):
        made[j, j] = mp.sqrt(a[j, j] - sum(made[j, k] ** 2 for k in range(j)))
        for i in range(j + 1, n):
            made[i, j] = (a[i, j] - sum(made[i, k] * made[j, k] for k in range(j))) / made[j, j]
    return made


def _as_double(a: Any) -> np.ndarray:
    return np.array([float(x) for x in a.ravel()]).reshape(a.shape)


def _iterations() -> int:
    """How many triple ten digits to those of now, and one to spare."""
    return 1 + math.ceil(math.log(mp.dps / 10, 3))


def _eigenvector(a: Any, start: np.ndarray) -> tuple[Any, Any]:
    """Rayleigh quotient iteration, which triples the digits each time; (A - w)⁻¹ as the adjugate, which always is."""
    v = np.array([mp.mpf(float(x)) for x in start], dtype=object)
    for _ in range(_iterations()):
        v = v / mp.sqrt(v @ v)
        w = v @ a @ v
        v = _adjugate(a - w * np.eye(len(a), dtype=int)) @ v if len(a) > 1 else v
    v = v / mp.sqrt(v @ v)
    return w, v * mp.sign(sum(x * float(y) for x, y in zip(v, start, strict=True)))


def _eigen(a: Any) -> tuple[Any, Any]:
    a = symmetric(a)
    pairs = [_eigenvector(a, start) for start in np.linalg.eigh(_as_double(a))[1].T]
    return np.array([w for w, _ in pairs], dtype=object), np.stack([v for _, v in pairs], axis=1)


def _singular(a: Any) -> tuple[Any, Any, Any]:
    """From the eigenvectors of the smaller of aᵀ a and a aᵀ."""
    u, _, vh = np.linalg.svd(_as_double(a), full_matrices=False)
    wide = a.shape[0] < a.shape[1]
    small, starts = (a @ a.T, u.T) if wide else (a.T @ a, vh)
    pairs = [_eigenvector(small, start) for start in starts]
    s = np.array([mp.sqrt(w) for w, _ in pairs], dtype=object)
    known = np.stack([v for _, v in pairs], axis=1)
    return (known, s, (a.T @ known / s).T) if wide else (a @ known / s, s, known.T)


def _orthogonal(a: Any) -> tuple[Any, Any]:
    """Gram and Schmidt, with the signs of Householder and LAPACK."""
    m, n = a.shape
    signs = np.sign(np.diagonal(np.linalg.qr(_as_double(a))[1]))
    columns: list[Any] = []
    for j in range(min(m, n)):
        left = a[:, j] - sum(((q @ a[:, j]) * q for q in columns), start=0 * a[:, j])
        columns.append(left / mp.sqrt(left @ left) * int(signs[j]))
    q = np.stack(columns, axis=1)
    r = q.T @ a
    r[np.tri(*r.shape, -1, dtype=bool)] = mp.zero
    return q, r


def _general_eigen(a: Any) -> tuple[Any, Any]:
    """By two-sided Rayleigh quotients, for simple eigenvalues that are real."""
    starts = np.real(np.linalg.eig(_as_double(a))[1])
    values, vectors = [], []
    for start, left in zip(starts.T, np.linalg.inv(starts), strict=True):
        v, y = ([mp.mpf(float(x)) for x in one] for one in (start, left))
        v, y = np.array(v, dtype=object), np.array(y, dtype=object)
        for _ in range(_iterations()):
            w = (y @ a @ v) / (y @ v)
            adjugate = _adjugate(a - w * np.eye(len(a), dtype=int)) if len(a) > 1 else np.ones((1, 1), dtype=int)
            v, y = adjugate @ v, y @ adjugate
            v, y = v / mp.sqrt(v @ v), y / mp.sqrt(y @ y)
        values.append((y @ a @ v) / (y @ v))
        vectors.append(v * mp.sign(sum(x * float(s) for x, s in zip(v, start, strict=True))))
    return np.array(values, dtype=object), np.stack(vectors, axis=1)


def _pseudo_inverse(a: Any) -> Any:
    if len(a) < len(a.T):
        return _pseudo_inverse(a.T).T
    return inverse(a.T @ a) @ a.T


cholesky, pseudo_inverse = stacked(_cholesky_factor), stacked(_pseudo_inverse)
eigen, singular, orthogonal = each_matrix(_eigen), each_matrix(_singular), each_matrix(_orthogonal)
general_eigen = each_matrix(_general_eigen)


def positive_matrices(*shape: int) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    return lambda rng: (symmetric(rng.uniform(-0.5, 0.5, shape)) + np.diag(2.0 + np.arange(shape[-1])),)


def general_matrices(*shape: int) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    """With eigenvalues that are real and apart from each other."""
    return lambda rng: (rng.uniform(-0.2, 0.2, shape) + np.diag(1.0 + np.arange(shape[-1])),)


def rectangular(*shape: int) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    """Of full rank, with singular values apart from each other."""
    return lambda rng: (rng.uniform(-0.5, 0.5, shape) + np.eye(*shape[-2:]) * (1.0 + np.arange(shape[-1])),)


def with_rows(shape: tuple[int, ...], right: tuple[int, ...]) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    return lambda rng: (*rectangular(*shape)(rng), rng.uniform(-1.0, 1.0, right))


def svd_of(a: Any) -> Any:
    return np.linalg.svd(a, full_matrices=False)


decompositions(
    "cholesky",
    np.linalg.cholesky,
    cholesky,
    positive_matrices(3, 3),
    positive_matrices(2, 2, 2),
    positive_matrices(1, 1),
)
decompositions(
    "cholesky_upper",
    lambda a: np.linalg.cholesky(a, upper=True),
    lambda a: _swap(cholesky(a)),
    positive_matrices(2, 2),
    uses=["cholesky", "transpose"],
)
decompositions(
    "eigh",
    lambda a: flat(*np.linalg.eigh(a)),
    lambda a: flat(*eigen(a)),
    positive_matrices(3, 3),
    positive_matrices(2, 2, 2),
    positive_matrices(1, 1),
    uses=["eigh", "result"],
    tolerance=2e-13,
)
decompositions(
    "eigh_of_upper", lambda a: flat(*np.linalg.eigh(a, "U")), lambda a: flat(*eigen(a)), positive_matrices(2, 2),
    uses=["eigh"], tolerance=2e-13,
)  # fmt: skip
decompositions(
    "eigvalsh", np.linalg.eigvalsh, lambda a: eigen(a)[0], positive_matrices(2, 2), uses=["eigh"], tolerance=2e-13
)
decompositions(
    "eig",
    lambda a: np.real(flat(*np.linalg.eig(a))),
    lambda a: flat(*general_eigen(a)),
    general_matrices(3, 3),
    general_matrices(2, 2, 2),
    general_matrices(1, 1),
    uses=["eig", "result"],
    tolerance=2e-12,
)
decompositions(
    "svd",
    lambda a: flat(*svd_of(a)),
    lambda a: flat(*singular(a)),
    rectangular(2, 2),
    rectangular(3, 2),
    rectangular(2, 3),
    rectangular(2, 2, 2),
    rectangular(1, 1),
    uses=["svd", "result"],
    tolerance=2e-13,
)
decompositions("svdvals", np.linalg.svdvals, lambda a: singular(a)[1], rectangular(3, 2), uses=["svd"], tolerance=2e-13)
decompositions(
    "qr",
    lambda a: flat(*np.linalg.qr(a)),
    lambda a: flat(*orthogonal(a)),
    rectangular(3, 2),
    rectangular(2, 2),
    rectangular(2, 3),
    rectangular(2, 2, 2),
    rectangular(1, 1),
    uses=["qr", "result"],
    tolerance=1e-13,
)
decompositions(
    "pinv",
    np.linalg.pinv,
    pseudo_inverse,
    rectangular(3, 2),
    rectangular(2, 3),
    rectangular(2, 2, 2),
    rectangular(1, 1),
    tolerance=1e-13,
)
decompositions(
    "lstsq",
    lambda a, b: np.linalg.lstsq(a, b)[0],
    lambda a, b: pseudo_inverse(a) @ b,
    with_rows((3, 2), (3,)),
    with_rows((3, 2), (3, 2)),
    with_rows((2, 3), (2,)),
    with_rows((2, 2), (2, 1)),
    tolerance=1e-13,
)

# ---- arrays of complex numbers, as functions of their parts ---------------------------------------------------------

complexes = functools.partial(structured, "complex")
_im, _conj = mapped(mp.im), mapped(mp.conj)


def _z(x: Any, y: Any) -> Any:
    return x + 1j * y


def _squares(z: Any) -> Any:
    return _re(z * _conj(z))


def _gram(z: Any) -> Any:
    """z zᴴ + I, which is Hermitian and positive."""
    return z @ np.swapaxes(_conj(z) if z.dtype == object else z.conj(), -1, -2) + np.eye(z.shape[-2], dtype=np.int8)


def _complex_cholesky(a: Any) -> Any:
    """Column by column."""
    n = len(a)
    made = np.full((n, n), mp.mpc(0), dtype=object)
    for j in range(n):
        made[j, j] = mp.sqrt(mp.re(a[j, j]) - sum(mp.re(made[j, k] * mp.conj(made[j, k])) for k in range(j)))
        for i in range(j + 1, n):
            made[i, j] = (a[i, j] - sum(made[i, k] * mp.conj(made[j, k]) for k in range(j))) / made[j, j]
    return made


def _projector(z: Any) -> Any:
    """z (zᴴ z)⁻¹ zᴴ, which is Q Qᴴ."""
    return z @ inverse(_conj(z.T) @ z) @ _conj(z.T)


def _parts(f: Function, re: Function = np.real, im: Function = np.imag) -> Function:
    """Both parts of a function of one complex array, of its parts."""
    return lambda x, y: flat(re(f(_z(x, y))), im(f(_z(x, y))))


def of_parts(name: str, f: Function, oracle: Function, *examples: Any, **options: Any) -> None:
    """A row for both parts of f."""
    complexes(f"complex_{name}", _parts(f), _parts(oracle, _re, _im), *examples, **options)


def both(*shape: int) -> Callable[[Rng], tuple[np.ndarray, ...]]:
    """Real and imaginary part of a well conditioned matrix of full rank."""
    return lambda rng: (*rectangular(*shape)(rng), rng.uniform(-0.5, 0.5, shape))


TWO = shapes((2, 2), (2, 2))

of_parts("products", lambda z: z * z / (z + 3) - z.T, lambda z: z * z / (z + 3) - z.T, TWO, uses=["divide"])
of_parts("sum", lambda z: np.sum(z * z, 0), lambda z: np.sum(z * z, 0), TWO, uses=["sum"])
of_parts("prod", np.prod, np.prod, TWO, uses=["multiply"])
of_parts("cumsum", lambda z: np.cumsum(z) ** 2, lambda z: np.cumsum(z) ** 2, TWO, uses=["cumsum"])
of_parts("mean", lambda z: np.mean(z**3, 1), lambda z: np.sum(z**3, 1) / 2, TWO, uses=["sum"])
of_parts("indexed", lambda z: z[::-1] ** 2 * z[0, 1], lambda z: z[::-1] ** 2 * z[0, 1], TWO, uses=["getitem"])
of_parts("put", lambda z: written(z[0] * z[1], np.array([1])), lambda z: written(z[0] * z[1], [1]), TWO, uses=["put"])
of_parts("gathered", lambda z: z[[0, 1, 1]] ** 3, lambda z: z[[0, 1, 1]] ** 3, TWO, uses=["gather"])
of_parts(
    "joined",
    lambda z: np.hstack([z, z**2, np.ones((2, 1))]),
    lambda z: np.hstack([z, z**2, np.ones((2, 1))]),
    TWO,
    uses=["concatenate"],
)
of_parts(
    "stacked",
    lambda z: np.array([z[0, 0] ** 2, 1j, z[1, 0].real], like=z),
    lambda z: np.array([z[0, 0] ** 2, 1j, mp.re(z[1, 0])]),
    TWO,
    uses=["concatenate"],
)
of_parts(
    "chosen",
    lambda z: np.where(z.real > 0, z**2, 1j * z),
    lambda z: np.where(_re(z) > 0, z**2, 1j * z),
    TWO,
    uses=["select"],
)
of_parts("matmul", lambda z: z @ z @ z, lambda z: z @ z @ z, TWO, uses=["matmul"])
of_parts("einsum", lambda z: np.einsum("ij,kj->ik", z, z.conj()), lambda z: z @ _conj(z.T), TWO, uses=["matmul"])
of_parts(
    "vdot", lambda z: np.vdot(z[0], z[1] * z[0]), lambda z: np.sum(_conj(z[0]) * z[1] * z[0]), TWO, uses=["conjugate"]
)
of_parts(
    "correlate",
    lambda z: np.correlate(z[0], z[1], "full"),
    lambda z: np.array([z[0, 0] * mp.conj(z[1, 1]), np.sum(z[0] * _conj(z[1])), z[0, 1] * mp.conj(z[1, 0])]),
    TWO,
    uses=["correlate"],
)
of_parts(
    "convolve",
    lambda z: np.convolve(z[0], z[1]),
    lambda z: np.array([z[0, 0] * z[1, 0], z[0, 0] * z[1, 1] + z[0, 1] * z[1, 0], z[0, 1] * z[1, 1]]),
    TWO,
    uses=["correlate"],
)
of_parts("inv", np.linalg.inv, inverse, both(2, 2), uses=["inv"], tolerance=1e-13)
of_parts(
    "solve",
    lambda z: np.linalg.solve(z, z**2),
    lambda z: inverse(z) @ z**2,
    both(2, 2),
    uses=["solve"],
    tolerance=1e-13,
)
of_parts(
    "det",
    lambda z: np.linalg.det(z),
    lambda z: np.asarray(det(z), dtype=object)[()],
    both(2, 2),
    uses=["det"],
    tolerance=1e-13,
)
of_parts(
    "sign_of_det",
    lambda z: np.linalg.slogdet(z)[0],
    lambda z: det(z)[()] / abs(det(z)[()]),
    both(2, 2),
    uses=["slogdet"],
    tolerance=1e-13,
)
of_parts(
    "cholesky",
    lambda z: np.linalg.cholesky(_gram(z)),
    lambda z: _complex_cholesky(_gram(z)),
    TWO,
    uses=["cholesky"],
    tolerance=1e-13,
)
of_parts(
    "pinv", np.linalg.pinv, lambda z: inverse(_conj(z.T) @ z) @ _conj(z.T), both(3, 2), uses=["pinv"], tolerance=2e-13
)
of_parts(
    "lstsq",
    lambda z: np.linalg.lstsq(z, z[:, 0] ** 2)[0],
    lambda z: inverse(_conj(z.T) @ z) @ _conj(z.T) @ z[:, 0] ** 2,
    both(3, 2),
    uses=["lstsq"],
    tolerance=2e-13,
)
of_parts(
    "qr",
    lambda z: np.linalg.qr(z)[0] @ np.linalg.qr(z)[0].conj().T,
    _projector,
    both(3, 2),
    uses=["qr"],
    tolerance=2e-13,
)
of_parts(
    "max", lambda z: np.max(z, 1) ** 2, lambda z: np.array([max(row, key=mp.re) for row in z]) ** 2, TWO, uses=["max"]
)
of_parts("min", lambda z: np.min(z) ** 3, lambda z: min(z.ravel(), key=mp.re) ** 3, TWO, uses=["min"])
of_parts(
    "broadcast",
    lambda z: np.broadcast_to(z, (2, 2, 2)) ** 2,
    lambda z: np.stack([z, z]) ** 2,
    TWO,
    uses=["broadcast_to"],
)
of_parts(
    "single",
    lambda z: z.astype(np.complex64).astype(np.complex128) ** 2,
    lambda z: z**2,
    TWO,
    uses=["astype"],
    tolerance=1e-6,
)
of_parts("stopped", lambda z: hoad.stop_gradient(z) * 0.0 + z**2, lambda z: z**2, TWO, uses=["stop_gradient"])
of_parts("nested", hoad.grad(lambda z: np.sum(z**3), holomorphic=True), lambda z: 3 * z**2, TWO, uses=["identity"])
of_parts(
    "det_gradient",
    det_gradient,
    lambda z: _swap(adjugate(z)),
    both(3, 3),
    uses=["det_gradient"],
    tolerance=1e-13,
)
of_parts(
    "cofactors",
    cofactors_of,
    lambda z: _swap(adjugate(z)),
    both(2, 2),
    uses=["cofactors"],
    tolerance=1e-13,
)
complexes(
    "complex_logdet",
    lambda x, y: np.linalg.slogdet(_z(x, y))[1],
    lambda x, y: mp.log(abs(det(_z(x, y))[()])),
    both(2, 2),
    uses=["slogdet"],
    tolerance=1e-13,
)
complexes(
    "complex_norm",
    lambda x, y: np.linalg.norm(_z(x, y), axis=1),
    lambda x, y: _sqrt(np.sum(x * x + y * y, 1)),
    TWO,
    uses=["real", "imag"],
)
complexes(
    "complex_norm_3",
    lambda x, y: np.linalg.norm(_z(x, y), 3, axis=0),
    lambda x, y: mapped(mp.cbrt)(np.sum(_sqrt(x * x + y * y) ** 3, 0)),
    TWO,
    uses=["absolute"],
)
complexes(
    "complex_var",
    lambda x, y: np.var(_z(x, y), 0),
    lambda x, y: np.var(x, 0) + np.var(y, 0),
    TWO,
    uses=["real", "imag"],
)
complexes(
    "complex_eigvalsh",
    lambda x, y: np.sum(np.linalg.eigvalsh(_gram(_z(x, y))) ** 3),
    lambda x, y: np.sum(_re(np.diagonal(_gram(_z(x, y)) @ _gram(_z(x, y)) @ _gram(_z(x, y))))),
    TWO,
    uses=["eigh"],
    tolerance=2e-13,
)
complexes(
    "complex_svdvals",
    lambda x, y: np.sum(np.linalg.svdvals(_z(x, y)) ** 4),
    lambda x, y: np.sum(_squares(_z(x, y) @ _conj(_z(x, y).T))),
    both(3, 2),
    both(2, 2),
    uses=["svd"],
    tolerance=2e-13,
)


def _twice_hermitian(z: Any) -> Any:
    """z + zᴴ, whose eigenvalues lie about twice as far apart as the singular values of z."""
    return z + np.swapaxes(_conj(z) if z.dtype == object else z.conj(), -1, -2)


def _of_both_signs(z: Any) -> Any:
    return _twice_hermitian(z) - 5 * np.eye(z.shape[-1], dtype=np.int8)


def _as_objects(a: Any) -> Any:
    return np.array(a.tolist(), dtype=object).reshape(a.rows, a.cols)


def _dyads(u: Any, s: Any, vh: Any) -> Any:
    """s uᵢ vⱼ of each pair of vectors, which their phase does not change; pairs last."""
    return s[..., None, None, :] * u[..., :, None, :] * np.swapaxes(vh, -1, -2)[..., None, :, :]


def _further_projection(u: Any, vh: Any) -> Any:
    """That on what u, or vᴴ, has beyond the other."""
    m, n = u.shape[-1], vh.shape[-1]
    rest = u[..., n:] if m > n else np.swapaxes(vh[..., m:, :].conj(), -1, -2)
    return rest @ np.swapaxes(rest.conj(), -1, -2)


def _mp_eigh(a: Any) -> tuple[Any, Any]:
    w, v = mp.eighe(mp.matrix(a.tolist()))
    return np.array(list(w), dtype=object), _as_objects(v)


def _mp_dyads(a: Any) -> Any:
    w, v = _mp_eigh(a)
    return (_dyads(v, w, _conj(v.T)),)


def _mp_sizes(a: Any) -> Any:
    return (_squares(_mp_eigh(a)[1]),)


def _mp_hermitian_svd(a: Any) -> Any:
    w, v = _mp_eigh(a)
    order = sorted(range(len(w)), key=lambda k: -abs(w[k]))
    return (_dyads(v[:, order], w[order] * abs(w[order]), _conj(v[:, order].T)),)


def _mp_svd(a: Any) -> Any:
    u, s, vh = mp.svd_c(mp.matrix(a.tolist()))
    return (_dyads(_as_objects(u), np.array(list(s), dtype=object) ** 2, _as_objects(vh)),)


def _complement(z: Any) -> Any:
    """I - z (zᴴ z)⁻¹ zᴴ, or the same of zᴴ."""
    z = z if len(z) > len(z.T) else _conj(z.T)
    return np.eye(len(z), dtype=int) - _projector(z)


def _only(f: Function) -> Function:
    """The first result of a function of one matrix, on a stack."""
    return lambda a: each_matrix(f)(a)[0]


def _eigh_dyads(z: Any) -> Any:
    w, v = np.linalg.eigh(_twice_hermitian(z))
    return _dyads(v, w, np.swapaxes(v.conj(), -1, -2))


def _svd_dyads(a: Any, **options: Any) -> Any:
    u, s, vh = np.linalg.svd(a, **options)
    k = s.shape[-1]
    return _dyads(u[..., :k], s**2, vh[..., :k, :])


def _determined(z: Any) -> Any:
    """The zeros of an adjoint that depends on nothing undetermined."""
    return sum(apply_primitive(primitive_named("determined"), (what,), z, z) for what in range(3))


of_parts(
    "eigh",
    _eigh_dyads,
    lambda z: _only(_mp_dyads)(_twice_hermitian(z)),
    both(3, 3),
    both(2, 2, 2),
    both(1, 1),
    uses=["eigh"],
    tolerance=2e-13,
)
of_parts("determined", lambda z: z**2 + _determined(z), lambda z: z**2, both(3, 2), both(2, 2, 2), uses=["determined"])
complexes(
    "complex_eigh_of_upper",
    lambda x, y: np.abs(np.linalg.eigh(_twice_hermitian(_z(x, y)), "U")[1]) ** 2,
    lambda x, y: _only(_mp_sizes)(_twice_hermitian(_z(x, y))),
    both(2, 2),
    uses=["eigh"],
    tolerance=2e-13,
)
of_parts(
    "svd",
    lambda z: _svd_dyads(z, full_matrices=False),
    _only(_mp_svd),
    both(2, 2),
    both(3, 2),
    both(2, 3),
    both(2, 2, 2),
    both(1, 1),
    uses=["svd"],
    tolerance=2e-13,
)
of_parts(
    "hermitian_svd",
    lambda z: _svd_dyads(_of_both_signs(z), hermitian=True),
    lambda z: _only(_mp_hermitian_svd)(_of_both_signs(z)),
    both(2, 2),
    uses=["eigh"],
    tolerance=5e-13,
)
of_parts("full_svd", _svd_dyads, _only(_mp_svd), both(3, 2), both(2, 3), uses=["full_svd"], tolerance=2e-13)
of_parts(
    "further_vectors",
    lambda z: _further_projection(*np.linalg.svd(z)[::2]),
    lambda z: _only(lambda a: (_complement(a),))(z),
    both(4, 2),
    both(1, 3),
    both(2, 3, 1),
    uses=["full_svd"],
    tolerance=2e-13,
)
decompositions(
    "full_svd",
    lambda a: flat(*(lambda u, s, vh: (u[..., :2], s, vh[..., :2, :]))(*np.linalg.svd(a))),
    lambda a: flat(*singular(a)),
    rectangular(3, 2),
    rectangular(2, 4),
    rectangular(2, 2, 3),
    uses=["full_svd"],
    tolerance=2e-13,
)
decompositions(
    "further_vectors",
    lambda a: _further_projection(*np.linalg.svd(a)[::2]),
    lambda a: _only(lambda a: (_complement(a),))(a),
    rectangular(4, 2),
    rectangular(1, 3),
    rectangular(2, 3, 1),
    uses=["full_svd"],
    tolerance=2e-13,
)


def _normal(a: Any) -> Any:
    """a₁ × a₂ / |a₁ × a₂|, with the sign of NumPy's third vector."""
    found = np.cross(a[:, 0], a[:, 1])
    like = np.linalg.svd(_as_double(a))[0][:, 2]
    return found / mp.sqrt(found @ found) * int(np.sign(_as_double(found) @ like))


decompositions(
    "one_further_vector",
    lambda a: np.linalg.svd(a)[0][:, 2],
    _normal,
    rectangular(3, 2),
    uses=["full_svd"],
    tolerance=2e-13,
)
complexes(
    "complex_fftn",
    lambda x, y: np.abs(np.fft.fftn(_z(x, y), norm="ortho")) ** 2,
    lambda x, y: _squares(dft(2, 1, -1)(dft(2, 0, -1)(_z(x, y)))) / 4,
    TWO,
    uses=["fft", "absolute"],
)

# ---- along an axis --------------------------------------------------------------------------------------------------

reduction("cumsum", lambda x: np.cumsum(x * x), None, SMALL, shapes((4,)), shapes((1, 3, 1)))
reduction("cumsum_axis", lambda x: np.cumsum(x, axis=1) ** 3, None, SMALL, shapes((2, 3, 2)), uses=["cumsum"])
reduction("cumprod", lambda x: np.cumprod(x), None, SMALL, shapes((5,)), uses=["multiply"])
reduction(
    "cumprod_of_zeros",
    lambda x: np.cumprod(x, axis=1),
    None,
    lambda rng: (np.array([[2.0, 0.0, 3.0, 0.5], [0.0, 0.0, 3.0, 0.0], [0.0, 2.0, 3.0, 0.5]]),),
    uses=["multiply"],
)

# ---- what is composed of primitives ---------------------------------------------------------------------------------

SQUARE = shapes((3, 3))

linalg("einsum", lambda x, y: np.einsum("ij,jk->ki", x, y), None, shapes((2, 3), (3, 2)), uses=["matmul"])
linalg("einsum_of_three", lambda x: np.einsum("ij,jk,ki->", x, x, x), None, SQUARE, uses=["matmul"])
linalg("einsum_elementwise", lambda x: np.einsum("ij,ij,ij->j", x, x, x), None, SMALL, uses=["multiply", "sum"])
linalg("einsum_diagonal", lambda x: np.einsum("ii,ij->j", x, x * x), None, SQUARE, uses=["getitem", "matmul"])
linalg("einsum_ellipsis", lambda x: np.einsum("...ij,...j->i...", x, x[:, 0]), None, shapes((2, 2, 3)), uses=["matmul"])
linalg("tensordot", lambda x: np.tensordot(x, x * x, ([0, 1], [1, 0])), None, shapes((2, 2, 3)), uses=["matmul"])
linalg("inner", lambda x, y: np.inner(x, y), None, shapes((2, 3), (2, 3)), uses=["matmul"])
linalg("kron", np.kron, None, shapes((2, 1), (2, 2)), uses=["multiply"])
linalg("cross", np.cross, None, shapes((3,), (3,)), shapes((2, 3), (3,)), uses=["multiply"])
linalg("trace", lambda x: np.trace(x @ x) ** 2, None, SQUARE, uses=["getitem", "sum"])
linalg("diagonal", lambda x: np.diagonal(x, 1) ** 3, None, shapes((3, 4)), uses=["getitem"])
linalg("diag", lambda x: np.diag(x, 1) @ np.diag(x**2, -1), None, shapes((2,)), uses=["assemble"])
linalg("tril", lambda x: np.tril(x) @ np.triu(x, 1), None, SQUARE, uses=["mask"])
linalg("matrix_power", lambda x: np.linalg.matrix_power(x, 5), lambda x: x @ x @ x @ x @ x, SQUARE, uses=["matmul"])
linalg(
    "matrix_power_negative",
    lambda x: np.linalg.matrix_power(x, -2),
    lambda x: inverse(x) @ inverse(x),
    matrices(2, 2),
    uses=["inv"],
)
linalg("multi_dot", lambda x: np.linalg.multi_dot([x, x.T, x]), lambda x: x @ x.T @ x, SMALL, uses=["matmul"])
decompositions(
    "norm_2_of_matrix",
    lambda x: np.linalg.norm(x, 2),
    lambda x: singular(x)[1][0],
    rectangular(3, 2),
    uses=["svd", "max"],
    tolerance=2e-13,
)
decompositions(
    "nuclear_norm",
    lambda x: np.linalg.norm(x, "nuc"),
    lambda x: np.sum(singular(x)[1]),
    rectangular(2, 3),
    uses=["svd", "result"],
    tolerance=2e-13,
)
decompositions(
    "matrix_exponential",
    lambda a: (np.linalg.eigh(a)[1] * np.exp(np.linalg.eigh(a)[0])) @ np.linalg.eigh(a)[1].T,
    lambda a: np.array((mp.expm(mp.matrix(symmetric(a).tolist()))).tolist(), dtype=object),
    lambda rng: (positive_matrices(2, 2)(rng)[0] - 3.0 * np.eye(2),),
    uses=["eigh"],
    tolerance=2e-13,
)

shaping("flip", lambda x: np.flip(x, 1) * x**2, None, SMALL, uses=["getitem"])
shaping("rot90", lambda x: np.rot90(x) ** 3, None, SMALL, uses=["getitem"])
shaping("roll", lambda x: np.roll(x, 1, axis=1) * x**2, None, SMALL, uses=["concatenate"])
shaping("tile", lambda x: np.tile(x, (2, 2)) ** 3, None, SMALL, uses=["broadcast_to"])
shaping("repeat", lambda x: np.repeat(x, [2, 0, 1], axis=1) ** 3, None, SMALL, uses=["gather"])
shaping("pad", lambda x: np.pad(x, 1) ** 3, None, SMALL, uses=["concatenate"])
shaping("pad_reflect", lambda x: np.pad(x, ((0, 0), (2, 1)), "reflect") ** 3, None, SMALL, uses=["gather"])
shaping("take", lambda x: np.take(x, [2, 0, 0], axis=1) ** 3, None, SMALL, uses=["gather"])
shaping("sort", lambda x: np.sort(x, axis=1)[:, 1:] ** 3, None, SMALL, uses=["argsort", "gather"])
shaping("partition", lambda x: np.partition(x, 1, axis=1)[:, 1] ** 3, None, SMALL, uses=["argpartition", "gather"])

reduction("diff", lambda x: np.diff(x, 2) ** 3, None, shapes((2, 4)), uses=["subtract"])
reduction("var", lambda x: np.var(x, axis=1, ddof=1), None, SMALL, uses=["sum"])
reduction("std", lambda x: np.std(x), lambda x: mp.sqrt(np.var(x)), SMALL, uses=["sqrt"])
reduction("average", lambda x, y: np.average(x, weights=y), None, shapes((3,), (3,), away=3.0), uses=["divide"])
reduction("ptp", lambda x: np.ptp(x, axis=0) ** 3, None, SMALL, uses=["max", "min"])
reduction("median", lambda x: np.median(x, axis=1) ** 3, None, shapes((2, 4)), uses=["gather"])
reduction(
    "quantile",
    lambda x: np.quantile(x, [0.0, 0.375, 1.0]) ** 2,
    lambda x: np.array([np.sort(x)[0], (np.sort(x)[1] + np.sort(x)[2]) / 2, np.sort(x)[4]]) ** 2,
    shapes((5,)),
    uses=["gather"],
)
reduction("trapezoid", lambda x, y: np.trapezoid(x, y), None, shapes((4,), (4,)), uses=["sum"])
reduction(
    "gradient",
    lambda x: np.gradient(x**2, 0.5, edge_order=2),
    lambda x: np.array([[-3, 4, -1, 0], [-1, 0, 1, 0], [0, -1, 0, 1], [0, 1, -4, 3]]) @ x**2,
    shapes((4,)),
    uses=["concatenate"],
)
reduction("polyval", lambda x, y: np.polyval(x, y), None, shapes((3,), (2,)), uses=["multiply"])
reduction("convolve", lambda x, y: np.convolve(x, y), None, shapes((3,), (2,)), uses=["correlate"])
reduction("correlate", lambda x, y: np.correlate(x, y, "full"), None, shapes((3,), (2,)))
reduction("correlate_with_itself", lambda x: np.correlate(x, x[1:]), None, shapes((4,)), uses=["correlate"])
reduction(
    "interp",
    lambda x, y: np.interp(x, [-2.0, -1.0, 0.5, 2.0], y),
    lambda x, y: np.array([_interpolated(t, [-2, -1, mp.mpf(0.5), 2], y) for t in x]),
    lambda rng: (rng.uniform(-1.9, 1.9, 3), rng.uniform(-1.0, 1.0, 4)),
    uses=["gather", "select"],
)


def cases_of(room: str) -> list[Any]:
    """The rows of one file of rules."""
    return [case for case in CASES if case.room == room]


for _further in (
    "cases",
    "integrals",
    "distributions",
    "shapes",
    "equations",
    "orders",
):  # which add their rows, by the functions above
    importlib.import_module(f"rules.special_{_further}")
