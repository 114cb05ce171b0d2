"""What do the derivatives of formulas and of operations on matrices cost at many points?

`hoad.vmap` of a formula of Black and Scholes in five variables, with the logistic approximation of the normal
distribution, at 100 000 points on one thread, tracing at every call; JAX's `vmap` under `jit`, compiled beforehand,
beside it. Gradients of a neural net, and of determinants, quadratic forms and factors of small matrices, under
`hoad.jit`. Bar: the results agree; the ratio is shown.
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


def positive(a: Any, m: Any) -> Any:
    return a @ a.T + m.eye(a.shape[0])


LAYERS = [RNG.normal(size=shape) / np.sqrt(shape[-1]) for shape in ((64, 32), (64, 64), (64,))]
OF_ARRAYS: dict[str, tuple[Callable[[Any, Any], Any], int, tuple[int, ...]]] = {
    "net 32-64-64": (lambda x, m: LAYERS[2] @ m.tanh(LAYERS[1] @ m.tanh(LAYERS[0] @ x)), 1000, (32,)),
    "log det, 4 x 4": (lambda a, m: m.log(m.linalg.det(positive(a, m))), 2000, (4, 4)),
    "slogdet, 8 x 8 (perturbed)": (lambda a, m: m.linalg.slogdet(positive(a, m))[1], 1000, (8, 8)),
    "det, 6 x 6": (lambda a, m: m.linalg.det(a), 1000, (6, 6)),
    "quadratic form by solve, 4 x 4": (lambda a, m: a[0] @ m.linalg.solve(positive(a, m), a[1]), 2000, (4, 4)),
    "log det by Cholesky, 5 x 5": (
        lambda a, m: m.sum(m.log(m.diag(m.linalg.cholesky(positive(a, m))))),
        1000,
        (5, 5),
    ),
}


def of_arrays(name: str, settings: Settings) -> list[Row]:
    f, n, shape = OF_ARRAYS[name]
    n = settings.size(n, 20)
    jax = harness.peer("jax")
    mapped = hoad.jit(hoad.vmap(hoad.grad(lambda x: f(x, np))))
    compiled = jax.jit(jax.vmap(jax.grad(lambda x: f(x, jax.numpy))))

    def fresh() -> tuple[Any]:
        return (RNG.normal(size=(n, *shape)),)

    x = fresh()[0]
    harness.require_equal(mapped(x), np.asarray(compiled(x)), rtol=1e-6)
    own, peer = harness.interleave(
        [Side("hoad", mapped, fresh), Side("jax.jit", lambda x: compiled(x).block_until_ready(), fresh)], settings
    )
    return [harness.faster(f"gradient of a {name} at {n} inputs", own, peer)]


def cases(settings: Settings) -> Iterator[Case]:
    for name, f in (("a price", price), ("sin, tanh, log (perturbed)", perturbed)):
        yield f"lanes of {name}", partial(compare, name, f, settings)
    for name in OF_ARRAYS:
        yield f"lanes of a {name}", partial(of_arrays, name, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
