"""The table of singular points: a row for every promise about them, held in every mode and at every order.

A function of one number has its derivatives listed, order by order; what happens in arrays is compared with a function
that is equal nearby and has no singular point, or whose derivatives are what the policy says.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from rules.modes import along, pointwise, words

import hoad
from hoad._core.kernels import ufuncs

INF, NAN = np.inf, np.nan
TINY, HUGE = 1e-300, 1e300
LN2 = float(np.log(2.0))


class Point(NamedTuple):
    """f′, f″, … at one number."""

    policy: str
    name: str
    f: Callable[[Any], Any]
    x: float
    derivatives: list[float]


ZEROS = [0.0, 0.0, 0.0, 0.0]

POINTS: list[Point] = []


def rows(policy: str, name: str, f: Callable[[Any], Any], at: dict[float, list[float]] | list[Any]) -> None:
    """Add rows for a function; pairs where 0.0 and -0.0 are both asked for."""
    for x, derivatives in at.items() if isinstance(at, dict) else at:
        POINTS.append(Point(policy, name, f, x, derivatives))


# ---- powers ---------------------------------------------------------------------------------------------------------

EVERYWHERE = [0.0, -0.0, 1.0, -2.0, TINY, -HUGE, INF, -INF, NAN]

rows("x⁰ has derivative 0 everywhere", "x**0", lambda x: x**0, [(x, ZEROS) for x in EVERYWHERE])
rows("x⁰ has derivative 0 everywhere", "x**0.0", lambda x: np.power(x, 0.0), [(x, ZEROS) for x in EVERYWHERE])
rows("whole powers are exact", "x**1", lambda x: x**1, [(x, [1.0, 0.0, 0.0]) for x in EVERYWHERE])
rows("whole powers are exact", "x**2", lambda x: x**2, [(x, [2.0 * x, 2.0, 0.0]) for x in EVERYWHERE])
rows("whole powers are exact", "x**3", lambda x: x**3, {
    0.0: [0.0, 0.0, 6.0, 0.0], -2.0: [12.0, -12.0, 6.0, 0.0], TINY: [0.0, 6.0 * TINY, 6.0, 0.0],
    INF: [INF, INF, 6.0, 0.0], -INF: [INF, -INF, 6.0, 0.0],
})  # fmt: skip
rows("whole powers are exact", "x**-1", lambda x: x**-1, {
    0.0: [-INF, INF, -INF], INF: ZEROS, -INF: ZEROS, -2.0: [-0.25, -0.25, -0.375, -0.75]
})  # fmt: skip
rows("whole powers are exact", "x**-1", lambda x: x**-1, {-0.0: [-INF, -INF, -INF]})
rows("powers", "x**0.5", lambda x: x**0.5, {0.0: [INF, -INF, INF], INF: ZEROS, 4.0: [0.25, -1 / 32, 3 / 256]})
rows("powers", "x**1.5", lambda x: x**1.5, {0.0: [0.0, INF, -INF], INF: [INF, 0.0, 0.0]})
rows("powers", "x**1.5", lambda x: x**1.5, {-0.0: [0.0, INF, -INF]})
rows("0ʸ is 0 for y > 0", "0**y", lambda y: 0.0**y, {2.0: ZEROS, 1.0: ZEROS, 0.5: ZEROS, 0.0: [-INF, INF, -INF]})
rows("0⁰ is 1 as the limit of x⁰, and so are derivatives", "0**y", lambda y: np.float_power(0.0, y), {
    0.0: [-INF, INF, -INF, INF], -1.0: [-INF, INF, -INF, INF], 3.0: ZEROS
})  # fmt: skip
rows("powers", "inf**y", lambda y: INF**y, {-1.0: ZEROS, 1.0: [INF, INF, INF]})
rows("powers", "2**y", lambda y: 2.0**y, {-INF: ZEROS, INF: [INF, INF], 0.0: [LN2, LN2**2, LN2**3]})

# ---- roots, exponentials, logarithms --------------------------------------------------------------------------------

IEEE = "a pole is infinite, a limit is a limit"
rows(IEEE, "sqrt", np.sqrt, {0.0: [INF, -INF, INF, -INF], INF: ZEROS, 1e-200: [5e99, -0.25 * 1e300]})
rows(IEEE, "cbrt", np.cbrt, {0.0: [INF, -INF, INF], INF: ZEROS, -INF: ZEROS, 1e-150: [1e100 / 3, -2e250 / 9]})
rows(IEEE, "exp", np.exp, {-INF: ZEROS, -1000.0: ZEROS, 1000.0: [INF] * 3, TINY: [1.0] * 4, NAN: [NAN] * 4})
rows(IEEE, "exp2", np.exp2, {-INF: ZEROS, -2000.0: ZEROS, 2000.0: [INF] * 3})
rows(IEEE, "expm1", np.expm1, {-INF: ZEROS, TINY: [1.0] * 4, -TINY: [1.0] * 4})
rows(IEEE, "log", np.log, {0.0: [INF, -INF, INF, -INF], INF: ZEROS, TINY: [1 / TINY]})
rows(IEEE, "log2", np.log2, {0.0: [INF, -INF, INF], INF: ZEROS})
rows(IEEE, "log10", np.log10, {0.0: [INF, -INF, INF], INF: ZEROS})
rows(IEEE, "log1p", np.log1p, {-1.0: [INF, -INF, INF], INF: ZEROS, TINY: [1.0, -1.0, 2.0, -6.0]})
rows(IEEE, "reciprocal", np.reciprocal, {0.0: [-INF, INF, -INF], INF: ZEROS, -INF: ZEROS})
SHARES = "equal infinities share equally"
rows(
    SHARES, "logaddexp(x, -inf)", lambda x: np.logaddexp(x, -INF), {-INF: [0.5], 1.0: [1.0, 0.0, 0.0], INF: [1.0, 0.0]}
)
rows(SHARES, "logaddexp(x, inf)", lambda x: np.logaddexp(x, INF), {-INF: ZEROS, 1.0: ZEROS, INF: [0.5]})
rows(SHARES, "logaddexp(x, x)", lambda x: np.logaddexp(x, x), [(x, [1.0, 0.0, 0.0]) for x in (-INF, -HUGE, 0.0, INF)])
rows(SHARES, "logaddexp2(x, x)", lambda x: np.logaddexp2(x, x), [(x, [1.0, 0.0, 0.0]) for x in (-INF, 3.0, INF)])
rows("a tie is not a kink", "logaddexp", lambda x: np.logaddexp(x, 1.0), {1.0: [0.5, 0.25, 0.0, -0.125]})
rows("a tie is not a kink", "logaddexp2", lambda x: np.logaddexp2(1.0, x), {1.0: [0.5, LN2 / 4, 0.0, -(LN2**3) / 8]})
rows("nothing cancels far out", "logaddexp(x, 0)", lambda x: np.logaddexp(x, 0.0), {
    -1000.0: ZEROS, 1000.0: [1.0, 0.0, 0.0], -700.0: [np.exp(-700.0)] * 4
})  # fmt: skip

# ---- trigonometric and hyperbolic -----------------------------------------------------------------------------------

FAR = "nothing cancels far out"
rows(FAR, "tanh", np.tanh, [(x, ZEROS) for x in (INF, -INF, 1000.0, -1000.0, HUGE)])
rows(FAR, "tanh", np.tanh, {350.0: [4 * np.exp(-700.0), -8 * np.exp(-700.0), 16 * np.exp(-700.0)]})
rows("near 0", "tanh", np.tanh, {0.0: [1.0, 0.0, -2.0, 0.0], TINY: [1.0, -2 * TINY, -2.0, 16 * TINY]})
rows(FAR, "sech_squared", ufuncs.sech_squared, [(x, ZEROS) for x in (INF, -INF, 1000.0)])
rows(FAR, "logistic", ufuncs.logistic, [(x, ZEROS) for x in (INF, -INF, 1000.0, -1000.0)])
rows(FAR, "logistic", ufuncs.logistic, {-700.0: [np.exp(-700.0)] * 4, 700.0: [np.exp(-700.0), -np.exp(-700.0)]})
rows("near 0", "logistic", ufuncs.logistic, {0.0: [0.25, 0.0, -0.125, 0.0], 1e-150: [0.25, -0.125e-150, -0.125]})
rows(FAR, "arctan", np.arctan, [(x, ZEROS) for x in (INF, -INF, 1e200)])
rows(FAR, "arctan", np.arctan, {1e100: [1e-200, -2e-300], -1e60: [1e-120, 2e-180, 6e-240]})
rows("near 0", "arctan", np.arctan, {0.0: [1.0, 0.0, -2.0, 0.0], TINY: [1.0, -2 * TINY, -2.0, 24 * TINY]})
rows(FAR, "arcsinh", np.arcsinh, {INF: ZEROS, -INF: ZEROS, HUGE: [1 / HUGE], -1e100: [1e-100, 1e-200, 2e-300]})
rows("near 0", "arcsinh", np.arcsinh, {0.0: [1.0, 0.0, -1.0, 0.0], TINY: [1.0, -TINY, -1.0, 9 * TINY]})
rows(FAR, "arccosh", np.arccosh, {INF: ZEROS, HUGE: [1 / HUGE], 1e100: [1e-100, -1e-200, 2e-300]})
rows(IEEE, "arccosh", np.arccosh, {1.0: [INF, -INF, INF]})
rows(IEEE, "arctanh", np.arctanh, {1.0: [INF, INF, INF], -1.0: [INF, -INF, INF]})
rows("near 0", "arctanh", np.arctanh, {0.0: [1.0, 0.0, 2.0, 0.0], TINY: [1.0, 2 * TINY, 2.0, 24 * TINY]})
rows(IEEE, "arcsin", np.arcsin, {1.0: [INF, INF, INF], -1.0: [INF, -INF, INF]})
rows("near 0", "arcsin", np.arcsin, {0.0: [1.0, 0.0, 1.0, 0.0], TINY: [1.0, TINY, 1.0, 9 * TINY]})
rows(IEEE, "arccos", np.arccos, {1.0: [-INF, -INF, -INF], -1.0: [-INF, INF, -INF]})
rows("near 0", "arccos", np.arccos, {0.0: [-1.0, 0.0, -1.0, 0.0], TINY: [-1.0, -TINY, -1.0, -9 * TINY]})
rows("near 0", "sin", np.sin, {0.0: [1.0, 0.0, -1.0, 0.0], TINY: [1.0, -TINY, -1.0, TINY]})
rows("near 0", "sin", np.sin, {-0.0: [1.0, 0.0, -1.0, 0.0]})
rows("what is undefined is nan", "sin", np.sin, {INF: [NAN] * 3, NAN: [NAN] * 3})
rows("what is undefined is nan", "arcsin", np.arcsin, {1.5: [NAN] * 3})
rows("what is undefined is nan", "log of nan", np.log, {NAN: [NAN] * 3})
rows(
    FAR,
    "arctan2(x, 1)",
    lambda x: np.arctan2(x, 1.0),
    {INF: ZEROS, -INF: ZEROS, HUGE: [0.0, 0.0], 0.0: [1.0, 0.0, -2.0]},
)
rows(FAR, "arctan2(1, x)", lambda x: np.arctan2(1.0, x), {INF: ZEROS, -INF: ZEROS, 0.0: [-1.0, 0.0, 2.0, 0.0]})
rows(FAR, "arctan2(x, x)", lambda x: np.arctan2(x, HUGE), {HUGE: [0.5 / HUGE]})
rows(
    FAR,
    "hypot(x, 1)",
    lambda x: np.hypot(x, 1.0),
    {INF: [1.0, 0.0, 0.0], -INF: [-1.0, 0.0, 0.0], 0.0: [0.0, 1.0, 0.0, -3.0]},
)
rows(
    FAR, "hypot(x, 0)", lambda x: np.hypot(x, 0.0), {1e200: [1.0, 0.0, 0.0], -1e-200: [-1.0, 0.0], INF: [1.0, 0.0, 0.0]}
)
rows("nothing cancels", "hypot(x, 1e-9)", lambda x: np.hypot(x, 1e-9), {1.0: [1.0, 1e-18, -3e-18, 12e-18]})

# ---- kinks ----------------------------------------------------------------------------------------------------------

KINK = "|x| has the subgradient 0 at 0"
for _name, _abs in (("absolute", np.absolute), ("fabs", np.fabs), ("abs()", abs)):
    rows(KINK, _name, _abs, [(0.0, ZEROS), (-0.0, ZEROS)])
    rows(KINK, _name, _abs, {INF: [1.0, 0.0], -INF: [-1.0, 0.0], TINY: [1.0, 0.0], -TINY: [-1.0, 0.0], NAN: [NAN]})
rows(KINK, "hypot(x, x)", lambda x: np.hypot(x, x), [(0.0, ZEROS), (-0.0, ZEROS)])
rows(KINK, "hypot(x, 0)", lambda x: np.hypot(x, 0.0), [(0.0, ZEROS), (-0.0, ZEROS)])
rows(KINK, "copysign", lambda x: np.copysign(x, -1.0), {0.0: ZEROS, 2.0: [-1.0, 0.0], -2.0: [1.0, 0.0]})
TIES = "ties share equally"
rows(TIES, "maximum(x, 0)", lambda x: np.maximum(x, 0.0), [(0.0, [0.5, 0.0, 0.0]), (-0.0, [0.5, 0.0, 0.0])])
rows(TIES, "minimum(0, x)", lambda x: np.minimum(0.0, x), [(0.0, [0.5, 0.0, 0.0]), (-0.0, [0.5, 0.0, 0.0])])
rows(TIES, "maximum(x, x²)", lambda x: np.maximum(x, x * x), {1.0: [1.5, 1.0, 0.0], 0.0: [0.5, 1.0, 0.0]})
rows(TIES, "minimum(x, x³)", lambda x: np.minimum(x, x**3), {1.0: [2.0, 3.0, 3.0], -1.0: [2.0, -3.0, 3.0]})
rows(TIES, "maximum(x, x)", lambda x: np.maximum(x, x), {1.0: [1.0, 0.0], INF: [1.0, 0.0]})
rows(
    TIES,
    "clip",
    lambda x: np.clip(x, 0.0, 1.0),
    {0.0: [0.5, 0.0], 1.0: [0.5, 0.0], 0.5: [1.0, 0.0], 2.0: ZEROS, -INF: ZEROS},
)
rows(TIES, "clip to one value", lambda x: np.clip(x, 1.0, 1.0), {0.0: ZEROS, 2.0: ZEROS})
rows("a number beats nan", "fmax(x, nan)", lambda x: np.fmax(x, NAN), {1.0: [1.0, 0.0], INF: [1.0, 0.0]})
rows("a number beats nan", "fmin(x, nan)", lambda x: np.fmin(x, NAN), {1.0: [1.0, 0.0], INF: [1.0, 0.0]})
rows("a number beats nan", "fmax(x, 1)", lambda x: np.fmax(x, 1.0), {NAN: ZEROS, 1.0: [0.5, 0.0], 2.0: [1.0, 0.0]})
rows("a number beats nan", "fmin(x, 1)", lambda x: np.fmin(x, 1.0), {NAN: ZEROS, 1.0: [0.5, 0.0], 0.0: [1.0, 0.0]})
STEPS = "steps have derivative 0 everywhere"
for _step in (np.sign, np.floor, np.ceil, np.trunc, np.rint):
    rows(STEPS, _step.__name__, _step, [(x, ZEROS) for x in (0.0, -0.0, 0.5, 1.0, -HUGE, INF, NAN)])
rows(STEPS, "heaviside", lambda x: np.heaviside(x, 0.5), [(x, ZEROS) for x in (0.0, -0.0, 1.0, -INF)])
rows(STEPS, "heaviside at 0", lambda y: np.heaviside(0.0, y), {0.5: [1.0, 0.0], -3.0: [1.0, 0.0]})
rows(STEPS, "x % 1", lambda x: x % 1.0, [(x, [1.0, 0.0]) for x in (0.0, -0.0, 1.0, 2.5)])
WHOLE = "a quotient that rounds up to a whole number is not one"
rows(WHOLE, "fmod(1, y)", lambda y: np.fmod(1.0, y), {0.1: [-9.0, 0.0], 0.3: [-3.0, 0.0], INF: [0.0, 0.0]})
rows(WHOLE, "remainder(1, y)", lambda y: np.remainder(1.0, y), {0.1: [-9.0, 0.0], -0.3: [4.0, 0.0], INF: [0.0, 0.0]})

# ---- strong zeros: what was not chosen absorbs ----------------------------------------------------------------------

STRONG = "what was not chosen is a strong zero"
rows(STRONG, "where(x > 0, √x, 0)", lambda x: np.where(x > 0, np.sqrt(x), 0.0), [(x, ZEROS) for x in (0.0, -0.0, -1.0)])
rows(STRONG, "where(x > 0, ln x, 0)", lambda x: np.where(x > 0, np.log(x), 0.0), {0.0: ZEROS, -1.0: ZEROS})
rows(
    STRONG, "where(x ≠ 0, 1/x, x)", lambda x: np.where(x != 0, 1.0 / x, x), [(0.0, [1.0, 0.0, 0.0]), (-0.0, [1.0, 0.0])]
)
rows(STRONG, "where(x > 0, x ln x, 0)", lambda x: np.where(x > 0, x * np.log(x), 0.0), {0.0: ZEROS})
rows(
    STRONG,
    "where(x > 0, √x sin x, x²)",
    lambda x: np.where(x > 0, np.sqrt(x) * np.sin(x), x * x),
    {0.0: [0.0, 2.0, 0.0]},
)
rows(
    STRONG,
    "where(x < 1, eˣ, x)",
    lambda x: np.where(x < 1, np.exp(x), x),
    {1000.0: [1.0, 0.0, 0.0], INF: [1.0, 0.0, 0.0]},
)
rows(STRONG, "where(x > 0, x**p, 0)", lambda x: np.where(x > 0, x**0.5 + x**-2, 0.0), {0.0: ZEROS})
rows(STRONG, "where in where", lambda x: np.where(x > 0, np.where(x > 1, 1 / (x - 1), np.sqrt(x)), x), {
    0.0: [1.0, 0.0, 0.0], 1.0: [0.5, -0.25, 0.375]
})  # fmt: skip
rows(STRONG, "√where(x > 0, x, 0)", lambda x: np.sqrt(np.where(x > 0, x, 0.0)), {-1.0: ZEROS, 0.0: ZEROS})
rows(STRONG, "ln where(x > 0, x, 0)", lambda x: np.log(np.where(x > 0, x, 0.0)), {-1.0: ZEROS})
rows(STRONG, "1 / where(x > 0, x, 0)", lambda x: 1.0 / np.where(x > 0, x, 0.0), {-1.0: ZEROS})
rows(STRONG, "√max(x, 0)", lambda x: np.sqrt(np.maximum(x, 0.0)), {-1.0: ZEROS, 4.0: [0.25, -1 / 32]})
rows(STRONG, "√(3 max(x, 0))", lambda x: np.sqrt(3.0 * np.maximum(x, 0.0)), {-1.0: ZEROS})
rows(STRONG, "√clip(x, 0, 1)", lambda x: np.sqrt(np.clip(x, 0.0, 1.0)), {-1.0: ZEROS, 2.0: ZEROS})
rows(STRONG, "min(1/x, 5)", lambda x: np.minimum(1.0 / x, 5.0), {0.0: ZEROS})
rows(STRONG, "max(√x, 5)", lambda x: np.maximum(np.sqrt(x), 5.0), {0.0: ZEROS})
rows(STRONG, "mask", lambda x: ufuncs.mask(x > 0, np.sqrt(x)), {0.0: ZEROS})
rows("a constant 0.0 is not a strong zero", "0.0 · √x", lambda x: 0.0 * np.sqrt(x), {0.0: [NAN]})
rows("a constant 0.0 is not a strong zero", "√(0.0 · x)", lambda x: np.sqrt(0.0 * x), {1.0: [NAN]})


def same(got: Any, want: float) -> bool:
    """Equal up to rounding, infinities and nan included."""
    return bool(np.isclose(float(np.ravel(got)[0]), want, rtol=1e-14, atol=0.0, equal_nan=True))


@pytest.mark.parametrize("point", POINTS, ids=lambda p: f"{p.name} at {p.x}")
def test_point(point: Point) -> None:
    for order, want in enumerate(point.derivatives, start=1):
        for x in (point.x, np.array([point.x]), np.array([[point.x]] * 2)):
            for word in words(order):
                got = pointwise(point.f, word, (0,) * order)(x)
                assert np.shape(got) == np.shape(x)
                assert same(got, want), f"{point.policy}: order {order} of {point.name} at {point.x} by {word} is {got}"
            assert same(hoad.derivative(point.f, order)(x), want)


@pytest.mark.parametrize("power", [np.power, np.float_power, lambda x, y: x**y])
@pytest.mark.parametrize("y", [2.0, 3.0, 2.5, -1.0, -0.5])
def test_mixed_derivatives_of_a_power_at_0(power: Callable[..., Any], y: float) -> None:
    """∂x ∂yᵏ xʸ = xʸ⁻¹ (y logᵏ x + k logᵏ⁻¹ x) at x = 0: its limit from x > 0."""
    for order in (2, 3, 4):
        want = 0.0 if y > 1.0 else -INF * (-1.0) ** (order - 1) * np.sign(y) * -1.0
        for operands in set(itertools.permutations([0] + [1] * (order - 1))):
            for word in words(order):
                got = pointwise(power, word, operands)
                assert same(got(0.0, y), want), f"{operands} by {word}"
                assert same(got(np.zeros(2), np.full(2, y))[1], want), f"{operands} by {word}, arrays"
                assert same(hoad.jit(got)(0.0, y), want), f"{operands} by {word}, jit"


@pytest.mark.parametrize("y", [0.0, 0.5, 1.0])
def test_mixed_derivatives_of_a_power_at_0_that_are_infinite(y: float) -> None:
    """∂x ∂y xʸ = xʸ⁻¹ (1 + y log x) is ∞ at y = 0, and -∞ where 0 < y ≤ 1."""
    want = INF if y == 0.0 else -INF
    for word in ("rf", "ff", "fr", "rr"):
        got = float(pointwise(np.power, word, (1, 0))(0.0, y))
        assert got == want, f"by {word}: {got}"


def test_xlogy_at_0() -> None:
    special = pytest.importorskip("scipy.special")
    for word in words(1):
        assert pointwise(special.xlogy, word, (0,))(0.0, 0.0) == -INF
        assert pointwise(special.xlogy, word, (1,))(0.0, 0.0) == 0.0
    for word in words(2):
        for operands, want in (((0, 0), 0.0), ((1, 1), 0.0), ((0, 1), INF), ((1, 0), INF)):
            assert pointwise(special.xlogy, word, operands)(0.0, 0.0) == want


# ---- arrays ---------------------------------------------------------------------------------------------------------


class Instead(NamedTuple):
    """f at an array has the derivatives of `like` there."""

    policy: str
    name: str
    f: Callable[[Any], Any]
    like: Callable[[Any], Any]
    x: list[float]


def relu(x: Any) -> Any:
    return np.where(x > 0, x, 0.0)


A = np.array([[1.0, 2.0], [3.0, 4.0]])
INDEX = "what an index leaves out is a strong zero"
NORM = "a norm has the subgradient 0 at 0"


def nothing(x: Any) -> Any:
    return 0.0 * np.sum(x)


def second(x: Any) -> Any:
    return np.sqrt(x[1])


ARRAYS = [
    Instead(INDEX, "slice", lambda x: np.sqrt(x)[1:], second, [0.0, 4.0]),
    Instead(INDEX, "item", lambda x: np.sqrt(x)[1], second, [0.0, 4.0]),
    Instead(INDEX, "gather", lambda x: np.sqrt(x)[[1]], second, [0.0, 4.0]),
    Instead(INDEX, "gather twice", lambda x: np.log(x)[[1, 1]], lambda x: 2 * np.log(x[1]), [0.0, 4.0]),
    Instead(INDEX, "boolean", lambda x: np.sqrt(x)[x > 0], second, [0.0, 4.0]),
    Instead(INDEX, "row", lambda x: np.sqrt(np.reshape(x, (2, 1)))[1], second, [0.0, 4.0]),
    Instead(INDEX, "strides", lambda x: (1 / x)[::2], lambda x: 1 / x[::2], [1.0, 0.0, 2.0]),
    Instead(INDEX, "max", lambda x: np.max(np.sqrt(x)), second, [0.0, 4.0]),
    Instead(INDEX, "min", lambda x: np.min(1 / x), lambda x: 1 / x[1], [0.0, 4.0]),
    Instead(INDEX, "norm of a part", lambda x: np.linalg.norm(np.sqrt(x)[1:]), second, [0.0, 4.0]),
    Instead(STRONG, "where of another array", lambda x: np.where([False, True], np.sqrt(x), 1.0), second, [0.0, 4.0]),
    Instead(STRONG, "where of columns", lambda x: np.where(x[:, None] > 0, np.sqrt(x[:, None]), 1), second, [0.0, 4.0]),
    Instead(STRONG, "√ of a slice", lambda x: np.sqrt(relu(x)[:]), second, [-1.0, 4.0]),
    Instead(STRONG, "√ of a gather", lambda x: np.sqrt(relu(x)[[0, 1]]), second, [-1.0, 4.0]),
    Instead(STRONG, "√ of a reshape", lambda x: np.sqrt(np.reshape(relu(x), (2, 1))), second, [-1.0, 4.0]),
    Instead(STRONG, "√ of a transpose", lambda x: np.sqrt(np.transpose(relu(x[None]))), second, [-1.0, 4.0]),
    Instead(STRONG, "√ of a broadcast", lambda x: np.sqrt(np.broadcast_to(relu(x), (3, 2)))[0], second, [-1.0, 4.0]),
    Instead(STRONG, "√ of a concatenation", lambda x: np.sqrt(np.concatenate([relu(x), x[1:]])),
            lambda x: 2 * second(x), [-1.0, 4.0]),
    Instead(STRONG, "√ of a stack", lambda x: np.sqrt(np.stack([relu(x)[0], relu(x)[1]])), second, [-1.0, 4.0]),
    Instead(STRONG, "√ of a sum", lambda x: np.sqrt(np.sum(relu(x))), nothing, [-1.0, -4.0]),
    Instead(STRONG, "√ of a mean", lambda x: np.sqrt(np.mean(relu(x))), nothing, [-1.0, -4.0]),
    Instead(STRONG, "√ of a product", lambda x: np.sqrt(np.prod(relu(x))), nothing, [-1.0, -4.0]),
    Instead(STRONG, "√ of a matrix product", lambda x: np.sqrt(A @ relu(x)), nothing, [-1.0, -4.0]),
    Instead(STRONG, "√ of a solution", lambda x: np.sqrt(np.linalg.solve(A, relu(x))), nothing, [-1.0, -4.0]),
    Instead(STRONG, "√ of a dot", lambda x: np.sqrt(np.dot(relu(x), relu(x))), nothing, [-1.0, -4.0]),
    Instead(STRONG, "√ of maximum", lambda x: np.sqrt(np.maximum(x, 0.0)), second, [-1.0, 4.0]),
    Instead(STRONG, "(Σ √max)²", lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))) ** 2, lambda x: x[1] * 1.0, [-1.0, 4.0]),
    Instead(STRONG, "max beside a pole", lambda x: np.max(np.where(x > 0, 1 / x, -1)), lambda x: 1 / x[1], [0.0, 4.0]),
    *[
        Instead(NORM, f"norm {p}", lambda x, p=p: np.linalg.norm(x, p), nothing, [0.0, -0.0, 0.0])
        for p in (None, 1, 2, 3, 0.5, 2.5, np.inf, -np.inf)
    ],
    *[
        Instead(NORM, f"norm {p} of a matrix", lambda x, p=p: np.linalg.norm(x[:, None] * A, p), nothing, [0.0, 0.0])
        for p in (None, "fro", 1, -1, np.inf, -np.inf)
    ],
    Instead(NORM, "norm 0", lambda x: np.linalg.norm(x, 0), nothing, [0.0, 2.0]),
    Instead(NORM, "norms of rows", lambda x: np.linalg.norm(x[:, None] * A, axis=1), lambda x: 5 * x[1], [0.0, 4.0]),
    Instead(NORM, "3-norms of rows", lambda x: np.linalg.norm(x[:, None] * A, 3, axis=1),
            lambda x: 91 ** (1 / 3) * x[1], [0.0, 4.0]),
    Instead(NORM, "3-norm with a zero in it", lambda x: np.linalg.norm(x, 3), lambda x: x[1] * 1.0, [0.0, 4.0]),
    Instead(NORM, "norm of squares", lambda x: np.linalg.norm(x * x), nothing, [0.0, 0.0]),
    Instead(NORM, "hypot", lambda x: np.hypot(x[0], x[1]), nothing, [0.0, 0.0]),
    Instead(NORM, "hypot of arrays", lambda x: np.hypot(x, x[::-1]), nothing, [0.0, -0.0]),
    Instead(TIES, "max", np.max, np.mean, [2.0, 2.0, 2.0]),
    Instead(TIES, "min", np.min, np.mean, [-2.0, -2.0]),
    Instead(TIES, "max of some", np.max, lambda x: (x[0] + x[2]) / 2, [2.0, 1.0, 2.0]),
    Instead(TIES, "max²", lambda x: np.max(x) ** 2, lambda x: np.mean(x) ** 2, [2.0, 2.0]),
    Instead(TIES, "max of rows", lambda x: np.max(x[:, None] * np.ones(3), axis=1), np.sum, [2.0, 3.0]),
    Instead(TIES, "max of ±0", np.max, np.mean, [0.0, -0.0]),
    Instead(TIES, "max of infinities", np.max, lambda x: (x[0] + x[2]) / 2, [INF, 1.0, INF]),
    Instead(TIES, "maximum", lambda x: np.maximum(x[0], x[1]) ** 2, lambda x: np.mean(x) ** 2, [2.0, 2.0]),
    Instead(TIES, "norm inf", lambda x: np.linalg.norm(x, np.inf), lambda x: (x[0] - x[2]) / 2, [2.0, 1.0, -2.0]),
    Instead("products of zeros are exact", "prod", np.prod, lambda x: x[0] * x[1] * x[2], [0.0, 0.0, 3.0]),
    Instead("products of zeros are exact", "prod of one", np.prod, lambda x: x[0] * x[1] * x[2], [0.0, 2.0, 3.0]),
    Instead("by base and exponent in any order", "x**y at y = 0", lambda x: x[0] ** x[1],
            lambda x: np.exp(x[1] * np.log(x[0])), [2.0, 0.0]),
    Instead(NORM, "0**2 by base and exponent", lambda x: x[0] ** x[1], lambda x: x[0] ** 2, [0.0, 2.0]),
]  # fmt: skip


def total(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.sum(f(x))


@pytest.mark.parametrize("row", ARRAYS, ids=lambda row: f"{row.name} at {row.x}")
def test_array(row: Instead) -> None:
    x = np.array(row.x)
    rng = np.random.default_rng(1)
    directions = [(rng.uniform(0.5, 1.0, x.shape),) for _ in range(3)]
    f, like = total(row.f), total(row.like)
    size = 1.0
    for order in (1, 2, 3):
        if row.name == "0**2 by base and exponent" and order == 3:
            break  # the logarithm of 0 remains
        want = along(like, "r" * order, directions[:order])(x)
        size = max(size, abs(want))
        for word in words(order):
            got = along(f, word, directions[:order])(x)
            assert abs(got - want) <= 1e-13 * size, (
                f"{row.policy}: order {order} of {row.name} by {word}: {got}, not {want}"
            )
    gradient = hoad.grad(like)(x)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(f, mode=mode)(x), gradient, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(hoad.grad(f)(x), gradient, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(hoad.hessian(f)(x), hoad.hessian(like)(x), rtol=1e-13, atol=1e-13)


def test_second_derivative_of_a_singular_determinant() -> None:
    """Of a d - b c, whatever the matrix; `test_determinants` has larger ones."""
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_array_equal(hoad.grad(np.linalg.det)(singular), [[4.0, -2.0], [-2.0, 1.0]])
    hessian = np.reshape(hoad.hessian(np.linalg.det)(singular), (4, 4))
    np.testing.assert_array_equal(hessian, np.fliplr(np.diag([1.0, -1.0, -1.0, 1.0])))


def test_nan_is_not_hidden() -> None:
    for f in (np.max, np.min):
        assert hoad.grad(f)(np.array([1.0, NAN])).any()
