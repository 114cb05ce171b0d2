"""Power series as mathematics: ``1 + t + t²/2 + O(t³)``, and the same for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DIGITS = 6
MOST_LINES = 8


class Plain:
    """How mathematics is written in a line of text."""

    @staticmethod
    def power(k: int) -> str:
        return "" if k == 0 else "t" if k == 1 else "t" + str(k).translate(SUPERSCRIPTS)

    @staticmethod
    def fraction(above: str, below: int) -> str:
        return above if below == 1 else f"{above}/{below}"

    @staticmethod
    def number(text: str) -> str:
        return text


class Latex:
    """How mathematics is written in LaTeX."""

    @staticmethod
    def power(k: int) -> str:
        return "" if k == 0 else "t" if k == 1 else f"t^{{{k}}}"

    @staticmethod
    def fraction(above: str, below: int) -> str:
        return above if below == 1 else rf"\frac{{{above}}}{{{below}}}"

    @staticmethod
    def number(text: str) -> str:
        mantissa, _, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else text


Style = type[Plain] | type[Latex]


def polynomial(coefficients: Iterable[Any], style: Style = Plain, spec: str = "") -> str:
    """Σ cₖ tᵏ in a style; numbers by a format, or readable: fractions, where they are some to rounding."""
    terms = [_term(c, k, style, spec) for k, c in enumerate(coefficients) if c != 0]
    if not terms:
        return "0"
    text = "".join(f" {sign} {term}" for sign, term in terms)
    return text[3:] if terms[0][0] == "+" else "-" + text[3:]


def series(coefficients: Any, style: Style = Plain, spec: str = "") -> str:
    """Σ cₖ tᵏ + O(tⁿ⁺¹)."""
    order = f"O({style.power(len(coefficients))})"
    known = polynomial(coefficients, style, spec)
    return order if known == "0" else f"{known} + {order}"


def lines(coefficients: np.ndarray, spec: str = "") -> Iterator[str]:
    """A line for each entry of a series of arrays (n+1, *S), for as many as can be read."""
    shape = coefficients.shape[1:]
    for i, index in enumerate(np.ndindex(shape)):
        if i == MOST_LINES:
            yield "..."
            return
        yield f"{list(index)}: {series(coefficients[(slice(None), *index)], Plain, spec)}"


def about(point: Any, style: Style = Plain) -> str:
    """What t is where that is not the variable itself."""
    if point is None or (np.ndim(point) == 0 and point == 0):
        return ""
    if np.ndim(point):
        text = "point"
    elif np.iscomplexobj(point):
        text = f"({_readable(point)})"
    else:
        text = style.number(_readable(point))
    return f", t = x {'+ ' + text[1:] if text.startswith('-') else '- ' + text}"


def _term(c: Any, k: int, style: Style, spec: str) -> tuple[str, str]:
    """The sign of cₖ tᵏ, and the rest."""
    if c.imag == 0:
        c = c.real
    power = style.power(k)
    if np.iscomplexobj(c):
        return "+", f"({format(c, spec) if spec else _readable(c)}) {power}".rstrip()
    sign, c = ("-" if c < 0 else "+"), abs(c)
    fraction = None if spec else _as_fraction(c)
    if fraction is None:
        text = style.number(format(c, spec) if spec else _readable(c))
        return sign, f"{text} {power}".rstrip()
    p, q = fraction
    factor = "" if p == 1 and k else str(p)
    return sign, style.fraction(f"{factor} {power}".strip(), q)


def _readable(c: Any) -> str:
    return format(c, f".{DIGITS}g")


def _as_fraction(c: Any) -> tuple[int, int] | None:
    """p and q where c > 0 is p/q in three quarters of its digits, and that says more than the decimal."""
    from fractions import Fraction  # only here: not every program prints a series

    tolerance = float(np.finfo(c.dtype).eps) ** 0.75
    x = float(c)
    if not 1e-300 < x < 1e6:
        return None
    inverse = round(1 / x)
    if inverse > 1 and inverse * tolerance < 1e-3 and abs(x * inverse - 1) < tolerance:
        return 1, inverse
    found = Fraction(x).limit_denominator(math.isqrt(int(1e-2 / tolerance)))  # few numbers are such by chance
    p, q = found.numerator, found.denominator
    if abs(p / q - x) > tolerance * x:
        return None
    decimal = _readable(x)
    is_longer = len(f"{p}/{q}") > len(decimal) + (float(decimal) != x)
    return None if q > 1 and is_longer else (p, q)
