"""Places that are called the same, written to in one call; functions that are jitted within others, and in threads."""

from __future__ import annotations

import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

Made = tuple[Callable[[float], Any], Callable[[], Any]]
MAKERS: dict[str, Callable[[], Made]] = {}


def case(make: Callable[[], Made]) -> Callable[[], Made]:
    MAKERS[make.__name__] = make
    return make


@case
def sums_of_two_objects() -> Made:
    a, b = types.SimpleNamespace(total=0.0), types.SimpleNamespace(total=0.0)
    held = [b]

    def f(x: Any) -> Any:
        a.total += x
        held[0].total += 2.0 * x
        return x

    return f, lambda: (a.total, b.total)


@case
def sums_of_an_object_and_of_its_class() -> Made:
    class Meter:
        total: Any = 0.0

    a = Meter()

    def f(x: Any) -> Any:
        a.total += x
        Meter.total += 1.5
        return x

    return f, lambda: (a.total, Meter.total)


@case
def sums_of_two_closures() -> Made:
    def made() -> tuple[Callable[[Any], Any], Callable[[], Any]]:
        total: Any = 0.0

        def add(x: Any) -> Any:
            nonlocal total
            total += x
            return x

        return add, lambda: total

    (first, of_first), (second, of_second) = made(), made()

    def f(x: Any) -> Any:
        first(x)
        return second(2.0 * x)

    return f, lambda: (of_first(), of_second())


@case
def counters_of_a_class_and_a_subclass() -> Made:
    class Base:
        count = 0

    class Derived(Base):
        pass

    def f(x: Any) -> Any:
        Base.count += 1
        Derived.count += 1
        return x

    return f, lambda: (Base.count, Derived.count)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_each_place_holds_what_it_holds_without_jit(make: Callable[[], Made]) -> None:
    (f, state), (g, other) = make(), make()
    jitted = hoad.jit(g)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        for x in (1.0, 2.0, 3.0, 4.0, 5.0):
            assert jitted(x) == f(x)
            assert other() == state()


def test_a_subclass_that_gets_an_attribute_of_its_own() -> None:
    class Base:
        last: Any = 0.0

    class Derived(Base):
        pass

    def f(x: Any) -> Any:
        Base.last = x
        return x * Derived.last

    g = hoad.jit(f)
    assert [g(1.0), g(2.0), g(3.0)] == [1.0, 4.0, 9.0]
    Derived.last = 3.0
    assert g(4.0) == 12.0


# ---- functions that are jitted within others ------------------------------------------------------------------------


def test_what_a_jitted_function_reads_counts_for_the_one_around_it() -> None:
    o = types.SimpleNamespace(rate=2.0, calls=0, rng=np.random.default_rng(1))
    twin = np.random.default_rng(1)

    @hoad.jit
    def inner(y: float) -> Any:
        o.calls += 1
        return o.rate * y + o.rng.normal()

    for _ in range(3):
        inner(1.0)
        twin.normal()
    outer = hoad.jit(lambda x: x * inner(3.0))
    for k in range(5):
        assert outer(1.0) == o.rate * 3.0 + twin.normal()
        assert o.calls == 4 + k
    o.rate = 5.0
    assert outer(1.0) == 15.0 + twin.normal()


def test_a_bound_call_within_a_jitted_function() -> None:
    o, out = types.SimpleNamespace(rate=2.0), np.empty(2)
    call = hoad.jit(lambda y: o.rate * y).bound(np.ones(2), out=out)
    for _ in range(3):
        call()
    outer = hoad.jit(lambda x: x * call()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        assert [outer(1.0), outer(1.0)] == [2.0, 2.0]
        o.rate = 5.0
        assert outer(1.0) == 5.0


# ---- threads --------------------------------------------------------------------------------------------------------


def test_a_refusal_while_other_threads_replay() -> None:
    """Their list of recordings is emptied under them."""

    def late() -> float:
        return time.perf_counter() * 0.0

    def f(x: Any) -> Any:
        y = x
        for _ in range(20):
            y = np.sin(y) + x
        if y[0] > 0.0:
            return y
        return y * late() if y[2] > 0.0 else -y

    ones = np.ones(100_000)
    last = -ones
    last[2] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        for _ in range(3):
            g, done = hoad.jit(f), threading.Event()
            g(ones), g(-ones)

            def replay(g: Any = g, done: threading.Event = done) -> None:
                while not done.is_set():
                    g(-ones), g(ones)

            threads = [threading.Thread(target=replay) for _ in range(3)]
            for thread in threads:
                thread.start()
            g(last)
            done.set()
            for thread in threads:
                thread.join()
            assert np.array_equal(g(ones), f(ones))


def test_a_program_is_asked_for_while_another_thread_counts() -> None:
    o = types.SimpleNamespace(calls=0)

    def f(x: Any) -> Any:
        o.calls += 1
        return np.sum(np.sin(x))

    g, x = hoad.jit(f), np.ones(20_000)
    g(x), g(x)
    before, done = o.calls, threading.Event()

    def ask() -> None:
        while not done.is_set():
            g.program(x)

    thread = threading.Thread(target=ask)
    thread.start()
    for _ in range(200):
        g(x)
    done.set()
    thread.join()
    assert o.calls == before + 200


def test_an_argument_that_is_stored_and_written_over() -> None:
    o = types.SimpleNamespace(given=None)

    def f(x: Any) -> Any:
        o.given = x
        return 2.0 * x

    g = hoad.jit(f)
    for _ in range(4):
        x = np.ones(2)
        g(x, out=x)
        assert x.tolist() == [2.0, 2.0]
        assert o.given.tolist() == [1.0, 1.0]


def test_an_iterator_gives_its_items_one_by_one() -> None:
    o = types.SimpleNamespace(items=iter(range(1, 9)))
    g = hoad.jit(lambda x: x * next(o.items))
    with pytest.warns(hoad.JitWarning):
        assert [g(1.0), g(1.0), g(1.0)] == [1.0, 2.0, 3.0]


def test_an_argument_that_is_changed_by_another_name() -> None:
    w = np.ones(2)

    def f(x: Any) -> Any:
        w[0] += 1.0
        return np.sum(x)

    with pytest.raises(hoad.ArgumentError, match="changes w, in whose memory the argument x lies"):
        hoad.jit(f)(w[:])
    assert hoad.jit(f)(np.ones(2)) == 2.0
