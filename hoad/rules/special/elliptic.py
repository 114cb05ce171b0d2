"""Elliptic integrals and functions: each derivative is an integral of one sign, taken as it stands.

Elliptic integrals of the parameter m = k² and Carlson's symmetric ones belong to two families that differentiate into
themselves. Formulas by other elliptic integrals have poles where two arguments meet; these have none.

References
----------
NIST Digital Library of Mathematical Functions, 15.5.1, 19.2.4, 19.2.5, 19.5.1, 19.5.2, 19.8.5, 19.16.1 to 19.16.6,
19.16.9, 19.18.4, 22.13.1 and 22.16.1.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from hoad._core.kernels.ufuncs import strong_multiply
from hoad._numpy.complex import is_complex
from hoad.rules.registry import primitive
from hoad.rules.special.define import define, sc

# log t in the trapezoidal rule; the poles lie π from the real axis, or nearer to it for complex arguments
NODES_OF_REAL = np.arange(-130.0, 80.0, 0.4)
NODES_OF_COMPLEX = np.arange(-130.0, 80.0, 0.1)
BLOCK = 256


def _integrated(xs: Any, exponents: tuple[float, ...], power: int) -> Any:
    """∫₀^∞ t^power Π (t + xᵢ)^-exponentᵢ dt, over log t, in units of the largest argument.

    All digits as long as arguments differ by less than a factor of 10²⁰.
    """
    complex_ones = any(np.iscomplexobj(x) for x in xs)
    arrays = np.broadcast_arrays(*[np.asarray(x, np.complex128 if complex_ones else np.float64) for x in xs])
    shape, flat = arrays[0].shape, [x.reshape(-1, 1) for x in arrays]
    nodes = NODES_OF_COMPLEX if complex_ones else NODES_OF_REAL
    t, step = np.exp(nodes), nodes[1] - nodes[0]
    with np.errstate(all="ignore"):
        unit = functools.reduce(np.maximum, map(abs, flat))
        sums = []
        for k in range(0, max(1, len(unit)), BLOCK):
            part = slice(k, k + BLOCK)
            factors = [(t + x[part] / unit[part]) ** -b for x, b in zip(flat, exponents, strict=True) if b != 0.0]
            sums.append(np.sum(functools.reduce(np.multiply, factors, t ** (power + 1)), axis=-1, keepdims=True))
        found = step * np.concatenate(sums) * unit ** (1 + power - sum(exponents))
        at_zero = sum(b * (x == 0.0) for x, b in zip(flat, exponents, strict=True))
        found = np.where(at_zero >= power + 1.0, math.inf, np.where(np.isinf(unit), 0.0, found))
        if not complex_ones:
            found = np.where(functools.reduce(np.minimum, flat) < 0.0, math.nan, found)
    return found.reshape(shape)


# ---- series ----------------------------------------------------------------------------------------------------------


def carlson_expansion(*xs: Any, exponents: tuple[float, ...], power: int) -> Any:
    """The same integral of real numbers in operations that close; its unit is a constant close to the largest."""
    with np.errstate(all="ignore"):
        unit = np.exp(np.rint(np.log(functools.reduce(np.maximum, xs))))
        t, step = np.exp(NODES_OF_REAL), NODES_OF_REAL[1] - NODES_OF_REAL[0]
        columns = [np.reshape(x / unit, (*np.shape(x / unit), 1)) for x in xs]
        factors = [(t + x) ** -b for x, b in zip(columns, exponents, strict=True) if b != 0.0]
        found = np.sum(functools.reduce(np.multiply, factors, step * t ** (power + 1)), axis=-1)
        at_zero = sum(b * np.equal(x, 0.0) for x, b in zip(xs, exponents, strict=True))
        return np.where(at_zero >= power + 1.0, math.inf, found * unit ** (1 + power - sum(exponents)))


def legendre_expansion(phi: Any, m: Any, *, a: int, b: float) -> Any:
    """As `legendre` does it."""
    turns = np.rint(phi / np.pi)
    near = phi - turns * np.pi
    integral = functools.partial(carlson_expansion, exponents=(0.5, b, 1.0 + a - b), power=0)
    part = 0.5 * np.sin(near) ** (1 + 2 * a) * integral(np.cos(near) ** 2, _delta(near, m), 1.0)
    return part + strong_multiply(turns, integral(0.0 * m, 1.0 - m, 1.0))


# ---- the families ----------------------------------------------------------------------------------------------------


@primitive(elementwise=True)
def carlson(*xs, exponents, power):
    """∫₀^∞ t^power Π (t + xᵢ)^-exponentᵢ dt (DLMF 19.16.9)."""
    return _integrated(xs, exponents, power)


def _carlson(g, p, *xs, exponents, power):
    """By xᵢ the same integral with the exponent of its factor one larger."""

    def slope(i):
        raised = tuple(b + (j == i) for j, b in enumerate(exponents))
        return -exponents[i] * carlson(*xs, exponents=raised, power=power)

    return tuple(g * slope(i) if exponents[i] != 0.0 else None for i in range(len(xs)))


@primitive(elementwise=True)
def legendre(phi, m, *, a, b):
    """∫₀^φ sin²ᵃθ (1 - m sin²θ)⁻ᵇ dθ, from -π/2 to π/2 as ½ sin¹⁺²ᵃφ ∫₀^∞ (t + cos²φ)^-½ (t + Δ²)⁻ᵇ (t + 1)ᵇ⁻¹⁻ᵃ dt."""
    turns = np.rint(np.asarray(phi, np.float64) / np.pi)
    near = np.where(turns == 0.0, phi, phi - turns * np.pi)
    exponents = (0.5, b, 1.0 + a - b)
    with np.errstate(invalid="ignore"):
        part = 0.5 * np.sin(near) ** (1 + 2 * a) * _integrated((np.cos(near) ** 2, _delta(near, m), 1.0), exponents, 0)
        if np.any(turns):
            part = part + np.where(turns == 0.0, 0.0, turns * _integrated((0.0, 1.0 - m, 1.0), exponents, 0))
    return part


def _delta(phi, m):
    """1 - m sin²φ, with all digits near m = 1 and m = 0."""
    square = np.sin(phi) ** 2
    return np.where(np.less(m, 0.5), 1.0 - m * square, np.cos(phi) ** 2 + (1.0 - m) * square)


def _legendre(g, p, phi, m, *, a, b):
    by_phi = np.sin(phi) ** (2 * a) * _delta(phi, m) ** -b
    return g * by_phi, g * (b * legendre(phi, m, a=a + 1, b=b + 1.0))


define(carlson, _carlson, expansion=carlson_expansion)
define(legendre, _legendre, expansion=legendre_expansion)


# ---- rules -----------------------------------------------------------------------------------------------------------


def _slope(a, b, m):
    """π/8 F(a, b; 2; m), and nan for m > 1, where the integrals have no value."""
    return np.where(np.greater(m, 1.0), np.nan, np.pi / 8.0) * sc.hyp2f1(a, b, 2.0, m)


define(sc.ellipk, lambda g, p, m: (g * _slope(1.5, 1.5, m),))
define(sc.ellipe, lambda g, p, m: (-(g * _slope(0.5, 1.5, m)),))
define(sc.ellipkm1, lambda g, p, x: (-(g * (0.25 * carlson(0.0, x, 1.0, exponents=(0.5, 1.5, 0.5), power=0))),))
define(sc.ellipkinc, lambda g, p, phi, m: _legendre(g, p, phi, m, a=0, b=0.5))
define(sc.ellipeinc, lambda g, p, phi, m: _legendre(g, p, phi, m, a=0, b=-0.5))


def _symmetric(scale, *exponents, power=0):
    """The rule of `scale` times an integral."""
    return lambda g, p, *xs: _carlson(scale * g, p, *xs, exponents=exponents, power=power)


def _elliprc(g, p, x, y):
    """By the integral; for y < 0 it is a principal value, of which the quotients do not cancel."""
    right = np.logical_or(is_complex(y), np.greater_equal(np.real(y), 0.0))
    above = np.where(right, y, 1.0)
    by_x, by_y = _carlson(0.5, p, x, above, exponents=(0.5, 1.0), power=0)
    apart = 2.0 * (x - np.where(right, x - 1.0, y))
    root = np.sqrt(x)
    below = np.where(right, 1.0, y)
    return g * np.where(right, by_x, (1.0 / root - p) / apart), g * np.where(right, by_y, (p - root / below) / apart)


def _elliprg(g, p, *xs):
    """By x ⅛ ∫ t (t + x)^-3/2 (t + y)^-½ (t + z)^-½ dt, and so for y and z."""

    def slope(i):
        return 0.125 * carlson(*xs, exponents=tuple(1.5 if j == i else 0.5 for j in range(3)), power=1)

    return tuple(g * slope(i) for i in range(3))


def _agm(g, p, a, b):
    """M = π / (2 R_F(0, a², b²)), so that ∂M/∂a = (M/a)² / π ∫ t^-½ (t + (b/a)²)^-½ (t + 1)^-3/2 dt."""

    def slope(a, b):
        return (p / a) ** 2 / np.pi * carlson(0.0, (b / a) ** 2, 1.0, exponents=(0.5, 0.5, 1.5), power=0)

    return g * slope(a, b), g * slope(b, a)


define(sc.elliprc, _elliprc)
define(sc.elliprd, _symmetric(1.5, 0.5, 0.5, 1.5))
define(sc.elliprf, _symmetric(0.5, 0.5, 0.5, 0.5))
define(sc.elliprg, _elliprg)
define(sc.elliprj, _symmetric(1.5, 0.5, 0.5, 0.5, 1.0))
define(sc.agm, _agm)


def _ellipj(g, p, u, m):
    """By u (cn dn, -sn dn, -m sn cn, dn); by m from u = F(am, m), which is constant."""
    sn, cn, dn, am = p
    by_m = -0.5 * dn * legendre(am, m, a=1, b=1.5)
    dn_by_m = -(0.5 * sn * sn + m * sn * cn * by_m) / dn
    along = g[0] * (cn * dn) - g[1] * (sn * dn) - g[2] * (m * sn * cn) + g[3] * dn
    return along, g[0] * (cn * by_m) - g[1] * (sn * by_m) + g[2] * dn_by_m + g[3] * by_m


define(sc.ellipj, _ellipj)
