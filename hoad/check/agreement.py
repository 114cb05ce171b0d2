"""Every mode of hoad compared with every other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._comparison.plain_calls import compare_at
from hoad._pytree.arguments import checked_order, telling_call
from hoad._pytree.containers import flatten, leaves_of
from hoad.check.agreement_report import Agreement, AgreementReport, listed
from hoad.check.differences import Difference, difference
from hoad.check.mode_table import HIGHEST, MODES, Function
from hoad.check.points import Array, called, check_arguments, check_functions, drawn, numbers, typical
from hoad.check.report import RIGHT, UNDECIDED, WRONG, name_of, number, short, value_text
from hoad.check.ways import Point, Quantity, Way, quantities
from hoad.errors import CheckError, HoadError, ShapeError, told

SLACK = 64.0  # times the rounding in both, two numbers are not the same
NEAR = 1e-6  # relative error to which a difference confirms a derivative
WIDTHS = (0.125, 2.0**-8, 2.0**-16)  # of differences, in directions of the size of x


@telling_call("Call it as hoad.check.modes(f, x, n), with the highest order n.")
def modes(f: Callable[..., Any], x: Any, order: int, *, seed: int = 0) -> AgreementReport:
    """Check that all modes of hoad give the same derivatives ``Dᵏf(x)[v, ..., v]`` for k = 0, ..., n.

    The modes, as the report calls them: *forward*, nested sweeps (`jvp`); *reverse*, nested sweeps (`grad`); *forward
    over reverse* and *reverse over forward*; *series* (`taylor`, and `directional_derivative` for several
    directions); *tensor* (`derivative_tensor`). Each runs directly, *jitted* (recorded at another point and replayed),
    and *by vmap* together with other points.

    Parameters
    ----------
    f : callable
        A function of x, or of several arguments where x is a tuple; its result may have any shape, or be a container.
    x : float, ndarray or tuple of them
        The point.
    order : int
        The highest order n, from 0 to 20.
    seed : int, optional
        The seed of the random directions and weights.

    Returns
    -------
    AgreementReport
        Prints as a table with a row for each order; has `passed`, `assert_passed()` and `plot()`.

    Raises
    ------
    ArgumentError
        If f cannot be called, or the order is not from 0 to 20.
    ShapeError
        If the point is not finite, or f is not finite there or does not return real numbers and arrays.
    DTypeError
        If x is not a float.
    CheckError
        If f raises an arithmetic error at x, writes to x, or cannot be traced.
    NoRuleError
        If f calls an operation without a rule.

    See Also
    --------
    taylor_test : compares with values of f, and so finds an error that all modes share.
    rule : the modes of one primitive, entry by entry.

    Notes
    -----
    Cost: f is traced some twenty times for each order, and the recording of each mode is replayed about 50 times. The
    tapes of sweeps grow like n³ with the order, those of reverse sweeps alone like 2ⁿ. The latter are compared up to
    order 6, other sweeps up to order 10, series and tensors beyond.

    Results are contracted with random weights, and derivatives are along random directions of the size of x: v alone,
    and, if x has more than one number, v and w in turn. For a function of one number, v is 1.

    The allowed difference between two modes is measured: the rounding error in each is estimated from values at
    neighbouring points. If the modes differ by more, finite differences of the order below decide which are wrong. If
    these cannot decide, the report lists the modes that differ from most, and the order is undecided. It is also
    undecided if no mode finds a finite derivative.

    References
    ----------
    Moré and Wild (2011), Estimating computational noise, SIAM Journal on Scientific Computing 33.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.check.modes(lambda x: np.exp(np.sin(x)) / x, 0.7, 5).passed
    True

    A tangent rule that does not match the adjoint rule:

    >>> sine = hoad.primitive(np.sin, vjp=lambda g, p, x: (g * np.cos(x),), jvp=lambda d, p, x: -d[0] * np.cos(x))
    >>> hoad.check.modes(sine, 0.7, 1).assert_passed()
    Traceback (most recent call last):
        ...
    hoad.errors.CheckError: derivatives of sin: order 1 is wrong by forward, series and tensor. ...
    """
    check = "check.modes"
    check_functions(check, f)
    xs = x if isinstance(x, tuple) else (x,)
    check_arguments(check, xs, range(len(xs)))
    order = checked_order(check, order, 0, HIGHEST)
    results = [numbers(leaf, check) for leaf in leaves_of(called(check, "f", f, xs))]
    _check_values(results, xs)
    compare_at(f, xs, check)
    rng = np.random.default_rng(seed)
    alone = len(xs) == 1 and not np.ndim(x)
    directions = [(1.0,)] if alone else [tuple(drawn(rng, typical(x)) for x in xs) for _ in range(2)]
    single = len(results) == 1 and not results[0].ndim
    weights = [1.0] if single else [drawn(rng, np.ones(r.shape)) for r in results]
    point = Point(_weighted(f, weights), xs, directions)
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
    check = "check.modes"
    if not sum(r.size for r in results) or not sum(map(np.size, xs)):
        raise ShapeError(f"{check} needs x and f(x) to have entries, but one of them has none.")
    for r in results:
        if not np.all(np.isfinite(r)):
            raise ShapeError(f"{check} needs a point where f is finite, but f(x) is {value_text(r)}.")


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
        f"check.modes needs a function that hoad can trace, but traced it raises {told(error)}. Write it with "
        "NumPy, or make it a primitive, @hoad.primitive."
    ) from error


# ---- how it is judged -----------------------------------------------------------------------------------------------


class _Order:
    """What the ways give for the quantities of one order, and which two of them give the same."""

    def __init__(self, ways: Sequence[Way], asked: Sequence[Quantity]) -> None:
        self.asked = asked
        self.ways = [way for way in ways if asked[0] in way.values]
        self.values = np.array([[way.values[quantity] for way in self.ways] for quantity in asked])  # (D, W)
        rounding = np.array([[way.rounding[quantity] for way in self.ways] for quantity in asked])
        # How far each two are apart, (D, W, W), and the rounding in both; where it is too far, and where it never is.
        self.apart, self.allowed = _apart(self.values), rounding[:, :, None] + rounding[:, None, :]
        self.parted = self.apart > SLACK * self.allowed
        self.same = ~self.parted.any(axis=0)

    def agreement(self, verdict: str, wrong: tuple[str, ...], reason: str) -> Agreement:
        sizes = np.max(np.abs(np.where(np.isfinite(self.values), self.values, 0.0)), axis=1)[:, None, None]
        apart, rounding = (np.max(x / np.where(sizes > 0, sizes, 1.0), axis=0) for x in (self.apart, self.allowed))
        names = tuple(way.name for way in self.ways)
        return Agreement(self.asked[0].order, verdict, names, self.values, apart, rounding, wrong, reason)


def _apart(values: Array) -> Array:
    """|a − b| for each two; 0 where neither is finite, inf where one is."""
    found = abs(values[:, :, None] - values[:, None, :])
    finite = np.isfinite(values)
    one = finite[:, :, None] != finite[:, None, :]
    return np.where(one, np.inf, np.where(finite[:, :, None], found, 0.0))


def _judged(point: Point, ways: Sequence[Way], wanted: Sequence[Quantity]) -> Iterator[Agreement]:
    """A finding for each order; where the modes part, the order below tells."""
    lower = ways[0]
    for n in range(wanted[-1].order + 1):
        order = _Order(ways, [quantity for quantity in wanted if quantity.order == n])
        right = 0
        if not np.isfinite(order.values).any():
            yield order.agreement(UNDECIDED, (), "no mode finds a finite derivative" + _told(order.ways, order.asked))
        elif not order.parted.any():
            yield order.agreement(RIGHT, (), "")
        else:
            right, finding = _parted(point, lower, order)
            yield finding
        lower = order.ways[right]


def _parted(point: Point, lower: Way, order: _Order) -> tuple[int, Agreement]:
    """Which way to go by where some part, and what is to be said of the others."""
    k = int(np.argmax(order.parted.any(axis=(1, 2))))
    right, verdict, shown = _arbiter(point, lower, order, k)
    agrees = order.same[right]
    odd = _names([way for way, good in zip(order.ways, agrees, strict=True) if not good], order.ways)
    decided = verdict == WRONG and len(odd) > 0
    reason = "; ".join(filter(None, [*_told_by(order, k, agrees, "" if decided else ", as most do"), shown]))
    return right, order.agreement(WRONG if decided else UNDECIDED, odd if decided else (), reason)


def _arbiter(point: Point, lower: Way, order: _Order, k: int) -> tuple[int, str, str]:
    """Which of the ways that part to go by; the verdict on the others; what differences of the order below show.

    They are wrong if differences deny them. Where these deny none, or cannot tell, most ways are believed, and nothing
    is decided.
    """
    if not order.asked[k].order:
        return 0, WRONG, ""  # the first is f itself
    parting, values = ~order.same.all(axis=1), order.values[k]
    votes = np.where(parting, order.same.sum(axis=1), 0)
    d = _difference(point, lower, order.asked[k])
    if d is None or not d.trusted(d.value):
        return int(np.argmax(votes)), UNDECIDED, "differences cannot tell"
    off, error = abs(values - d.value), 4 * d.error
    shown = f"differences gave {number(float(d.value), 10)} ± {short(float(d.error))}"
    near = parting & (off <= error + NEAR * abs(d.value)) & (off <= np.fmax(error, np.nanmin(off)))
    if (off <= error).all() or not near.any():
        return int(np.argmax(votes)), UNDECIDED, f"{shown}, which denies {'none' if near.any() else 'all'}"
    return int(np.argmax(np.where(near, votes, 0))), WRONG, shown


def _difference(point: Point, lower: Way, quantity: Quantity) -> Difference | None:
    """Of the derivative of the order below, along the last direction; None where that cannot be had beside x."""
    *before, last = quantity.along
    f = point.function(lower.mode, Quantity(tuple(before)))
    try:
        return difference(point.along(f, last), point.noise(f, last), WIDTHS)
    except HoadError:
        return None


def _told_by(order: _Order, k: int, agrees: NDArray[np.bool_], believed: str) -> list[str]:
    """What the ways give for the k-th quantity, each said once: those that part, and then the others."""
    quantity, values = order.asked[k], order.values[k]
    digits = 10 if len({number(value, 10) for value in values}) > 1 else 17
    groups: dict[tuple[bool, str], list[Way]] = {}
    for way, value, good in zip(order.ways, values, agrees, strict=True):
        what = f"raised {way.errors[quantity]}" if quantity in way.errors else f"gave {number(value, digits) or 'nan'}"
        groups.setdefault((bool(good), what), []).append(way)
    odd, even = (
        [f"{listed(_names(group, order.ways))} {what}" for (good, what), group in groups.items() if good is chosen]
        for chosen in (False, True)
    )
    return [*odd[:3], *(text + believed for text in even[:1])]


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
