"""Programs run for the rows of arrays at once, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hoad._core.base.threads import most_threads, share_calls
from hoad._core.kernels.native_call import NativeCall
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.lanes import Lanes, Map
from hoad._core.runtime.workspace import offered

# A thread is worth waking for so many operations.
OPERATIONS_A_THREAD = 200_000


def _threads_for(program: Lowered, run: Map | Lanes, threads: int | None) -> int:
    """How many threads to use."""
    count = min(run.blocks, most_threads() if threads is None else min(threads, most_threads()))
    if threads is not None:
        return count
    if program.calls_python:
        return 1  # what is in Python, or in a library behind it, may bear one call at a time only
    return min(count, run.operations // OPERATIONS_A_THREAD)


def native_lanes(program: Lowered, takes: str, gives: str, length: int, threads: int | None) -> NativeCall | None:
    """What computes the same without Python, unless threads add up over the rows."""
    made = Map(program, takes, gives, length)
    return offered(program, made) if made.in_threads(_threads_for(program, made, threads)) else None


def run_lanes(
    program: Lowered, takes: str, gives: str, values: Sequence[Any], length: int, threads: int | None
) -> list[Any]:
    """Results for all rows: those of `gives` from inputs of `takes` (see hoad._core.runtime.lanes)."""
    run = Lanes(program, takes, gives, values, length)
    count = _threads_for(program, run, threads)
    if count <= 1:
        run.run(0, run.blocks)
    else:
        bounds = [run.blocks * k // count for k in range(count + 1)]
        share_calls(lambda k: run.run(bounds[k], bounds[k + 1]), count, count)
    return run.collected()
