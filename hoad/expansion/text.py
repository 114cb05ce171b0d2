"""Power series as mathematics: ``1 + t + t²/2 + O(t³)``, and the same for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
CHANCE = 1e-5  # that a number without meaning is written as a fraction
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


def polynomial(coefficients: Iterable[Any], style: Style = Plain, spec: str = "", rounding: float = 4.0) -> str:
    """Σ cₖ tᵏ in a style; numbers by a format, or readable: fractions, where they miss them by a few last units."""
    terms = [_term(c, k, style, spec, rounding) for k, c in enumerate(coefficients) if c != 0]
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


def _term(c: Any, k: int, style: Style, spec: str, rounding: float) -> tuple[str, str]:
    """The sign of cₖ tᵏ, and the rest."""
    if c.imag == 0:
        c = c.real
    power = style.power(k)
    if np.iscomplexobj(c):
        return "+", f"({format(c, spec) if spec else _readable(c)}) {power}".rstrip()
    sign, c = ("-" if c < 0 else "+"), abs(c)
    fraction = None if spec else _as_fraction(c, rounding)
    if fraction is None:
        text = style.number(format(c, spec) if spec else _readable(c))
        return sign, f"{text} {power}".rstrip()
    p, q = fraction
    factor = "" if p == 1 and k else str(p)
    return sign, style.fraction(f"{factor} {power}".strip(), q)


def _readable(c: Any) -> str:
    return format(c, f".{DIGITS}g")


def _as_fraction(c: Any, rounding: float) -> tuple[int, int] | None:
    """p and q where c > 0 is p/q to rounding: whole numbers, 1/q, and short ones unless the decimal is shorter."""
    eps = float(np.finfo(c.dtype).eps)
    x = float(c)
    if not math.isfinite(x) or x > 1e6:
        return None
    inverse = 1 / x if x > 1e-300 else math.inf
    if x != 1 and inverse * eps < CHANCE and abs(x * round(inverse) - 1) < rounding * eps:
        return 1, round(inverse)
    found = Fraction(x).limit_denominator(max(1, int(math.sqrt(CHANCE / eps))))
    if abs(float(found) - x) > rounding * eps * x:
        return None
    p, q = found.numerator, found.denominator
    return None if q > 1 and len(_readable(x)) < len(f"{p}/{q}") and float(_readable(x)) == x else (p, q)
