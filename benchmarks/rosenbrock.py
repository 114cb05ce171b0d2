"""What does a gradient of the chained Rosenbrock function cost, once it is recorded?

As a Python loop over its terms, and vectorised. Bars are in seconds, for this machine's kind; on two cores the
largest vectorised one is to take 0.6 of its time on one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import beside
import harness
from beside import Child, Table
from harness import Case, Row, Settings

LOOP = Table(
    "gradient of Rosenbrock, loop",
    "loop",
    ("hoad", "CasADi SX", "CasADi with C", "JAX", "autograd", "ADOL-C", "C by hand"),
    sizes=(10, 100, 1000, 10_000),
    tiny=4,
    seconds={10: 0.5e-6, 100: 0.7e-6, 1000: 3e-6, 10_000: 30e-6},
    reference={
        "CasADi SX": {10: 0.2e-6, 100: 1.16e-6, 1000: 10.9e-6, 10_000: 107e-6},
        "CasADi with C": {10: 0.08e-6, 100: 0.23e-6, 1000: 2.8e-6, 10_000: 31e-6},
        "JAX": {10: 3.9e-6, 100: 13.9e-6, 1000: 595e-6},
        "ADOL-C": {10: 0.75e-6, 100: 3.6e-6, 1000: 31e-6, 10_000: 332e-6},
    },
    largest={"JAX": 1000, "autograd": 1000},
)
VECTORISED = Table(
    "gradient of Rosenbrock, vectorised",
    "vectorised",
    ("hoad", "CasADi SX", "CasADi MX", "JAX", "pytensor", "torch", "NumPy by hand", "C by hand"),
    sizes=(10, 1000, 100_000, 1_000_000),
    tiny=4,
    seconds={10: 0.6e-6, 1000: 3e-6, 100_000: 45e-6, 1_000_000: 500e-6},
    reference={
        "CasADi SX": {10: 0.18e-6},
        "CasADi MX": {1000: 3.9e-6},
        "JAX": {100_000: 83e-6, 1_000_000: 722e-6},
        "C by hand": {1000: 0.25e-6, 100_000: 14e-6, 1_000_000: 216e-6},
    },
    largest={"CasADi SX": 1000, "torch": 1000},
)
TABLES = (LOOP, VECTORISED)
PEERS = beside.peers(TABLES)
SPEEDUP = 0.6


def two_cores(suffix: str, settings: Settings) -> list[Row]:
    n, problem = settings.size(1_000_000, 4), VECTORISED.problem + suffix
    with Child("hoad", problem, n, cores=2) as two, Child("hoad", problem, n) as one:
        beside.check([two, one], problem)
        both, single = beside.interleave([two, one], settings)
    question = f"{VECTORISED.question} on two cores{suffix}, n = {n}"
    return [harness.cost(question, both, harness.Timing("hoad on one core", single.samples), at_most=SPEEDUP)]


def cases(settings: Settings) -> Iterator[Case]:
    yield from beside.cases_of(TABLES)(settings)
    for suffix in ("", beside.PERTURBED):
        yield f"{VECTORISED.question} on two cores{suffix}", partial(two_cores, suffix, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
