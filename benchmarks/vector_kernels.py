"""What does an element of an elementary function cost, by the kernels of lanes and arrays?

Arrays of 10 000 elements, in ns an element, beside NumPy's loops (SciPy's for erf and erfc) and a loop that calls the C
library. Bar: where hoad takes its own kernel for arrays, it is no slower than the loop it replaces.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import harness
import numpy as np
import scipy.special
from harness import Case, Row, Settings, Side

from hoad._core.kernels import ufuncs, vector

PEERS = ("scipy",)
BAR = 0.8  # as fast, up to the noise of a shared machine
RNG = np.random.default_rng(17)

Draw = Callable[[int], np.ndarray]


def between(low: float, high: float) -> Draw:
    return lambda n: RNG.uniform(low, high, n)


def spread(low: float, high: float) -> Draw:
    """Of both signs, with exponents between these."""
    return lambda n: RNG.choice([-1.0, 1.0], n) * 2.0 ** RNG.uniform(low, high, n)


def positive(low: float, high: float) -> Draw:
    return lambda n: np.abs(spread(low, high)(n))


# The usual arguments of a function, and others for its perturbed sibling.
DRAWS: dict[str, tuple[tuple[Draw, ...], tuple[Draw, ...]]] = {
    "log": ((between(0.01, 10),), (positive(-300, 300),)),
    "log1p": ((between(0.01, 10),), (positive(-30, 30),)),
    "sqrt": ((between(0.01, 10),), (positive(-300, 300),)),
    "sqrt_one_minus_square": ((between(-1, 1),), (spread(-20, 0),)),
    "arcsin": ((between(-1, 1),), (spread(-20, 0),)),
    "arccos": ((between(-1, 1),), (spread(-20, 0),)),
    "power": ((between(0.01, 10), between(-3, 3)), (positive(-20, 20), between(-30, 30))),
    "arctan2": ((between(-3, 3), between(-3, 3)), (spread(-20, 20), spread(-20, 20))),
}
USUAL = ((between(-3, 3),), (spread(-20, 8),))


def ufunc_of(name: str) -> np.ufunc:
    places = (np, scipy.special, ufuncs)
    return next(getattr(place, name) for place in places if hasattr(place, name))


def compare(question: str, name: str, draws: tuple[Draw, ...], settings: Settings) -> list[Row]:
    n = settings.size(10_000, 100)
    ufunc = ufunc_of(name)
    room = np.empty(n)

    def fresh() -> tuple[np.ndarray, ...]:
        return tuple(draw(n) for draw in draws)

    arrays = fresh()
    harness.require_equal(vector.evaluate(name, *arrays), ufunc(*arrays), rtol=1e-14)
    sides = [
        Side("hoad", lambda *x: vector.evaluate(name, *x, out=room), fresh, most=256),
        Side(ufunc_name(ufunc), lambda *x: ufunc(*x, out=room), fresh, most=256),
        Side("C library", lambda *x: vector.library(name, *x, out=room), fresh, most=256),
    ]
    mine, theirs, library = (timing.per(n) for timing in harness.interleave(sides, settings))
    taken = name in vector.FASTER[vector.target()]
    return [
        harness.faster(question, mine, theirs, at_least=BAR if taken else None),
        harness.faster(question, mine, library),
    ]


def ufunc_name(ufunc: np.ufunc) -> str:
    return "numpy" if getattr(np, ufunc.__name__, None) is ufunc else "ufunc"


def cases(settings: Settings) -> Iterator[Case]:
    for name in [name for group in vector.names() for name in group]:
        usual, other = DRAWS.get(name, USUAL)
        target = vector.target()
        yield name, partial(compare, f"{name} ({target})", name, usual, settings)
        yield name, partial(compare, f"{name} ({target}, perturbed)", name, other, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
