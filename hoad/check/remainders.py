"""The remainders of Taylor polynomials at falling steps, and the noise in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad.check.noise import noise_of
from hoad.check.points import Array, is_moved, moved
from hoad.errors import ShapeError

MOST_STEPS = 64  # halvings
MOST_DOUBLINGS = 4  # where a small v hides the highest order
ABOVE = 16.0  # times the noise: what is seen of a remainder
TAIL = 4  # remainders that an observed rate is taken from
MOST_COMPONENTS = 256


def growth(phi: Callable[[float], Array], args: tuple[Any, ...], direction: dict[int, Any]) -> Array:
    """The noise in f at the first steps, over the step: where f vanishes at x, nearly all of it comes with h."""
    for t in (1.0, 2.0**-4, 2.0**-8, 2.0**-12):
        there = phi(t)
        if np.all(np.isfinite(there)):
            at = tuple(moved(x, t, direction[k]) for k, x in enumerate(args))
            return noise_of(lambda s, t=t: phi(t + s), at, direction) / t  # type: ignore[misc]
    return np.zeros_like(phi(0.0))


class Picked:
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


def walk(
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


__all__ = ["ABOVE", "TAIL", "Picked", "growth", "walk"]
