"""What does a rule of one's own cost, and what does a checkpoint save?

A chain of 100 calls of a function with a rule (`hoad.custom_vjp`), for a call and its part of the sweep; beside it the
same chain without the rule, and the rules of autograd and JAX. Then 100 steps of 80 operations on 10 000 items:
`grad` with every step checkpointed beside `grad` that keeps all of them, autograd's `checkpoint`, and `jax.checkpoint`,
compiled beforehand. Bars: the peak of memory is at most an eighth of that without, at the time of at most 2.5 times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side
from memory import peak_rss

import hoad

PEERS = ("autograd", "jax")
CALLS = 100
SAVED = 1 / 8
SLOWER = 2.5
RNG = np.random.default_rng(11)

Body = Callable[[Any, Any], Any]


# ---------------------------------------------------------------------------------- rules of one's own


def log1pexp(x: Any, m: Any) -> Any:
    return m.log(1 + m.exp(x))


def log1pexp_slope(x: Any, m: Any) -> Any:
    return 1 / (1 + m.exp(-x))


def bump(x: Any, m: Any) -> Any:
    """The same size with other operations and constants."""
    return 2 / (1 + m.square(x - 0.3))


def bump_slope(x: Any, m: Any) -> Any:
    return -4 * (x - 0.3) / m.square(1 + m.square(x - 0.3))


RULES: dict[str, tuple[Body, Body]] = {
    "log(1 + exp(x))": (log1pexp, log1pexp_slope),
    "2 / (1 + (x - 0.3)**2) (perturbed)": (bump, bump_slope),
}


def chain(f: Callable[[Any], Any], n: int, x: Any) -> Any:
    for _ in range(n):
        x = f(x) * 0.7
    return x


def with_rules(f: Body, slope: Body) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]:
    """The function with its rule in hoad, autograd and JAX."""
    extend, anp, jnp = (harness.peer(name) for name in ("autograd.extend", "autograd.numpy", "jax.numpy"))
    ours = hoad.custom_vjp(lambda x: f(x, np))
    ours.defvjp(lambda g, p, x: (g * slope(x, np),))
    autograds = extend.primitive(lambda x: f(x, np))
    extend.defvjp(autograds, lambda p, x: lambda g: g * slope(x, anp))
    jaxs = harness.peer("jax").custom_vjp(lambda x: f(x, jnp))
    jaxs.defvjp(lambda x: (f(x, jnp), x), lambda x, g: (g * slope(x, jnp),))
    return ours, autograds, jaxs


def number() -> tuple[float]:
    return (float(RNG.uniform(0.5, 1.5)),)


def calling(name: str, settings: Settings) -> list[Row]:
    f, slope = RULES[name]
    n = settings.size(CALLS, 3)
    autograd, jax = harness.peer("autograd"), harness.peer("jax")
    jax.config.update("jax_enable_x64", True)
    ours, autograds, jaxs = with_rules(f, slope)
    ruled = hoad.grad(partial(chain, ours, n))
    steps = hoad.grad(partial(chain, lambda x: f(x, np), n))
    boxed = autograd.grad(partial(chain, autograds, n))
    traced = jax.grad(partial(chain, jaxs, n))
    (x,) = number()
    for peer in (steps, boxed, traced):
        harness.require_equal(ruled(x), float(peer(x)))
    sides = [
        Side("hoad", ruled, number),
        Side("hoad, without the rule", steps, number),
        Side("autograd", boxed, number),
        Side("jax.custom_vjp", lambda x: traced(x).block_until_ready(), number),
    ]
    found, bare, boxing, tracing = (timing.per(n) for timing in harness.interleave(sides, settings))
    question = f"a call with its part of the sweep, {name}"
    return [
        harness.cost(question, found, bare),
        harness.faster(question, found, boxing),
        harness.faster(question, found, tracing),
    ]


# ------------------------------------------------------------------------------------------ checkpoints


def swirl(x: Any, m: Any) -> Any:
    for _ in range(20):
        x = x + 0.01 * m.sin(x) * x
    return x


def damped(x: Any, m: Any) -> Any:
    """The same size with other operations and constants."""
    for _ in range(20):
        x = x - 0.02 * x / (1.5 + m.square(x))
    return x


BODIES: dict[str, Body] = {"x + 0.01 sin(x) x": swirl, "x - 0.02 x / (1.5 + x**2) (perturbed)": damped}
SIZE = 10_000


def walk(step: Callable[[Any], Any], m: Any, n: int, x: Any) -> Any:
    for _ in range(n):
        x = step(x)
    return m.sum(x)


def child(name: str, kept: str, n: str, size: str) -> None:
    """The peak of grad above what was there before, in bytes, in a fresh process."""
    body = BODIES[name]

    def step(x: Any) -> Any:
        return body(x, np)

    gradient = hoad.grad(partial(walk, step if kept == "all" else hoad.checkpoint(step), np, int(n)))
    before = peak_rss()
    gradient(np.linspace(0.5, 1.5, int(size)))
    print(json.dumps(peak_rss() - before))


def peaks(name: str, settings: Settings) -> list[Row]:
    n, size = settings.size(CALLS, 3), settings.size(SIZE, 10)
    start = [str(Path(__file__)), "--child", name]
    whole, saved = (harness.child_json([*start, kept, str(n), str(size)]) for kept in ("all", "some"))
    note = f"{saved / 2**20:.0f} MiB where all are kept in {whole / 2**20:.0f}"
    question = f"peak of grad with checkpoints, over that without, {name}"
    return [harness.limit(question, saved / max(whole, 1), "x", SAVED, note)]


def checkpointing(name: str, settings: Settings) -> list[Row]:
    body, n, size = BODIES[name], settings.size(CALLS, 3), settings.size(SIZE, 10)
    autograd, jax = harness.peer("autograd"), harness.peer("jax")
    anp, jnp = harness.peer("autograd.numpy"), harness.peer("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    ours = hoad.grad(partial(walk, hoad.checkpoint(lambda x: body(x, np)), np, n))
    whole = hoad.grad(partial(walk, lambda x: body(x, np), np, n))
    again = autograd.grad(partial(walk, autograd.checkpoint(lambda x: body(x, anp)), anp, n))
    compiled = jax.jit(jax.grad(partial(walk, jax.checkpoint(lambda x: body(x, jnp)), jnp, n)))

    def fresh() -> tuple[np.ndarray]:
        return (RNG.uniform(0.5, 1.5, size),)

    (x,) = fresh()
    for peer in (whole, again, compiled):
        harness.require_equal(ours(x), np.asarray(peer(x)), rtol=1e-8)
    sides = [
        Side("hoad", ours, fresh),
        Side("hoad, all kept", whole, fresh),
        Side("autograd", again, fresh),
        Side("jax.jit", lambda x: compiled(x).block_until_ready(), fresh),
    ]
    found, kept, autograds, jaxs = harness.interleave(sides, settings)
    question = f"grad with checkpoints, {n} steps, {name}"
    return [
        harness.cost(question, found, kept, SLOWER),
        harness.faster(question, found, autograds),
        harness.faster(question, found, jaxs, note="jax.jit replays what it compiled before"),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    for name in RULES:
        yield f"rule of {name}", partial(calling, name, settings)
    for name in BODIES:
        yield f"peak with checkpoints, {name}", partial(peaks, name, settings)
        yield f"checkpoints, {name}", partial(checkpointing, name, settings)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        sys.exit(harness.main(__doc__, cases, PEERS))
