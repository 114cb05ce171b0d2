"""What does an eager gradient of a small array program cost, where overhead is everything?

Logistic regression on 50 samples of 5 features, and a multilayer perceptron 8-8-1 with tanh on a batch of 4.
Bar: at least 3 times faster than `autograd.grad`. JAX, eager and compiled, stands beside them.
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
BAR = 3.0
RNG = np.random.default_rng(5)

Arrays = tuple[Any, ...]
Data = Callable[[], Arrays]


# Each function takes the module of its array functions first; data comes last and is not differentiated.


def logistic(m: Any, w: Any, x: Any, y: Any) -> Any:
    return m.mean(m.log1p(m.exp(-y * (x @ w))))


def logistic_data() -> Arrays:
    return RNG.normal(size=5), RNG.normal(size=(50, 5)), RNG.choice([-1.0, 1.0], size=50)


def ridge(m: Any, w: Any, x: Any, y: Any) -> Any:
    """Another loss on another shape, with a penalty."""
    return m.sum(m.logaddexp(0.0, 0.7 * y * (x @ w))) + 0.3 * m.sum(w**2)


def ridge_data() -> Arrays:
    return RNG.normal(size=7), RNG.normal(size=(40, 7)), RNG.choice([-1.0, 1.0], size=40)


def perceptron(m: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    return m.mean((m.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def perceptron_data() -> Arrays:
    shapes = ((8, 8), (8,), (8, 1), (1,), (4, 8), (4, 1))
    return tuple(RNG.normal(size=shape) for shape in shapes)


def sigmoid_net(m: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Another activation, another loss, other sizes."""
    hidden = 1.5 / (1.0 + m.exp(-(m.dot(x, w1) + b1)))
    return m.sum(m.sqrt(0.1 + (m.dot(hidden, w2) + b2 - y) ** 2))


def sigmoid_data() -> Arrays:
    shapes = ((6, 10), (10,), (10, 1), (1,), (5, 6), (5, 1))
    return tuple(RNG.normal(size=shape) for shape in shapes)


def bind(f: Callable[..., Any], m: Any) -> Callable[..., Any]:
    """f with the functions of module m."""
    return lambda *arrays: f(m, *arrays)


def compare(name: str, f: Callable[..., Any], data: Data, active: int, settings: Settings) -> list[Row]:
    """Gradient by the first `active` arrays, in the four ways."""
    autograd, jax = harness.peer("autograd"), harness.peer("jax")
    which: int | tuple[int, ...] = 0 if active == 1 else tuple(range(active))
    in_jax = bind(f, harness.peer("jax.numpy"))
    ours = hoad.grad(bind(f, np), argnums=which)
    theirs = autograd.grad(bind(f, harness.peer("autograd.numpy")), which)
    eager = jax.grad(in_jax, argnums=which)
    compiled = jax.jit(eager)

    arrays = data()
    for other in (theirs, eager, compiled):
        harness.require_equal(ours(*arrays), other(*arrays))
    harness.require_traced_anew(lambda g: hoad.grad(g, argnums=which), bind(f, np), arrays)

    def on_device() -> Arrays:
        return tuple(jax.block_until_ready(jax.numpy.asarray(array)) for array in data())

    sides = [
        Side("hoad", ours, data),
        Side("autograd", theirs, data),
        Side("jax eager", lambda *a: jax.block_until_ready(eager(*a)), on_device),
        Side("jax.jit", lambda *a: jax.block_until_ready(compiled(*a)), on_device),
    ]
    mine, *others = harness.interleave(sides, settings)
    bars = (BAR, None, None)
    pairs = zip(others, bars, strict=True)
    return [harness.faster(f"eager grad, {name}", mine, other, at_least=bar) for other, bar in pairs]


def cases(settings: Settings) -> Iterator[Case]:
    table: list[tuple[str, Callable[..., Any], Data, int]] = [
        ("logistic 50x5", logistic, logistic_data, 1),
        ("ridge logistic 40x7 (perturbed)", ridge, ridge_data, 1),
        ("MLP 8-8-1 tanh, batch 4", perceptron, perceptron_data, 4),
        ("MLP 6-10-1 sigmoid, batch 5 (perturbed)", sigmoid_net, sigmoid_data, 4),
    ]
    for name, f, data, active in table:
        yield name, partial(compare, name, f, data, active, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
