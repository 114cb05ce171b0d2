"""`scipy.integrate.quad`: the rule of QUADPACK on the intervals that it chose, recorded."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.context import running
from hoad._core.trace.traced import plain_value
from hoad._scipy.plain_functions import Branches, Surroundings
from hoad._scipy.registry import IMPLEMENTED, decided, refused, sections
from hoad._scipy.solutions import with_more

original = scipy.integrate.quad
Function = Callable[..., Any]


@functools.cache
def kronrod(n: int) -> tuple[list[float], list[float], list[float]]:
    """Nodes on [-1, 1], weights of the rule of Kronrod of 2 n + 1 points, and of that of Gauss of n, 0 elsewhere."""
    series = np.polynomial.legendre
    x, w = series.leggauss(2 * n + 2)
    p = series.legvander(x, n + 1)
    # The polynomial of Stieltjes: with P_n as a weight, it is orthogonal to all of lower degree.
    moments = (p[:, : n + 1] * (w * p[:, n])[:, None]).T @ p
    c = np.append(np.linalg.lstsq(moments[:, :-1], -moments[:, -1], rcond=None)[0], 1.0)
    between = series.legroots(c)
    between = between - series.legval(between, c) / series.legval(between, series.legder(c))
    gauss, of_gauss = series.leggauss(n)
    nodes = np.concatenate([gauss, between])
    weights = np.linalg.solve(series.legvander(nodes, 2 * n).T, np.append(2.0, np.zeros(2 * n)))
    return nodes.tolist(), weights.tolist(), np.append(of_gauss, np.zeros(n + 1)).tolist()


def _over(f: Function, start: float, end: float, n: int) -> tuple[Any, Any]:
    """The integral over an interval, and an estimate of its error."""
    middle, half = 0.5 * (start + end), 0.5 * (end - start)
    by_kronrod, by_gauss = 0.0, 0.0
    for node, weight, other in zip(*kronrod(n), strict=True):
        y = f(middle + half * node)
        by_kronrod = by_kronrod + weight * y
        if other:
            by_gauss = by_gauss + other * y
    return half * by_kronrod, half * abs(by_kronrod - by_gauss)


CLOSE = 1e-6  # how far from QUADPACK's the recorded integral may be: about as far are derivatives
ALONG = np.arange(-4.75, 4.76, 0.125)
SHARES = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(ALONG)))  # tanh-sinh: nodes in (0, 1), and how far they are from 1
WEIGHTS = 0.125 * np.pi * np.cosh(ALONG) * SHARES * SHARES[::-1]


def _to_ends(f: Function, start: float, end: float, is_inside: Callable[[float], bool]) -> Any:
    """The integral over an interval, singular at its ends perhaps, by tanh-sinh quadrature (Takahasi and Mori 1974)."""
    total, length = 0.0, end - start
    for share, rest, weight in zip(SHARES.tolist(), SHARES[::-1].tolist(), WEIGHTS.tolist(), strict=True):
        node = start + length * share if share < 0.5 else end - length * rest
        if is_inside(node):
            total = total + weight * f(node)
    return length * total


def _integrand(f: Function, a: Any, b: Any, low: float, high: float) -> tuple[Function, Function, int]:
    """The function of t that is integrated, t of a place where QUADPACK's intervals are, and the rule."""
    if np.isfinite(low) and np.isfinite(high):
        if low == high:
            return lambda t: (b - a) * f(a + (b - a) * t), lambda _: 0.0, 10
        return lambda t: (b - a) * f(a + (b - a) * t), lambda x: (x - low) / (high - low), 10
    if np.isfinite(low):
        return lambda t: f(a + (1.0 - t) / t) / (t * t), lambda t: t, 7
    if np.isfinite(high):
        return lambda t: f(b - (1.0 - t) / t) / (t * t), lambda t: t, 7
    return lambda t: (f((1.0 - t) / t) + f((t - 1.0) / t)) / (t * t), lambda t: t, 7


@functools.wraps(original)
def quad(*args: Any, **kwargs: Any) -> Any:
    if running() is None:
        return original(*args, **kwargs)
    given = dict(inspect.signature(original).bind(*args, **kwargs).arguments)
    f, more = given.pop("func"), given.pop("args", ())
    if more:
        f = functools.partial(with_more, f, more if isinstance(more, tuple) else (more,), {})
    around = Surroundings(given)
    branches = Branches(f, around)
    now = around.arguments(around.known)
    with Apart():
        found = original(branches.bound(around.known), **(now | {"full_output": 1}))
    if not around.values:
        return original(f, **given)
    if given.get("weight") is not None or given.get("complex_func"):
        raise refused("quad", "with weight= or complex_func=", "Give it the product, and each part.", "scipy.integrate")
    if len(found) > 3 and not given.get("full_output"):
        warnings.warn(str(found[3]), scipy.integrate.IntegrationWarning, stacklevel=2)
    value = _recorded(f, given, now, found)
    return (value, *found[1:]) if given.get("full_output") else (value, found[1])


def _recorded(f: Function, given: dict[str, Any], now: dict[str, Any], found: Any) -> Any:
    """The integral over the intervals, which are guarded: elsewhere they must serve as well."""
    a, b, sign = given["a"], given["b"], 1.0
    low, high = float(now["a"]), float(now["b"])
    if high < low:
        a, b, low, high, sign = b, a, high, low, -1.0
    g, place, n = _integrand(f, a, b, low, high)
    info = found[2]
    ends = [(place(x), place(y)) for x, y in zip(info["alist"], info["blist"], strict=True)][: max(info["last"], 1)]
    if low == high or not info["last"]:
        ends = [(0.0, 1.0)]
    parts = [_over(g, x, y, n) for x, y in ends]
    asked = max(given.get("epsabs", 1.49e-8), given.get("epsrel", 1.49e-8) * abs(found[0]))
    total = sum(part for part, _ in parts)
    if abs(sign * found[0] - plain_value(total)) > asked:  # QUADPACK extrapolates to an end where f is singular
        is_finite = np.isfinite(low) and np.isfinite(high)

        def is_inside(t: float) -> bool:
            return low < low + (high - low) * t < high if is_finite else 0.0 < t < 1.0

        least = 4.0 * min(abs(y - x) for x, y in ends)
        parts = [
            (_to_ends(g, x, y, is_inside), 0.0) if abs(y - x) <= least else part
            for (x, y), part in zip(ends, parts, strict=True)
        ]
        total = sum(part for part, _ in parts)
        if not abs(sign * found[0] - plain_value(total)) <= max(10.0 * asked, CLOSE * abs(found[0])):
            raise refused(
                "quad",
                "of a function that is singular, where QUADPACK extrapolates,",
                "Give it the singular places as ends, or substitute a variable in which it is smooth.",
                "scipy.integrate",
            )
    error = sum(part for _, part in parts)
    allowed = max(asked, 2.0 * float(plain_value(error)))
    decided(error <= allowed)
    # Where QUADPACK extrapolates, its value is another one, by less than its estimate of the error.
    return sign * (total + (sign * found[0] - plain_value(total)))


quad.__doc__ = sections(
    "The integral of a function of a number that may use traced values around it, with traced limits.",
    original,
    "NoRuleError\n    If it is asked for with a weight, of complex values, or across a singular place.",
    """\
Notes
-----
QUADPACK chooses the intervals on plain numbers. On each of them its rule of 21 points is recorded, or that of 15 on an
infinite range, which is transformed as QUADPACK does. Where QUADPACK extrapolates to an end at which the function is
singular, tanh-sinh quadrature is recorded there. A replay takes the same intervals, and raises `GuardError` where their
error is larger than allowed, and larger than it was.

Cost: the function is recorded once for each point, 21 for each interval.""",
)
IMPLEMENTED[original] = quad
