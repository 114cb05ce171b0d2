"""What does the first call of a derivative cost, in a fresh process?

Recording, sweeping, lowering (a peer's building and compiling) and one run, import aside; and everything, import
included, up to a first Hessian. Bars: 2, 3, 8 and 60 ms for the looped Rosenbrock function; 20 ms for 1000
Runge-Kutta steps; 1.3 and 3 ms for all derivatives to order 10 and 50; 0.25 s from the import to a Hessian.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import all_derivatives
import beside
import harness
import hessians
import ode
import rosenbrock
from beside import Child, Table
from harness import Case, Row, Settings, Timing


@dataclass(frozen=True)
class First:
    """A table of which the first call is timed; `key` says from where: ``"first_s"`` or ``"import_s"``."""

    table: Table
    question: str
    key: str
    bars: dict[int, float]
    sides: Sequence[str]


LOOP_BARS = {10: 2e-3, 100: 3e-3, 1000: 8e-3, 10_000: 60e-3}
HESSIANS = dict.fromkeys(hessians.SIZES, 0.25)
PEERS_OF_HESSIANS = ("hoad", "CasADi MX", "JAX", "torch")
FIRSTS = (
    First(rosenbrock.LOOP, "first gradient of Rosenbrock, loop", "first_s", LOOP_BARS, rosenbrock.LOOP.sides[:-1]),
    First(ode.TABLES[0], "first gradient of Runge-Kutta steps", "first_s", {1000: 20e-3}, ode.TABLES[0].sides[:-1]),
    *(
        First(table, f"first of {table.question}", "first_s", {1: bar}, table.sides[:-1])
        for table, bar in zip((all_derivatives.TABLES[0], all_derivatives.TABLES[2]), (1.3e-3, 3e-3), strict=True)
    ),
    First(hessians.TABLES[0], "import to Hessian of Rosenbrock", "import_s", HESSIANS, PEERS_OF_HESSIANS),
    First(hessians.TABLES[-1], "import to Hessian of logsumexp", "import_s", HESSIANS, PEERS_OF_HESSIANS),
)
PEERS = beside.peers([first.table for first in FIRSTS])


def start(side: str, problem: str, n: int, key: str) -> float:
    with Child(side, problem, n) as child:
        return child.started[key]


def compare(first: First, n: int, suffix: str, settings: Settings) -> list[Row]:
    """Fresh processes in turns, a third as many as samples elsewhere."""
    names, notes = first.table.taken(n, settings)
    names = [name for name in first.sides if name in names or name not in first.table.sides]
    problem = first.table.problem + suffix
    rounds = [[start(name, problem, n, first.key) for name in names] for _ in range(max(1, settings.rounds // 3))]
    timings = [Timing(name, tuple(column)) for name, column in zip(names, zip(*rounds, strict=True), strict=True)]
    bar = first.bars[n] if n in first.bars and not suffix else None
    return beside.rows_of(first.question + suffix, n, timings, [t.median for t in timings], (bar, {}), "; ".join(notes))


def cases(settings: Settings) -> Iterator[Case]:
    for first in FIRSTS:
        for n in [first.table.tiny] if settings.tiny else first.bars:
            for suffix in ("", beside.PERTURBED):
                yield f"{first.question}, n = {n}{suffix}", partial(compare, first, n, suffix, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
