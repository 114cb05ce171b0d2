"""What does tracing cost? A Python loop s = s * b + c, recorded, beside the same loop on Python floats.

Bar: at most 4 times the float loop per operation. autograd's tracing stands beside it.
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
BAR = 4.0
RNG = np.random.default_rng(1)

Fresh = Callable[[], tuple[float, ...]]


def chain(s: Any, n: int) -> Any:
    """Two operations an iteration, with plain numbers on one side."""
    b, c = 1.0001, 0.25
    for _ in range(n // 2):
        s = s * b + c
    return s


def chain_traced(s: Any, b: Any, c: Any, n: int) -> Any:
    """The same with every operand traced."""
    for _ in range(n // 2):
        s = s * b + c
    return s


def perturbed(s: Any, n: int) -> Any:
    """Other operations and constants: three an iteration, plain numbers on both sides."""
    b, c = 1.0002, 0.01
    for _ in range(n // 3):
        s = s / b + c / s
    return s


def perturbed_traced(s: Any, b: Any, c: Any, n: int) -> Any:
    for _ in range(n // 3):
        s = s / b + c / s
    return s


def with_size(f: Callable[..., Any], n: int) -> Callable[..., Any]:
    """f at that length, with a code object of its own."""
    own = harness.own_code(f)  # type: ignore[arg-type]
    return lambda *arguments: own(*arguments, n)


def autograd_trace(f: Callable[..., Any]) -> Callable[..., Any]:
    """autograd's forward pass alone: every node made, none swept."""
    core, tracer = harness.peer("autograd.core"), harness.peer("autograd.tracer")

    def run(*values: float) -> Any:
        with tracer.trace_stack.new_trace() as level:
            root = core.VJPNode.new_root
            return f(*(tracer.new_box(value, level, root()) for value in values))

    return run


def compare(name: str, f: Callable[..., Any], fresh: Fresh, settings: Settings) -> list[Row]:
    """Record, run plainly, trace in autograd, in turns."""
    n = settings.size(6000, 60)
    plain, traced, boxed = (with_size(f, n) for _ in range(3))
    arguments = fresh()
    harness.require_equal(hoad.record(traced, *arguments).evaluate(*arguments), plain(*arguments))
    sides = [
        Side("hoad", lambda *values: hoad.record(traced, *values), fresh),
        Side("float loop", plain, fresh),
        Side("autograd", autograd_trace(boxed), fresh),
    ]
    ours, floats, autograd = (timing.per(n) for timing in harness.interleave(sides, settings))
    return [
        harness.cost(f"trace {name}, per operation", ours, floats, at_most=BAR),
        harness.faster(f"trace {name}, per operation", ours, autograd),
    ]


def start() -> float:
    return float(RNG.uniform(0.5, 1.5))


def fresh_one() -> tuple[float, ...]:
    return (start(),)


def fresh_chain() -> tuple[float, ...]:
    return start(), float(RNG.uniform(0.9999, 1.0001)), start()


def fresh_perturbed() -> tuple[float, ...]:
    return start(), float(RNG.uniform(1.0001, 1.0003)), float(RNG.uniform(0.01, 0.02))


def cases(settings: Settings) -> Iterator[Case]:
    table: list[tuple[str, Callable[..., Any], Fresh]] = [
        ("s*b + c, b and c numbers", chain, fresh_one),
        ("s*b + c, all traced", chain_traced, fresh_chain),
        ("s/b + c/s (perturbed), b and c numbers", perturbed, fresh_one),
        ("s/b + c/s (perturbed), all traced", perturbed_traced, fresh_perturbed),
    ]
    for name, f, fresh in table:
        yield f"trace {name}", partial(compare, name, f, fresh, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
