"""Where the cases are tried: samplers of arguments, each ``(rng, count) -> array``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rng = np.random.Generator
Sampler = Callable[[Rng, int], np.ndarray]


def between(low: float, high: float) -> Sampler:
    """Evenly spread."""
    return lambda rng, count: rng.uniform(low, high, count)


def positive(low: float, high: float) -> Sampler:
    """Evenly spread in size, over all powers of ten between."""
    return lambda rng, count: 10.0 ** rng.uniform(np.log10(low), np.log10(high), count)


def sized(low: float, high: float) -> Sampler:
    """As `positive`, with both signs."""
    sizes = positive(low, high)
    return lambda rng, count: sizes(rng, count) * rng.choice([-1.0, 1.0], count)


def beside(center: float, low: float, high: float) -> Sampler:
    """At a distance from `center` that is positive or negative as its bounds are."""
    distances = positive(abs(low), abs(high))
    return lambda rng, count: center + np.copysign(distances(rng, count), low)


def mixed(*samplers: Sampler) -> Sampler:
    """A share of each."""

    def sample(rng: Rng, count: int) -> np.ndarray:
        counts = [count // len(samplers) + (k < count % len(samplers)) for k in range(len(samplers))]
        return np.concatenate([s(rng, n) for s, n in zip(samplers, counts, strict=True)])

    return sample


def integers(low: int, high: int) -> Sampler:
    """Whole numbers, as an integer array."""
    return lambda rng, count: rng.integers(low, high, count)
