"""What does a call of a jitted function cost, where the function is a few operations?

z = 4xy + 3x sin 4y, called with two floats, and its gradient by an array of two, written to an array (`out=`): every
guard is on, every point is new. Bars: 0.4 µs and 0.2 µs. CasADi's buffer interface, which is given its arguments once
and only triggered in the loop, and JAX's compiled function stand beside them. `Program.evaluate` of the same function
goes through the same C code. Bar: 0.5 µs. A gradient of two numbers whose function closes over a namespace of three
functions: 0.35 µs, 0.2 µs into an array, 0.12 µs by a bound call. The derivatives of a function of one number, into an
array: 0.4 µs for order 1; for order 8 the arithmetic decides. What jit adds to a call that is refused, by keyword and
with a dict: 1 µs. Further questions are what it costs to count and store at each replay, and to draw; and what a guard
on what was read costs: the same function with 20 globals, or with an array of 400 kB, as it is and in an object of
`bytes`, of which the latter is to cost at most 0.1 µs.
"""

from __future__ import annotations

import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side

import hoad

PEERS = ("casadi", "jax")
CALLS = 1000
OF_NUMBERS = 0.4
INTO_AN_ARRAY = 0.2
OF_A_PROGRAM = 0.5
OF_A_NAMESPACE = {"": 0.35, " into an array": 0.2, " by a bound call": 0.12}
OF_A_REFUSAL = 1.0
OF_FROZEN = 0.1
OF_ORDER = {1: 0.4, 8: None}
RNG = np.random.default_rng(19)

Body = Callable[[Any, Any, Any], Any]


def wave(m: Any, x: Any, y: Any) -> Any:
    return 4 * x * y + 3 * x * m.sin(4 * y)


def bell(m: Any, x: Any, y: Any) -> Any:
    """The same size with other operations and constants."""
    return 1.5 * y * m.exp(-0.7 * x) - 2 * x * y


FUNCTIONS: dict[str, Body] = {"4xy + 3x sin 4y": wave, "1.5y exp(-0.7x) - 2xy (perturbed)": bell}


def of_numbers(f: Body) -> Callable[..., Any]:
    return lambda x, y: f(np, x, y)


def of_array(f: Body, m: Any) -> Callable[..., Any]:
    return lambda p: f(m, p[0], p[1])


def points(n: int) -> tuple[list[Any]]:
    return ([np.array(row) for row in RNG.uniform(0.5, 1.5, (n, 2))],)


def pairs(n: int) -> tuple[list[Any]]:
    return ([tuple(row) for row in RNG.uniform(0.5, 1.5, (n, 2)).tolist()],)


def loop(f: Callable[..., Any]) -> Callable[[list[Any]], None]:
    """Calls of a function of two numbers."""

    def run(batch: list[Any]) -> None:
        for x, y in batch:
            f(x, y)

    return run


def casadi_function(f: Body, derivative: bool) -> Callable[[list[Any]], None]:
    """CasADi's machine, triggered for each point."""
    ca = harness.peer("casadi")
    p = ca.SX.sym("p", 2)
    z = f(ca, p[0], p[1])
    made = ca.Function("f", [p], [ca.gradient(z, p) if derivative else z])
    buffer, trigger = made.buffer()
    given, found = np.ones(2), np.empty(2 if derivative else 1)
    buffer.set_arg(0, memoryview(given))
    buffer.set_res(0, memoryview(found))

    def run(batch: list[Any], held: Any = (buffer, given, found)) -> None:
        for _ in batch:
            trigger()

    return run


def jax_function(f: Body, derivative: bool) -> Callable[[list[Any]], None]:
    jax = harness.peer("jax")
    jax.config.update("jax_enable_x64", True)
    plain = of_array(f, harness.peer("jax.numpy"))
    made = jax.jit(jax.grad(plain) if derivative else plain)

    def run(batch: list[Any]) -> None:
        for p in batch:
            made(p)
        made(p).block_until_ready()

    return run


def rows(question: str, run: Any, fresh: Any, f: Body, derivative: bool, bar: float, settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    sides = [
        Side("hoad", run, partial(fresh, n)),
        Side("casadi buffer", casadi_function(f, derivative), partial(points, n)),
        Side("jax.jit", jax_function(f, derivative), partial(points, n)),
    ]
    mine, *others = (timing.per(n) for timing in harness.interleave(sides, settings))
    bars = [harness.limit(question, mine.median * 1e6, "µs", bar)]
    return bars + [harness.faster(question, mine, other) for other in others]


def numbers(name: str, settings: Settings) -> list[Row]:
    f = FUNCTIONS[name]
    jitted, plain = hoad.jit(of_numbers(f)), of_numbers(f)
    for x, y in pairs(5)[0]:
        harness.require_equal(jitted(x, y), plain(x, y))
    return rows(f"a call with two floats, {name}", loop(jitted), pairs, f, False, OF_NUMBERS, settings)


def program(name: str, settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    plain = of_numbers(FUNCTIONS[name])
    evaluate, jitted = hoad.record(plain, 1.0, 1.0).evaluate, hoad.jit(plain)
    for x, y in pairs(5)[0]:
        harness.require_equal(evaluate(x, y), plain(x, y))
    sides = [Side(side, loop(f), partial(pairs, n)) for side, f in (("evaluate", evaluate), ("jit", jitted))]
    mine, other = (timing.per(n) for timing in harness.interleave(sides, settings))
    question = f"evaluate with two floats, {name}"
    return [harness.limit(question, mine.median * 1e6, "µs", OF_A_PROGRAM), harness.cost(question, mine, other)]


def gradient(name: str, settings: Settings) -> list[Row]:
    f = FUNCTIONS[name]
    jitted, plain = hoad.jit(hoad.grad(of_array(f, np))), hoad.grad(of_array(f, np))
    out = np.empty(2)
    for p in points(5)[0]:
        harness.require_equal(jitted(p, out=out), plain(p))

    def run(batch: list[Any]) -> None:
        for p in batch:
            jitted(p, out=out)

    return rows(f"a gradient into an array, {name}", run, points, f, True, INTO_AN_ARRAY, settings)


def namespace(settings: Settings) -> list[Row]:
    """The gradient of 4xy + 3x sin 4y, put together of functions that a namespace holds."""
    n = settings.size(CALLS, 3)
    space = types.SimpleNamespace(a=lambda p: p[0] * p[1], b=lambda p: np.sin(4 * p[1]), c=lambda p: 3 * p[0])
    jitted, out, p = hoad.jit(hoad.grad(lambda p: 4 * space.a(p) + space.c(p) * space.b(p))), np.empty(2), np.ones(2)
    call = jitted.bound(p, out=out)
    harness.require_equal(jitted(p), hoad.grad(of_array(wave, np))(p))

    def given(batch: list[Any]) -> None:
        for p in batch:
            jitted(p)

    def into(batch: list[Any]) -> None:
        for p in batch:
            jitted(p, out=out)

    def bound(batch: list[Any]) -> None:
        for _ in batch:
            call()

    sides = [
        Side(name, run, partial(points, n)) for name, run in zip(OF_A_NAMESPACE, (given, into, bound), strict=True)
    ]
    timings = [timing.per(n) for timing in harness.interleave(sides, settings)]
    return [
        harness.limit(f"a gradient through a namespace{name}", timing.median * 1e6, "µs", bar)
        for timing, (name, bar) in zip(timings, OF_A_NAMESPACE.items(), strict=True)
    ]


def orders(order: int, bar: float | None, settings: Settings) -> list[Row]:
    """All derivatives up to an order of exp(sin x) tanh x / (1 + x²), into an array."""
    n = settings.size(CALLS, 3)
    f = lambda x: np.exp(np.sin(x)) * np.tanh(x) / (1 + x**2)  # noqa: E731
    jitted, value, out = hoad.jit(hoad.derivatives(f, order)), hoad.jit(f), np.empty(order + 1)
    harness.require_equal(jitted(0.7, out=out), hoad.derivatives(f, order)(0.7))

    def all_of(batch: list[Any]) -> None:
        for x, _ in batch:
            jitted(x, out=out)

    def values(batch: list[Any]) -> None:
        for x, _ in batch:
            value(x)

    sides = [Side(name, run, partial(pairs, n)) for name, run in (("derivatives", all_of), ("value", values))]
    mine, other = (timing.per(n) for timing in harness.interleave(sides, settings))
    question = f"derivatives to order {order} into an array"
    found = [harness.cost(question, mine, other)]
    return found if bar is None else [harness.limit(question, mine.median * 1e6, "µs", bar), *found]


def drawn(p: dict[str, float], scale: float = 1.0) -> float:
    """What no replay can do."""
    return p["x"] * scale + random.random()


def refused(settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    jitted = hoad.jit(drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        jitted({"x": 1.0}, scale=2.0)

    def calls(f: Callable[..., float]) -> Callable[[list[Any]], None]:
        def run(batch: list[Any]) -> None:
            for x, y in batch:
                f({"x": x}, scale=y)

        return run

    sides = [Side(name, calls(f), partial(pairs, n)) for name, f in (("jit", jitted), ("plain", drawn))]
    mine, plain = (timing.per(n) for timing in harness.interleave(sides, settings))
    added = (mine.median - plain.median) * 1e6
    return [harness.limit("what jit adds to a call that is refused", added, "µs", OF_A_REFUSAL)]


class Counting:
    """An object of which a method counts its calls, and stores what it computes."""

    def __init__(self) -> None:
        self.calls, self.last = 0, 0.0

    def value(self, x: float, y: float) -> float:
        self.calls += 1
        self.last = 4 * x * y + 3 * x * np.sin(4 * y)
        return self.last


def effects(settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    counting = Counting()
    jitted, free = hoad.jit(counting.value), hoad.jit(of_numbers(wave))
    for x, y in pairs(5)[0]:
        harness.require_equal(jitted(x, y), wave(np, x, y))
    if counting.calls != 5:
        raise AssertionError(f"{counting.calls} calls were counted, not 5")
    sides = [Side(name, loop(f), partial(pairs, n)) for name, f in (("counts and stores", jitted), ("neither", free))]
    with_effects, without = (timing.per(n) for timing in harness.interleave(sides, settings))
    return [harness.cost("a call that counts and stores", with_effects, without)]


def draws(settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    rng, out = np.random.default_rng(0), np.empty(2)
    plain = lambda p: np.sum((p - rng.normal(size=2)) ** 2)  # noqa: E731
    jitted = hoad.jit(hoad.grad(plain))
    for p in points(5)[0]:
        state = rng.bit_generator.state
        given = jitted(p)
        rng.bit_generator.state = state
        harness.require_equal(given, 2.0 * (p - rng.normal(size=2)))

    def gradients(batch: list[Any]) -> None:
        for p in batch:
            jitted(p, out=out)

    def alone(batch: list[Any]) -> None:
        for _ in batch:
            rng.normal(size=2)

    sides = [Side(name, run, partial(points, n)) for name, run in (("gradient", gradients), ("draw", alone))]
    mine, other = (timing.per(n) for timing in harness.interleave(sides, settings))
    return [harness.cost("a gradient of a function that draws two numbers, and the draw", mine, other)]


def guards(settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    names = [f"c{k}" for k in range(20)]
    space = dict.fromkeys(names, 1.5)
    guarded = hoad.jit(eval(f"lambda x, y: x * {' * '.join(names)}", space))
    free = hoad.jit(lambda x, y: x * 1.5**20)

    harness.require_equal(guarded(2.0, 0.0), 2.0 * 1.5**20)
    sides = [Side(name, loop(f), partial(pairs, n)) for name, f in (("20 globals", guarded), ("none", free))]
    with_guards, without = (timing.per(n) for timing in harness.interleave(sides, settings))
    return [harness.cost("a call that guards 20 globals, and does 20 operations", with_guards, without)]


def of_captured(w: Any) -> Callable[[float, float], float]:
    return lambda x, y: x * w[7] + y


def arrays(settings: Settings) -> list[Row]:
    n = settings.size(CALLS, 3)
    own = RNG.uniform(size=50_000)
    frozen = np.frombuffer(own.tobytes())
    captured = {"an array": own, "an array in bytes": frozen}
    jitted = {name: hoad.jit(of_captured(w)) for name, w in captured.items()} | {"none": hoad.jit(of_captured(own[:8]))}
    for name, w in captured.items():
        harness.require_equal(jitted[name](2.0, 1.0), 2.0 * w[7] + 1.0)
    sides = [Side(name, loop(f), partial(pairs, n)) for name, f in jitted.items()]
    own_time, frozen_time, without = (timing.per(n) for timing in harness.interleave(sides, settings))
    added = (frozen_time.median - without.median) * 1e6
    return [
        harness.cost("a call that guards 400 kB", own_time, without),
        harness.limit("what 400 kB in an object of bytes add to a call", added, "µs", OF_FROZEN),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    for name in FUNCTIONS:
        yield f"numbers, {name}", partial(numbers, name, settings)
        yield f"gradient, {name}", partial(gradient, name, settings)
        yield f"program, {name}", partial(program, name, settings)
    yield "namespace", partial(namespace, settings)
    for order, bar in OF_ORDER.items():
        yield f"orders to {order}", partial(orders, order, bar, settings)
    yield "effects", partial(effects, settings)
    yield "draws", partial(draws, settings)
    yield "refused", partial(refused, settings)
    yield "guards", partial(guards, settings)
    yield "arrays", partial(arrays, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
