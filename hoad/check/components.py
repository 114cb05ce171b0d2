"""Derivatives held against differences and against hoad's own, component by component."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compare_at
from hoad.check.claims import Shape, read
from hoad.check.derivative_report import DerivativeReport, Entry
from hoad.check.differences import Difference, difference
from hoad.check.noise import noise_of
from hoad.check.points import Along, Array, called, epsilon, moved, quietly, typical
from hoad.check.report import UNDECIDED, name_of
from hoad.check.verdicts import OTHER_RULE, Claim
from hoad.errors import HoadError, count

SHAKES = 4  # points beside x at which derivatives are taken, where their rounding must be known
LOOSE = 16.0  # times what they move there is what rounding may make of them


@dataclass(frozen=True)
class Question:
    """A derivative that was claimed: of which function, where, and how closely it is looked at."""

    kind: str  # "gradient", "jacobian" or "hessian"
    f: Callable[..., Any]  # what differences are taken of
    claim: Callable[..., Any]  # its derivative as claimed
    own: Callable[..., Any]  # its derivative by hoad
    args: tuple[Any, ...]  # the point
    wrt: tuple[int, ...]  # the arguments differentiated with respect to
    several: bool  # whether derivatives come in a tuple, one for each of these
    value: Array  # f(x)
    rtol: float  # as the user gave it, as the next two
    most: int
    seed: int
    # What to look at where hoad and differences of f disagree.
    suspect: str = "see hoad.check.rule for the primitives that f uses"

    @property
    def check(self) -> str:
        """What errors call it."""
        return f"check.{self.kind}"

    @property
    def result(self) -> Shape:
        """The shape of f(x)."""
        return self.value.shape

    def wanted(self) -> list[Shape]:
        """The shapes of the derivatives."""
        return [(*self.result, *np.shape(self.args[k])) for k in self.wrt]


def compared(asked: Question) -> DerivativeReport:
    """Every component of a derivative, for each argument asked for."""
    with np.errstate(all="ignore"):
        return _compared(asked)


def _compared(asked: Question) -> DerivativeReport:
    name, wanted = name_of(asked.f), asked.wanted()
    size = sum(map(math.prod, wanted))
    claimed, misfit = read(called(asked.check, "yours", asked.claim, asked.args), wanted, asked.several)
    if misfit:
        return DerivativeReport(asked.kind, name, asked.args, (), size, misfit, ())
    exact, notes = _exact(asked)
    shaken = _Shaken(asked)
    rng = np.random.default_rng(asked.seed)
    entries: list[Entry] = []
    for part in range(len(asked.wrt)):
        found = _Part(asked, part, claimed[part], exact[part], shaken).entries(rng)
        entries += sorted(found, key=lambda entry: entry.index or ())
    if any(np.size(asked.args[k]) > asked.most for k in asked.wrt):
        notes.append(f"{asked.most} of the entries of x were drawn, and one direction for all of them together")
    if off := [e for e in entries if e.verdict != UNDECIDED and OTHER_RULE in e.reason]:
        where = f"in {count(len(off), 'component')}"
        notes.append(f"hoad's own derivative disagrees with trustworthy differences {where}: {asked.suspect}")
    if not np.array_equal(Along(asked.f, asked.args, {}, asked.check, asked.result)(0.0), asked.value, equal_nan=True):
        notes.append("called again at x, f gives another value: it is random, or keeps a state")
    return DerivativeReport(asked.kind, name, asked.args, tuple(entries), size, "", tuple(notes))


def differences(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    k: int,
    places: Sequence[int],
    check: str,
    shape: Shape,
    noise: Array | None = None,
) -> Iterator[tuple[int, Difference, str]]:
    """The difference of f, of this shape, by each of these entries of argument k; and what f did out of its domain."""
    x = args[k]
    sizes = np.broadcast_to(typical(x), np.shape(x)).ravel()
    largest = float(sizes.max(initial=0.0)) or 1.0
    if noise is None:
        noise = noise_by(f, args, k, check, shape)
    for place in places:
        unit = np.zeros(np.size(x))
        unit[place] = 1.0
        phi = Along(f, args, {k: unit.reshape(np.shape(x)) if np.ndim(x) else 1.0}, check, shape)
        d = difference(phi, noise, _widths(float(sizes[place]), largest))
        yield place, d, phi.strayed


def noise_by(f: Callable[..., Any], args: tuple[Any, ...], k: int, check: str, shape: Shape) -> Array:
    """The noise in f where all of argument k changes in proportion."""
    direction = {k: typical(args[k])}
    return noise_of(Along(f, args, direction, check, shape), args, direction)


def _widths(size: float, largest: float) -> list[float]:
    """First steps to try for an entry of this size, beside others as large as that."""
    return list(dict.fromkeys([size / 8, largest / 8, size * 2.0**-16, 0.125]))


def _exact(asked: Question) -> tuple[list[Array], list[str]]:
    """hoad's own derivatives, or nan and a word on why there are none."""
    try:
        compare_at(asked.f, asked.args, asked.check)
        found = quietly(asked.own, *asked.args)
        return [np.asarray(part, np.float64) for part in (found if asked.several else (found,))], []
    except Exception as error:  # whatever f does to a traced value
        text = str(error).split(". ")[0].rstrip(".") if isinstance(error, HoadError) else type(error).__name__
        return [np.full(shape, np.nan) for shape in asked.wanted()], [f"hoad cannot differentiate f: {text}"]


class _Shaken:
    """Both derivatives where the last digits of x are others, taken when they are first asked for."""

    def __init__(self, asked: Question) -> None:
        self._asked = asked

    def part(self, part: int) -> list[tuple[Array, Array]]:
        """hoad's and that claimed, by the argument at this place among those asked for."""
        return [(own[part], claimed[part]) for own, claimed in self._pairs]

    @cached_property
    def _pairs(self) -> list[tuple[list[Array], list[Array]]]:
        asked, rng = self._asked, np.random.default_rng(self._asked.seed)
        found = []
        for ulps in 4.0 ** np.arange(SHAKES):
            at = list(asked.args)
            for k in asked.wrt:
                signs = rng.choice([-1.0, 1.0], np.shape(at[k]))
                at[k] = moved(at[k], ulps * epsilon(at[k]), signs * abs(np.asarray(at[k])))
            found.append((self._read(asked.own, at), self._read(asked.claim, at)))
        return found

    def _read(self, derivative: Callable[..., Any], at: list[Any]) -> list[Array]:
        """The derivatives there; nan where there are none: then nothing is known of their rounding."""
        asked = self._asked
        try:
            found = read(quietly(derivative, *at), asked.wanted(), asked.several)[0]
        except Exception:  # whatever a user's function does beside x
            found = []
        return found or [np.full(shape, np.nan) for shape in asked.wanted()]


class _Part:
    """The derivative with respect to one argument: as claimed, and by hoad."""

    def __init__(self, asked: Question, part: int, claimed: Array, exact: Array, shaken: _Shaken) -> None:
        self.asked, self.part, self.shaken = asked, part, shaken
        self.k = asked.wrt[part]
        self.x = asked.args[self.k]
        self.size = np.size(self.x)
        self.sizes = np.broadcast_to(typical(self.x), np.shape(self.x)).ravel()
        self.claimed, self.exact = self.flat(claimed), self.flat(exact)
        # The most that rounding can leave of an entry that should be 0, beside the others; times the size of x.
        weights = abs(np.nan_to_num(self.exact)) * self.sizes
        self.rounding = 64 * epsilon(self.x) * np.max(weights, axis=-1, initial=0.0)

    def flat(self, derivative: Array) -> Array:
        """With one axis for x."""
        return derivative.reshape(*self.asked.result, self.size)

    def entries(self, rng: np.random.Generator) -> Iterator[Entry]:
        """Every entry of x, or those drawn and a random direction."""
        asked, places = self.asked, list(range(self.size))
        if self.size > asked.most:
            places = sorted(rng.choice(self.size, asked.most, replace=False).tolist())
            yield from self._along(self.sizes * rng.choice([-1.0, 1.0], self.size))
        for place, d, strayed in differences(asked.f, asked.args, self.k, places, asked.check, asked.result):
            index = tuple(int(n) for n in np.unravel_index(place, np.shape(self.x))) if np.ndim(self.x) else ()
            for at in np.ndindex(asked.result):
                yield self._entry(at, (*at, *index), place, d, strayed, self.rounding[at] / self.sizes[place])

    def _along(self, v: Array) -> Iterator[Entry]:
        """The derivative along a direction, for all entries together."""
        asked, direction = self.asked, {self.k: v.reshape(np.shape(self.x))}
        phi = Along(asked.f, asked.args, direction, asked.check, asked.result)
        d = difference(phi, noise_of(phi, asked.args, direction), [0.125, 2.0**-16])
        for at in np.ndindex(asked.result):
            yield self._entry(at, None, v, d, phi.strayed, self.rounding[at] * np.sqrt(self.size))

    def _entry(
        self, at: tuple[int, ...], index: tuple[int, ...] | None, v: Any, d: Difference, strayed: str, rounding: float
    ) -> Entry:
        """One number: the entry at place v, or the derivative along v."""
        claimed, exact = _component(self.claimed[at], v), _component(self.exact[at], v)

        def loose() -> float:
            """By how much it, hoad's or that claimed, moves with the last digits of x."""
            pairs = [(self.flat(own)[at], self.flat(other)[at]) for own, other in self.shaken.part(self.part)]
            moves = [(_component(own, v) - exact, _component(other, v) - claimed) for own, other in pairs]
            return LOOSE * float(
                np.max(np.sum(abs(np.nan_to_num(moves, posinf=0.0, neginf=0.0)), axis=-1), initial=0.0)
            )

        whose = "the gradient of f" if self.asked.kind == "hessian" else "f"
        value = float(self.asked.value[at])
        claim = Claim(claimed, exact, d.at(at), value, self.asked.rtol, rounding, loose, whose, strayed)
        return Entry(self.k, index, claimed, exact, *claim.judged())


def _component(derivative: Array, v: Any) -> float:
    return float(derivative[v] if isinstance(v, int) else derivative @ v)
