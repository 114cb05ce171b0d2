"""Every mode of hoad held against every other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad.arguments import checked_order
from hoad.check.agreement_report import Agreement, AgreementReport, listed
from hoad.check.differences import Difference, difference
from hoad.check.modes import HIGHEST, MODES, Function
from hoad.check.points import Array, called, check_arguments, check_functions, numbers, typical
from hoad.check.report import RIGHT, UNDECIDED, WRONG, name_of, number, short, value_text
from hoad.check.ways import Point, Quantity, Way, quantities
from hoad.containers import flatten, leaves_of
from hoad.drivers.jit import jit
from hoad.errors import CheckError, HoadError, ShapeError
from hoad.target import told

SLACK = 64.0  # times the rounding in both, two numbers are not the same
NEAR = 1e-6  # relative error to which a difference confirms a derivative
WIDTHS = (0.125, 2.0**-8, 2.0**-16)  # of differences, in directions of the size of x

Votes = NDArray[np.bool_]


def derivatives(f: Callable[..., Any], x: Any, order: int, *, seed: int = 0) -> AgreementReport:
    """Check that all modes of hoad give the same derivatives ``Dᵏf(x)[v, ..., v]`` for k = 0, ..., n.

    The modes are nested forward sweeps (`jvp`), nested reverse sweeps (`grad`), forward over reverse and reverse over
    forward, Taylor series (`derivatives`, and `directional_derivative` for several directions) and tensors
    (`derivative_tensor`); each as it is, jitted (recorded at another point and replayed), and by `vmap` among others.

    Parameters
    ----------
    f : callable
        A function of x, or of several arguments where x is a tuple; its result may have any shape, or be a container.
    x : float, ndarray or tuple of them
        The point.
    order : int
        The highest order n, from 0 to 20.
    seed : int, optional
        Of the directions and weights, which are random.

    Returns
    -------
    AgreementReport
        A row for each order when printed; `passed`, `assert_passed()`, `plot()`.

    Raises
    ------
    ArgumentError
        If f cannot be called, or the order is none from 0 to 20.
    ShapeError
        If the point is not finite, f is not finite there, or returns something else than real numbers and arrays.
    DTypeError
        If x is no float.
    CheckError
        If f raises an error of arithmetic at x, writes to x, or cannot be traced.
    NoRuleError
        If f calls something that has no rule.

    See Also
    --------
    taylor_test : hoad's derivatives beside values of f, which finds what is wrong in every mode alike.
    rule : the modes of one primitive, entry by entry.

    Notes
    -----
    Cost: f is traced some twenty times for each order, and what each mode records is replayed about 50 times. What
    sweeps record grows like n³ with the order, of reverse ones alone like 2ⁿ: these go to order 6, the others to order
    10; beyond, series and tensors are compared.

    Results are contracted with random weights, and derivatives are along random directions of the size of x: v alone,
    and for more than one number v and w in turn. A function of one number is differentiated by it.

    How far apart two modes may be is measured: the rounding in each is estimated from values at neighbouring points.
    Where they are farther apart, differences of the order below tell which are right, or else the majority does. Where
    no mode finds a finite derivative, the order is undecided.

    References
    ----------
    Moré and Wild (2011), Estimating computational noise, SIAM Journal on Scientific Computing 33.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.check.derivatives(lambda x: np.exp(np.sin(x)) / x, 0.7, 5).passed
    True

    A tangent rule that does not go with the adjoint rule:

    >>> sine = hoad.primitive(np.sin, vjp=lambda g, p, x: (g * np.cos(x),), jvp=lambda d, p, x: -d[0] * np.cos(x))
    >>> hoad.check.derivatives(sine, 0.7, 1).assert_passed()
    Traceback (most recent call last):
        ...
    hoad.errors.CheckError: derivatives of sin: order 1 is wrong by forward, series and tensor. ...
    """
    check = "check.derivatives"
    check_functions(check, f)
    xs = x if isinstance(x, tuple) else (x,)
    check_arguments(check, xs, range(len(xs)))
    order = checked_order(check, order, 0, HIGHEST)
    results = [numbers(leaf, check) for leaf in leaves_of(called(check, "f", f, xs))]
    _check_values(results, xs)
    rng = np.random.default_rng(seed)
    alone = len(xs) == 1 and not np.ndim(x)
    directions = [(1.0,)] if alone else [tuple(_drawn(rng, typical(x)) for x in xs) for _ in range(2)]
    phi = _weighted(
        f, [1.0] if len(results) == 1 and not results[0].ndim else [_drawn(rng, 0 * r + 1) for r in results]
    )
    point = Point(phi, xs, directions)
    wanted = quantities(order, 1 if sum(map(np.size, xs)) == 1 else 2)
    with np.errstate(all="ignore"):
        ways = point.ways(wanted)
        _check_traced(point, ways, wanted)
        findings = list(_judged(point, ways, wanted))
    return AgreementReport(
        name=name_of(f),
        x=x,
        order=order,
        directions=tuple(v if isinstance(x, tuple) else v[0] for v in directions),
        findings=tuple(findings),
        notes=tuple(_notes(point, ways, order)),
    )


# ---- what is asked --------------------------------------------------------------------------------------------------


def _check_values(results: Sequence[Array], xs: Sequence[Any]) -> None:
    check = "check.derivatives"
    if not sum(r.size for r in results) or not sum(map(np.size, xs)):
        raise ShapeError(f"{check} needs x and f(x) to have entries, but one of them has none.")
    for r in results:
        if not np.all(np.isfinite(r)):
            raise ShapeError(f"{check} needs a point where f is finite, but f(x) is {value_text(r)}.")


def _drawn(rng: np.random.Generator, size: Array) -> Any:
    """Random numbers of about these sizes and either sign."""
    drawn = size * rng.uniform(0.5, 1.0, size.shape) * rng.choice([-1.0, 1.0], size.shape)
    return drawn if drawn.ndim else float(drawn)


def _weighted(f: Function, weights: Sequence[Any]) -> Function:
    """w·f(x), a number."""
    return lambda *xs: sum(np.sum(w * leaf) for w, leaf in zip(weights, flatten(f(*xs))[0], strict=True))


def _check_traced(point: Point, ways: Sequence[Way], wanted: Sequence[Quantity]) -> None:
    """Raise what all modes raised."""
    failed = all(
        quantity in way.errors for way in ways for quantity in wanted if quantity.order and quantity in way.values
    )
    if not point.raised or not failed:
        return
    error = point.raised[0]
    if isinstance(error, HoadError):
        raise error
    raise CheckError(
        f"check.derivatives needs a function that hoad can trace, but traced it raises {told(error)}. Write it with "
        "NumPy, or make it a primitive, @hoad.primitive."
    ) from error


# ---- how it is judged -----------------------------------------------------------------------------------------------


def _judged(point: Point, ways: Sequence[Way], wanted: Sequence[Quantity]) -> Iterator[Agreement]:
    """A finding for each order, whose lower one tells where the modes part."""
    trusted = ways[0]
    for order in range(wanted[-1].order + 1):
        asked = [quantity for quantity in wanted if quantity.order == order]
        having = [way for way in ways if asked[0] in way.values]
        values, roundings = (
            np.array([[getattr(way, name)[quantity] for way in having] for quantity in asked])
            for name in ("values", "rounding")
        )
        apart, allowed = _apart(values), roundings[:, :, None] + roundings[:, None, :]
        same = np.all(apart <= SLACK * allowed, axis=0)
        names = tuple(way.name for way in having)
        scale = np.max(np.abs(np.where(np.isfinite(values), values, 0.0)), axis=1)[:, None, None]
        apart_by, rounding = (np.max(x / np.where(scale > 0, scale, 1.0), axis=0) for x in (apart, allowed))
        if not np.isfinite(values).any():
            reason = "no mode finds a finite derivative" + _told(having, asked)
            yield Agreement(order, UNDECIDED, names, values, apart_by, rounding, (), reason)
            continue
        right, reason = int(np.argmax(same.sum(axis=1))), ""
        if not same[right].all():
            k = int(np.argmax((apart > SLACK * allowed).any(axis=(1, 2))))
            right, reason = _arbiter(point, trusted, asked[k], values[k], same)
            reason = _reason(having, asked[k], values[k], same[right], reason)
        trusted = having[right]
        wrong = _names([way for way, agrees in zip(having, same[right], strict=True) if not agrees], having)
        yield Agreement(order, WRONG if wrong else RIGHT, names, values, apart_by, rounding, wrong, reason)


def _apart(values: Array) -> Array:
    """|a − b| for each two; 0 where neither is finite, inf where one is."""
    found = abs(values[:, :, None] - values[:, None, :])
    finite = np.isfinite(values)
    one = finite[:, :, None] != finite[:, None, :]
    return np.where(one, np.inf, np.where(finite[:, :, None], found, 0.0))


def _arbiter(point: Point, lower: Way, quantity: Quantity, values: Array, same: Votes) -> tuple[int, str]:
    """Which way is right where they part, and what differences of the order below give, if they can tell."""
    votes = same.sum(axis=1)
    if not quantity.order:
        return 0, ""
    d = _difference(point, lower, quantity)
    off = abs(values - d.value)
    near = (off <= 4 * d.error + NEAR * abs(d.value)) & (off <= np.fmax(4 * d.error, np.nanmin(off)))
    shown = f"differences gave {number(float(d.value), 10)} ± {short(float(d.error))}"
    if not d.trusted(d.value):
        return int(np.argmax(votes)), "differences cannot tell, so that most modes are believed"
    if not near.any():
        return int(np.argmax(votes)), f"{shown}, which is none of these, so that most modes are believed"
    return int(np.argmax(np.where(near, votes, -1))), shown


def _difference(point: Point, lower: Way, quantity: Quantity) -> Difference:
    """Of the derivative of the order below, along the last direction."""
    *before, last = quantity.along
    f = jit(point.function(lower.mode, Quantity(tuple(before))))
    return difference(point.along(f, last), point.noise(f, last), WIDTHS)


def _reason(ways: Sequence[Way], quantity: Quantity, values: Array, agrees: Votes, shown: str) -> str:
    """What the modes give that part, each said once."""
    digits = 10 if len({number(value, 10) for value in values}) > 1 else 17
    groups: dict[tuple[bool, str], list[Way]] = {}
    for way, value, good in zip(ways, values, agrees, strict=True):
        what = f"raised {way.errors[quantity]}" if quantity in way.errors else f"gave {number(value, digits) or 'nan'}"
        groups.setdefault((bool(good), what), []).append(way)
    odd, even = (
        [f"{listed(_names(group, ways))} {what}" for (good, what), group in groups.items() if good is chosen]
        for chosen in (False, True)
    )
    return "; ".join(filter(None, [*odd[:3], *even[:1], shown]))


def _told(ways: Sequence[Way], asked: Sequence[Quantity]) -> str:
    """An error that says why."""
    errors = [f": {way.name} raised {way.errors[q]}" for way in ways for q in asked if q in way.errors]
    return errors[0].rstrip(".") if errors else ""


def _names(chosen: Sequence[Way], ways: Sequence[Way]) -> tuple[str, ...]:
    """The modes that were chosen in all of their ways; of others the ways."""
    found: list[str] = []
    for mode in MODES:
        own = [way for way in ways if way.mode is mode]
        those = [way.name for way in own if way in chosen]
        found += [mode.name] if those and len(those) == len(own) else those
    return tuple(found)


def _notes(point: Point, ways: Sequence[Way], order: int) -> Iterator[str]:
    modes = tuple(dict.fromkeys(way.mode.name for way in ways))
    hows = tuple(dict.fromkeys(way.how or "as it is" for way in ways))
    yield f"compared: {listed(modes)}, each {listed(hows)}"
    for most in sorted({mode.most for mode in MODES if mode.most < order}):
        names = listed(tuple(mode.name for mode in MODES if mode.most == most))
        yield f"left out above order {most}, where their tapes are long: {names}"
    yield from dict.fromkeys(point.unjitted)
    if point.phi(*point.xs) != point.phi(*point.xs):
        yield "called again at x, f gives another value: it is random, or keeps a state"


__all__ = ["derivatives"]
