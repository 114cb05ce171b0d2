"""Rows of the table of cases for what solves differential equations, which SciPy gives with its derivative."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.special as sc
from mpmath import mp
from rules.cases import second_kind
from rules.sampling import Sampler, between
from rules.special_cases import Function, elementwise, several

several(
    "pbvv",
    [
        lambda v, x: mp.pcfv(-v - 0.5, x),
        lambda v, x: x / 2 * mp.pcfv(-v - 0.5, x) - (v + 1) * mp.pcfv(-v - 1.5, x),
    ],
    between(0.3, 3.0),
    of=(1.5,),
    tolerance=1e-12,
)


def _taylor_of_equation(a: Any, even: bool, x: Any) -> Any:
    """The even or odd solution of y″ = (a - x²/4) y (DLMF 12.14.9)."""
    before, last, total, k = mp.zero, mp.one, mp.zero, 0
    power = mp.one if even else x
    while k < 8 or abs(last * power) > mp.eps * mp.mpf(10) ** -10:
        total += last * power
        n = 2 * k + (0 if even else 1)
        before, last = last, (a * last - before / 4) / ((n + 1) * (n + 2))
        power *= x * x
        k += 1
    return total


def _pcfw(a: Any, x: Any) -> Any:
    """W(a, x), by its values at 0 (DLMF 12.14.2, 12.14.3)."""
    g = [abs(mp.gamma(mp.mpc(mp.mpf(k) / 4, a / 2))) for k in (1, 3)]
    start = mp.mpf(2) ** (-mp.mpf(3) / 4) * mp.sqrt(g[0] / g[1])
    slope = -(mp.mpf(2) ** (-mp.mpf(1) / 4)) * mp.sqrt(g[1] / g[0])
    return start * _taylor_of_equation(a, True, x) + slope * _taylor_of_equation(a, False, x)


def first(name: str, oracle: Function, *at: Sampler, of: tuple[Any, ...], **further: Any) -> None:
    """A row for the first of two results, of which derivatives use both."""
    function, fixed = getattr(sc, name), [mp.mpf(x) for x in of]
    elementwise(
        f"special_{name}",
        lambda x: function(*of, x)[0],
        lambda x: oracle(*fixed, x),
        *at,
        uses=[f"scipy.special.{name}", "result"],
        room="special",
        closes=False,
        **further,
    )


first("pbdv", mp.pcfd, between(-3.0, 3.0), of=(1.5,), tolerance=1e-12)
first("pbwa", _pcfw, between(-3.0, 3.0), of=(0.5,), tolerance=1e-11)


@functools.cache
def _eigenvector(kind: Function, guess: float, digits: int) -> tuple[Any, list[Any]]:
    """The eigenvalue next to a guess, and its vector, of a symmetric tridiagonal matrix: by Rayleigh's quotients."""
    size = 60 + digits // 3
    diagonal, beside_it = kind(size)
    value, vector = mp.mpf(guess) + mp.mpf(10) ** -9, [mp.one] * size
    for _ in range(4 + int(np.log(digits))):
        pivots, right = [diagonal[0] - value], [vector[0]]
        for k in range(1, size):  # elimination
            factor = beside_it[k - 1] / pivots[-1]
            pivots.append(diagonal[k] - value - factor * beside_it[k - 1])
            right.append(vector[k] - factor * right[-1])
        found = [right[-1] / pivots[-1]]
        for k in range(size - 2, -1, -1):
            found.append((right[k] - beside_it[k] * found[-1]) / pivots[k])
        length = mp.sqrt(mp.fsum(y * y for y in found))
        vector = [y / length for y in reversed(found)]
        mixed_terms = mp.fsum(b * u * w for b, u, w in zip(beside_it, vector, vector[1:], strict=False))
        value = mp.fsum(d * u * u for d, u in zip(diagonal, vector, strict=True)) + 2 * mixed_terms
    return value, vector


Q = mp.mpf(1.5)


def _mathieu_matrix(size: int) -> tuple[list[Any], list[Any]]:
    """Of ce₂ₙ (DLMF 28.4.5), with √2 for the constant."""
    return [mp.mpf(4 * k * k) for k in range(size)], [Q * mp.sqrt(2), *[Q] * (size - 2)]


def _mathieu_sine_matrix(size: int) -> tuple[list[Any], list[Any]]:
    """Of se₂ₙ₊₂."""
    return [mp.mpf(4 * k * k) for k in range(1, size + 1)], [Q] * (size - 1)


def _of_mathieu(sine: bool, m: int, x: Any, wave: Function) -> Any:
    """Σ A₂ₖ wave(2kx), where Σ A² counts A₀ twice and the start, or its slope, is positive."""
    guess = float(sc.mathieu_b(m, 1.5) if sine else sc.mathieu_a(m, 1.5))
    _, vector = _eigenvector(_mathieu_sine_matrix if sine else _mathieu_matrix, guess, mp.dps)
    orders = range(2, 2 * len(vector) + 2, 2) if sine else range(0, 2 * len(vector), 2)
    weights = vector if sine else [vector[0] / mp.sqrt(2), *vector[1:]]
    sign = mp.sign(mp.fsum(n * w for n, w in zip(orders, weights, strict=True)) if sine else mp.fsum(weights))
    return sign * mp.fsum(w * wave(n * x) for n, w in zip(orders, weights, strict=True) if abs(w) > mp.eps**2)


first(
    "mathieu_cem",
    lambda m, q, x: _of_mathieu(False, 2, mp.radians(x), mp.cos),
    between(3.0, 87.0),
    of=(2, 1.5),
    single=False,
    tolerance=1e-11,
)
first(
    "mathieu_sem",
    lambda m, q, x: _of_mathieu(True, 2, mp.radians(x), mp.sin),
    between(3.0, 87.0),
    of=(2, 1.5),
    single=False,
    tolerance=1e-11,
)


def _bessels(x: Any, size: int, spherical: bool) -> list[Any]:
    """J₀, J₁, … or j₀, j₁, …, by Miller's recurrence downwards."""
    last, now, found = mp.zero, mp.one, []
    for n in range(size + mp.dps // 2, -1, -1):
        found.append(now)
        last, now = now, (2 * n + 1 if spherical else 2 * n) / x * now - last
    found.reverse()
    total = found[0] / (mp.sin(x) / x) if spherical else found[0] + 2 * mp.fsum(found[2::2])
    return [y / total for y in found[:size]]


def _neumanns(x: Any, size: int, spherical: bool) -> list[Any]:
    """Y₀, Y₁, … or y₀, y₁, …, by recurrence."""
    if spherical:
        found = [-mp.cos(x) / x, -mp.cos(x) / x / x - mp.sin(x) / x]
    else:
        found = [second_kind(n, x, -1) for n in (0, 1)]
    for n in range(1, size - 1):
        found.append((2 * n + 1 if spherical else 2 * n) / x * found[-1] - found[-2])
    return found


def _modified_mathieu(sine: bool, cylinders: Function) -> Function:
    """Mc₂ as Σ (-1)ᵏ⁺¹ A₂ₖ C₂ₖ(2√q cosh x) / ce₂(0), Ms₂ as tanh x Σ (-1)ᵏ⁺¹ 2k B₂ₖ C₂ₖ / se₂′(0), k from 1."""

    def f(m: Any, q: Any, x: Any) -> Any:
        guess = float(sc.mathieu_b(2, 1.5) if sine else sc.mathieu_a(2, 1.5))
        _, vector = _eigenvector(_mathieu_sine_matrix if sine else _mathieu_matrix, guess, mp.dps)
        orders = range(2, 2 * len(vector) + 2, 2) if sine else range(0, 2 * len(vector), 2)
        weights = (
            [n * w for n, w in zip(orders, vector, strict=True)] if sine else [vector[0] / mp.sqrt(2), *vector[1:]]
        )
        c = cylinders(2 * mp.sqrt(Q) * mp.cosh(x), 2 * len(vector) + 2, False)
        total = mp.fsum((-1) ** (n // 2 + 1) * w * c[n] for n, w in zip(orders, weights, strict=True))
        return total / mp.fsum(weights) * (mp.tanh(x) if sine else 1)

    return f


for _kind, _cylinders in (("1", _bessels), ("2", _neumanns)):
    for _letter, _sine in (("c", False), ("s", True)):
        first(
            f"mathieu_mod{_letter}em{_kind}",
            _modified_mathieu(_sine, _cylinders),
            between(1.0, 1.8),
            of=(2, 1.5),
            single=False,
            tolerance=1e-10,
        )

SQUARE = mp.mpf(2.25)  # c², with c = 1.5


def _spheroidal_matrix(sign: int) -> Function:
    """(-((1 - x²) y′)′ ± c²x² y, in normalized Legendre polynomials of even order (m = 0)."""

    def kind(size: int) -> tuple[list[Any], list[Any]]:
        beta = [mp.zero, *[mp.mpf(r * r) / (4 * r * r - 1) for r in range(1, 2 * size + 2)]]
        diagonal = [r * (r + 1) + sign * SQUARE * (beta[r] + beta[r + 1]) for r in range(0, 2 * size, 2)]
        return diagonal, [sign * SQUARE * mp.sqrt(beta[r + 1] * beta[r + 2]) for r in range(0, 2 * size - 2, 2)]

    return kind


PROLATE, OBLATE = _spheroidal_matrix(1), _spheroidal_matrix(-1)


def _spheroidal_weights(oblate: bool) -> list[Any]:
    """d₀, d₂, … of Σ dᵣ Pᵣ, with the eigenvalue that begins as 2 · 3."""
    guess = float(sc.obl_cv(0, 2, 1.5) if oblate else sc.pro_cv(0, 2, 1.5))
    _, vector = _eigenvector(OBLATE if oblate else PROLATE, guess, mp.dps)
    return [w * mp.sqrt(mp.mpf(4 * k + 1) / 2) for k, w in enumerate(vector)]


def _angular(oblate: bool) -> Function:
    """With the value of P₂ at 0."""

    def f(*operands: Any) -> Any:
        weights = _spheroidal_weights(oblate)

        def total(x: Any) -> Any:
            before, now, found = mp.zero, mp.one, mp.zero
            for n in range(2 * len(weights)):
                found += now * weights[n // 2] if n % 2 == 0 else 0
                before, now = now, ((2 * n + 1) * x * now - n * before) / (n + 1)
            return found

        return total(operands[-1]) / total(mp.zero) / -2

    return f


def _radial(oblate: bool, cylinders: Function) -> Function:
    """Σ (-1)ᵏ⁺¹ d₂ₖ z₂ₖ(cx) / Σ d₂ₖ (DLMF 30.11.3)."""

    def f(*operands: Any) -> Any:
        weights = _spheroidal_weights(oblate)
        z = cylinders(mp.mpf(1.5) * operands[-1], 2 * len(weights), True)
        return mp.fsum((-1) ** (k + 1) * w * z[2 * k] for k, w in enumerate(weights)) / mp.fsum(weights)

    return f


for _oblate, _family in ((False, "pro"), (True, "obl")):
    for _form, _of in (
        ("", (0, 2, 1.5)),
        ("_cv", (0, 2, 1.5, float((sc.obl_cv if _oblate else sc.pro_cv)(0, 2, 1.5)))),
    ):
        first(f"{_family}_ang1{_form}", _angular(_oblate), between(0.1, 0.9), of=_of, single=False, tolerance=1e-9)
        first(
            f"{_family}_rad1{_form}",
            _radial(_oblate, _bessels),
            between(2.0, 4.0),
            of=_of,
            single=False,
            tolerance=1e-9,
        )
        first(
            f"{_family}_rad2{_form}",
            _radial(_oblate, _neumanns),
            between(2.0, 4.0),
            of=_of,
            single=False,
            tolerance=1e-7,
        )
