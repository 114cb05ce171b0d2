"""The table of cases on complex numbers: a row for every elementwise operation that NumPy computes there.

A row says how a user writes the operation, what it is in mathematics, and where to try it. Holomorphic functions are
differentiated by z; the others, as functions of the parts of z, by those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp
from rules.sampling import Rng, Sampler

from hoad._core.kernels import ufuncs

Function = Callable[..., Any]


@dataclass(frozen=True)
class Complex:
    """An operation on complex numbers, tried on arrays of points."""

    name: str
    f: Function
    oracle: Function
    at: tuple[Sampler, ...]
    singular: tuple[complex, ...]  # points near which an error counts in distances from them
    tolerance: float
    holomorphic: bool

    def sample(self, rng: Rng, count: int) -> tuple[np.ndarray, ...]:
        return tuple(sampler(rng, count) for sampler in self.at)


CASES: list[Complex] = []


def holomorphic(
    name: str, f: Function, oracle: Function, *at: Sampler, singular: tuple[complex, ...] = (), tolerance: float = 2e-14
) -> None:
    """Add a row."""
    CASES.append(Complex(name, f, oracle, at, singular, tolerance, True))


def other(name: str, f: Function, oracle: Function, *at: Sampler) -> None:
    """Add a row for a function that is not holomorphic."""
    CASES.append(Complex(name, f, oracle, at, (), 2e-14, False))


def ring(low: float, high: float) -> Sampler:
    """Evenly spread over all directions, and over all powers of ten of the size between."""

    def sample(rng: Rng, count: int) -> np.ndarray:
        return 10.0 ** rng.uniform(np.log10(low), np.log10(high), count) * np.exp(
            1j * rng.uniform(-np.pi, np.pi, count)
        )

    return sample


def about(*centers: complex, low: float = 1e-9, high: float = 0.5) -> Sampler:
    """In rings about these points, in turn."""
    return lambda rng, count: np.resize(centers, count) + ring(low, high)(rng, count)


def rectangle(low: complex, high: complex) -> Sampler:
    """Evenly spread."""
    return lambda rng, count: rng.uniform(low.real, high.real, count) + 1j * rng.uniform(low.imag, high.imag, count)


def mixed(*samplers: Sampler) -> Sampler:
    """A share of each."""

    def sample(rng: Rng, count: int) -> np.ndarray:
        return np.concatenate([s(rng, count // len(samplers) + 1) for s in samplers])[:: len(samplers)][:count]

    return sample


MEDIUM = ring(1e-3, 1e3)
WIDE = ring(1e-30, 1e30)
STRIP = rectangle(-20 - 8j, 20 + 8j)
SMALL = ring(1e-9, 1.0)
# On either side of the cuts from -1 and 1, and from -i and i.
AT_ONE = mixed(about(1, -1), ring(1e-9, 1e9), rectangle(-3 - 1e-3j, 3 + 1e-3j))
AT_I = mixed(about(1j, -1j), ring(1e-9, 1e9), rectangle(-1e-3 - 3j, 1e-3 + 3j))

holomorphic("add", np.add, lambda x, y: x + y, MEDIUM, MEDIUM)
holomorphic("subtract", np.subtract, lambda x, y: x - y, MEDIUM, MEDIUM)
holomorphic("multiply", np.multiply, lambda x, y: x * y, WIDE, WIDE)
holomorphic("divide", np.divide, lambda x, y: x / y, WIDE, WIDE)
holomorphic("negative", np.negative, lambda x: -x, MEDIUM)
holomorphic("positive", np.positive, lambda x: x, MEDIUM)
holomorphic("reciprocal", np.reciprocal, lambda x: 1 / x, WIDE)
holomorphic("square", np.square, lambda x: x * x, WIDE)
holomorphic("power", np.power, lambda x, y: x**y, ring(0.1, 10.0), ring(0.1, 3.0), tolerance=1e-13)
holomorphic("float_power", np.float_power, lambda x, y: x**y, ring(0.1, 10.0), ring(0.1, 3.0), tolerance=1e-13)
for _n in (-2, -1, 0, 1, 2, 3, 5):
    holomorphic(f"power_{_n}", lambda x, n=_n: x**n, lambda x, n=_n: x**n, MEDIUM)
holomorphic("power_half", lambda x: x**0.5, mp.sqrt, MEDIUM)
holomorphic("power_of_i", lambda x: 1j**x, lambda x: mp.mpc(0, 1) ** x, STRIP, tolerance=1e-13)
holomorphic("strong_multiply", ufuncs.strong_multiply, lambda x, y: x * y, WIDE, WIDE)
holomorphic("strong_multiply_both", ufuncs.strong_multiply_both, lambda x, y: x * y, WIDE, WIDE)
holomorphic("strong_divide", ufuncs.strong_divide, lambda x, y: x / y, WIDE, WIDE)
holomorphic("mask", lambda x: ufuncs.mask(x.real > 0, x) ** 2, lambda x: x * x if mp.re(x) > 0 else 0 * x, MEDIUM)
holomorphic("smooth", lambda x: ufuncs.smooth(x * x * x, x**3), lambda x: x**3, MEDIUM)
holomorphic(
    "select",
    lambda x, y: np.where(np.abs(x) > np.abs(y), x * y, np.exp(y)),
    lambda x, y: x * y if abs(x) > abs(y) else mp.exp(y),
    ring(0.1, 3.0),
    ring(0.1, 3.0),
)
holomorphic("maximum", np.maximum, lambda x, y: x if mp.re(x) > mp.re(y) else y, MEDIUM, MEDIUM)
holomorphic("minimum", np.minimum, lambda x, y: x if mp.re(x) < mp.re(y) else y, MEDIUM, MEDIUM)
holomorphic("fmax", np.fmax, lambda x, y: x if mp.re(x) > mp.re(y) else y, MEDIUM, MEDIUM)
holomorphic("fmin", np.fmin, lambda x, y: x if mp.re(x) < mp.re(y) else y, MEDIUM, MEDIUM)

holomorphic("sqrt", np.sqrt, mp.sqrt, mixed(ring(1e-60, 1e60), rectangle(-3 - 1e-3j, -1 + 1e-3j)))
holomorphic("exp", np.exp, mp.exp, rectangle(-600 - 8j, 600 + 8j))
holomorphic("exp2", np.exp2, lambda x: mp.mpf(2) ** x, rectangle(-800 - 8j, 800 + 8j))
holomorphic("expm1", np.expm1, mp.expm1, mixed(ring(1e-8, 1.0), rectangle(-600 - 8j, 600 + 8j)), tolerance=1e-13)
holomorphic("log", np.log, mp.log, mixed(ring(1e-50, 1e50), rectangle(-3 - 1e-3j, -1 + 1e-3j), about(1)), singular=(1,))
holomorphic("log2", np.log2, lambda x: mp.log(x) / mp.log(2), ring(1e-50, 1e50))
holomorphic("log10", np.log10, mp.log10, ring(1e-50, 1e50))
holomorphic("log1p", np.log1p, mp.log1p, mixed(about(-1), ring(0.1, 1e40)), singular=(-1,), tolerance=1e-13)
holomorphic("logaddexp", lambda x: np.log(np.exp(x) + 1), lambda x: mp.log(mp.exp(x) + 1), rectangle(-3 - 1j, 3 + 1j))

holomorphic("sin", np.sin, mp.sin, mixed(rectangle(-8 - 20j, 8 + 20j), SMALL))
holomorphic("cos", np.cos, mp.cos, mixed(rectangle(-8 - 20j, 8 + 20j), SMALL))
holomorphic("tan", np.tan, mp.tan, mixed(rectangle(-8 - 300j, 8 + 300j), rectangle(-8 - 1j, 8 + 1j), SMALL))
holomorphic("sinh", np.sinh, mp.sinh, mixed(rectangle(-600 - 8j, 600 + 8j), SMALL))
holomorphic("cosh", np.cosh, mp.cosh, mixed(rectangle(-600 - 8j, 600 + 8j), SMALL))
holomorphic("tanh", np.tanh, mp.tanh, mixed(rectangle(-300 - 8j, 300 + 8j), rectangle(-1 - 8j, 1 + 8j), SMALL))
holomorphic(
    "sech_squared",
    ufuncs.sech_squared,
    lambda x: mp.sech(x) ** 2,
    mixed(rectangle(-300 - 8j, 300 + 8j), rectangle(-1 - 8j, 1 + 8j), SMALL),
)
ONE, UNIT = (1, -1), (1j, -1j)
holomorphic(
    "sqrt_one_minus_square",
    ufuncs.sqrt_one_minus_square,
    lambda x: mp.sqrt(1 - x) * mp.sqrt(1 + x),
    mixed(about(1, -1), ring(1e-9, 1.0)),
    singular=ONE,
)
holomorphic("arcsin", np.arcsin, mp.asin, AT_ONE, singular=ONE)
holomorphic("arccos", np.arccos, mp.acos, AT_ONE, singular=ONE)
holomorphic("arctan", np.arctan, mp.atan, AT_I, singular=UNIT)
holomorphic("arcsinh", np.arcsinh, mp.asinh, AT_I, singular=UNIT)
holomorphic("arccosh", np.arccosh, mp.acosh, AT_ONE, singular=ONE)
holomorphic("arctanh", np.arctanh, mp.atanh, AT_ONE, singular=ONE)
holomorphic("rint", lambda x: np.rint(x) * x, lambda x: mp.mpc(mp.nint(x.real), mp.nint(x.imag)) * x, MEDIUM)

other("conjugate", np.conjugate, mp.conj, MEDIUM)
other("real", np.real, mp.re, MEDIUM)
other("imag", np.imag, mp.im, MEDIUM)
other("absolute", np.absolute, abs, WIDE)
other("sign", np.sign, lambda z: z / abs(z), MEDIUM)
other("angle", np.angle, mp.arg, MEDIUM)
other(
    "composed", lambda z: ufuncs.compose(np.imag(z), np.real(z)) ** 2, lambda z: mp.mpc(mp.im(z), mp.re(z)) ** 2, MEDIUM
)
other(
    "mixture", lambda z: np.exp(z.conj() * 1j) * np.abs(z), lambda z: mp.exp(mp.conj(z) * 1j) * abs(z), ring(0.1, 3.0)
)
