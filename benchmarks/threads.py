"""How much faster are 2, 4, ... threads than one?

Wall time of jitted functions of long arrays, and of maps over many points, with 1, 2, 4, ... threads, as many as there
are cores. Bar: two threads are 1.7 times as fast where they compute; of what mostly moves memory, the ratio is shown.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import harness
import lanes
import numpy as np
from harness import Case, Row, Settings, Side

import hoad

PEERS = ()
BAR = 1.7
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
RNG = np.random.default_rng(5)


def chain(x: Any) -> Any:
    return np.sum(np.sin(x) * np.exp(-x) + np.log(1 + x * x))


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def waves(x: Any) -> Any:
    return np.tanh(x) * np.cos(x) / (1 + x * x) + np.arctan(x)


@dataclass(frozen=True)
class Workload:
    """A function that takes `threads`, what to give it, and whether it computes more than it moves."""

    make: Callable[[int], Callable[..., Any]]
    fresh: Callable[[int], np.ndarray]
    size: int
    computes: bool = True


def mapped(driver: Callable[..., Any], f: Callable[..., Any]) -> Callable[[int], Callable[..., Any]]:
    return lambda threads: hoad.jit(hoad.vmap(driver(partial(f, m=np)), threads=threads), threads=threads)


def jitted(f: Callable[..., Any]) -> Callable[[int], Callable[..., Any]]:
    return lambda threads: hoad.jit(f, threads=threads)


def numbers(n: int) -> np.ndarray:
    return RNG.uniform(0.5, 1.5, n)


def markets(n: int) -> np.ndarray:
    return RNG.uniform(lanes.LOW, lanes.HIGH, (n, 5))


def matrices(n: int) -> np.ndarray:
    return RNG.normal(size=(n, 4, 4))


def states(n: int) -> np.ndarray:
    return RNG.normal(size=(n, 32))


WORKLOADS = {
    "a chain of elementary functions": Workload(jitted(waves), numbers, 1_000_000),
    "gradient of a sum of elementary functions": Workload(jitted(hoad.grad(chain)), numbers, 1_000_000),
    "gradient of Rosenbrock's function": Workload(jitted(hoad.grad(rosenbrock)), numbers, 1_000_000, computes=False),
    "gradients of a price": Workload(mapped(hoad.grad, lanes.price), markets, 100_000),
    "Hessians of a price": Workload(mapped(hoad.hessian, lanes.price), markets, 100_000),
    "gradients of log det, 4 x 4": Workload(mapped(hoad.grad, lanes.OF_ARRAYS["log det, 4 x 4"][0]), matrices, 20_000),
    "gradients of a net 32-64-64": Workload(
        mapped(hoad.grad, lanes.OF_ARRAYS["net 32-64-64"][0]), states, 10_000, computes=False
    ),
}


def counts() -> list[int]:
    """1, 2, 4, ... and the cores themselves."""
    return [*(2**k for k in range(CORES.bit_length()) if 2**k < CORES), CORES]


def compare(name: str, work: Workload, settings: Settings) -> list[Row]:
    os.environ["HOAD_THREADS"] = str(CORES)  # the harness says 1 for everyone
    n = settings.size(work.size, 50)
    functions = [work.make(threads) for threads in counts()]
    x = work.fresh(n)
    for f in functions:
        f(x)  # which records it
    for f in functions[1:]:
        if not np.array_equal(f(x), functions[0](x)):
            raise AssertionError("the number of threads changes the result")
    sides = [
        Side(f"{threads} thread{'s' * (threads > 1)}", f, lambda: (work.fresh(n),), most=8)
        for threads, f in zip(counts(), functions, strict=True)
    ]
    alone, *others = harness.interleave(sides, settings)
    rows = []
    for threads, timing in zip(counts()[1:], others, strict=True):
        bar = BAR if threads == 2 and work.computes else None
        rows.append(harness.faster(f"{name}, n = {n}: {threads} threads", timing, alone, at_least=bar))
    return rows


def cases(settings: Settings) -> Iterator[Case]:
    for name, work in WORKLOADS.items():
        yield name, partial(compare, name, work, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
