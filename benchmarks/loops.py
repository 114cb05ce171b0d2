"""What does it cost to record a loop of 100 000 steps once, and to differentiate it?

Four variables, some fifteen operations a step, through `hoad.scan`. Bars: recording, values included, takes at most
5 ms; the tape is as large as that of ten steps. JAX's `lax.scan`, compiled beforehand, stands beside the gradient.

And 1000 differential equations: the memory of the continuous adjoint at a tight tolerance, over that at a loose one.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side

import hoad

PEERS = ("jax",)
RNG = np.random.default_rng(7)


def drift(c: Any, m: Any) -> Any:
    x, y, z, w = c
    return x + 1e-5 * y * z, y - 1e-5 * x * w, z + 1e-5 * m.sin(w), w - 1e-5 * z


def perturbed(c: Any, m: Any) -> Any:
    """The same size with other operations and constants."""
    x, y, z, w = c
    return x + 2e-5 * m.tanh(y), y - 3e-5 * x * z, z * (1 + 1e-5 * w), w - 1e-5 * x * y


def loss(scan: Callable[..., Any], body: Callable[..., Any], m: Any, steps: int) -> Callable[[Any], Any]:
    def f(p: Any) -> Any:
        (x, y, z, w), _ = scan(lambda c, _: (body(c, m), None), (p, 1.0, 0.5, 2.0), length=steps)
        return x * y + z * w

    return f


def compare(name: str, body: Callable[..., Any], settings: Settings) -> list[Row]:
    steps = settings.size(100_000, 20)
    jax = harness.peer("jax")
    f = loss(hoad.scan, body, np, steps)
    theirs = loss(lambda g, c, length: jax.lax.scan(g, c, None, length), body, jax.numpy, steps)
    compiled = jax.jit(jax.grad(theirs))

    def fresh() -> tuple[Any]:
        return (float(RNG.uniform(0.5, 1.5)),)

    argument = fresh()[0]
    harness.require_equal(hoad.grad(f)(argument), float(compiled(argument)), rtol=1e-8)
    jitted = hoad.jit(hoad.grad(f))
    recorded, replayed, gradient, replayed_gradient, peer = harness.interleave(
        [
            Side("hoad.record", lambda p: hoad.record(f, p), fresh),
            Side("hoad replay", hoad.record(f, argument).evaluate, fresh),
            Side("hoad.grad", hoad.grad(f), fresh),
            Side("hoad.jit", jitted, fresh),
            Side("jax.jit", lambda p: compiled(p).block_until_ready(), fresh),
        ],
        settings,
    )
    small, large = (hoad.record(loss(hoad.scan, body, np, n), 1.0)[0].nbytes for n in (10, steps))
    question = f"a loop of {steps} steps, {name}"
    return [
        harness.limit(f"{question}: recording", recorded.median * 1e3, "ms", at_most=5.0),
        harness.limit(f"{question}: tape, over that of 10 steps", large / small, "x", at_most=1.0),
        harness.cost(f"{question}: recording, over a replay", recorded, replayed),
        harness.cost(f"{question}: gradient, over its replay", gradient, replayed_gradient),
        harness.faster(f"{question}: gradient", replayed_gradient, peer, note="both replay what they compiled before"),
    ]


def swing(y: Any, t: Any) -> Any:
    return -y * np.cos(t) * (1 + 0.1 * y)


def relaxation(y: Any, t: Any) -> Any:
    """Another equation of the same size (perturbed)."""
    return 0.3 * np.sin(t) - y / (1 + y * y)


def energy(rhs: Callable[..., Any], tolerance: float, adjoint: str) -> Callable[[Any], Any]:
    """Of the solution of 1000 equations after twenty units of time."""
    options = {"rtol": tolerance, "atol": tolerance, "adjoint": adjoint}
    return lambda y: np.sum(hoad.ode.odeint(rhs, y, [0.0, 20.0], **options)[-1] ** 2)


def peak(f: Callable[[Any], Any], x: Any) -> int:
    """The most bytes of arrays alive at a time."""
    f(x)
    tracemalloc.start()
    f(x)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def equations(name: str, rhs: Callable[..., Any], settings: Settings) -> list[Row]:
    y = np.linspace(0.5, 1.0, settings.size(1000, 20))
    tight = 1e-10
    discrete, continuous = (hoad.grad(energy(rhs, tight, adjoint)) for adjoint in ("discrete", "continuous"))
    harness.require_equal(discrete(y), continuous(y), rtol=1e-6)
    loose = hoad.grad(energy(rhs, 1e-4, "continuous"))
    by_steps, by_adjoint = harness.interleave(
        [
            Side("steps", discrete, lambda: (y * RNG.uniform(0.9, 1.1),)),
            Side("adjoint", continuous, lambda: (y * RNG.uniform(0.9, 1.1),)),
        ],
        settings,
    )
    question = f"{y.size} differential equations, {name}"
    return [
        harness.limit(
            f"{question}: peak at 1e-10, over that at 1e-4", peak(continuous, y) / peak(loose, y), "x", at_most=1.1
        ),
        harness.cost(f"{question}: gradient by the continuous adjoint, over that by steps", by_adjoint, by_steps),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    for name, rhs in (("swing", swing), ("relaxation (perturbed)", relaxation)):
        yield f"equations of {name}", partial(equations, name, rhs, settings)
    for name, body in (("drift", drift), ("tanh, products (perturbed)", perturbed)):
        yield f"loop of {name}", partial(compare, name, body, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
