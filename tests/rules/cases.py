"""The table of cases: a row for every primitive that has a derivative, and for NumPy's functions made of them.

A row says how a user writes the operation, what it is in mathematics (`oracle`, evaluated by mpmath to any number of
digits), and where to try it. `test_completeness` holds that rows, rules and primitives are the same set, so a rule
that nothing tests cannot exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp
from rules.sampling import Rng, Sampler, beside, between, integers, mixed, positive, sized

import hoad
from hoad import primitive as prim
from hoad._core import ufuncs
from hoad._core.traced import apply_primitive, is_traced

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

# Primitives whose result has no derivative at all: truth values and integers. They carry no rule.
WITHOUT_DERIVATIVE = frozenset(
    """isnan isinf isfinite signbit logical_not less less_equal greater greater_equal equal not_equal logical_and
    logical_or logical_xor flat_index""".split()
)

# What the sweeps know by themselves, so that there is no rule to write.
BUILT_IN = frozenset({"input", "result", "item", "assemble"})


def elementwise(
    name: str,
    f: Function,
    oracle: Function,
    *at: Sampler,
    primitives: Sequence[str] | None = None,
    wrt: Sequence[int] | None = None,
    singular: Sequence[float] = (),
    tolerance: float = 1e-14,
) -> None:
    """Add a row."""
    operands = tuple(range(len(at)) if wrt is None else wrt)
    used = (name,) if primitives is None else tuple(primitives)
    CASES.append(Elementwise(name, f, oracle, at, used, operands, tuple(singular), tolerance))


def structured(
    room: str,
    name: str,
    f: Function,
    oracle: Function | None,
    *examples: Callable[[Rng], tuple[np.ndarray, ...]],
    primitives: Sequence[str] | None = None,
    tolerance: float = 2e-14,
    orders: int = 4,
) -> None:
    """Add a row; without an oracle f itself is run on object arrays of mpf, which NumPy knows how to do."""
    used = (name,) if primitives is None else tuple(primitives)
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
    elementwise(f"power_{_n}", lambda x, n=_n: x**n, lambda x, n=_n: x**n, MEDIUM, primitives=("power",))
elementwise("power_half", lambda x: x**0.5, mp.sqrt, positive(1e-30, 1e30), primitives=("power",))
elementwise("power_of_two", lambda x: 2.0**x, lambda x: mp.mpf(2) ** x, between(-300.0, 300.0), primitives=("power",))
elementwise("power_of_itself", lambda x: x**x, lambda x: x**x, positive(1e-3, 20.0), primitives=("power",), tolerance=4e-14)

# ---- roots, exponentials and logarithms -----------------------------------------------------------------------------

elementwise("sqrt", np.sqrt, mp.sqrt, positive(1e-60, 1e60))
elementwise("cbrt", np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), sized(1e-50, 1e50))
elementwise("exp", np.exp, mp.exp, between(-700.0, 700.0))
elementwise("exp2", np.exp2, lambda x: mp.mpf(2) ** x, between(-1000.0, 1000.0))
elementwise("expm1", np.expm1, mp.expm1, sized(1e-8, 700.0))
elementwise("log", np.log, mp.log, positive(1e-50, 1e50))
elementwise("log2", np.log2, lambda x: mp.log(x) / mp.log(2), positive(1e-50, 1e50))
elementwise("log10", np.log10, mp.log10, positive(1e-50, 1e50))
elementwise("log1p", np.log1p, mp.log1p, mixed(beside(-1.0, 1e-12, 0.5), positive(1e-9, 1e40)), singular=[-1.0])
elementwise("logaddexp", np.logaddexp, lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), between(-200, 200), between(-200, 200))
elementwise(
    "logaddexp2",
    np.logaddexp2,
    lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y) / mp.log(2),
    between(-200, 200),
    between(-200, 200),
)
elementwise("logaddexp_ties", lambda x: np.logaddexp(x, 1.0), lambda x: mp.log(mp.exp(x) + mp.e), between(1.0, 1.0),
            primitives=("logaddexp",))
elementwise("logistic", ufuncs.logistic, lambda x: 1 / (1 + mp.exp(-x)), sized(1e-6, 600.0))

# ---- trigonometric and hyperbolic functions -------------------------------------------------------------------------

INSIDE = mixed(between(-0.99, 0.99), beside(1.0, -1e-12, -1e-2), beside(-1.0, 1e-12, 1e-2), sized(1e-9, 0.1))

elementwise("sin", np.sin, mp.sin, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
elementwise("cos", np.cos, mp.cos, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
elementwise("tan", np.tan, mp.tan, mixed(between(-50.0, 50.0), sized(1e-9, 1.0)))
elementwise("arcsin", np.arcsin, mp.asin, INSIDE, singular=[-1.0, 1.0])
elementwise("arccos", np.arccos, mp.acos, INSIDE, singular=[-1.0, 1.0])
elementwise("arctan", np.arctan, mp.atan, sized(1e-9, 1e40))
elementwise("sinh", np.sinh, mp.sinh, sized(1e-9, 700.0))
elementwise("cosh", np.cosh, mp.cosh, sized(1e-9, 700.0))
elementwise("tanh", np.tanh, mp.tanh, mixed(sized(1e-9, 1.0), sized(1.0, 300.0)))
elementwise("sech", ufuncs.sech, mp.sech, mixed(sized(1e-9, 1.0), sized(1.0, 600.0)))
elementwise("arcsinh", np.arcsinh, mp.asinh, sized(1e-9, 1e40))
elementwise("arccosh", np.arccosh, mp.acosh, mixed(beside(1.0, 1e-12, 1.0), positive(2.0, 1e40)), singular=[1.0])
elementwise("arctanh", np.arctanh, mp.atanh, INSIDE, singular=[-1.0, 1.0])
elementwise("degrees", np.degrees, lambda x: x * 180 / mp.pi, MEDIUM)
elementwise("rad2deg", np.rad2deg, lambda x: x * 180 / mp.pi, MEDIUM)
elementwise("radians", np.radians, lambda x: x * mp.pi / 180, MEDIUM)
elementwise("deg2rad", np.deg2rad, lambda x: x * mp.pi / 180, MEDIUM)
elementwise("hypot", np.hypot, lambda x, y: mp.sqrt(x * x + y * y), sized(1e-8, 1e8), sized(1e-8, 1e8))
elementwise("arctan2", np.arctan2, mp.atan2, sized(1e-8, 1e8), sized(1e-8, 1e8))
