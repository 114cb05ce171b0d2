"""Taylor remainders: what is left of f(x + hv) beyond its Taylor polynomial must fall like the next power of h."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad.check.noise import noise_of
from hoad.check.points import Array, along, check_arguments, epsilon, is_moved, moved, numbers, quietly, typical
from hoad.check.report import Report, aligned, index_text, name_of, number, sentence, short, value_text
from hoad.drivers.higher import derivative
from hoad.errors import ShapeError

MOST_STEPS = 64  # halvings
MOST_DOUBLINGS = 4  # where a small v hides the highest order
ABOVE = 16.0  # times the noise: what is seen of a remainder
TAIL = 4  # remainders that an observed rate is taken from
EXTRAPOLATED = 6  # powers of h that are taken out where an error in a coefficient is read off
SLACK = 0.3  # by which a rate may miss a whole number
CERTAIN = 6.0  # digits of a coefficient that settle it, whatever the rate
LEAST = 0.7  # digits of a coefficient, below which a rate proves little
REMARKED = 2.0  # digits below which the report says so
HIDDEN = 4.0  # digits of a coefficient that must be confirmed where no rate can be seen
MOST_COMPONENTS = 256
ROWS = 12

RIGHT, EXACT, WRONG, UNDECIDED = "right", "exact", "wrong", "undecided"
BAD = (WRONG, UNDECIDED)
RANK = {WRONG: 0, UNDECIDED: 1, RIGHT: 2, EXACT: 3}


@dataclass(frozen=True)
class Finding:
    """What the remainders of one order say, in the component of f that looks worst.

    Attributes
    ----------
    order : int
        The degree n of the Taylor polynomial.
    verdict : str
        "right", "exact" (nothing is left but rounding), "wrong", or "undecided".
    rate : float
        The observed power of h; n + 1 is expected. nan where it cannot be seen.
    digits : float
        To how many digits the coefficient of hⁿ is confirmed; nan where it is 0.
    component : tuple of int
        The component of f.
    reason : str
        What is the matter, where something is.
    """

    order: int
    verdict: str
    rate: float
    digits: float
    component: tuple[int, ...]
    reason: str


@dataclass(frozen=True, eq=False)
class TaylorReport(Report):
    """What `taylor_test` found.

    Attributes
    ----------
    name : str
        The function.
    x, v : float, ndarray, or tuple of them
        The point and the direction.
    order : int
        The highest degree.
    steps : ndarray (K)
        The steps h, falling.
    coefficients : ndarray (order + 1, \\*S)
        Of the Taylor polynomial in h: derivatives along v over n!.
    remainders : ndarray (order + 1, K)
        ``|f(x + hv) − Tₙ(h)|``, in the component that looks worst at this order.
    rates : ndarray (order + 1, K)
        The observed power of h between a step and the next; nan where rounding hides it.
    plateau : ndarray (order + 1, K)
        What the remainders cannot be told from: rounding, as it was found in f.
    findings : tuple of Finding
        One for each order from 0 on.
    notes : tuple of str
        What else is worth knowing.
    """

    name: str
    x: Any
    v: Any
    order: int
    steps: Array
    coefficients: Array
    remainders: Array
    rates: Array
    plateau: Array
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the remainders of every order fall as they must."""
        return all(finding.verdict in (RIGHT, EXACT) for finding in self.findings)

    def failure(self) -> str:
        """The lowest order that is wrong, in words; nothing where the test passed."""
        for finding in self.findings:
            if finding.verdict in BAD:
                n = finding.order
                where = f" in f(x){index_text(finding.component)}" if finding.component else ""
                rate = (
                    f"fall like h^{finding.rate:.2f}, not h^{n + 1}" if not math.isnan(finding.rate) else "do not fall"
                )
                head = f"Taylor test of {self.name}: order {n} is {finding.verdict}{where}: the remainders "
                return f"{head}{rate}. {sentence(finding.reason)}"
        return ""

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        lines = [f"Taylor test of {self.name} at {value_text(self.x)} along {value_text(self.v)}: {verdict}"]
        rows = [["order", "expected", "observed", "digits", "", ""]]
        for f in self.findings:
            digits = "" if math.isnan(f.digits) else f"{f.digits:.1f}"
            where = f"{index_text(f.component)}: " if f.component and f.reason else ""
            observed = "none left" if f.verdict == EXACT else number(round(f.rate, 2), 4) or "hidden"
            rows.append([str(f.order), f"h^{f.order + 1}", observed, digits, f.verdict, where + f.reason])
        kept = [k for k in range(6) if any(row[k] for row in rows[1:])]
        lines += aligned([[row[k] for k in kept] for row in rows], left=[k for k, c in enumerate(kept) if c > 3])
        lines += ["", *self._table()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _table(self) -> list[str]:
        """Remainders at some of the steps; those that are rounding stand in parentheses."""
        seen = np.flatnonzero(np.any(self.remainders[1:] > self.plateau[1:], axis=0))
        last = min(len(self.steps), (int(seen[-1]) if seen.size else 0) + 4)
        stride = max(1, math.ceil(last / ROWS))
        rows = [["h", *(f"remainder {n}" for n in range(self.order + 1))]]
        for k in range(0, last, stride):
            cells = [short(self.steps[k])]
            for n in range(self.order + 1):
                text = short(self.remainders[n, k])
                hidden = self.remainders[n, k] <= self.plateau[n, k]
                cells.append(f"({text})" if hidden else f"{text} ")
            rows.append(cells)
        return [*aligned(rows, left=()), "  (in parentheses: not to be told from rounding)"]

    def plot(self, ax: Any = None) -> Any:
        """Remainders, and errors of difference quotients, over the steps.

        Parameters
        ----------
        ax : matplotlib axes or a pair of them, optional
            Where to draw: the remainders, or both pictures; left out, both in a figure of their own.

        Returns
        -------
        matplotlib figure
            The figure drawn on.
        """
        from hoad.check.plot import plot_taylor

        return plot_taylor(self, ax)


def taylor_test(
    f: Callable[..., Any],
    x: Any,
    v: Any = None,
    *,
    order: int | None = None,
    gradient: Callable[..., Any] | None = None,
    hessian: Callable[..., Any] | None = None,
    steps: Sequence[float] | None = None,
) -> TaylorReport:
    """Check derivatives of any order by the rate at which Taylor remainders fall.

    With the Taylor polynomial Tₙ of degree n in h, the remainder ``|f(x + hv) − Tₙ(h)|`` falls like hⁿ⁺¹. If the
    derivative of order n is wrong, however little, it falls like hⁿ only.

    Parameters
    ----------
    f : callable
        A function of x, or of several arguments where x is a tuple; its result may have any shape (S).
    x : float, ndarray or tuple of them
        The point.
    v : float, ndarray or tuple of them, optional
        The direction, of the shape of x; by default a random one, a tenth of x in size, always the same.
    order : int, optional
        The highest degree n; by default 2, or what `gradient` and `hessian` give.
    gradient, hessian : callable, optional
        Derivatives that you have written, of shapes ``(*S, *x.shape)`` and ``(*S, *x.shape, *x.shape)``, to be tested
        in place of hoad's; x is no tuple then.
    steps : sequence of float, optional
        The steps h. By default they are halved from 1 until nothing is left but rounding, and doubled up to 16 where
        too little of the highest order is above it.

    Returns
    -------
    TaylorReport
        A table of remainders and rates when printed; `passed`, `assert_passed()`, `plot()`.

    Raises
    ------
    ShapeError
        If v does not fit x, the point is not finite, or f returns no real array.
    DTypeError
        If x is no float.
    ValueError
        If the order is negative or above 20, or steps are not positive.

    See Also
    --------
    gradient, hessian, rule

    Notes
    -----
    Cost: about 60 values of f, and hoad's derivatives along v; memory for them all. Of a result with more than 256
    components, some are drawn, and one random combination of all stands for the rest.

    Rounding in f is estimated beforehand, at x and x + v, from differences of neighbouring values. The rate is that of
    the last few remainders above it. `digits` says how well the coefficient of hⁿ itself is confirmed. A rate of n that
    differs between v and −v is a kink; one that is no whole number, a function that is not smooth.

    References
    ----------
    Farrell, Ham, Funke and Rognes (2013), Automated derivation of the adjoint of high-level transient finite element
    programs, SIAM Journal on Scientific Computing 35.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> report = hoad.check.taylor_test(np.exp, 0.5, 1.0, order=3)
    >>> report.passed
    True
    >>> [round(finding.rate, 1) for finding in report.findings]
    [1.0, 2.0, 3.0, 4.0]

    A derivative with an error of one per cent:

    >>> wrong = hoad.check.taylor_test(np.exp, 0.5, 1.0, gradient=lambda x: 1.01 * np.exp(x))
    >>> print(wrong.failure())
    Taylor test of exp: order 1 is wrong: the remainders fall like h^1.00, not h^2. The derivative of order 1 along v
    is 1.66520848, but f shows 1.648721... (it is off by 1.0%).
    """
    check = "check.taylor_test"
    args = x if isinstance(x, tuple) else (x,)
    check_arguments(check, args, range(len(args)))
    degree = _degree(order, gradient, hessian)
    direction = _direction(args, v, isinstance(x, tuple))
    if (gradient or hessian) and isinstance(x, tuple):
        raise ShapeError(f"{check} takes gradient and hessian of a function of one argument. Give x as an array.")
    phi = along(f, args, direction, check)
    value = numbers(quietly(f, *args), check)
    if not np.all(np.isfinite(value)):
        raise ShapeError(f"{check} needs a point where f is finite, but f(x) is {value_text(value)}.")
    if not value.size or not any(map(np.size, args)):
        raise ShapeError(
            f"{check} needs x and f(x) to have entries, but their shapes are {np.shape(x)} and {value.shape}."
        )
    shape = value.shape
    coefficients = np.array(
        [value, *(_derivative(f, args, direction, n, gradient, hessian, shape) for n in range(1, degree + 1))]
    )
    coefficients /= np.array([math.factorial(n) for n in range(degree + 1)]).reshape(-1, *[1] * len(shape))
    picked = _Picked(shape)
    flat = picked(coefficients.reshape(degree + 1, -1))
    rounding = picked.noise(noise_of(phi, args, direction).reshape(-1))
    growth = picked.noise(_growth(phi, args, direction).reshape(-1))
    eps = epsilon(*args, np.asarray(quietly(f, *args)))

    def remainders(t: float) -> tuple[Array, Array]:
        """Signed remainders at a step of either sign, and the noise in them, both (order + 1, M)."""
        found = picked(phi(t).reshape(1, -1))[0]
        with np.errstate(all="ignore"):
            terms = flat * (t ** np.arange(degree + 1))[:, None]
            scale = abs(found) + np.cumsum(abs(terms), axis=0)
            grown = np.fmax(rounding, growth * abs(t))
            return found - np.cumsum(terms, axis=0), np.fmax(grown, 0.5 * eps * scale)

    h, r, noise = _walk(remainders, args, direction, steps)
    with np.errstate(all="ignore"):
        findings, chosen = _findings(h, r, noise, flat, picked, remainders)
        worst = np.array([abs(r[:, n, m]) for n, m in enumerate(chosen)])
        plateau = np.array([_floor(h, worst[n], noise[:, n, m]) for n, m in enumerate(chosen)])
        rates = np.full_like(worst, np.nan)
        rates[:, :-1] = np.log(worst[:, :-1] / worst[:, 1:]) / np.log(h[:-1] / h[1:])
        rates[:, :-1][(worst <= plateau)[:, 1:] | (worst <= plateau)[:, :-1]] = np.nan
    notes = []
    if left := int(np.sum(~np.isfinite(r[:, 0]).all(axis=1))):
        notes.append(f"{left} steps leave the domain of f, and are left out there")
    noisy = float(np.max(rounding / np.fmax(abs(flat[0]), 1e-300), initial=0.0))
    if noisy > 1e4 * eps and np.any(flat[0]):
        notes.append(f"values of f are uncertain by {noisy:.1e} of their size, more than rounding alone")
    if picked.places is not None:
        notes.append(f"{len(picked.places)} of {value.size} components of f were drawn, and one combination of all")
    return TaylorReport(
        name=name_of(f),
        x=x,
        v=tuple(direction.values()) if isinstance(x, tuple) else direction[0],
        order=degree,
        steps=h,
        coefficients=coefficients,
        remainders=worst,
        rates=rates,
        plateau=plateau,
        findings=tuple(findings),
        notes=tuple(notes),
    )


# ---- what was asked -------------------------------------------------------------------------------------------------


def _direction(args: tuple[Any, ...], v: Any, several: bool) -> dict[int, Any]:
    """A direction for every argument."""
    if v is None:
        rng = np.random.default_rng(0)
        sizes = [typical(x) for x in args]
        drawn = [0.1 * s * rng.uniform(0.5, 1.0, np.shape(s)) * rng.choice([-1.0, 1.0], np.shape(s)) for s in sizes]
        return {k: d if np.ndim(args[k]) else float(d) for k, d in enumerate(drawn)}
    directions = v if several else (v,)
    if not isinstance(directions, (tuple, list)) or len(directions) != len(args):
        raise ShapeError(f"check.taylor_test needs a direction for each of {len(args)} arguments, as a tuple.")
    for k, (d, x) in enumerate(zip(directions, args, strict=True)):
        if np.shape(d) != np.shape(x):
            raise ShapeError(f"direction {k} must have shape {np.shape(x)}, but has shape {np.shape(d)}.")
    found = {k: np.asarray(d, np.float64) if np.ndim(d) else float(d) for k, d in enumerate(directions)}
    if any(d.size for d in map(np.asarray, found.values())) and not any(np.any(d) for d in found.values()):
        raise ShapeError("check.taylor_test needs a direction, but v is zero.")
    return found


def _degree(order: int | None, gradient: Any, hessian: Any) -> int:
    degree = operator.index(order) if order is not None else 1 if gradient and not hessian else 2
    if not 0 <= degree <= 20:
        raise ValueError(f"check.taylor_test takes an order from 0 to 20, not {degree}.")
    return degree


def _derivative(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    direction: dict[int, Any],
    n: int,
    gradient: Callable[..., Any] | None,
    hessian: Callable[..., Any] | None,
    shape: tuple[int, ...],
) -> Array:
    """The n-th derivative of f along the direction: yours where it was given, else hoad's."""
    given = {1: gradient, 2: hessian}.get(n)
    if given is None:
        moving = derivative(lambda t: f(*(x + t * direction[k] for k, x in enumerate(args))), n)
        return np.broadcast_to(numbers(quietly(moving, 0.0), "check.taylor_test"), shape)
    found = numbers(quietly(given, *args), "check.taylor_test")
    wanted = (*shape, *np.shape(args[0]) * n)
    if found.shape != wanted:
        raise ShapeError(f"{name_of(given)}(x) must have shape {wanted}, but has shape {found.shape}.")
    v = np.ravel(direction[0])
    for _ in range(n):
        found = (
            found.reshape(*shape, -1, v.size) @ v if n == 2 and found.shape == wanted else found.reshape(*shape, -1) @ v
        )
    return found


def _growth(phi: Callable[[float], Array], args: tuple[Any, ...], direction: dict[int, Any]) -> Array:
    """The noise in f at the first steps, over the step: where f vanishes at x, nearly all of it comes with h."""
    for t in (1.0, 2.0**-4, 2.0**-8, 2.0**-12):
        there = phi(t)
        if np.all(np.isfinite(there)):
            at = tuple(moved(x, t, direction[k]) for k, x in enumerate(args))
            return noise_of(lambda s, t=t: phi(t + s), at, direction) / t  # type: ignore[misc]
    return np.zeros_like(phi(0.0))


class _Picked:
    """Components of the result that are looked at one by one; of many, some, and a combination of all."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = math.prod(shape)
        rng = np.random.default_rng(0)
        self.some = self.size > MOST_COMPONENTS
        self.places = np.sort(rng.choice(self.size, MOST_COMPONENTS, replace=False)) if self.some else None
        self.weights = rng.uniform(0.5, 1.0, self.size) * rng.choice([-1.0, 1.0], self.size)

    def __call__(self, values: Array) -> Array:
        if self.places is None:
            return values
        return np.concatenate([values[:, self.places], values @ self.weights[:, None]], axis=1)

    def noise(self, values: Array) -> Array:
        if self.places is None:
            return values
        return np.append(values[self.places], np.sqrt(np.sum((values * self.weights) ** 2)))

    def index(self, m: int) -> tuple[int, ...]:
        if not self.shape or (self.places is not None and m == len(self.places)):
            return ()
        return tuple(int(k) for k in np.unravel_index(m if self.places is None else self.places[m], self.shape))


def _walk(
    remainders: Callable[[float], tuple[Array, Array]],
    args: tuple[Any, ...],
    direction: dict[int, Any],
    steps: Sequence[float] | None,
) -> tuple[Array, Array, Array]:
    """Steps (K), signed remainders and noise (both K, order + 1, M), until nothing is left but rounding."""
    if steps is not None:
        h = np.sort(np.asarray(steps, np.float64).ravel())[::-1]
        if h.size < 2 or not np.all((h > 0) & np.isfinite(h)):
            raise ValueError("check.taylor_test takes at least two steps, all of them positive.")
        pairs = [remainders(float(t)) for t in h]
        return h, np.array([r for r, _ in pairs]), np.array([noise for _, noise in pairs])
    taken, found, quiet = [], [], 0
    for k in range(MOST_STEPS):
        t = 2.0**-k
        if not is_moved(args, direction, t):
            break
        r, noise = remainders(t)
        taken.append(t)
        found.append((r, noise))
        seen = abs(r) > ABOVE * noise
        quiet = quiet + 1 if not seen[1:].any() and not np.isnan(r).any() else 0
        if quiet >= TAIL and (len(r) > 1 or not seen.any()) and k >= 8:
            break
    for k in range(1, MOST_DOUBLINGS + 1):
        count = np.sum([abs(r[-1]) > ABOVE * noise[-1] for r, noise in found], axis=0)
        if not np.any((count > 0) & (count <= TAIL)):
            break
        r, noise = remainders(2.0**k)
        if not np.all(np.isfinite(r)):
            break
        taken.insert(0, 2.0**k)
        found.insert(0, (r, noise))
    if len(taken) < 2:
        raise ShapeError("check.taylor_test: v is too small beside x for x + hv to be another point. Give a larger v.")
    return np.array(taken), np.array([r for r, _ in found]), np.array([noise for _, noise in found])


# ---- what the remainders say ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judgement:
    verdict: str
    rate: float
    digits: float
    reason: str = ""
    excess: float = 0.0  # of f's coefficient over the one that was to be checked


def _findings(
    h: Array,
    r: Array,
    noise: Array,
    coefficients: Array,
    picked: _Picked,
    remainders: Callable[[float], tuple[Array, Array]],
) -> tuple[list[Finding], list[int]]:
    """A finding for each order, and the component that it is about: the one that looks worst."""
    findings: list[Finding] = []
    chosen: list[int] = []
    cause: Finding | None = None
    for n, row in enumerate(coefficients):
        judged = [_judge(n, h, r[:, n, m], noise[:, n, m], c, coefficients[0, m]) for m, c in enumerate(row)]
        m = min(range(len(judged)), key=lambda k: (RANK[judged[k].verdict], _least(judged[k].digits)))
        found = judged[m]
        if found.verdict in BAD and cause is not None:
            found = _Judgement(cause.verdict, found.rate, found.digits, f"follows from order {cause.order}")
        elif found.verdict == WRONG and found.excess:
            backwards = [remainders(-float(t)) for t in h]
            seen = [k for k, (other, spread) in enumerate(backwards) if abs(other[n, m]) > ABOVE * spread[n, m]]
            left = math.nan
            if len(seen) > 2:
                others = np.array([backwards[k][0][n, m] for k in seen])
                spreads = np.array([backwards[k][1][n, m] for k in seen])
                left = _excess(n, -h[seen], others, spreads)[0]
            found = _explained(n, found, float(row[m]), left)
        findings.append(Finding(n, found.verdict, found.rate, found.digits, picked.index(m), found.reason))
        chosen.append(m)
        if found.verdict in BAD and cause is None:
            cause = findings[-1]
    return findings, chosen


def _floor(h: Array, size: Array, noise: Array) -> Array:
    """Below this, remainders are rounding: as estimated, or as the end of the sequence shows that it does not fall."""
    floor = ABOVE * noise
    end = np.flatnonzero(np.isfinite(size) & (size > 0))[-6:]
    if len(end) == 6 and len(h) >= 10 and end[-1] >= len(h) - 2:
        slope = np.polyfit(np.log(h[end]), np.log(size[end]), 1)[0]
        if slope < 0.5:
            floor = np.maximum(floor, 4 * size[end].max())
    return floor


def _judge(n: int, h: Array, r: Array, noise: Array, coefficient: float, value: float) -> _Judgement:
    """The remainders of one order in one component."""
    nan = math.nan
    if not math.isfinite(coefficient):
        return _Judgement(WRONG, nan, nan, f"the derivative of order {n} along v is {coefficient}")
    size = abs(r)
    floor = _floor(h, size, noise)
    defined = np.isfinite(r)
    seen = defined & (size > floor)
    digits = _confirmed(n, h, size, noise, coefficient, defined)
    count = int(np.sum(seen))
    if not defined.any():
        return _Judgement(UNDECIDED, nan, digits, "f is not finite at any step along v; try -v")
    lowest = float(np.min(floor[defined]))
    scale = abs(value) or float(np.max(size[defined])) or 1.0
    if count < 3:
        if lowest > 1e-6 * scale and not digits >= HIDDEN:
            level = float(np.median(size[defined][-6:]))
            reason = f"remainders stop falling at {level:.1e}, far above rounding: f jumps at x, or is noisy"
            return _Judgement(UNDECIDED, nan, digits, reason)
        if count == 0:
            return _Judgement(EXACT, nan, digits, "its term is hardly above rounding" if digits < HIDDEN else "")
        if digits >= HIDDEN or math.isnan(digits):
            return _Judgement(RIGHT, nan, digits, "too few remainders are above rounding to see a rate")
        return _Judgement(UNDECIDED, nan, digits, "too few remainders are above rounding; try a larger v")
    tail = np.flatnonzero(seen)[-TAIL:]
    rate = float(np.median([math.log(size[a] / size[b]) / math.log(h[a] / h[b]) for a, b in itertools.pairwise(tail)]))
    if rate >= n + 1 - SLACK or (digits >= CERTAIN and n):
        if digits < REMARKED:
            reason = f"an error below {10.0**-digits:.0%} would not show: rounding hides it"
            return _Judgement(UNDECIDED if digits < LEAST else RIGHT, rate, digits, reason)
        return _Judgement(RIGHT, rate, digits, "")
    excess, doubt = _excess(n, h[seen], r[seen], noise[seen])
    if n == 0:
        return _Judgement(UNDECIDED, rate, digits, "f jumps at x, or is not smooth there")
    if rate > n + SLACK and not abs(excess) > 4 * doubt:
        if doubt <= 10.0**-REMARKED * abs(coefficient):
            return _Judgement(RIGHT, rate, digits)
        reason = "the rate is no whole number: f is not smooth here, or its derivative is wrong by little"
        return _Judgement(UNDECIDED, rate, digits, reason)
    return _Judgement(WRONG, rate, digits, "", excess)


def _excess(n: int, h: Array, r: Array, noise: Array) -> tuple[float, float]:
    """What is left over hⁿ, extrapolated to h = 0: the error in the coefficient, and how far to trust it."""
    left, spread = r / h**n, 3 * noise / abs(h**n)
    best = (float(left[-1]), math.inf)
    above: list[tuple[float, float]] = []
    for k in range(len(h)):
        row = [(float(left[k]), float(spread[k]))]
        for j, (before, before_noise) in enumerate(above, 1):
            ratio = float(h[k - j] / h[k])
            here, here_noise = row[-1]
            better = here + (here - before) / (ratio - 1)
            amplified = (ratio * here_noise + before_noise) / (ratio - 1)
            doubt = max(abs(better - here), abs(better - before)) + amplified
            best = min(best, (better, doubt), key=lambda pair: pair[1])
            row.append((better, amplified))
        above = row[:EXTRAPOLATED]
    return best


def _confirmed(n: int, h: Array, size: Array, noise: Array, coefficient: float, defined: NDArray[np.bool_]) -> float:
    """Digits of the coefficient of hⁿ that the remainders vouch for: the second best, lest one is small by accident."""
    if coefficient == 0 or not defined.any():
        return math.nan
    doubt = np.sort(((size + noise) / (abs(coefficient) * h**n))[defined])
    return float(np.clip(-np.log10(doubt[min(1, len(doubt) - 1)]), 0.0, 15.9))


def _least(digits: float) -> float:
    return math.inf if math.isnan(digits) else digits


def _explained(n: int, found: _Judgement, coefficient: float, left: float) -> _Judgement:
    """What is wrong: the coefficient, by what f shows on both sides alike; or f has a kink."""
    right = found.excess
    shown = math.factorial(n) * (coefficient + right)
    apart = abs(right - left)
    if math.isfinite(left) and apart > max(0.5 * max(abs(right), abs(left)), 1e-6 * abs(coefficient)):
        other = math.factorial(n) * (coefficient + left)
        sides = f"{other:.6g} along -v and {shown:.6g} along v"
        reason = f"f has a kink at x: its derivative of order {n} is {sides}"
        return _Judgement(UNDECIDED, found.rate, found.digits, reason)
    by = f" (it is off by {abs(right / (coefficient + right)):.1%})" if shown else ""
    claimed = math.factorial(n) * coefficient
    reason = f"the derivative of order {n} along v is {claimed:.9g}, but f shows {shown:.9g}{by}"
    return _Judgement(WRONG, found.rate, found.digits, reason)


__all__ = ["TaylorReport", "taylor_test"]
