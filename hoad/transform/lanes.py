"""Programs run for the rows of arrays at once, in threads."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hoad._core.engine import Lowered
from hoad._core.lanes import Lanes, Map
from hoad._core.native import Native
from hoad._core.spaces import offered
from hoad.errors import ArgumentError

# A thread is worth starting for so many operations.
OPERATIONS_A_THREAD = 200_000

_state = threading.local()


class _Threads:
    """The threads of this process, made when they are first needed."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have none: a child of fork has none of its parent's."""
        self.making = threading.Lock()
        self.pool: ThreadPoolExecutor | None = None

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in a thread, with the context of this one."""
        with self.making:
            if self.pool is None:
                self.pool = ThreadPoolExecutor(max(1, most_threads() - 1), "hoad")
            context = contextvars.copy_context()
            return self.pool.submit(lambda: context.run(function, *args))


_threads = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.forget)


def most_threads() -> int:
    """The cores this process may run on, or fewer where the environment says so: HOAD_THREADS, OMP_NUM_THREADS."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    for name in ("HOAD_THREADS", "OMP_NUM_THREADS"):
        said = os.environ.get(name, "").split(",")[0].strip()
        if said.isdecimal() and int(said) > 0:
            return min(cores, int(said))
    return cores


def check_threads(driver: str, threads: Any) -> None:
    """Raise unless `threads` is a number of threads."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ArgumentError(f"{driver} takes threads as a number of threads, 1 or more, not {threads!r}.")


def _threads_for(program: Lowered, blocks: int, length: int, threads: int | None) -> int:
    """How many threads to use."""
    count = min(blocks, most_threads() if threads is None else min(threads, most_threads()))
    if threads is not None:
        return count
    if program.calls_python:
        return 1  # what is in Python, or in a library behind it, may bear one call at a time only
    return min(count, program.size * length // OPERATIONS_A_THREAD)


def native_lanes(program: Lowered, takes: str, gives: str, length: int, threads: int | None) -> Native | None:
    """What computes the same without Python, where that needs no threads."""
    made = Map(program, takes, gives, length)
    return offered(program, made) if _threads_for(program, made.blocks, length, threads) <= 1 else None


def run_lanes(
    program: Lowered, takes: str, gives: str, values: Sequence[Any], length: int, threads: int | None
) -> list[Any]:
    """Results for all rows: those of `gives` from inputs of `takes` (see hoad._core.lanes)."""
    run = Lanes(program, takes, gives, values, length)
    count = _threads_for(program, run.blocks, length, threads)
    if count <= 1 or getattr(_state, "busy", False):
        run.run(0, run.blocks)
    else:
        bounds = [run.blocks * k // count for k in range(count + 1)]
        others = [_threads.submit(_run, run, bounds[k], bounds[k + 1]) for k in range(1, count)]
        try:
            run.run(bounds[0], bounds[1])
        finally:
            failures = [future.exception() for future in others]
        for failure in failures:
            if failure is not None:
                raise failure
    return run.collected()


def _run(run: Lanes, start: int, stop: int) -> None:
    """In a thread of the pool: programs called from here start no threads of their own."""
    _state.busy = True
    run.run(start, stop)
