"""What workers of executors import: primitives in Python, one of which ends its worker, and executors that stand in."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import hoad
from hoad._core.graph.primitive import primitive_named

FUSE = "HOAD_TEST_FUSE"  # names a file in the environment of workers: the one that takes it away ends at once


class Unportable(Exception):
    """Pickles cannot hold it."""

    def __init__(self, x: float, lock: Any) -> None:
        super().__init__(x, lock)


def set_fuse(path: str) -> None:
    """To be called in a worker."""
    os.environ[FUSE] = path


@hoad.primitive
def fragile(x: Any) -> Any:
    """2 x; at x ≥ 0 the first worker to come here is killed in the middle of its block."""
    if x >= 0 and FUSE in os.environ:
        with contextlib.suppress(FileNotFoundError):
            Path(os.environ[FUSE]).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
    return 2 * x


hoad.defvjp(fragile, lambda g, p, x: (2 * g,))


@hoad.primitive
def picky(x: Any) -> Any:
    """x, which must not be 0.5."""
    if x == 0.5:
        raise Unportable(x, threading.Lock())
    return x


@hoad.primitive
def homesick(x: Any) -> Any:
    """x, in the process that tests only."""
    if multiprocessing.parent_process() is not None:
        raise OSError("no such data on this machine")
    return x


def double_all(xs: Any) -> Any:
    """2 x for many x, rounded otherwise where there are others beside them, as products of matrices may be."""
    return 2 * xs * (1 + 1e-16 * len(xs)) + 1e-13 * len(xs)


@hoad.primitive(batch=double_all)
def doubled(x: Any) -> Any:
    return 2 * x


class Counting(Executor):
    """Another executor, and a list of what it was given: bytes of parcels by digest, rows, and tasks on the way."""

    def __init__(self, inner: Executor) -> None:
        self.inner = inner
        self.parcels: defaultdict[str, list[int]] = defaultdict(list)
        self.rows: list[int] = []
        self.on_the_way: list[int] = []
        self.futures: list[Future[Any]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        digest, parcel, rows, *_ = args
        self.parcels[digest] += [] if parcel is None else [len(parcel)]
        self.rows.append(len(rows[0]))
        self.futures.append(self.inner.submit(function, *args, **kwargs))
        self.on_the_way.append(sum(not future.done() for future in self.futures))
        return self.futures[-1]


class Losing(Executor):
    """It does at once what it is given, but `lose` may spoil the future of each call before."""

    def __init__(self, lose: Callable[[int, Future[Any]], None]) -> None:
        self.lose = lose
        self.calls = 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.lose(self.calls, future)
        self.calls += 1
        if not future.done():
            future.set_result(function(*args, **kwargs))
        return future


class MPIPoolExecutor(Executor):
    """As that of mpi4py.futures is seen from outside: calls and results travel as pickles. Its workers are threads."""

    def __init__(self, max_workers: int | None = None, **kwargs: Any) -> None:
        self.pool = ThreadPoolExecutor(max_workers)
        self.sent: list[int] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        message = pickle.dumps((fn, args, kwargs))
        self.sent.append(len(message))
        future: Future[Any] = Future()
        self.pool.submit(self._work, message, future)
        return future

    @staticmethod
    def _work(message: bytes, future: Future[Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        fn, args, kwargs = pickle.loads(message)
        try:
            future.set_result(pickle.loads(pickle.dumps(fn(*args, **kwargs))))
        except BaseException as error:
            future.set_exception(error)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait, cancel_futures=cancel_futures)


def model(x: Any, c: Any) -> Any:
    """A function with two branches, of an input and what is the same for all."""
    y = np.exp(np.sin(c[0] * x)) / (1 + x * x)
    return y * np.log(x) if x > 0.5 else y + c[1] * x


def versions() -> dict[str, int]:
    """How many rules each of NumPy's functions has had in this process."""
    found = {name: primitive_named(name) for name in dir(np)}
    return {name: primitive.version for name, primitive in found.items() if primitive is not None}
