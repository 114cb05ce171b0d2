"""`scipy.integrate.quad`: the rule of QUADPACK on the intervals that it chose, recorded."""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.context import running
from hoad._core.trace.traced import plain_value
from hoad._scipy.moving_kinks import has_moving_kink, once_each
from hoad._scipy.plain_functions import Branches, Surroundings
from hoad._scipy.registry import IMPLEMENTED, decided, refused, sections
from hoad._scipy.solutions import with_args
from hoad._transform.expansion import expand
from hoad.errors import HoadError, NoRuleError

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
    between = np.real(series.legroots(c))  # real, and complex numbers from NumPy 2.5 on
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
    return half * by_kronrod, abs(half * (by_kronrod - by_gauss))


ALL_DIGITS = 1e-13
STEP = 2.0**-7  # to numbers beside those at hand, relative
SLACK = 1e-8  # how far, as a share, the recorded rule may be from QUADPACK's integral there
LARGE = 1e-5  # from here on there is no derivative
CLOSE = 1e-6  # how far from QUADPACK's the recorded integral may be: about as far are derivatives
ROUGHLY = 0.05  # how far, as a share, second differences may be from second derivatives
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
    f = with_args(given.pop("func"), given.pop("args", ()))
    around = Surroundings(given)
    branches = Branches(f, around)
    now = around.arguments(around.known)
    with Apart():
        found = original(branches.bound(around.known), **(now | {"full_output": 1}))
    if not around.values:
        with Apart():
            return original(branches.bound(around.known), **given)
    if given.get("weight") is not None or given.get("complex_func"):
        raise refused("quad", "with weight= or complex_func=", "Give it the product, and each part.", "scipy.integrate")
    if len(found) > 3 and not given.get("full_output"):
        warnings.warn(str(found[3]), scipy.integrate.IntegrationWarning, stacklevel=2)
    value = _recorded(f, given, Trials(around, branches, now, found), found)
    return (value, *found[1:]) if given.get("full_output") else (value, found[1])


class Rule(NamedTuple):
    """Intervals of t in [0, 1], of which those up to some length are taken by tanh-sinh quadrature."""

    ends: list[tuple[float, float]]
    least: float = -1.0
    is_fixed: bool = False  # whether only the first and the last move with the limits

    def parts(self, g: Function, n: int, is_inside: Callable[[float], bool]) -> list[tuple[Any, Any]]:
        """The integral over each interval, with an estimate of its error."""
        return [
            (_to_ends(g, x, y, is_inside), 0.0) if abs(y - x) <= self.least else _over(g, x, y, n) for x, y in self.ends
        ]


class Trials:
    """Integrals at plain numbers: those at hand, and others close to them, where the same rule must serve.

    A power of x that is whole at these numbers is smooth in x, but its derivative by the exponent has a logarithm.
    """

    def __init__(self, around: Surroundings, branches: Branches, now: dict[str, Any], found: Any) -> None:
        self.around, self.branches = around, branches
        self.asked = max(now.get("epsabs", 1.49e-8), now.get("epsrel", 1.49e-8) * abs(found[0]))
        self.is_swapped, low, high = _limits(now)
        self.is_finite = np.isfinite(low) and np.isfinite(high)
        self.low, self.high = low, high
        self.found = found

    def is_inside(self, t: float) -> bool:
        return self.low < self.low + (self.high - self.low) * t < self.high if self.is_finite else 0.0 < t < 1.0

    def rule(self, found: Any) -> Rule:
        """Where QUADPACK has put its intervals, with tanh-sinh quadrature where these do not serve."""
        rule = self._intervals(self.around.known, found[2])
        sign = -1.0 if self.is_swapped else 1.0
        if abs(sign * found[0] - self._sum(self.around.known, rule)) > self.asked:
            rule = _with_ends(rule)  # QUADPACK extrapolates to an end where f is singular
        for step in (STEP, -STEP) if self.branches.depends else ():
            missed = self._missed(rule, step)
            if missed is not None:
                if missed > SLACK:
                    rule = self._refined(rule, step)
                    self._check(rule, step)
                break
        return rule

    def _check(self, rule: Rule, step: float) -> None:
        """Raise where a rule has another derivative than the integral; its error does not fall with the step then."""
        missed, closer = self._missed(rule, step / 16.0), self._missed(rule, step / 512.0)
        if missed is not None and closer is not None and closer > max(LARGE, missed / 8.0):
            raise _singular("whose derivative is singular inside of the range")

    def _refined(self, rule: Rule, step: float) -> Rule:
        """The intervals together with those that QUADPACK takes to all digits, here and at numbers close by."""
        numbers = _moved(self.around.known, step)
        others = [
            self._intervals(self.around.known, self._here()[2]),
            self._intervals(numbers, self._close(numbers)[2]),
        ]
        places = sorted({x for each in (rule, *others) for ends in each.ends for x in ends})
        return Rule(list(itertools.pairwise(places)), max(_with_ends(others[1]).least, rule.least))

    def has_moving_kink(self, rule: Rule) -> bool:
        """Whether the integral may have a second derivative that the rule does not have."""
        return has_moving_kink(self.branches, self.around.known, self._places(rule), self.around.count > 0)

    def parts(self, rule: Rule, f: Function, a: Any, b: Any, low: float, high: float) -> list[tuple[Any, Any]]:
        """The integral of f over each interval between limits with these values, with an estimate of its error."""
        if not rule.is_fixed:
            g, _, n = _integrand(f, a, b, low, high)
            return rule.parts(g, n, self.is_inside)
        at: dict[float, Any] = {x: self.low + (self.high - self.low) * x for ends in rule.ends for x in ends}
        at |= {0.0: a, 1.0: b}

        def part(x: Any, y: Any, is_least: bool) -> tuple[Any, Any]:
            first, last = sorted([plain_value(x), plain_value(y)])
            return (_to_ends(f, x, y, lambda t: first < plain_value(t) < last), 0.0) if is_least else _over(f, x, y, 10)

        return [part(at[x], at[y], abs(y - x) <= rule.least) for x, y in rule.ends]

    def fixed_inside(self, rule: Rule) -> Rule | None:
        """The rule with intervals that do not move inside, if no kink moves then; a kink at a fixed place stays in one.

        Where it misses the integral at numbers close by, it does not serve.
        """
        if not self.is_finite or not self.around.count:
            return None
        for x, y in rule.ends:
            if has_moving_kink(self.branches, self.around.known, self._places(Rule([(x, y)])), x == 0.0 or y == 1.0):
                return None
        fixed = rule._replace(is_fixed=True)
        missed = [self._missed(fixed, step) for step in (STEP, -STEP)]
        return fixed if all(x is not None and x <= LARGE for x in missed) else None

    def check_limits(self, rule: Rule) -> None:
        """Raise where a rule has another derivative than the integral by its limits."""
        if self.around.count and not self.branches.depends:
            for step in (STEP, -STEP):
                if self._missed(rule, step) is not None:
                    self._check(rule, step)
                    break

    def _places(self, rule: Rule) -> list[float]:
        """The nodes of a rule."""
        places: list[float] = []

        def noted(x: float) -> float:
            places.append(x)
            return 0.0

        g, _, n = _integrand(noted, self.low, self.high, self.low, self.high)
        rule.parts(g, n, self.is_inside)
        return places

    def with_first_derivatives(self) -> Function:
        """The integrand, whose second derivatives raise."""
        return functools.partial(self._of_traced, once_each(self.around.values))

    def _missed(self, rule: Rule, step: float) -> float | None:
        """By how much a rule misses a quotient of differences, as a share; None where there is no integral."""
        try:
            errors, integrals = zip(*[self._error(rule, h) for h in (0.0, step)], strict=True)
        except (HoadError, ArithmeticError, ValueError):  # other branches, or not a value that a parameter may have
            return None
        error = abs(errors[1] - errors[0])
        size = abs(integrals[0][0]) * abs(step) + abs(integrals[1][0] - integrals[0][0])
        if not np.isfinite(error) or not np.isfinite(size):
            return None
        return 0.0 if error <= 10.0 * (integrals[0][1] + integrals[1][1]) else error / size

    def misses_curvature(self, rule: Rule) -> bool:
        """Whether the rule, differentiated twice, is not what second differences of the integral say.

        To no side: at the end of its domain a function may be another one beyond.
        """
        try:
            found = self._curvature(rule) * STEP**2
            integrals = {k: self._close(_moved(self.around.known, k * STEP)) for k in (-1, 0, 1)}
            if self._is_about(found, *integrals.values()):
                return False
            integrals |= {k: self._close(_moved(self.around.known, k * STEP)) for k in (-2, 2)}
        except (HoadError, ArithmeticError, ValueError):
            return False
        return not any(self._is_about(found, *[integrals[k + n] for n in (-1, 0, 1)]) for k in (-1, 1))

    def _is_about(self, found: float, before: Any, here: Any, after: Any) -> bool:
        """Whether a second derivative, times the square of a step, is the second difference of these integrals."""
        difference = (before[0] - 2.0 * here[0] + after[0]) * (-1.0 if self.is_swapped else 1.0)
        noise = 10.0 * (before[1] + here[1] + after[1]) + ALL_DIGITS * abs(here[0])
        if not np.isfinite(difference):  # beyond the domain, unless the integral at hand is not known so well either
            return bool(np.isfinite(self._close(self.around.known)[0]))
        return bool(abs(difference - found) <= max(noise, ROUGHLY * (abs(difference) + abs(found))))

    def _curvature(self, rule: Rule) -> float:
        """The second derivative of the rule where all numbers grow by the same share."""
        known = self.around.known

        def total(*numbers: Any) -> Any:
            given = self.around.arguments(numbers)
            a, b = (given["b"], given["a"]) if self.is_swapped else (given["a"], given["b"])
            f = functools.partial(self._of_traced, numbers)
            return sum(part for part, _ in self.parts(rule, f, a, b, self.low, self.high))

        curves = [np.where(np.equal(x, 0.0), 1.0, np.abs(x))[None] if _is_float(x) else None for x in known]
        return 2.0 * float(expand(total, known, curves, 2)[2])

    def _of_traced(self, numbers: Any, x: Any) -> Any:
        """The integrand by the branch that it takes, with these numbers around it."""
        branch = self.branches.at(self.around.known, plain_value(x))
        assert branch is not None
        return branch(numbers, x)

    def _error(self, rule: Rule, step: float) -> tuple[float, Any]:
        """By how much a rule misses the integral at numbers close by, and what QUADPACK says of it."""
        numbers = _moved(self.around.known, step) if step else self.around.known
        found = self._close(numbers) if step else self._here()
        return (-found[0] if self.is_swapped else found[0]) - self._sum(numbers, rule), found

    def _here(self) -> Any:
        """What QUADPACK says of the integral at hand to all digits, which it may have said already."""
        if self.found[1] > ALL_DIGITS * max(1.0, abs(self.found[0])):
            self.found = self._close(self.around.known)
        return self.found

    def _close(self, numbers: list[Any]) -> Any:
        """What QUADPACK says of the integral to all digits."""
        options = self.around.arguments(numbers) | {"full_output": 1, "epsabs": ALL_DIGITS, "epsrel": ALL_DIGITS}
        with Apart(), np.errstate(all="ignore"):
            return original(self.branches.bound(numbers), **options)

    def _intervals(self, numbers: list[Any], info: Any) -> Rule:
        """Those of QUADPACK."""
        _, low, high = _limits(self.around.arguments(numbers))
        if low == high or not info["last"]:
            return Rule([(0.0, 1.0)])
        _, place, _ = _integrand(self.branches.f, low, high, low, high)
        ends = [(place(x), place(y)) for x, y in zip(info["alist"], info["blist"], strict=True)]
        return Rule(ends[: max(info["last"], 1)])

    def _sum(self, numbers: list[Any], rule: Rule) -> float:
        """The integral by a rule."""
        _, low, high = _limits(self.around.arguments(numbers))
        with Apart(), np.errstate(all="ignore"):
            return float(sum(part for part, _ in self.parts(rule, self.branches.bound(numbers), low, high, low, high)))


def _singular(what: str) -> NoRuleError:
    advice = "Give it the singular places as ends, or substitute a variable in which it is smooth."
    return refused("quad", f"of a function {what}", advice, "scipy.integrate")


def _limits(given: dict[str, Any]) -> tuple[bool, float, float]:
    """Whether the limits are swapped, and both in order."""
    low, high = float(given["a"]), float(given["b"])
    return (True, high, low) if high < low else (False, low, high)


def _with_ends(rule: Rule) -> Rule:
    """The least intervals are where a function is singular."""
    return Rule(rule.ends, 4.0 * min(abs(y - x) for x, y in rule.ends))


def _moved(numbers: list[Any], step: float) -> list[Any]:
    """Numbers close by."""
    return [x + step * np.where(np.equal(x, 0.0), 1.0, np.abs(x)) if _is_float(x) else x for x in numbers]


def _is_float(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def _recorded(f: Function, given: dict[str, Any], trials: Trials, found: Any) -> Any:
    """The integral over the intervals, which are guarded: elsewhere they must serve as well."""
    a, b, sign = given["a"], given["b"], 1.0
    if trials.is_swapped:
        a, b, sign = b, a, -1.0
    rule = trials.rule(found)
    if trials.has_moving_kink(rule):
        fixed = trials.fixed_inside(rule)
        if fixed is None:
            trials.check_limits(rule)
            if trials.misses_curvature(rule):
                f, (a, b) = trials.with_first_derivatives(), once_each((a, b))
        rule = fixed or rule
    parts = trials.parts(rule, f, a, b, trials.low, trials.high)
    total = sum(part for part, _ in parts)
    if not abs(sign * found[0] - plain_value(total)) <= max(10.0 * trials.asked, CLOSE * abs(found[0])):
        raise _singular("that is singular, where QUADPACK extrapolates,")
    error = sum(part for _, part in parts)
    allowed = max(trials.asked, 2.0 * float(plain_value(error)))
    decided(error <= allowed)
    # Where QUADPACK extrapolates, its value is another one, by less than its estimate of the error.
    return sign * (total + (sign * found[0] - plain_value(total)))


quad.__doc__ = sections(
    "The integral of a function of a number that may use traced values around it, with traced limits.",
    original,
    "NoRuleError\n    If it has a weight or complex values, or if it or one of its derivatives is singular inside.",
    """\
Notes
-----
QUADPACK chooses the intervals on plain numbers. On each of them its rule of 21 points is recorded, or that of 15 on an
infinite range, which is transformed as QUADPACK does. Where QUADPACK extrapolates to an end at which the function is
singular, tanh-sinh quadrature is recorded there. So it is where the intervals do not serve at numbers that are a little
different: the function is smooth, but its derivative is not, as that of x^p at p = 0. Where the function has a kink or
a jump at a fixed place and a limit moves, the intervals inside stay where they are. A replay takes the same intervals,
and raises `GuardError` where their error is larger than allowed, and larger than it was.

Cost: the function is recorded once for each point, 21 for each interval, 77 of tanh-sinh quadrature.""",
)
IMPLEMENTED[original] = quad
