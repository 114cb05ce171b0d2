"""Functions that SciPy gives together with their derivatives, whose own derivatives an equation of second order gives.

So they close: y and y′ are all that derivatives of any order need. Derivatives with respect to parameters have no
formula, and at singular points of the equation, x = ±1 of spheroidal functions, there is none for the second one.

References
----------
NIST Digital Library of Mathematical Functions, 12.2.2, 12.2.3, 28.2.1, 28.20.1, 30.2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._ops.primitives import RADIAN
from hoad.rules.registry import primitive, vjp
from hoad.rules.special.define import define, sc, unknown

PARAMETERS = {1: "v", 2: "m, q", 3: "m, n, c", 4: "m, n, c, cv"}


def characteristic(name: str) -> Callable[..., Any]:
    """The eigenvalue that makes a solution periodic, or regular, as a function of numbers that are held."""
    function = getattr(sc, name)

    def value(*operands):
        return function(*operands)

    value.__name__ = value.__qualname__ = name
    held = primitive(elementwise=True)(value)

    def rule(g, p, *operands):
        return (unknown(name, PARAMETERS[len(operands)], "the x of its solution"),) * len(operands)

    vjp(held, rule)
    return held


def solution(name: str, curvature: Callable[..., Any], unit: float = 1.0) -> None:
    """The rule of (y, y′) with y″ = curvature(y, y′, *parameters, x); x in units other than those of y′."""
    function = getattr(sc, name)

    def rule(g, p, *operands):
        error = unknown(name, PARAMETERS[len(operands) - 1])
        along = g[0] * p[1] + g[1] * curvature(*p, *operands)
        return *[error] * (len(operands) - 1), unit * along

    define(function, rule)


# Parabolic cylinder functions
solution("pbdv", lambda y, slope, v, x: (0.25 * x * x - v - 0.5) * y)
solution("pbvv", lambda y, slope, v, x: (0.25 * x * x - v - 0.5) * y)
solution("pbwa", lambda y, slope, a, x: (a - 0.25 * x * x) * y)


mathieu_a, mathieu_b, pro_cv, obl_cv = map(characteristic, ("mathieu_a", "mathieu_b", "pro_cv", "obl_cv"))


# Mathieu functions, of degrees, and modified ones; SciPy's derivatives are by radians
def _mathieu(value, unit, wave):
    def curvature(y, slope, m, q, x):
        return (2.0 * q * wave(2.0 * unit * x) - value(m, q)) * y

    return curvature


def _modified(value):
    return lambda y, slope, m, q, x: (value(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y


solution("mathieu_cem", _mathieu(mathieu_a, RADIAN, np.cos), RADIAN)
solution("mathieu_sem", _mathieu(mathieu_b, RADIAN, np.cos), RADIAN)
for _kind in ("1", "2"):
    solution(f"mathieu_modcem{_kind}", _modified(mathieu_a))
    solution(f"mathieu_modsem{_kind}", _modified(mathieu_b))


# Spheroidal wave functions
def _inside(sign, value=None):
    """(1 - x²) y″ = 2x y′ - (λ ∓ c²x² - m² / (1 - x²)) y, with - of prolate functions."""

    def curvature(y, slope, m, n, c, *rest):
        *given, x = rest
        known = given[0] if value is None else value(m, n, c)
        near = 1.0 - x * x
        return (2.0 * x * slope - (known - sign * (c * c) * (x * x) - m * m / near) * y) / near

    return curvature


def _oblate_radial(value=None):
    """(1 + x²) y″ = -2x y′ + (λ - c²x² - m² / (1 + x²)) y."""

    def curvature(y, slope, m, n, c, *rest):
        *given, x = rest
        known = given[0] if value is None else value(m, n, c)
        near = 1.0 + x * x
        return ((known - (c * c) * (x * x) - m * m / near) * y - 2.0 * x * slope) / near

    return curvature


for _name in ("ang1", "rad1", "rad2"):
    solution(f"pro_{_name}", _inside(1.0, pro_cv))
    solution(f"pro_{_name}_cv", _inside(1.0))
solution("obl_ang1", _inside(-1.0, obl_cv))
solution("obl_ang1_cv", _inside(-1.0))
for _name in ("rad1", "rad2"):
    solution(f"obl_{_name}", _oblate_radial(obl_cv))
    solution(f"obl_{_name}_cv", _oblate_radial())
