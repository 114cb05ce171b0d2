"""Is the eighth derivative right, is its tape small, and what does it cost?

f(x) = exp(sin x) tanh x / (1 + x^2) against mpmath with 60 digits.
Bars: relative error at most 1e-11, at most 10 000 nodes in the emitted tape. Nested `autograd.grad`, nested
`jax.grad` under jit and JAX's jet stand beside the time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from math import factorial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side

import hoad

PEERS = ("autograd", "jax", "mpmath")
ERROR_BAR = 1e-11
NODES_BAR = 10_000
POINTS = (-2.7, -1.1, -0.3, 0.0, 0.2, 0.7, 1.6, 3.1)
RNG = np.random.default_rng(4)


def main_function(x: Any, m: Any) -> Any:
    return m.exp(m.sin(x)) * m.tanh(x) / (1 + x**2)


def perturbed(x: Any, m: Any) -> Any:
    return m.log(2.5 + m.cos(x)) * m.cosh(0.5 * x) / (3 + m.exp(-x))


def emitted_nodes(f: Callable[[Any], Any], x: float, order: int) -> int:
    """Nodes of the last tape, after `order` sweeps of a recorded program."""
    program = hoad.record(f, x)
    for _ in range(order):
        program = hoad.gradient(program)
    return int(program[-1].size)


def exact(f: Callable[..., Any], x: float, order: int) -> float:
    """The derivative at the double x, from mpmath with far more digits than its differences lose."""
    mpmath = harness.peer("mpmath")
    with mpmath.workdps(60):
        coefficients = mpmath.taylor(partial(f, m=mpmath.mp), mpmath.mpf(x), order)
        return float(coefficients[order] * factorial(order))


def nested(grad: Callable[..., Any], f: Callable[[Any], Any], order: int) -> Callable[[Any], Any]:
    for _ in range(order):
        f = grad(f)
    return f


def jet(f: Callable[[Any], Any], order: int) -> Callable[[Any], Any]:
    """JAX's Taylor mode; its output series holds derivatives."""
    push = harness.peer("jax.experimental.jet").jet

    def run(x: Any) -> Any:
        _, series = push(f, (x,), ([1.0] + [0.0] * (order - 1),))
        return series[order - 1]

    return run


@cache
def jax_ways(f: Callable[..., Any], order: int) -> dict[str, Callable[[Any], Any]]:
    """JAX's two ways, compiled; cached, as compiling the nested one takes many seconds."""
    jax = harness.peer("jax")
    in_jax = partial(f, m=harness.peer("jax.numpy"))
    return {
        "jax.jit nested": jax.jit(nested(jax.grad, in_jax, order)),
        "jax.jit jet": jax.jit(jet(in_jax, order)),
    }


def worst_error(derivative: Callable[[float], Any], want: dict[float, float]) -> tuple[float, float]:
    """The largest relative error over the points, and where it is."""
    return max((abs(float(derivative(x)) - value) / abs(value), x) for x, value in want.items())


def accuracy(name: str, f: Callable[..., Any], settings: Settings) -> list[Row]:
    order = settings.size(8, 3)
    want = {x: exact(f, x, order) for x in POINTS}
    error, x = worst_error(hoad.derivative(partial(f, m=np), order), want)
    theirs = [f"{way} {worst_error(other, want)[0]:.1e}" for way, other in jax_ways(f, order).items()]
    note = f"worst of {len(POINTS)} points, at x = {x}; {', '.join(theirs)}"
    return [harness.limit(f"derivative {order} of {name}, relative error", error, "", ERROR_BAR, note)]


def nodes(name: str, f: Callable[..., Any], settings: Settings) -> list[Row]:
    order = settings.size(8, 3)
    count = emitted_nodes(partial(f, m=np), 0.7, order)
    return [harness.limit(f"derivative {order} of {name}, emitted tape", count, "nodes", NODES_BAR)]


def waited(f: Callable[[Any], Any], x: float) -> Any:
    """JAX returns before it has computed."""
    return f(x).block_until_ready()


def time(name: str, f: Callable[..., Any], settings: Settings) -> list[Row]:
    order = settings.size(8, 3)
    in_autograd = partial(f, m=harness.peer("autograd.numpy"))
    theirs = {"autograd nested": nested(harness.peer("autograd").grad, in_autograd, order)}
    compiled = jax_ways(f, order)
    ours = hoad.derivative(partial(f, m=np), order)
    ours_compiled = hoad.jit(ours)

    def fresh() -> tuple[float]:
        return (float(RNG.uniform(-2.0, 2.0)),)

    for other in (theirs | compiled).values():
        harness.require_equal(ours(0.7), other(0.7), rtol=1e-7)
    sides = [Side("hoad", ours, fresh), Side("hoad.jit", ours_compiled, fresh)]
    sides += [Side(way, other, fresh) for way, other in theirs.items()]
    sides += [Side(way, partial(waited, other), fresh) for way, other in compiled.items()]
    mine, mine_compiled, plain, *others = harness.interleave(sides, settings)
    rows = [harness.faster(f"derivative {order} of {name}, time", mine, plain)]
    return rows + [harness.faster(f"derivative {order} of {name}, compiled", mine_compiled, other) for other in others]


def cases(settings: Settings) -> Iterator[Case]:
    functions = (("exp(sin x) tanh x/(1+x^2)", main_function), ("log, cos, cosh, exp (perturbed)", perturbed))
    for name, f in functions:
        for what in (accuracy, nodes, time):
            yield f"derivative of {name}, {what.__name__}", partial(what, name, f, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
