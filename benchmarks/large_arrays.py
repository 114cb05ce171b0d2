"""What does an eager gradient of programs of large arrays cost, where memory is everything?

A chain of products of rolled arrays, averages over the neighbours of a grid, and a fluid that is carried along by its
own velocity, five steps on a grid of 128 x 128. Bar: as fast as `autograd.grad`, for the sibling too, of slices.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side

import hoad

PEERS = ("autograd",)
BAR = 1.0
RNG = np.random.default_rng(11)
GRID = 128
STEPS = 5

Arrays = tuple[Any, ...]


# Each function takes the module of its array functions first.


def rolls(m: Any, x: Any) -> Any:
    y = x
    for k in range(20):
        y = m.roll(y, k + 1) * x
    return m.sum(y)


def slices(m: Any, x: Any) -> Any:
    """The same mix by slices, each shorter than the one before."""
    y = x
    for _ in range(10):
        y = 0.7 * y[1:] * x[: y.shape[0] - 1] + y[:-1]
    return m.sum(y)


def averages(m: Any, u: Any) -> Any:
    for _ in range(10):
        u = 0.25 * (m.roll(u, 1, 0) + m.roll(u, -1, 0) + m.roll(u, 1, 1) + m.roll(u, -1, 1))
    return m.sum(u * u)


def without_divergence(m: Any, v: Any, w: Any) -> Arrays:
    """A velocity without its divergence, by ten steps of Jacobi's method."""
    source = 0.5 * (m.roll(v, 1, 0) - m.roll(v, -1, 0) + m.roll(w, 1, 1) - m.roll(w, -1, 1))
    p = np.zeros((GRID, GRID))
    for _ in range(10):
        p = (source + m.roll(p, 1, 0) + m.roll(p, -1, 0) + m.roll(p, 1, 1) + m.roll(p, -1, 1)) / 4.0
    return v - 0.5 * (m.roll(p, -1, 0) - m.roll(p, 1, 0)), w - 0.5 * (m.roll(p, -1, 1) - m.roll(p, 1, 1))


def carried(m: Any, f: Any, v: Any, w: Any) -> Any:
    """f where the velocity takes it from, between four points of the grid."""
    rows, columns = np.meshgrid(np.arange(GRID), np.arange(GRID), indexing="ij")
    y, x = m.ravel(rows - v), m.ravel(columns - w)
    above, left = m.floor(y).astype(int), m.floor(x).astype(int)
    a, b = y - above, x - left
    above, below = above % GRID, (above + 1) % GRID
    left, right = left % GRID, (left + 1) % GRID
    upper = (1 - b) * f[above, left] + b * f[above, right]
    return m.reshape((1 - a) * upper + a * ((1 - b) * f[below, left] + b * f[below, right]), (GRID, GRID))


def fluid(m: Any, v: Any, w: Any, smoke: Any, wanted: Any) -> Any:
    for _ in range(STEPS):
        v, w = without_divergence(m, carried(m, v, v, w), carried(m, w, v, w))
        smoke = carried(m, smoke, v, w)
    return m.mean((wanted - smoke) ** 2)


def numbers(*shape: int) -> Any:
    return RNG.uniform(0.9, 1.1, shape)


def fluid_data() -> Arrays:
    v, w = (0.3 * RNG.normal(size=(GRID, GRID)) for _ in range(2))
    return v, w, numbers(GRID, GRID), numbers(GRID, GRID)


def compare(name: str, f: Callable[..., Any], data: Callable[[], Arrays], settings: Settings) -> list[Row]:
    autograd, module = harness.peer("autograd"), harness.peer("autograd.numpy")
    which: Any = (0, 1) if f is fluid else 0
    ours = hoad.grad(partial(f, np), argnums=which)
    theirs = autograd.grad(lambda *arrays: f(module, *arrays), which)
    arrays = data()
    harness.require_equal(ours(*arrays), theirs(*arrays))
    harness.require_traced_anew(lambda g: hoad.grad(g, argnums=which), partial(f, np), arrays)
    mine, other = harness.interleave([Side("hoad", ours, data), Side("autograd", theirs, data)], settings)
    return [harness.faster(f"eager grad, {name}", mine, other, at_least=BAR)]


def cases(settings: Settings) -> Iterator[Case]:
    table: list[tuple[str, Callable[..., Any], Callable[[], Arrays]]] = [
        *((f"20 rolls, n = {n:,}", rolls, partial(of_one, n)) for n in (10_000, 100_000, 1_000_000)),
        ("10 products of slices, n = 1,000,000 (perturbed)", slices, partial(of_one, 1_000_000)),
        ("10 averages of neighbours, 1000 x 1000", averages, partial(of_one, 1000, 1000)),
        ("fluid, 128 x 128, 5 steps", fluid, fluid_data),
    ]
    for name, f, data in table:
        yield name, partial(compare, name, f, data, settings)


def of_one(*shape: int) -> Arrays:
    return (numbers(*shape),)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
