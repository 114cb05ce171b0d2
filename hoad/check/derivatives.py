"""Derivatives that a user has written by hand, held against differences and against hoad's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hoad.check.differences import Difference, difference
from hoad.check.noise import noise_of
from hoad.check.points import Array, along, check_arguments, epsilon, moved, numbers, quietly, typical
from hoad.check.report import (
    Report,
    aligned,
    digits_between,
    index_text,
    name_of,
    number,
    sentence,
    short,
    value_text,
)
from hoad.drivers import first, second
from hoad.errors import HoadError, ShapeError

Argnums = int | tuple[int, ...]
Pairs = list[tuple[Array, Array]]  # hoad's derivative, and that claimed

RTOL = 1e-6
MOST = 100
SHAKES = 4  # points beside x at which derivatives are taken, where their rounding must be known
LOOSE = 16.0  # times what they move there is what rounding may make of them
ROWS = 12  # of a table; all are in `entries`

RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"


@dataclass(frozen=True)
class Entry:
    """One component of a derivative.

    Attributes
    ----------
    argument : int
        The argument of f that it belongs to.
    index : tuple of int or None
        Its place in the derivative; None for the derivative along a random direction.
    claimed : float
        What was to be checked.
    exact : float
        hoad's own derivative; nan where there is none.
    difference, error : float
        Differences of f, and an estimate of their error.
    trusted : bool
        Whether the difference can judge.
    verdict : str
        "right", "wrong", or "undecided".
    reason : str
        What is the matter, where something is.
    digits : float
        Significant digits that the claimed value shares with what it was judged by; nan where that is 0 to within
        its error.
    """

    argument: int
    index: tuple[int, ...] | None
    claimed: float
    exact: float
    difference: float
    error: float
    trusted: bool
    verdict: str
    reason: str
    digits: float

    @property
    def place(self) -> str:
        """Where it stands, in the manner of Python."""
        return "along v" if self.index is None else index_text(self.index)


@dataclass(frozen=True, eq=False)
class DerivativeReport(Report):
    """What `gradient`, `jacobian` or `hessian` found.

    Attributes
    ----------
    kind : str
        "gradient", "jacobian" or "hessian".
    name : str
        The function whose derivative it is.
    at : tuple
        The arguments.
    entries : tuple of Entry
        Every component that was looked at.
    size : int
        How many components there are.
    shape_error : str
        What is wrong with the shape; then there are no entries.
    notes : tuple of str
        What else is worth knowing.
    """

    kind: str
    name: str
    at: tuple[Any, ...]
    entries: tuple[Entry, ...]
    size: int
    shape_error: str
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every component that was looked at is right."""
        return not self.shape_error and all(entry.verdict == RIGHT for entry in self.entries)

    def _those(self, verdict: str) -> list[Entry]:
        """The entries of a verdict, the worst first."""
        return sorted((entry for entry in self.entries if entry.verdict == verdict), key=_digits_of)

    def failure(self) -> str:
        """The worst component in words; nothing where the check passed."""
        head = f"{self.kind} of {self.name}: "
        if self.shape_error:
            return head + self.shape_error
        wrong, undecided = self._those(WRONG), self._those(UNDECIDED)
        if not wrong and not undecided:
            return ""
        looked = len(self.entries)
        kind, found = ("wrong", wrong) if wrong else ("undecided", undecided)
        count = f"{len(found)} of {looked} components {'is' if len(found) == 1 else 'are'} {kind}. "
        return head + count + " ".join(self._sentence(entry) for entry in found[:3])

    def _sentence(self, entry: Entry) -> str:
        place = "the derivative along a random direction v" if entry.index is None else f"component {entry.place}"
        where = f"argument {entry.argument}, " if len({e.argument for e in self.entries}) > 1 else ""
        where += f"{place}: " if entry.place else ""
        parts = [f"{where}yours is {number(entry.claimed, 10)}"]
        if not np.isnan(entry.difference):
            trust = "" if entry.trusted else "not "
            parts.append(f"differences give {number(entry.difference, 10)} ± {short(entry.error)} ({trust}trustworthy)")
        if not np.isnan(entry.exact):
            parts.append(f"hoad gives {number(entry.exact, 10)}")
        digits = "" if np.isnan(entry.digits) else f"; {entry.digits:.1f} digits agree"
        return " ".join(filter(None, [sentence(", ".join(parts) + digits), sentence(entry.reason)]))

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        lines = [f"{self.kind} of {self.name} at {value_text(self.at if len(self.at) > 1 else self.at[0])}: {verdict}"]
        if self.shape_error:
            return "\n".join([*lines, f"  {self.shape_error}"])
        ranks = {WRONG: 0, UNDECIDED: 1, RIGHT: 2}
        chosen = sorted(self.entries, key=lambda e: (ranks[e.verdict], _digits_of(e)))[:ROWS]
        shown = [entry for entry in self.entries if entry in chosen]
        several = len({entry.argument for entry in self.entries}) > 1
        rows = [["component", "yours", "hoad", "difference", "± error", "digits", "", ""]]
        for e in shown:
            place = f"{e.argument}: {e.place}" if several else e.place
            texts = [number(e.claimed, 9), number(e.exact, 9), number(e.difference, 9), short(e.error)]
            rows.append([place, *texts, "" if np.isnan(e.digits) else f"{e.digits:.1f}", e.verdict, e.reason])
        kept = [k for k in range(8) if k == 0 or any(row[k] for row in rows[1:])]
        if not any(row[0] for row in rows[1:]):
            kept = kept[1:]
        left = [k for k, column in enumerate(kept) if column in (0, 6, 7)]
        lines += aligned([[row[k] for k in kept] for row in rows], left=left)
        if len(shown) < len(self.entries):
            lines.append(f"  ... {len(self.entries) - len(shown)} components left out, all of them as good or better")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def plot(self, ax: Any = None) -> Any:
        """The error of every component beside that of the differences, on `ax` or a figure of its own.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        matplotlib figure
            The figure drawn on.
        """
        from hoad.check.plot import plot_derivative

        return plot_derivative(self, ax)


def _digits_of(entry: Entry) -> float:
    """To sort by: where there are none, nothing is wrong."""
    return np.inf if np.isnan(entry.digits) else entry.digits


# ---- what is asked --------------------------------------------------------------------------------------------------


def gradient(
    f: Callable[..., Any],
    g: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    rtol: float = RTOL,
    most: int = MOST,
    seed: int = 0,
) -> DerivativeReport:
    """Check a gradient that you have written, against differences of f and against hoad.

    Parameters
    ----------
    f : callable
        A scalar function. It need not be one that hoad can trace: then differences alone judge.
    g : callable
        Its gradient, called like f: as ``hoad.grad(f, argnums)`` is.
    *args
        The point: the arguments of f, floats and arrays.
    argnums : int or tuple of int, optional
        The arguments that g differentiates with respect to; it returns a tuple for a tuple.
    rtol : float, optional
        Relative error of a component that still counts as right.
    most : int, optional
        How many components to check one by one; of more, so many are drawn, and the derivative along a random
        direction is checked for all of them together.
    seed : int, optional
        Of what is drawn.

    Returns
    -------
    DerivativeReport
        A table of components when printed; `passed`, `assert_passed()`, `plot()`.

    Raises
    ------
    ShapeError
        If f is not scalar, or the point is not finite.
    DTypeError
        If an argument is no float.

    See Also
    --------
    jacobian, hessian, taylor_test

    Notes
    -----
    Cost: about 30 values of f a component, and one gradient by hoad.

    A difference is a number with an error of its own: central differences at halved steps are extrapolated to step 0
    (Ridders 1982), with an estimate of the error that holds rounding in f too. Where that error is large, or f has a
    kink, it is the difference that is at fault, and hoad's derivative judges instead, if f can be traced. Where neither
    can tell, the component is undecided, and the check does not pass.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return x[0] ** 2 * x[1]
    >>> def g(x):
    ...     return np.array([2 * x[0] * x[1], -(x[0] ** 2)])  # a wrong sign
    >>> print(hoad.check.gradient(f, g, np.array([1.0, 3.0])))
    gradient of f at [1, 3]: FAILED
      component  yours  hoad  difference  ± error  digits
      [0]            6     6           6  ...         15.7  right
      [1]           -1     1           1  ...          0.0  wrong  the sign is wrong
    """
    found = _values("gradient", f, args)
    if found.shape:
        raise ShapeError(
            f"check.gradient needs a scalar function, but f(x) has shape {found.shape}. Use hoad.check.jacobian."
        )
    return _check("gradient", f, g, args, argnums, rtol, most, seed, first.grad)


def jacobian(
    f: Callable[..., Any],
    j: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    rtol: float = RTOL,
    most: int = MOST,
    seed: int = 0,
) -> DerivativeReport:
    """Check a Jacobian that you have written, against differences of f and against hoad.

    Parameters
    ----------
    f : callable
        Its result may have any shape (S). It need not be one that hoad can trace.
    j : callable
        Its Jacobian, called like f: as ``hoad.jacobian(f, argnums)`` is, of shape ``(*S, *x.shape)``.
    *args
        The point: the arguments of f, floats and arrays.
    argnums : int or tuple of int, optional
        The arguments that j differentiates with respect to; it returns a tuple for a tuple.
    rtol : float, optional
        Relative error of a component that still counts as right.
    most : int, optional
        How many entries of x to check one by one; of more, so many are drawn, and a random direction is checked.
    seed : int, optional
        Of what is drawn.

    Returns
    -------
    DerivativeReport
        A table of components when printed; `passed`, `assert_passed()`, `plot()`.

    Raises
    ------
    ShapeError
        If the point is not finite, or f returns no array.
    DTypeError
        If an argument is no float.

    See Also
    --------
    gradient

    Notes
    -----
    Cost: about 30 values of f an entry of x, and one Jacobian by hoad. How differences are judged is said under
    `gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return np.stack([x[0] * x[1], np.sin(x[0])])
    >>> def j(x):
    ...     return np.array([[x[1], x[0]], [np.cos(x[0]), 0.0]])
    >>> hoad.check.jacobian(f, j, np.array([1.0, 3.0])).passed
    True
    """
    _values("jacobian", f, args)
    return _check("jacobian", f, j, args, argnums, rtol, most, seed, first.jacobian)


def hessian(
    f: Callable[..., Any],
    h: Callable[..., Any],
    *args: Any,
    gradient: Callable[..., Any] | None = None,
    argnums: int = 0,
    rtol: float = RTOL,
    most: int = MOST,
    seed: int = 0,
) -> DerivativeReport:
    """Check a Hessian that you have written, against differences of gradients and against hoad.

    Parameters
    ----------
    f : callable
        A scalar function.
    h : callable
        Its Hessian, called like f, of shape ``(*x.shape, *x.shape)``.
    *args
        The point: the arguments of f, floats and arrays.
    gradient : callable, optional
        The gradient to take differences of; left out, hoad's, and differences of f where hoad cannot trace it.
    argnums : int, optional
        The argument that h differentiates with respect to.
    rtol : float, optional
        Relative error of a component that still counts as right.
    most : int, optional
        How many entries of x to check one by one; of more, so many are drawn, and a random direction is checked.
    seed : int, optional
        Of what is drawn.

    Returns
    -------
    DerivativeReport
        A table of components when printed; `passed`, `assert_passed()`, `plot()`.

    Raises
    ------
    ShapeError
        If f is not scalar, or the point is not finite.
    DTypeError
        If an argument is no float.

    See Also
    --------
    gradient

    Notes
    -----
    Cost: about 30 gradients an entry of x, and one Hessian by hoad. How differences are judged is said under
    `gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return x[0] ** 2 * x[1]
    >>> def h(x):
    ...     return np.array([[2 * x[1], 2 * x[0]], [2 * x[0], 0.0]])
    >>> hoad.check.hessian(f, h, np.array([1.0, 3.0])).passed
    True
    """
    found = _values("hessian", f, args)
    if found.shape:
        raise ShapeError(f"check.hessian needs a scalar function, but f(x) has shape {found.shape}.")
    if not isinstance(argnums, int):
        raise ShapeError(f"check.hessian takes one argument at a time, but argnums={argnums!r}. Check block by block.")
    check_arguments("check.hessian", args, (argnums,))
    slope, note = _slope(f, gradient, args, argnums)
    report = _check("hessian", slope, h, args, argnums, rtol, most, seed, lambda _, k: second.hessian(f, k))
    notes = (*report.notes, *([note] if note else []), *_asymmetry(h, args, rtol, report))
    return DerivativeReport("hessian", name_of(f), args, report.entries, report.size, report.shape_error, notes)


# ---- how it is answered ---------------------------------------------------------------------------------------------


def _values(kind: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Array:
    if not args:
        raise ShapeError(f"check.{kind} needs a point: the arguments of f, as in check.{kind}(f, g, x).")
    return numbers(quietly(f, *args), f"check.{kind}")


def _slope(
    f: Callable[..., Any], gradient: Callable[..., Any] | None, args: tuple[Any, ...], k: int
) -> tuple[Callable[..., Any], str]:
    """The gradient of f, and what to say of it."""
    if gradient is not None:
        return gradient, "differences are of the gradient that was given"
    by_hoad = first.grad(f, k)
    try:
        quietly(by_hoad, *args)
    except Exception as error:
        reason = f"differences are of differences of f: hoad cannot trace it ({type(error).__name__})"
    else:
        return by_hoad, "differences are of hoad's gradient"

    def by_differences(*at: Any) -> Array:
        entries = [d.value for _, d in _differences(f, at, k, range(np.size(at[k])), "check.hessian")]
        return np.reshape(entries, np.shape(at[k]))

    return by_differences, reason


def _asymmetry(h: Callable[..., Any], args: tuple[Any, ...], rtol: float, report: DerivativeReport) -> list[str]:
    if report.shape_error:
        return []
    size = int(np.sqrt(report.size))
    matrix = numbers(quietly(h, *args), "check.hessian").reshape(size, size)
    far = abs(matrix - matrix.T) > rtol * np.maximum(abs(matrix), abs(matrix.T))
    if not far.any():
        return []
    i, j = (int(k) for k in np.argwhere(far)[0])
    return [f"it is not symmetric: [{i}, {j}] is {matrix[i, j]:.9g}, [{j}, {i}] is {matrix[j, i]:.9g} (flattened)"]


def _differences(
    f: Callable[..., Any], args: tuple[Any, ...], k: int, places: Sequence[int], check: str
) -> Iterator[tuple[int, Difference]]:
    """The difference of f by each of these entries of argument k."""
    x = args[k]
    sizes = np.broadcast_to(typical(x), np.shape(x)).ravel()
    largest = float(sizes.max(initial=0.0)) or 1.0
    noise = noise_of(along(f, args, {k: typical(x)}, check), args, {k: typical(x)})
    for place in places:
        unit = np.zeros(np.size(x))
        unit[place] = 1.0
        phi = along(f, args, {k: unit.reshape(np.shape(x)) if np.ndim(x) else 1.0}, check)
        yield place, difference(phi, noise, _widths(float(sizes[place]), largest))


def _widths(size: float, largest: float) -> list[float]:
    """First steps to try for an entry of this size, beside others as large as that."""
    return list(dict.fromkeys([size / 8, largest / 8, size * 2.0**-16, 0.125]))


def _check(
    kind: str,
    f: Callable[..., Any],
    claimed: Callable[..., Any],
    args: tuple[Any, ...],
    argnums: Argnums,
    rtol: float,
    most: int,
    seed: int,
    driver: Callable[..., Any],
) -> DerivativeReport:
    """Every component of a derivative of f, for each argument asked for."""
    check = f"check.{kind}"
    wrt = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(-len(args) <= k < len(args) for k in wrt):
        raise ShapeError(f"{check}: argnums={argnums!r}, but there are {len(args)} arguments.")
    check_arguments(check, args, wrt)
    result = numbers(quietly(f, *args), check).shape
    yours = quietly(claimed, *args)
    parts = tuple(yours) if isinstance(argnums, tuple) else (yours,)
    if len(parts) != len(wrt):
        raise ShapeError(f"{check}: what is checked returned {len(parts)} derivatives for argnums={argnums!r}.")
    name = name_of(f)
    size = sum(int(np.prod(result, dtype=int)) * np.size(args[k]) for k in wrt)
    values = [numbers(part, check) for part in parts]
    for k, value in zip(wrt, values, strict=True):
        wanted = (*result, *np.shape(args[k]))
        if value.shape != wanted:
            which = f"for argument {k} " if len(wrt) > 1 else ""
            return DerivativeReport(kind, name, args, (), size, which + _shape_error(value.shape, wanted), ())
    exact, notes = _exact(driver, f, args, argnums, [value.shape for value in values])
    rng = np.random.default_rng(seed)
    shaken = _Shaken(driver(f, argnums), claimed, args, wrt, isinstance(argnums, tuple), seed)
    entries: list[Entry] = []
    for part, (k, value, own) in enumerate(zip(wrt, values, exact, strict=True)):
        found = _entries(f, args, k, value, own, result, rtol, most, rng, check, partial(shaken.part, part))
        entries += sorted(found, key=lambda entry: entry.index or ())
    if any(np.size(args[k]) > most for k in wrt):
        notes.append(f"{most} of the entries of x were drawn, and one direction for all of them together")
    if off := [e for e in entries if e.verdict != UNDECIDED and "hoad's own" in e.reason]:
        notes.append(
            f"hoad's own derivative disagrees with trustworthy differences in {len(off)} components: see "
            "hoad.check.rule for the primitives that f uses"
        )
    return DerivativeReport(kind, name, args, tuple(entries), size, "", tuple(notes))


def _shape_error(found: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    text = f"yours has shape {found}, but must have {wanted}."
    extra = len(found) - len(wanted)
    stretched = [k for k in range(max(extra, 0)) if extra > 0]
    if extra >= 0:
        stretched += [extra + k for k, n in enumerate(wanted) if n == 1 != found[extra + k]]
        if all(n in (1, found[extra + k]) for k, n in enumerate(wanted)):
            axes = stretched[0] if len(stretched) == 1 else tuple(stretched)
            return f"{text} Sum over what broadcasting repeated: axis {axes}."
    return text


def _exact(
    driver: Callable[..., Any],
    f: Callable[..., Any],
    args: tuple[Any, ...],
    argnums: Argnums,
    shapes: Sequence[tuple[int, ...]],
) -> tuple[list[Array], list[str]]:
    """hoad's own derivative, or nan and a word on why there is none."""
    try:
        found = quietly(driver(f, argnums), *args)
        parts = found if isinstance(argnums, tuple) else (found,)
        return [np.asarray(part, np.float64) for part in parts], []
    except Exception as error:  # whatever f does to a traced value
        text = str(error).split(". ")[0].rstrip(".") if isinstance(error, HoadError) else type(error).__name__
        return [np.full(shape, np.nan) for shape in shapes], [f"hoad cannot differentiate f: {text}"]


class _Shaken:
    """Both derivatives where the last digits of x are others, taken when they are first asked for."""

    def __init__(
        self,
        exact: Callable[..., Any],
        claimed: Callable[..., Any],
        args: tuple[Any, ...],
        wrt: tuple[int, ...],
        several: bool,
        seed: int,
    ) -> None:
        self._functions, self._args, self._wrt, self._several = (exact, claimed), args, wrt, several
        self._rng = np.random.default_rng(seed)
        self._found: list[list[tuple[Array, ...]]] | None = None

    def part(self, part: int) -> Pairs:
        """By the argument at this place among those asked for."""
        if self._found is None:
            self._found = [self._at(4.0**k) for k in range(SHAKES)]
        return [(both[0][part], both[1][part]) for both in self._found if both]

    def _at(self, ulps: float) -> list[tuple[Array, ...]]:
        at = list(self._args)
        for k in self._wrt:
            signs = self._rng.choice([-1.0, 1.0], np.shape(at[k]))
            at[k] = moved(at[k], ulps * epsilon(at[k]), signs * abs(np.asarray(at[k])))
        try:
            values = [quietly(g, *at) for g in self._functions]
            return [tuple(np.asarray(v, np.float64) for v in (g if self._several else (g,))) for g in values]
        except Exception:  # whatever a user's function does beside x: then nothing is known of its rounding
            return []


def _entries(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    k: int,
    value: Array,
    own: Array,
    result: tuple[int, ...],
    rtol: float,
    most: int,
    rng: np.random.Generator,
    check: str,
    shaken: Callable[[], Pairs],
) -> Iterator[Entry]:
    x = args[k]
    shape = np.shape(x)
    size = np.size(x)
    places = list(range(size)) if size <= most else sorted(rng.choice(size, most, replace=False).tolist())
    claimed, exact = value.reshape(*result, size), own.reshape(*result, size)
    sizes = np.broadcast_to(typical(x), shape).ravel()

    def loose(at: tuple[int, ...], v: Any) -> float:
        """By how much an entry, hoad's or that claimed, moves with the last digits of x."""
        lines = [(p.reshape(*result, size)[at], q.reshape(*result, size)[at]) for p, q in shaken()]
        pairs = [(p[v], q[v]) if isinstance(v, int) else (p @ v, q @ v) for p, q in lines]
        here = (exact[at][v], claimed[at][v]) if isinstance(v, int) else (exact[at] @ v, claimed[at] @ v)
        moves = [abs(p - here[0]) + abs(q - here[1]) for p, q in pairs]
        return LOOSE * float(np.max(np.nan_to_num(moves, posinf=0.0), initial=0.0))

    # The most that rounding can leave of an entry of the derivative that should be 0, beside the others.
    rounding = 64 * epsilon(x) * np.max(abs(np.nan_to_num(exact)) * sizes, axis=-1, initial=0.0)
    if size > most:
        v = sizes * rng.choice([-1.0, 1.0], size)
        phi = along(f, args, {k: v.reshape(shape)}, check)
        d = difference(phi, noise_of(phi, args, {k: v.reshape(shape)}), [0.125, 2.0**-16])
        for at in np.ndindex(result):
            yield _judged(
                k,
                None,
                claimed[at] @ v,
                exact[at] @ v,
                d,
                at,
                rounding[at] * np.sqrt(size),
                rtol,
                partial(loose, at, v),
            )
    for place, d in _differences(f, args, k, places, check):
        index = tuple(int(n) for n in np.unravel_index(place, shape)) if shape else ()
        for at in np.ndindex(result):
            here = (*at, place)
            yield _judged(
                k,
                (*at, *index),
                claimed[here],
                exact[here],
                d,
                at,
                rounding[at] / sizes[place],
                rtol,
                partial(loose, at, place),
            )


def _judged(
    k: int,
    index: tuple[int, ...] | None,
    claimed: float,
    exact: float,
    d: Difference,
    at: tuple[int, ...],
    rounding: float,
    rtol: float,
    loose: Callable[[], float],
) -> Entry:
    """Who is right: what was claimed, or the difference, or hoad."""
    approximate, error, jump = float(d.value[at]), float(d.error[at]), float(d.jump[at])
    trusted = bool(d.trusted(np.full(d.value.shape, claimed))[at])

    def near(a: float, b: float, slack: float) -> bool:
        return abs(a - b) <= slack + rtol * max(abs(a), abs(b))

    slack, own = 4 * error, 0.0  # what the difference leaves open, and rounding of the entry itself
    known = np.isfinite(exact)
    at_odds = trusted and known and not near(exact, approximate, slack) and not d.allows(np.asarray(exact))[at]
    contradicted = trusted and not near(claimed, approximate, slack) and not d.allows(np.asarray(claimed))[at]
    reference = exact if known and not at_odds else approximate if trusted else np.nan
    if jump:
        verdict = UNDECIDED
        slopes = f"the slope is {approximate - jump / 2:.6g} on the left and {approximate + jump / 2:.6g} on the right"
        reason = f"f has a kink here: {slopes}"
    elif np.isnan(reference):
        verdict = UNDECIDED
        if np.isnan(approximate):
            reason = "f is not finite on both sides of x, so differences cannot judge"
        else:
            reason = "the difference is at fault: its error is too large to judge"
    elif not np.isfinite(claimed):
        verdict, reason = WRONG, "it is not finite"
    elif known and not at_odds:
        reason = "" if trusted else "the difference is at fault: its error is too large; judged by hoad"
        if near(claimed, exact, 0.0):
            verdict = RIGHT
        elif contradicted or not near(claimed, exact, rounding):
            verdict = WRONG
        elif near(claimed, exact, own := min(rounding, loose())):
            verdict = RIGHT
        else:
            verdict, reason = UNDECIDED, "beside the others it is so small that differences cannot tell it from hoad's"
    elif not near(claimed, approximate, slack) and d.allows(np.asarray(claimed))[at]:
        verdict, reason = UNDECIDED, "the difference is at fault: rounding hides it over steps of the size of x"
    else:
        verdict = RIGHT if near(claimed, approximate, slack) else WRONG
        reason = "hoad's own derivative is another" if at_odds else ""
    if verdict == WRONG:
        reason = "; ".join(filter(None, [_hint(claimed, reference), reason]))
    agreed = reference if not np.isnan(reference) else approximate
    vanishes = verdict == RIGHT and abs(agreed) <= (slack if agreed == approximate else own)
    digits = np.nan if vanishes else float(digits_between(claimed, agreed))
    return Entry(k, index, float(claimed), float(exact), approximate, error, trusted, verdict, reason, digits)


def _hint(claimed: float, reference: float) -> str:
    """What a slip of the pen makes of a derivative."""
    if not np.isfinite(claimed) or reference == 0 or claimed == 0:
        return ""
    ratio = claimed / reference
    if abs(ratio + 1) < 1e-6:
        return "the sign is wrong"
    for factor in (2, 3, 4):
        if abs(abs(ratio) - factor) < 1e-6 * factor:
            return f"it is {'minus ' if ratio < 0 else ''}{factor} times too large"
        if abs(abs(ratio) * factor - 1) < 1e-6:
            return f"it is {'minus ' if ratio < 0 else ''}one part in {factor} of what it should be"
    return f"it is off by {abs(ratio - 1):.1%}" if 1e-4 < abs(ratio - 1) < 1 else ""


__all__ = ["DerivativeReport", "gradient", "hessian", "jacobian"]
