"""What do the gradient and the Hessian of a formula cost at many points?

`hoad.vmap` of a formula of Black and Scholes in five variables, with the logistic approximation of the normal
distribution, at 100 000 points on one thread, tracing at every call; JAX's `vmap` under `jit`, compiled beforehand,
beside it. Bar: the results agree; the ratio is shown.
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

PEERS = ("jax",)
RNG = np.random.default_rng(3)
LOW, HIGH = np.array([80.0, 80.0, 0.01, 0.1, 0.5]), np.array([120.0, 120.0, 0.05, 0.4, 2.0])


def price(x: Any, m: Any) -> Any:
    spot, strike, rate, sigma, years = x[0], x[1], x[2], x[3], x[4]
    spread = sigma * m.sqrt(years)
    d = (m.log(spot / strike) + (rate + sigma * sigma / 2) * years) / spread
    return spot * normal(d, m) - strike * m.exp(-rate * years) * normal(d - spread, m)


def normal(d: Any, m: Any) -> Any:
    return 1 / (1 + m.exp(-1.5976 * d - 0.070565992 * d * d * d))


def perturbed(x: Any, m: Any) -> Any:
    """The same size with other operations and constants."""
    a, b, c, d, e = x[0], x[1], x[2], x[3], x[4]
    r = m.sqrt(a * a + b * b) * c
    return m.sin(r * d) * m.exp(-e * c) + m.tanh(a / b - d) * m.log(e * r) / (1 + d * d)


def compare(name: str, f: Callable[[Any, Any], Any], settings: Settings) -> list[Row]:
    n = settings.size(100_000, 50)
    jax = harness.peer("jax")
    rows = []
    for order, ours, theirs in (("gradient", hoad.grad, jax.grad), ("Hessian", hoad.hessian, jax.hessian)):
        mapped = hoad.vmap(ours(lambda x: f(x, np)), threads=1)
        compiled = jax.jit(jax.vmap(theirs(lambda x: f(x, jax.numpy))))

        def fresh() -> tuple[Any]:
            return (RNG.uniform(LOW, HIGH, (n, 5)),)

        x = fresh()[0]
        harness.require_equal(mapped(x), np.asarray(compiled(x)), rtol=1e-6)
        own, peer = harness.interleave(
            [
                Side("hoad.vmap", mapped, fresh, most=3),
                Side("jax.jit", lambda x, g=compiled: g(x).block_until_ready(), fresh, most=3),
            ],
            settings,
        )
        note = "jax.jit replays what it compiled before"
        rows.append(harness.faster(f"{order} of {name} at {n} points", own, peer, note=note))
    return rows


def cases(settings: Settings) -> Iterator[Case]:
    for name, f in (("a price", price), ("sin, tanh, log (perturbed)", perturbed)):
        yield f"lanes of {name}", partial(compare, name, f, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
