"""What does a sparse Hessian cost, once it is planned; what does the plan cost, and what does it keep?

Of the chained Rosenbrock function in 10³ to 10⁶ unknowns, its values written into a kept array. Of the same as a Python
loop over numbers, in 10⁵. And the pattern of an elementwise function with a stencil behind it, of 10⁶ unknowns.

First calls are those of a fresh process. sparsejac is given the pattern; all others find it. Sides that take minutes to
plan, or whose colors are found in quadratic time, are left out of the large sizes.

ADOL-C is timed where it was compiled with ColPack, from the repositories of both: what pip and apt have lacks its
sparse drivers. Its first call tapes, and finds the pattern and the colors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import beside
import first_call
import harness
import memory
import numpy as np
from beside import Table
from first_call import First
from harness import Case, Row, Settings
from problems import PROBLEMS

import hoad

BARS = {1000: 3e-6, 10_000: 25e-6, 100_000: 0.3e-3, 1_000_000: 5e-3}
LOOP_BARS = {100_000: 0.5e-3}
FIRST_BARS = {1000: 10e-3, 10_000: 30e-3, 100_000: 0.2, 1_000_000: 2.0}
FIRST_LOOP_BARS = {100_000: 1.5}
MEMORY_BAR = 1.0
PATTERN_BARS = 0.5, 200.0

VECTORISED = Table(
    "sparse Hessian of Rosenbrock, out=",
    "sparse Hessian",
    ("hoad, out=", "CasADi SX", "CasADi MX", "asdex", "sparsejac", "ADOL-C with ColPack", "C by hand"),
    tuple(BARS),
    tiny=4,
    seconds=BARS,
    largest={
        "CasADi SX": 100_000,
        "CasADi MX": 100_000,
        "asdex": 100_000,
        "sparsejac": 1000,
        "ADOL-C with ColPack": 100_000,
    },
)
LOOP = Table(
    "sparse Hessian of Rosenbrock, loop, out=",
    "sparse Hessian of a loop",
    ("hoad, out=", "CasADi SX", "ADOL-C with ColPack", "C by hand"),
    tuple(LOOP_BARS),
    tiny=4,
    seconds=LOOP_BARS,
)
TABLES = (VECTORISED, LOOP)
FIRSTS = (
    First(VECTORISED, "first sparse Hessian of Rosenbrock", "first_s", FIRST_BARS, VECTORISED.sides[:-1]),
    First(LOOP, "first sparse Hessian of Rosenbrock, loop", "first_s", FIRST_LOOP_BARS, LOOP.sides[:-1]),
)
PEERS = beside.peers(TABLES)


def smoothed(x: Any) -> Any:
    """Elementwise, then a stencil of five."""
    u = np.sin(x) * np.exp(-(x**2)) + x**3
    return u[4:] - 4 * u[3:-1] + 6 * u[2:-2] - 4 * u[1:-3] + u[:-4] + np.tanh(u[2:-2])


def perturbed(x: Any) -> Any:
    """The same size with other operations and constants."""
    u = np.sqrt(1 + x**2) / (2 + np.cos(x))
    return np.log1p(u[4:] ** 2) - u[3:-1] * u[2:-2] + 0.5 * u[1:-3] - np.arctan(u[:-4])


STENCILS: dict[str, Callable[[Any], Any]] = {"": smoothed, beside.PERTURBED: perturbed}


# ------------------------------------------------------------------------------- in the fresh process


def child_memory(name: str, n: int) -> float:
    """Gigabytes above the start at the peak of plan and first call."""
    problem = PROBLEMS[name]
    f = problem.form("hoad", n)
    (x,) = problem.point(np.random.default_rng(0), n)
    hoad.sparse_hessian(partial(f, np)).plan(np.ones(8))
    before = memory.held()
    memory.forget_peak()
    plan = hoad.sparse_hessian(partial(f, np)).plan(x)
    values = plan.values(x)
    peak = memory.peak_rss() - before
    assert problem.by_hand is not None
    harness.require_equal(values, problem.by_hand(n)(x))
    return peak / 1e9


def child_pattern(name: str, n: int) -> tuple[float, float, int]:
    """Seconds, bytes a variable above the start at the peak, and the number of entries."""
    find = hoad.jacobian_pattern(STENCILS[name])
    find(np.ones(8))
    x = np.linspace(0.0, 1.0, n)
    before = memory.held()
    memory.forget_peak()
    start = perf_counter()
    pattern = find(x)
    seconds = perf_counter() - start
    return seconds, (memory.peak_rss() - before) / n, pattern.nnz


# --------------------------------------------------------------------------------------- in the table


def ask(*words: str) -> Any:
    return harness.child_json([str(Path(__file__)), "--child", *words])


def memory_rows(suffix: str, settings: Settings) -> list[Row]:
    n = settings.size(1_000_000, 100)
    found = ask("memory", VECTORISED.problem + suffix, str(n))
    question = f"peak of plan and first call, sparse Hessian of Rosenbrock{suffix}, n = {n}"
    return [harness.limit(question, found, "GB", MEMORY_BAR)]


def pattern_rows(suffix: str, settings: Settings) -> list[Row]:
    n = settings.size(1_000_000, 100)
    found = [ask("pattern", suffix, str(n)) for _ in range(settings.rounds)]
    if {entries for *_, entries in found} != {5 * (n - 4)}:
        raise AssertionError(f"the pattern has {found[0][-1]} entries")
    question = f"pattern of a stencil behind elementwise functions{suffix}, n = {n}"
    seconds, size = (float(np.median(column)) for column in list(zip(*found, strict=True))[:2])
    return [
        harness.limit(question, seconds, "s", PATTERN_BARS[0]),
        harness.limit(f"{question}: memory a variable", size, "bytes", PATTERN_BARS[1]),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    yield from beside.cases_of(TABLES)(settings)
    for suffix in ("", beside.PERTURBED):
        for first in FIRSTS:
            for n in [first.table.tiny] if settings.tiny else first.bars:
                name = f"{first.question}, n = {n}{suffix}"
                yield name, partial(first_call.compare, first, n, suffix, settings)
        yield f"memory{suffix}", partial(memory_rows, suffix, settings)
        yield f"pattern{suffix}", partial(pattern_rows, suffix, settings)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        what, name, n = sys.argv[2:]
        print(json.dumps({"memory": child_memory, "pattern": child_pattern}[what](name, int(n))))
    else:
        sys.exit(harness.main(__doc__, cases, PEERS))
