"""Storms: many threads on the same programs, and interrupts at any moment. What comes out is as it was before."""

from __future__ import annotations

import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import hoad

Job = Callable[[], Any]

FUNCTIONS: list[Callable[[Any], Any]] = [
    np.sin,
    np.tanh,
    lambda x: x**2 + 1,
    lambda x: np.exp(-x * x / 2),
    lambda x: np.where(x > 0, np.sqrt(np.maximum(x, 0.1)), x),
    lambda x: x / (1 + x * x),
]
SIGNALS = 12  # in a trial
THREADS = 4


class Interrupt(KeyboardInterrupt):
    """Raised by the handler of a signal."""


def function(rng: np.random.Generator) -> tuple[Callable[[Any], Any], np.ndarray]:
    """A function of a vector, made anew, and a point."""
    n = int(rng.integers(1, 7))
    chosen = [FUNCTIONS[k] for k in rng.integers(len(FUNCTIONS), size=rng.integers(1, 4))]
    w = rng.normal(size=n)

    def f(x: Any) -> Any:
        y = w * x
        for g in chosen:
            y = g(y) + 0.1 * y
        return np.sum(y) + y[0] * y[-1]

    return f, rng.normal(size=n)


def jobs(rng: np.random.Generator) -> dict[str, Job]:
    """Things to do with one function: some make all anew, others share a program, a compiled function, a pickle."""
    f, x = function(rng)
    shared = hoad.jit(hoad.value_and_grad(f))
    first = hoad.jit(hoad.grad(f))  # its first call is in the storm
    program = hoad.gradient(hoad.record(f, x))
    parcel = pickle.dumps(program)

    def composites(x: Any) -> Any:
        carried = hoad.scan(lambda c, row: (np.tanh(c * row), c), 1.0, x)[0]
        return hoad.checkpoint(f)(x) * carried + hoad.checkpointed_loop(lambda k, c: np.sin(c) + c, 3, x[0])

    return {
        "record": lambda: hoad.record(f, x).evaluate(x),
        "grad": lambda: hoad.grad(f)(x),
        "hessian": lambda: hoad.hessian(f)(x),
        "second tapes": lambda: hoad.gradient(hoad.gradient(hoad.record(f, x)), seed=np.ones_like(x)).evaluate(x),
        "jit": lambda: hoad.jit(hoad.grad(lambda x: f(x)))(x),
        "first call": lambda: first(x),
        "replay": lambda: np.append(*shared(x)[::-1]),
        "program": lambda: program.evaluate(x),
        "pickle": lambda: pickle.loads(parcel).evaluate(x),
        "vmap": lambda: hoad.vmap(hoad.grad(f))(np.stack([x, 2 * x, -x])),
        "taylor": lambda: hoad.derivatives(lambda t: f(t * x), 4)(0.7),
        "composites": lambda: hoad.grad(composites)(x),
    }


def differs(found: Any, expected: Any) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    return found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-11, atol=1e-12, equal_nan=True)


# ---- threads --------------------------------------------------------------------------------------------------------


def thread_storm(rng: np.random.Generator) -> str | None:
    """Threads that do all jobs at once, each in an order of its own, changing places all the time."""
    work = jobs(rng)
    expected = {name: job() for name, job in work.items() if name != "first call"}
    orders = [rng.permutation(list(work)) for _ in range(THREADS)]
    wrong: list[str] = []
    ready = threading.Barrier(THREADS)

    def run(order: Any) -> None:
        ready.wait()
        for name in order:
            try:
                found = work[name]()
            except BaseException as error:
                wrong.append(f"{name} in a thread raised {error!r}")
                continue
            of = "grad" if name == "first call" else name
            if differs(found, expected[of]):
                wrong.append(f"{name} in a thread gave {found}, not {expected[of]}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(order,)) for order in orders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return wrong[0] if wrong else None


# ---- interrupts -----------------------------------------------------------------------------------------------------


@contextmanager
def interrupts() -> Iterator[tuple[list[int], list[str]]]:
    """The signals that came, each of which raised `Interrupt`, and where an exception was lost."""
    came: list[int] = []
    lost: list[str] = []

    def handler(number: int, frame: Any) -> None:
        came.append(number)
        raise Interrupt

    before, hook = signal.signal(signal.SIGALRM, handler), sys.unraisablehook
    sys.unraisablehook = lambda given: lost.append(f"in {given.object!r}")
    try:
        yield came, lost
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, before)


def interrupted(job: Job, delay: float) -> BaseException | None:
    """What was raised where a signal comes so many seconds after the job begins."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            job()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:
        return error
    return None


def interrupt_storm(rng: np.random.Generator) -> str | None:
    """Jobs that are interrupted at any moment: each raises what the handler raised, and does well afterwards."""
    work = jobs(rng)
    expected: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for name, job in work.items():
        if name != "first call":
            began = time.perf_counter()
            expected[name], seconds[name] = job(), time.perf_counter() - began
    expected["first call"], seconds["first call"] = expected["grad"], seconds["jit"]
    names = list(work)
    with interrupts() as (came, lost):
        for _ in range(SIGNALS):
            name = names[rng.integers(len(names))]
            delay = max(2e-6, rng.random() * seconds[name])
            came.clear()
            lost.clear()
            raised = interrupted(work[name], delay)
            if raised is None and not came:
                interrupted(lambda: time.sleep(1e-3), 1.0)  # a signal that another thread was given is on its way
                came.clear()
            if raised is None and came:
                return f"{name}: the interrupt after {delay:.2e} s was lost {lost}"
            if raised is not None and not isinstance(raised, Interrupt):
                return f"{name}: the interrupt after {delay:.2e} s came out as {raised!r}"
            try:
                found = work[name]()
            except BaseException as error:
                return f"{name}: after an interrupt after {delay:.2e} s it raises {error!r}"
            if differs(found, expected[name]):
                return f"{name}: after an interrupt after {delay:.2e} s it gives {found}, not {expected[name]}"
    return None


def trial(rng: np.random.Generator) -> str | None:
    """One comparison. None if it is right, else what is wrong, in a line with all that is needed to repeat it."""
    on_main = threading.current_thread() is threading.main_thread()
    return interrupt_storm(rng) if on_main and rng.random() < 0.5 else thread_storm(rng)
