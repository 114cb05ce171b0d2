"""What does assignment cost? An array of 10 000 items filled one by one in a Python loop, and the gradient of its sum.

Bar: 20 ms for value and gradient together. Beside it, for as many items as is bearable: JAX's functional twin,
`y = y.at[i].set(v)`, and autograd, which cannot assign and stacks a list. Blocks added to a large matrix stand beside
the same additions in plain NumPy.
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

PEERS = ("autograd", "jax")
BAR = 20.0  # ms
BEARABLE = 100  # items, for JAX
RNG = np.random.default_rng(1)

Step = Callable[[Any, Any, int], Any]


def recurrence(last: Any, x: Any, k: int) -> Any:
    """Each item from the one before."""
    return 0.9 * last + x[k % 16]


def perturbed(last: Any, x: Any, k: int) -> Any:
    """Other operations and constants."""
    return x[k % 13] / (1.1 + last * last)


def filled(step: Step, n: int, x: Any) -> Any:
    """The sum of an array that is filled in place."""
    y = np.empty(n, like=x)
    y[0] = x[0]
    for k in range(1, n):
        y[k] = step(y[k - 1], x, k)
    return np.sum(y * y)


def listed(step: Step, n: int, x: Any) -> Any:
    """The same for autograd: a list that is made an array of."""
    stack: Any = harness.peer("autograd.numpy")
    items = [x[0]]
    for k in range(1, n):
        items.append(step(items[k - 1], x, k))
    y = stack.array(items)
    return stack.sum(y * y)


def replaced(step: Step, n: int, x: Any) -> Any:
    """The same for JAX: a new array for each item."""
    jnp: Any = harness.peer("jax.numpy")
    y = jnp.zeros(n).at[0].set(x[0])
    for k in range(1, n):
        y = y.at[k].set(step(y[k - 1], x, k))
    return jnp.sum(y * y)


def fresh() -> tuple[np.ndarray]:
    return (RNG.uniform(0.5, 1.5, 16),)


def filling(name: str, step: Step, settings: Settings) -> list[Row]:
    n = settings.size(10_000, 50)
    hoads = hoad.value_and_grad(partial(filled, step, n))
    (x,) = fresh()
    require_slope(hoads, x)
    ours = harness.interleave([Side("hoad", hoads, fresh)], settings)[0]
    return [harness.limit(f"fill {n} items one by one and its gradient, {name}", ours.median * 1e3, "ms", BAR)]


def require_slope(value_and_grad: Callable[[Any], Any], x: np.ndarray) -> None:
    """Hold the gradient to a difference along a direction."""
    v = RNG.normal(size=x.size)
    (high, _), (low, _) = value_and_grad(x + 1e-6 * v), value_and_grad(x - 1e-6 * v)
    harness.require_equal(value_and_grad(x)[1] @ v, (high - low) / 2e-6, rtol=1e-5)


def comparing(name: str, step: Step, settings: Settings) -> list[Row]:
    """The three, an item, for arrays that are small enough for the slowest."""
    n = settings.size(BEARABLE, 20)
    autograd, jax = harness.peer("autograd"), harness.peer("jax")
    jax.config.update("jax_enable_x64", True)
    hoads = hoad.grad(partial(filled, step, n))
    stacks = autograd.grad(partial(listed, step, n))
    sets = jax.grad(partial(replaced, step, n))
    (x,) = fresh()
    harness.require_equal(hoads(x), stacks(x))
    harness.require_equal(hoads(x), np.asarray(sets(x)))
    sides = [
        Side("hoad", hoads, fresh),
        Side("autograd", stacks, fresh),
        Side("jax at[].set", lambda x: sets(x).block_until_ready(), fresh),
    ]
    ours, stacked, replacing = (timing.per(n) for timing in harness.interleave(sides, settings))
    question = f"fill {n} items and gradient, per item, {name}"
    return [harness.faster(question, ours, stacked), harness.faster(question, ours, replacing)]


def stiffness(n: int, width: int, x: Any) -> Any:
    """Blocks of a banded matrix, added where they overlap."""
    matrix = np.zeros((n, n), like=x)
    block = np.eye(width) + 0.5
    for e in range(n - width + 1):
        places = np.arange(e, e + width)
        matrix[np.ix_(places, places)] += x[e % 16] * block
    return np.sum(matrix * matrix)


def assembling(name: str, width: int, settings: Settings) -> list[Row]:
    n = settings.size(200, 10)
    sides = [
        Side("hoad", hoad.grad(partial(stiffness, n, width)), fresh),
        Side("NumPy, value alone", partial(stiffness, n, width), fresh),
    ]
    ours, plain = (timing.per(n - width + 1) for timing in harness.interleave(sides, settings))
    return [harness.cost(f"blocks of {name} added to a matrix of {n} rows and gradient, per block", ours, plain)]


def cases(settings: Settings) -> Iterator[Case]:
    for name, step in (("0.9*last + x", recurrence), ("x / (1.1 + last**2) (perturbed)", perturbed)):
        yield f"fill, {name}", partial(filling, name, step, settings)
        yield f"compare, {name}", partial(comparing, name, step, settings)
    for name, width in (("2 by 2", 2), ("3 by 3 (perturbed)", 3)):
        yield f"blocks of {name}", partial(assembling, name, width, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
