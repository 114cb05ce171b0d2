"""The remainders of Taylor polynomials at falling steps on both sides of x, and the noise in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad.check.noise import BOTH, noise_of
from hoad.check.points import Along, Array, as_numbers, drawn, is_moved, moved
from hoad.errors import ArgumentError, ShapeError

MOST_STEPS = 64  # halvings
MOST_DOUBLINGS = 4  # where a small v hides the highest order
FEWEST_STEPS = 8
NEARBY = 16  # last digits of x that a step must change, so that it is what it should be
ABOVE = 16.0  # times the noise: what is seen of a remainder
TAIL = 4  # remainders that an observed rate is taken from
MOST_COMPONENTS = 256
VANISHING = 64 * 2.0**-52  # of the largest coefficient: one that is as good as zero


@dataclass(frozen=True, eq=False)
class Remainders:
    """What is left of f beyond its Taylor polynomials, on the side of v and on that of −v."""

    h: Array  # (K), the steps, falling
    signed: Array  # (2, K, order + 1, M), f(x ± hv) − Tₙ(±h) in every component looked at; nan where f is not defined
    noise: Array  # of the same shape, what of it may be rounding


class Picked:
    """Components of the result that are looked at one by one; of many, some, and a combination of all."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = math.prod(shape)
        rng = np.random.default_rng(0)
        some = self.size > MOST_COMPONENTS
        self.places = np.sort(rng.choice(self.size, MOST_COMPONENTS, replace=False)) if some else None
        self.weights = drawn(rng, np.ones(self.size))

    def __call__(self, values: Array) -> Array:
        if self.places is None:
            return values
        return np.concatenate([values[:, self.places], values @ self.weights[:, None]], axis=1)

    def noise(self, values: Array) -> Array:
        """Of values with this noise."""
        if self.places is None:
            return values
        return np.append(values[self.places], np.sqrt(np.sum((values * self.weights) ** 2)))

    def index(self, m: int) -> tuple[int, ...]:
        """Where a component stands in the result; nothing for the combination of all."""
        if not self.shape or (self.places is not None and m == len(self.places)):
            return ()
        return tuple(int(k) for k in np.unravel_index(m if self.places is None else self.places[m], self.shape))


class Remainder:
    """t -> f(x + tv) − Tₙ(t) for every degree n, and the noise in it, both (order + 1, M)."""

    def __init__(
        self,
        phi: Along,
        args: tuple[Any, ...],
        direction: dict[int, Any],
        coefficients: Array,
        picked: Picked,
        eps: float,
    ) -> None:
        self._phi, self.coefficients, self._picked, self.eps = phi, coefficients, picked, eps
        self._args, self._direction = args, direction
        self.rounding = {s: picked.noise(noise_of(phi, args, direction, (s,)).ravel()) for s in BOTH}
        self._growth = {s: picked.noise(self._grown(s).ravel()) for s in BOTH}

    def _grown(self, side: float) -> Array:
        """The noise in f at the first steps, over the step: where f vanishes at x, nearly all of it comes with h."""
        for t in (1.0, 2.0**-4, 2.0**-8, 2.0**-12):
            if np.all(np.isfinite(self._phi(side * t))):
                at = tuple(moved(x, side * t, self._direction[k]) for k, x in enumerate(self._args))
                return noise_of(lambda s, t=t: self._phi(side * t + s), at, self._direction) / t  # type: ignore[misc]
        return np.zeros(self._phi.shape)

    def __call__(self, t: float) -> tuple[Array, Array]:
        found = self._picked(self._phi(t).reshape(1, -1))[0]
        side = math.copysign(1.0, t)
        with np.errstate(all="ignore"):
            terms = self.coefficients * (t ** np.arange(len(self.coefficients)))[:, None]
            scale = abs(found) + np.cumsum(abs(terms), axis=0)
            grown = np.fmax(self.rounding[side], self._growth[side] * abs(t))
            return found - np.cumsum(terms, axis=0), np.fmax(grown, 0.5 * self.eps * scale)

    def moves(self, t: float) -> bool:
        """Whether x + tv is farther from x than some of its last digits."""
        return is_moved(self._args, self._direction, t / NEARBY)


def walk(remainder: Remainder, steps: Sequence[float] | None) -> Remainders:
    """Remainders at falling steps, until nothing is left but rounding; or at those that were asked for."""
    if steps is not None:
        given = as_numbers(steps)
        h = np.unique(given)[::-1] if given is not None else np.zeros(0)
        if h.size < 2 or not np.all((h > 0) & np.isfinite(h)):
            raise ArgumentError(f"check.taylor_test takes at least two steps, all of them positive, not {steps!r}.")
        return _collected({float(t): _both(remainder, float(t)) for t in h})
    found: dict[float, tuple[Array, Array]] = {}
    quiet = 0
    for k in range(MOST_STEPS):
        t = 2.0**-k
        if not remainder.moves(t):
            break
        found[t] = _both(remainder, t)
        quiet = quiet + 1 if _is_quiet(*found[t]) else 0
        if quiet >= TAIL and k >= FEWEST_STEPS:
            break
    if len(found) < 2:
        raise ShapeError("check.taylor_test: v is too small beside x for x + hv to be another point. Give a larger v.")
    for k in range(1, MOST_DOUBLINGS + 1):
        if not _is_wanting(found, remainder.coefficients):
            break
        both = _both(remainder, 2.0**k)
        if not np.all(np.isfinite(both[0][0])):
            break
        found = {2.0**k: both, **found}
    return _collected(found)


def _is_wanting(found: dict[float, tuple[Array, Array]], coefficients: Array) -> bool:
    """Whether too little of the highest order is above rounding for a rate, or for two digits of its coefficient."""
    t = np.array(list(found))[:, None, None]
    r, noise = (np.array([pair[k][:, -1] for pair in found.values()]) for k in range(2))
    with np.errstate(all="ignore"):
        count = np.sum(abs(r) > ABOVE * noise, axis=0)
        doubt = np.fmin.reduce((abs(r) + noise) / t ** (len(coefficients) - 1), axis=0)
    own = abs(coefficients[-1])
    vanishes = own <= VANISHING * np.max(abs(coefficients[1:]), axis=0, initial=0.0)
    return bool(np.any(((count > 0) & (count <= TAIL)) | ((doubt > 0.01 * own) & ~vanishes)))


def _both(remainder: Remainder, t: float) -> tuple[Array, Array]:
    """Remainders at t and −t, and their noise, both (2, order + 1, M)."""
    pairs = [remainder(side * t) for side in BOTH]
    return np.array([r for r, _ in pairs]), np.array([noise for _, noise in pairs])


def _collected(found: dict[float, tuple[Array, Array]]) -> Remainders:
    signed, noise = (np.stack([pair[k] for pair in found.values()], axis=1) for k in range(2))
    return Remainders(np.array(list(found)), signed, noise)


def _is_quiet(r: Array, noise: Array) -> bool:
    """Whether nothing is left but rounding, in the orders that are tested; of one order alone, in that."""
    return not np.isnan(r[0]).any() and not (abs(r) > ABOVE * noise)[:, min(1, r.shape[1] - 1) :].any()
