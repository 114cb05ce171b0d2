"""Programs run for the rows of arrays by an executor of `concurrent.futures`: in other processes, on other machines.

What a worker needs of a map beside rows is one *parcel*: the program, and the inputs that are the same in all lanes. A
task names it by a digest and does one block of rows. Parcels are kept by the process that got them; one that lacks it
says so, and its task is sent again with the parcel. So it travels once to each worker, whatever the number of tasks.
"""

from __future__ import annotations

import os
import pickle
import platform
import threading
import traceback
import warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from hoad._core.base.where import here
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.lanes import Lanes
from hoad._program.program import Program
from hoad.errors import ArgumentError, ExecutorError

# Where no sums say otherwise, a map is cut into so many tasks,
TASKS = 256
# of no more bytes than these, which are what a task holds of memory on its way,
BYTES_A_TASK = 1 << 20
# and of no fewer operations than these, some milliseconds, unless they call Python, whose time is not known.
OPERATIONS_A_TASK = 1 << 22
# A task is tried so often before its loss is an error.
TRIES = 4
# No more of them are on the way at a time, though workers come and go.
MOST_FLYING = 512
# So many programs are kept by a worker.
MOST_KEPT = 8


def check_executor(executor: Any, threads: Any) -> None:
    """Raise unless `executor` is one."""
    if not isinstance(executor, Executor):
        raise ArgumentError(
            f"vmap takes an executor of concurrent.futures, but was given {type(executor).__name__}. That of a "
            "client of dask.distributed is client.get_executor()."
        )
    if threads is not None:
        raise ArgumentError("vmap takes threads or an executor, not both: an executor has its own workers.")


def run_by_executor(
    executor: Executor, program: Program, takes: str, gives: str, values: Sequence[Any], length: int
) -> list[Any]:
    """Results for all rows: those of `gives` from inputs of `takes` (see hoad._core.runtime.lanes)."""
    lowered = program._lowered([letter == "x" for letter in takes])
    run = Lanes(lowered, takes, gives, values, length, _rows_a_task(lowered, program, takes, gives, length))
    rows = [np.asarray(value) for value, letter in zip(values, takes, strict=True) if letter == "x"]
    same = [value for value, letter in zip(values, takes, strict=True) if letter != "x"]
    _Delivery(executor, run, gives, _parcel(program, takes, gives, same), rows, length).finish()
    return run.collected()


def _rows_a_task(lowered: Lowered, program: Program, takes: str, gives: str, length: int) -> int:
    """0 where sums fix it: they are added up in the blocks of one process."""
    if "s" in gives:
        return 0
    letters = zip((*program.input_types, *program.output_types), takes + gives, strict=True)
    nbytes = sum(aval.size * aval.itemsize for aval, letter in letters if letter in "xy")
    rows = -(-length // TASKS)
    if not lowered.calls_python:
        rows = max(rows, OPERATIONS_A_TASK // max(1, lowered.size))
    return max(1, min(rows, BYTES_A_TASK // max(1, nbytes)))


def _parcel(program: Program, takes: str, gives: str, same: list[Any]) -> bytes:
    try:
        return pickle.dumps((program, takes, gives, same), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise pickle.PicklingError(
            f"vmap sends the program to the workers of its executor as a pickle, but cannot pickle it: {error}. Define "
            "functions with rules of their own at the top of a module that the workers can import, or leave out "
            "executor: threads need no pickles."
        ) from error


def _digest(parcel: bytes) -> str:
    import hashlib  # here, for it loads OpenSSL

    return hashlib.sha256(parcel).hexdigest()


# ---- in a worker ----------------------------------------------------------------------------------------------------


class _Answer(NamedTuple):
    """What a task gives: results, or what was raised, or neither where the process lacks the parcel."""

    worker: tuple[str, int, int]  # machine, process and thread
    results: list[Any] | None = None
    failure: str | None = None  # a traceback


class _Kept:
    """What this process was sent, by digest: (program, takes, gives, values of the inputs that are the same)."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have none: a child of fork may find the lock of its parent held."""
        self.lock = threading.Lock()
        self.items: OrderedDict[str, Any] = OrderedDict()

    def find(self, digest: str, parcel: bytes | None) -> Any:
        """What a digest names, unpacked if it is new; None if it is not here."""
        with self.lock:
            if digest not in self.items:
                if parcel is None:
                    return None
                program, takes, gives, same = pickle.loads(parcel)
                self.items[digest] = program._lowered([letter == "x" for letter in takes]), takes, gives, same
                if len(self.items) > MOST_KEPT:
                    self.items.popitem(last=False)
            self.items.move_to_end(digest)
            return self.items[digest]


_kept = _Kept()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.forget)


def do_task(digest: str, parcel: bytes | None, rows: list[Any], block: tuple[int, int, int], nonce: bytes) -> _Answer:
    """One block of a map: (rows it has, rows that a block has, its first row).

    No two tasks have the same nonce: Dask gives the same call the same answer, be it that its worker was lost.
    """
    worker = platform.node(), os.getpid(), threading.get_ident()
    try:
        found = _kept.find(digest, parcel)
        if found is None:
            return _Answer(worker)
        program, takes, gives, same = found
        of_rows, of_same = iter(rows), iter(same)
        values = [next(of_rows if letter == "x" else of_same) for letter in takes]
        run = Lanes(program, takes, gives, values, *block)
        run.run(0, run.blocks)
    except Exception:
        return _Answer(worker, failure=traceback.format_exc())
    return _Answer(worker, run.results)


# ---- where the map is called ----------------------------------------------------------------------------------------


class _Delivery:
    """The blocks of one map on their way to workers and back."""

    def __init__(self, executor: Executor, run: Lanes, gives: str, parcel: bytes, rows: list[Any], length: int) -> None:
        self.executor = executor
        self.run = run
        self.gives = gives
        self.parcel = parcel
        self.digest = _digest(parcel)
        self.rows = rows
        self.length = length
        self.waiting = deque(range(run.blocks))
        self.flying: dict[int, Future[_Answer]] = {}
        self.carrying: set[int] = set()  # those of them that carry the parcel
        # Done callbacks put them here: unlike `wait`, they hear of futures that are cancelled before they run.
        self.arrived: SimpleQueue[int] = SimpleQueue()
        self.losses: Counter[int] = Counter()
        self.workers: set[Any] = set()  # threads that have answered
        self.lacking: set[Any] = {None}  # processes without the parcel; at first there is one somewhere
        self.is_broken = False

    def finish(self) -> None:
        """Do all blocks."""
        try:
            while self.waiting or self.flying:
                self.send()
                if self.flying:
                    self.take(self.arrived.get())
        finally:
            for future in [*self.flying.values()]:
                future.cancel()

    def send(self) -> None:
        """Keep two tasks for every worker on the way, and two more, for those that have not been heard of yet."""
        window = min(2 * len(self.workers) + 2, MOST_FLYING)
        while self.waiting and not self.is_broken and len(self.flying) < window:
            k = self.waiting.popleft()
            carries = len(self.carrying) < len(self.lacking)
            rows = self.block(k)
            task = (rows.stop - rows.start, self.run.rows_a_block, rows.start)
            parcel = self.parcel if carries else None
            sliced = [x[rows] for x in self.rows]
            try:
                future = self.executor.submit(do_task, self.digest, parcel, sliced, task, os.urandom(16))
            except BrokenExecutor as error:
                self.waiting.appendleft(k)
                self.is_broken = True
                self.warn(error)
                break
            self.flying[k] = future
            if carries:
                self.carrying.add(k)
            future.add_done_callback(lambda _, k=k: self.arrived.put(k))  # type: ignore[misc]
        while self.waiting and self.is_broken:
            self.do_here(self.waiting.popleft())

    def take(self, k: int) -> None:
        """Put what a task has given in its place, or let it wait again."""
        future = self.flying.pop(k)
        self.carrying.discard(k)
        error = CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self.lose(k, error)
            return
        answer = future.result()
        process = answer.worker[:2]
        self.workers.add(answer.worker)
        if answer.failure is not None:
            self.raise_failure(k, answer.failure)
        elif answer.results is None:
            self.lacking.add(process)
            self.waiting.appendleft(k)
        else:
            self.lacking -= {None, process}
            self.place(k, answer.results)

    def lose(self, k: int, error: BaseException) -> None:
        """A task was lost with its worker, or on the way: let it wait again."""
        self.losses[k] += 1
        self.workers.clear()  # those that are left will be heard of
        self.lacking = {None}
        self.waiting.appendleft(k)
        if self.losses[k] == TRIES:
            raise ExecutorError(
                f"{self.named(k)} of this vmap were lost {TRIES} times by {type(self.executor).__name__} "
                f"({_said(error)}): their workers died, or cannot load what they were sent. Look into the logs of the "
                "workers for what ended them, memory among it; they need the same hoad, NumPy and modules as this "
                "process."
            ) from error

    def raise_failure(self, k: int, failure: str) -> None:
        """Raise what a block raised, as it is raised in this process."""
        self.do_here(k)
        raise ExecutorError(
            f"{self.named(k)} of this vmap failed in a worker of {type(self.executor).__name__}, but not in this "
            f"process. Check that the workers have the same hoad, NumPy, modules and memory. The error was\n{failure}"
        )

    def warn(self, error: BaseException) -> None:
        left = sum(rows.stop - rows.start for rows in map(self.block, [*self.waiting, *self.flying]))
        warnings.warn(
            f"{type(self.executor).__name__} is broken ({_said(error)}) and takes no more tasks: up to {left} inputs "
            f"of this vmap are computed in this process ({here()}). Give another executor for the next one.",
            RuntimeWarning,
            stacklevel=2,
        )

    def block(self, k: int) -> slice:
        """The rows of a block."""
        size = self.run.rows_a_block
        return slice(k * size, min((k + 1) * size, self.length))

    def named(self, k: int) -> str:
        return f"inputs {self.block(k).start} to {self.block(k).stop - 1}"

    def place(self, k: int, results: list[Any]) -> None:
        """The results of a block: its rows, or its sums."""
        for letter, whole, part in zip(self.gives, self.run.results, results, strict=True):
            whole[slice(k, k + 1) if letter == "s" else self.block(k)] = part

    def do_here(self, k: int) -> None:
        self.run.run(k, k + 1)


def _said(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
