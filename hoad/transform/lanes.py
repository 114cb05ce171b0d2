"""Programs run for the rows of arrays at once, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hoad._core.engine import Lowered
from hoad._core.lanes import Lanes
from hoad._core.threads import most_threads, share_calls

# A thread is worth waking for so many operations.
OPERATIONS_A_THREAD = 200_000


def run_lanes(
    program: Lowered, takes: str, gives: str, values: Sequence[Any], length: int, threads: int | None
) -> list[Any]:
    """Results for all rows: those of `gives` from inputs of `takes` (see hoad._core.lanes)."""
    run = Lanes(program, takes, gives, values, length)
    count = min(run.blocks, most_threads() if threads is None else min(threads, most_threads()))
    if threads is None and program.calls_python:
        count = 1  # what is in Python, or in a library behind it, may bear one call at a time only
    elif threads is None:
        count = min(count, program.size * length // OPERATIONS_A_THREAD)
    if count <= 1:
        run.run(0, run.blocks)
    else:
        bounds = [run.blocks * k // count for k in range(count + 1)]
        share_calls(lambda k: run.run(bounds[k], bounds[k + 1]), count, count)
    return run.collected()
