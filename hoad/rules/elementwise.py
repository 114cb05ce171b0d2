"""Derivatives of the elementwise primitives.

A line per primitive: g is the adjoint of the result p, x and y are the operands; one adjoint per operand, None for
zero. Rules must not cancel (``1 - p * p`` is wrong for tanh from x = 10 on), must follow the policy for singular
points, and are closed under repeated differentiation.

The adjoint of a complex z = x + iy is ∂/∂x - i ∂/∂y, so that dL = Re(g dz): the rule of a holomorphic function is that
of the real one, without a conjugate. On a branch cut, the sign of a zero part decides the side.
"""

import math

import numpy as np

from hoad._core.kernels.ufuncs import (
    compose,
    imag,
    logistic,
    mask,
    powlog1,
    powlog2,
    powlog3,
    real,
    sech_squared,
    select,
    slope,
    smooth,
    sqrt_one_minus_square,
    strong_divide,
    strong_multiply,
    strong_multiply_both,
    x_over_hypot,
)
from hoad._core.trace.calls import apply_primitive
from hoad._numpy.complex import conjugate, is_complex
from hoad._ops import primitives as prim
from hoad.rules.registry import vjp

LN2 = float(np.log(2.0))
LN10 = float(np.log(10.0))

# Arithmetic
vjp(np.add, lambda g, p, x, y: (g, g))
vjp(np.subtract, lambda g, p, x, y: (g, -g))
vjp(np.multiply, lambda g, p, x, y: (g * y, g * x))


def _divide(g, p, x, y):
    """(g/y, -p g/y), by one quotient: its transpose is then (x' - p y')/y, which stays one quotient at every order."""
    quotient = g / y
    return quotient, -(quotient * p)


vjp(np.divide, _divide)
vjp(np.negative, lambda g, p, x: (-g,))
vjp(np.positive, lambda g, p, x: (g,))
vjp(np.conjugate, lambda g, p, x: (conjugate(g),))
vjp(np.reciprocal, lambda g, p, x: (-(g * p * p),))
vjp(np.square, lambda g, p, x: (g * (2.0 * x),))
vjp(np.fabs, lambda g, p, x: (g * slope(x),))
vjp(slope, lambda g, p, x: (None,))


def power_rule(g, p, x, y):
    """(y xʸ⁻¹, xʸ log x), strongly zero: the derivative of x⁰ is 0 also at x = 0, and so is that of 0ʸ for y > 0."""
    return g * strong_multiply(y, x ** (y - 1.0)), g * _with_logarithm(p, x, y, powlog1)


def _with_logarithm(p, x, y, function):
    """p log x of a power p of x; `function` has its derivatives, which the product has not where x is 0."""
    found = strong_multiply(p, np.log(x))
    return found if np.iscomplexobj(p) or function is None else smooth(found, function(x, y))


def _power_with(count, after):
    """p = xʸ logᵏ x: (xʸ⁻¹ logᵏ⁻¹ x (y log x + k), xʸ logᵏ⁺¹ x), at x = 0 the limits from x > 0.

    The first as a product, for its terms may be infinities of both signs, but with the derivatives of the sum.
    """
    with_all, with_fewer = WITH_LOGARITHMS[count], WITH_LOGARITHMS[count - 1]

    def rule(g, p, x, y):
        fewer = with_fewer(x, y - 1.0)
        product = strong_multiply(fewer, strong_multiply(y, np.log(x)) + float(count))
        by_x = smooth(product, strong_multiply(y, with_all(x, y - 1.0)) + float(count) * fewer)
        return g * by_x, g * _with_logarithm(p, x, y, after)

    return rule


def _expanded(count):
    """xʸ logᵏ x in operations whose series close."""
    return lambda x, y: strong_multiply(x**y, np.log(x) ** count)


WITH_LOGARITHMS = (np.power, powlog1, powlog2, powlog3)
for _count, _primitive in enumerate((prim.POWLOG1, prim.POWLOG2, prim.POWLOG3), start=1):
    _primitive.expansion = _expanded(_count)
vjp(np.power, power_rule)
vjp(np.float_power, power_rule)
vjp(powlog1, _power_with(1, powlog2))
vjp(powlog2, _power_with(2, powlog3))
vjp(powlog3, _power_with(3, None))

# The Bessel function I₀, whose derivatives are one operation with an order
vjp(prim.BESSEL_I0, lambda g, p, x, order: (g * apply_primitive(prim.BESSEL_I0, (order + 1,), x),))
prim.BESSEL_I0.kernel = lambda x, degree, order: [
    prim.BESSEL_I0.function((order + k,), x) / math.factorial(k) for k in range(degree + 1)
]

# Roots, exponentials and logarithms
vjp(np.sqrt, lambda g, p, x: (g / (2.0 * p),))
vjp(np.cbrt, lambda g, p, x: (g / (3.0 * p) / p,))
vjp(np.exp, lambda g, p, x: (g * p,))
vjp(np.exp2, lambda g, p, x: (g * (LN2 * p),))
vjp(np.expm1, lambda g, p, x: (g * np.exp(x),))
vjp(np.log, lambda g, p, x: (g / x,))
vjp(np.log2, lambda g, p, x: (g / (LN2 * x),))
vjp(np.log10, lambda g, p, x: (g / (LN10 * x),))
vjp(np.log1p, lambda g, p, x: (g / (1.0 + x),))


def _difference(x, y):
    """x - y, or 0 where both are the same infinity."""
    return select(np.logical_and(np.equal(x, y), np.isinf(x)), 0.0, x - y)


vjp(np.logaddexp, lambda g, p, x, y: (g * logistic(_difference(x, y)), g * logistic(_difference(y, x))))
vjp(np.logaddexp2, lambda g, p, x, y: (g * logistic(LN2 * _difference(x, y)), g * logistic(LN2 * _difference(y, x))))
vjp(logistic, lambda g, p, x: (g * (0.25 * sech_squared(0.5 * x)),))


def _times_i(x):
    """i x, with the signs of zeros kept: trigonometric functions are hyperbolic ones there."""
    return compose(-imag(x), real(x))


def _sqrt_one_plus_square(x):
    """√(1 + x²), which does not overflow."""
    return sqrt_one_minus_square(_times_i(x)) if is_complex(x) else np.hypot(1.0, x)


def _over_square(g, x):
    """g / x², where x² may overflow."""
    return g / x / x


def _arctan(g, p, x):
    """g / (1 + x²)."""
    return (_over_square(g, _sqrt_one_plus_square(x)) if is_complex(x) else g * x_over_hypot(1.0, x) ** 2,)


def _arccosh(g, p, x):
    """g / (√(x - 1) √(x + 1)); the roots are ±i sqrt_one_minus_square(x), + above the real axis and - below it."""
    if is_complex(x):
        return (g / _times_i(sqrt_one_minus_square(x)) * np.copysign(1.0, imag(x)),)
    return (g / np.sqrt(x - 1.0) / np.sqrt(x + 1.0),)


# Trigonometric and hyperbolic functions
vjp(np.sin, lambda g, p, x: (g * np.cos(x),))
vjp(np.cos, lambda g, p, x: (-(g * np.sin(x)),))
vjp(np.tan, lambda g, p, x: (g * (sech_squared(_times_i(x)) if is_complex(x) else 1.0 + p * p),))
vjp(np.arcsin, lambda g, p, x: (g / sqrt_one_minus_square(x),))
vjp(np.arccos, lambda g, p, x: (-(g / sqrt_one_minus_square(x)),))
vjp(sqrt_one_minus_square, lambda g, p, x: (-(g * (x / p)),))
vjp(np.arctan, _arctan)
vjp(np.sinh, lambda g, p, x: (g * np.cosh(x),))
vjp(np.cosh, lambda g, p, x: (g * np.sinh(x),))
vjp(np.tanh, lambda g, p, x: (g * sech_squared(x),))
vjp(sech_squared, lambda g, p, x: (-2.0 * g * (p * np.tanh(x)),))
vjp(np.arcsinh, lambda g, p, x: (g / _sqrt_one_plus_square(x),))
vjp(np.arccosh, _arccosh)
vjp(np.arctanh, lambda g, p, x: (_over_square(g, sqrt_one_minus_square(x)) if is_complex(x) else g * np.cosh(p) ** 2,))
vjp(np.degrees, lambda g, p, x: (prim.DEGREE * g,))
vjp(np.rad2deg, lambda g, p, x: (prim.DEGREE * g,))
vjp(np.radians, lambda g, p, x: (prim.RADIAN * g,))
vjp(np.deg2rad, lambda g, p, x: (prim.RADIAN * g,))


def _hypot(g, p, x, y):
    """(x, y) / p, with the subgradient 0 at the origin."""
    g = mask(np.not_equal(p, 0.0), g)
    return g * x_over_hypot(x, y), g * x_over_hypot(y, x)


def _arctan2(g, p, x, y):
    """p = arctan2(x, y): (y, -x) / (x² + y²), without overflow."""
    h = np.hypot(x, y)
    return g * (x_over_hypot(y, x) / h), -g * (x_over_hypot(x, y) / h)


def _x_over_hypot(g, p, x, y):
    """p = x / h with h = hypot(x, y): (y², -x y) / h³."""
    across = x_over_hypot(y, x) / np.hypot(x, y)
    return g * (x_over_hypot(y, x) * across), -g * (p * across)


vjp(np.hypot, _hypot)
vjp(np.arctan2, _arctan2)
vjp(x_over_hypot, _x_over_hypot)


def _absolute(g, p, x):
    """g slope(x), which is the sign of x; of a complex x g x̄ / |x|, with the subgradient 0 at 0."""
    if not is_complex(x):
        return (g * slope(x),)
    a, b = _hypot(g, p, real(x), imag(x))
    return (compose(a, -b),)


def _sign(g, p, x):
    """0; a complex x / |x| turns as x does: dp = i p Im(p̄ dx) / |x|."""
    return (compose(0.0, imag(g * p) / np.absolute(x)) * np.conjugate(p) if is_complex(x) else None,)


vjp(np.absolute, _absolute)
vjp(np.sign, _sign)

# Parts of complex numbers
vjp(real, lambda g, p, x: (compose(g, 0.0),))
vjp(imag, lambda g, p, x: (compose(0.0, -g),))
vjp(compose, lambda g, p, x, y: (real(g), -imag(g)))

# Choices: what is not chosen gets a strong zero; ties share equally
vjp(select, lambda g, p, c, x, y: (None, mask(c, g), mask(np.logical_not(c), g)))
vjp(mask, lambda g, p, c, x: (None, mask(c, g)))
vjp(smooth, lambda g, p, x, y: (None, g))


def _chosen(g, better, x, y):
    """g where x is chosen (or unordered), half of it at a tie."""
    return mask(np.logical_not(better), g) * select(np.equal(x, y), 0.5, 1.0)


vjp(np.maximum, lambda g, p, x, y: (_chosen(g, np.less(x, y), x, y), _chosen(g, np.less(y, x), x, y)))
vjp(np.minimum, lambda g, p, x, y: (_chosen(g, np.less(y, x), x, y), _chosen(g, np.less(x, y), x, y)))


def _chosen_number(g, better, x, y):
    """As `_chosen`, but a nan is chosen only beside another nan."""
    lost = np.logical_or(better, np.logical_and(np.isnan(x), np.logical_not(np.isnan(y))))
    won = np.logical_and(np.isnan(y), np.logical_not(np.isnan(x)))
    return mask(np.logical_or(won, np.logical_not(lost)), g) * select(np.equal(x, y), 0.5, 1.0)


vjp(np.fmax, lambda g, p, x, y: (_chosen_number(g, np.less(x, y), x, y), _chosen_number(g, np.less(y, x), y, x)))
vjp(np.fmin, lambda g, p, x, y: (_chosen_number(g, np.less(y, x), x, y), _chosen_number(g, np.less(x, y), y, x)))

# Products with strong zeros: closed under differentiation
vjp(strong_multiply, lambda g, p, x, y: (g * y, strong_multiply(x, g)))
vjp(strong_multiply_both, lambda g, p, x, y: (strong_multiply(y, g), strong_multiply(x, g)))


def _strong_divide(g, p, x, y):
    quotient = g / y
    return quotient, -strong_multiply(p, quotient)


vjp(strong_divide, _strong_divide)

# Parts of numbers
vjp(np.floor, lambda g, p, x: (None,))
vjp(np.ceil, lambda g, p, x: (None,))
vjp(np.trunc, lambda g, p, x: (None,))
vjp(np.rint, lambda g, p, x: (None,))
vjp(np.spacing, lambda g, p, x: (None,))
vjp(np.floor_divide, lambda g, p, x, y: (None, None))
vjp(np.nextafter, lambda g, p, x, y: (g, None))
vjp(np.remainder, lambda g, p, x, y: (g, -(g * np.floor_divide(x, y))))
vjp(np.fmod, lambda g, p, x, y: (g, -g * np.rint((x - p) / y)))
vjp(np.copysign, lambda g, p, x, y: (g * (slope(x) * np.copysign(1.0, y)), None))
vjp(np.heaviside, lambda g, p, x, y: (None, mask(np.equal(x, 0.0), g)))
vjp(np.modf, lambda g, p, x: (g[0],))
vjp(np.frexp, lambda g, p, x: (np.ldexp(g[0], -p[1]),))
vjp(np.ldexp, lambda g, p, x, y: (np.ldexp(g, y), None))
