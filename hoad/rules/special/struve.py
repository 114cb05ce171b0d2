"""Struve functions by their argument and their order, and their integrals.

H is a power series near 0, and Y and an integral from there on; where these would cancel each other, it is
∫ (1 - t²)ᵛ⁺½ sin xt dt over (0, 1). L has sinh there, and one sign. In all of them v and x stand in exponents and in
powers of x only, so that Taylor coefficients of every order are sums of the same terms.

References
----------
NIST Digital Library of Mathematical Functions, 11.2.1, 11.2.2, 11.4.27, 11.5.1, 11.5.2. Takahasi and Mori (1974), Publ.
RIMS 9 (double exponential quadrature).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad.rules.special.bessel import iv_series, yv_series
from hoad.rules.special.bessel_orders import (
    TABLES,
    WITH_LEFT_SIDE,
    Array,
    Table,
    bessel_derivative,
    by_order,
    derivative_series,
    in_both,
    product_of_tables,
    sum_of_tables,
    table_of,
    times_by_order,
    turned,
)
from hoad.rules.special.define import Coefficients, define, sc
from hoad.rules.special.integrals import by_series

ROOT_PI = math.sqrt(math.pi)
NEAR = 3.0  # up to here no digit of a power series is lost
MOST = 400.0  # the largest order in size, to which they were compared with other values
LARGE = 60.0  # from this order on a power is an exponential of logarithms
BLOCK = 64

STEP = 0.02
_ALONG = STEP * np.arange(-180, 210)
INNER = 1.0 / (1.0 + np.exp(-math.pi * np.sinh(_ALONG)))  # t in (0, 1), and 1 - t
REST = 1.0 / (1.0 + np.exp(math.pi * np.sinh(_ALONG)))
INNER_WEIGHTS = STEP * math.pi * np.cosh(_ALONG) * INNER * REST
_BEYOND = STEP * np.arange(-200, 130)
OUTER = np.exp(0.5 * math.pi * np.sinh(_BEYOND))  # xt in (0, ∞)
OUTER_WEIGHTS = STEP * 0.5 * math.pi * np.cosh(_BEYOND) * OUTER


# ---- factors ---------------------------------------------------------------------------------------------------------


def _powers(p: Array, x: Array, orders: tuple[int, int], log: Any, first: Array | None = None) -> Table:
    """Of (x/2)ᵖ⁺ᵉ, log = log(x/2): binomial coefficients times powers, with what has a factor 0 as 0 at x = 0 too.

    `first` may stand in place of (x/2)ᵖ, and another log where a factor that depends on e stands elsewhere.
    """
    logs = [1.0]
    for j in range(orders[0]):
        logs.append(logs[-1] * log / (j + 1.0))
    found: Table = {}
    binomials: list[Any] = [1.0] + [0.0] * orders[0]
    for k in range(orders[1] + 1):
        power = x ** (p - k) * 0.5**p if first is None else first / x**k
        for j in range(orders[0] + 1):
            total = sum(binomials[i] * logs[j - i] for i in range(j + 1))
            found[j, k] = np.where(np.equal(total, 0.0), 0.0, total * power)
        binomials = [
            ((p - k) * b + (binomials[j - 1] if j else 0.0)) / (k + 1.0) for j, b in enumerate(binomials)
        ]
    return found


def _reciprocal_gamma(z: Array, order: int, first: Array | None = None) -> list[Array]:
    """Of 1 / Γ(z), or what is `first` in its place: by those of ψ, to the left of 1/2 of sin πz Γ(1 - z) / π."""
    found = [sc.rgamma(z) if first is None else first]
    if order:
        left = np.less(z, 0.5)
        y = np.where(left, 1.0 - z, z)
        slopes = [-sc.psi(y)]
        slopes += [np.where(left, 1.0, (-1.0) ** k) * sc.zeta(k + 1.0, y) for k in range(1, order)]
        own = [np.where(left, sc.gamma(y) / math.pi, found[0])]
        for j in range(1, order + 1):
            own.append(sum(slopes[i] * own[j - 1 - i] for i in range(j)) / j)
        sines = [np.where(left, s, 1.0 if j == 0 else 0.0) for j, s in enumerate(turned(z, (order, 0), np.sin))]
        found += [sum(sines[i] * own[j - i] for i in range(j + 1)) for j in range(1, order + 1)]
    return found


def _scale(p: Array, z: Array, x: Array, orders: tuple[int, int]) -> Table:
    """(x/2)ᵖ / Γ(z), by p without the powers of log(x/2), which stand under the integrals beside others as large.

    Of large z no factor overflows.
    """
    large = z > LARGE
    whole = np.where(large, np.exp(p * np.log(0.5 * x) - sc.gammaln(z)), (0.5 * x) ** p)
    gammas = _reciprocal_gamma(z, orders[0], np.where(large, 1.0, sc.rgamma(z)))
    return times_by_order(gammas, _powers(p, x, orders, 0.0, whole))


# ---- the parts of H (turn = -1) and of L (turn = 1) ------------------------------------------------------------------


def _series(v: Array, x: Array, orders: tuple[int, int], turn: float) -> Table:
    """Σ (±1)ᵐ (x/2)ᵛ⁺²ᵐ⁺¹ / (Γ(m + 3/2) Γ(m + v + 3/2))."""
    m = np.arange(24 + orders[1] + math.ceil(max(0.0, -np.min(v))))
    powers = _powers(v + (2.0 * m + 1.0), x, orders, np.log(0.5 * x))
    weight = turn**m * sc.rgamma(m + 1.5)
    terms = times_by_order(_reciprocal_gamma(v + 1.5 + m, orders[0]), powers)
    return {at: np.sum(weight * c, axis=-1) for at, c in terms.items()}


def _within(v: Array, x: Array, orders: tuple[int, int], turn: float) -> Table:
    """(x/2)ᵛ / (√π Γ(v + 3/2)) (x g′ + (2v + 2) g) for g = ∫ (1 - t²)ᵛ⁺½ sin xt dt over (0, 1), or of sinh xt."""
    log = np.log(REST) + np.log1p(INNER)
    weight = INNER_WEIGHTS * np.exp((v + 0.5) * log)
    waves = (np.sinh, np.cosh) if turn == 1.0 else (np.sin, np.cos)
    further = orders[0], orders[1] + 1
    odd, even = (table_of(-log - np.log(0.5 * x), weight * wave(x * INNER), INNER, further) for wave in waves)
    g = {(j, k): turn ** (k // 2) * (even if k % 2 else odd)[j, k] for j, k in odd}
    v, x = v[:, 0], x[:, 0]
    slope = {(j, k): 2.0 * (k + 1) * g[j, k + 1] for j, k in np.ndindex(orders[0] + 1, orders[1] + 1)}
    rest = {(j, k): (2.0 * v + 2.0) * g[j, k] + (2.0 * g[j - 1, k] if j else 0.0) for j, k in slope}
    first, second = (product_of_tables(_scale(p, v + 1.5, x, orders), q) for p, q in ((v + 1.0, slope), (v, rest)))
    return {at: c / ROOT_PI for at, c in sum_of_tables(first, second).items()}


def _far(v: Array, x: Array, orders: tuple[int, int], turn: float) -> Table:
    """Hᵥ - Yᵥ = 2 (x/2)ᵛ / (√π Γ(v + ½)) ∫ (1 + t²)ᵛ⁻½ e⁻ˣᵗ dt over (0, ∞).

    Lᵥ - I₋ᵥ is minus the real part of that of (1 - t²)ᵛ⁻½, on a ray between 0 and the branch.
    """
    ray = 1.0 if turn == -1.0 else complex(math.sqrt(0.5), math.sqrt(0.5))
    t = ray / x * OUTER
    log = np.log(1.0 - turn * t * t)
    weight = ray / x * OUTER_WEIGHTS * np.exp(-ray * OUTER + (v - 0.5) * log)
    sums = table_of(-log - np.log(0.5 * x), weight, -t, orders)
    v, x = v[:, 0], x[:, 0]
    along = product_of_tables(_scale(v, v + 0.5, x, orders), {at: np.real(c) for at, c in sums.items()})
    return sum_of_tables({at: -turn * 2.0 / ROOT_PI * c for at, c in along.items()}, _bessel(v, x, orders, turn))


def _bessel(v: Array, x: Array, orders: tuple[int, int], turn: float) -> Table:
    """Yᵥ, or I₋ᵥ."""
    if not orders[0]:
        found = yv_series(v, x, orders[1]) if turn == -1.0 else iv_series(-v, x, orders[1])
        return {(0, k): c for k, c in enumerate(found)}
    if turn == -1.0:
        return TABLES["yv"](v[:, None], x[:, None], orders)
    return {(j, k): (-1.0) ** j * c for (j, k), c in TABLES["iv"](-v[:, None], x[:, None], orders).items()}


# ---- all orders and arguments ----------------------------------------------------------------------------------------


def struve_table(v: Array, x: Array, orders: tuple[int, int], turn: float) -> Table:
    """The Taylor coefficients in v and x of H (turn = -1) or L (1); for x < 0 by x, where v is whole."""
    shape, v, x = x.shape, v.reshape(-1, 1), x.reshape(-1, 1)
    size = abs(x)
    within = np.logical_and(v >= -1.0, np.logical_or(turn == 1.0, np.logical_or(v > size, orders[1] > 2.0 * size)))
    near, beyond = (np.logical_and(abs(v) <= MOST, side) for side in (size < NEAR, size >= NEAR))
    parts: list[tuple[Array, Callable[..., Table]]] = [
        (near, _series),
        (np.logical_and(beyond, within), _within),
        (np.logical_and(beyond, ~within), _far),
    ]
    found = {(j, k): np.full(x.size, np.nan) for j in range(orders[0] + 1) for k in range(orders[1] + 1)}
    with np.errstate(all="ignore"):
        for mask, part in parts:
            places = np.flatnonzero(mask)
            for start in range(0, len(places), BLOCK):
                at = places[start : start + BLOCK]
                for order, c in part(v[at], size[at], orders, turn).items():
                    found[order][at] = c
    left, parity = x[:, 0] < 0.0, np.where(np.equal(v, np.rint(v)), 2.0 * (v % 2.0) - 1.0, np.nan)[:, 0]
    for (j, k), c in found.items():
        found[j, k] = np.where(left, np.nan if j else (-1.0) ** k * parity * c, c).reshape(shape)
    return found


# ---- rules -----------------------------------------------------------------------------------------------------------


def _struve(name: str, turn: float) -> None:
    """The rule of H or L, and its series, whose first coefficient is SciPy's."""
    function = getattr(sc, name)
    WITH_LEFT_SIDE[name] = functools.partial(struve_table, turn=turn)

    def by_x(v: Any, x: Any, degree: int) -> Coefficients:
        return [function(v, x), *derivative_series(v, x, degree, (1,), name=name, by=(0, 0))[1:]]

    define(
        function,
        lambda g, p, v, x: (by_order(g, name, v, x), g * bessel_derivative(v, x, name=name, by=(0, 1))),
        kernel=in_both(name, by_x),
    )


_struve("struve", -1.0)
_struve("modstruve", 1.0)

# (2/π) Σ (-1)ᵏ x²ᵏ / (2k + 1)!!²
_struve_over = by_series(
    lambda x: sc.struve(0.0, x) / x,
    [2.0 / math.pi * (-4.0) ** k * (math.factorial(k) / math.factorial(2 * k + 1)) ** 2 for k in range(20)],
    NEAR,
)
define(sc.itstruve0, lambda g, p, x: (g * sc.struve(0.0, x),))
define(sc.it2struve0, lambda g, p, x: (-(g * _struve_over(x)),))
define(sc.itmodstruve0, lambda g, p, x: (g * sc.modstruve(0.0, x),))
