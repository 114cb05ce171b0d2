"""Derivatives held against differences and against hoad's own, component by component."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from hoad.check.derivative_report import DerivativeReport, Entry
from hoad.check.differences import Difference, difference
from hoad.check.noise import noise_of
from hoad.check.points import Array, along, check_arguments, epsilon, moved, numbers, quietly, typical
from hoad.check.report import RIGHT, UNDECIDED, WRONG, digits_between, name_of
from hoad.errors import HoadError, ShapeError

Argnums = int | tuple[int, ...]
Pairs = list[tuple[Array, Array]]  # hoad's derivative, and that claimed

SHAKES = 4  # points beside x at which derivatives are taken, where their rounding must be known
LOOSE = 16.0  # times what they move there is what rounding may make of them


def differences(
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


def compared(
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
    for place, d in differences(f, args, k, places, check):
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


__all__ = ["Argnums", "compared", "differences"]
