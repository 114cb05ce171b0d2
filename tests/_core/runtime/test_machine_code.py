"""Machine code of scalar programs and loops: the bits of the interpreter, whatever is in the registers.

The first runs of a program are by bytecode, those after some hundred by machine code, where there is one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _core.runtime.bits import ARITHMETIC, SPECIAL, bits, computed, executable_pages

import hoad
from hoad._core.kernels.vector import target
from hoad._core.runtime.scalar_bytecode import codes_made

OFTEN = 6000  # runs, after which every program is machine code
IS_MADE = sys.platform == "linux" and target() != "portable"


CALLS = (
    lambda a, b: np.sin(a) + b,
    lambda a, b: np.sqrt(np.abs(a) + 0.25) - b,
    lambda a, b: np.arctan2(a, 2.0 + b * b),
    np.hypot,
)


def random_program(seed: int, size: int, reach: int, calls: bool = True) -> Callable[..., Any]:
    """A function of two numbers and five items of an array, each operation on two of the last `reach` values."""
    operations = (*ARITHMETIC, *CALLS) if calls else ARITHMETIC
    return lambda x, y, z: computed([x, y, *[z[i] for i in range(5)]], operations, seed, size, reach)


def first_and_last(program: hoad.Program, *args: Any) -> tuple[Any, Any]:
    first = program.evaluate(*args)
    for _ in range(OFTEN):
        program.evaluate(*args)
    return first, program.evaluate(*args)


@pytest.mark.parametrize("reach", [3, 40, 400])
@pytest.mark.parametrize("size", [6, 60, 300])
@pytest.mark.parametrize("order", [0, 1])
def test_the_bits_of_the_interpreter(size: int, reach: int, order: int) -> None:
    """Few values, as many as the processor has registers, and more; functions called in between."""
    for seed, calls in ((size + reach, True), (size - reach, False), (7 * size, True)):
        z = np.random.default_rng(seed % 1000).normal(size=5)
        program = hoad.record(random_program(seed % 1000, size, reach, calls), 0.7, -1.3, z)
        if order:
            program = hoad.gradient(hoad.record(lambda *v, f=program: sum(f(*v)), 0.7, -1.3, z))
        before = codes_made()
        first, last = first_and_last(program, 0.4, 1.1, z[::-1].copy())
        assert bits(first) == bits(last)
        assert not IS_MADE or codes_made() > before


@pytest.mark.parametrize("value", SPECIAL)
def test_special_values(value: float) -> None:
    program = hoad.record(random_program(5, 80, 20), 0.7, -1.3, np.arange(5.0))
    for _ in range(OFTEN):
        program.evaluate(0.7, -1.3, np.arange(5.0))
    fresh = hoad.record(random_program(5, 80, 20), 0.7, -1.3, np.arange(5.0))
    for other in SPECIAL:
        args = (value, other, np.array([1.0, value, -0.0, other, 2.0]))
        assert bits(program.evaluate(*args)) == bits(fresh.evaluate(*args))


def test_roots_and_magnitudes() -> None:
    def f(x: Any, y: Any) -> Any:
        root, size = np.sqrt(x), np.abs(y)
        return root, size, root * size, root - size, np.sqrt(size) * np.abs(root - 1)

    program = hoad.record(f, 0.7, -1.3)
    first_and_last(program, 0.7, -1.3)
    for x in SPECIAL:
        for y in SPECIAL:
            with np.errstate(invalid="ignore", over="ignore"):
                wanted = f(np.float64(x), np.float64(y))
            assert bits(program.evaluate(x, y)) == bits(wanted)


def lotka_volterra(m: Any, p: Any, loop: Any) -> Any:
    def body(c: Any, _: Any) -> Any:
        x, y = c
        return (x + 1e-3 * (1.1 * x - 0.4 * x * y), y + 1e-3 * (0.1 * x * y - 0.4 * y)), x * m.sin(y)

    (x, y), out = loop(body, (p[0], p[1]), None, 3000)
    return x * y + out[17] * out[-1]


def with_rows(m: Any, p: Any, loop: Any) -> Any:
    def body(c: Any, t: Any) -> Any:
        x, y, w = c
        return (y + p[0] * t * m.exp(-x * x), x * 0.99 - p[1] * y * t, w + t / (1 + x * x)), t * x

    c, out = loop(body, (p[0], p[1], 0.0), np.linspace(0, 1e-3, 2000), 2000)
    return c[0] * c[2] + c[1] + out[-1]


def shifted(m: Any, p: Any, loop: Any) -> Any:
    """What is carried into one place comes of another."""
    c, _ = loop(lambda c, _: ((c[1], c[2], 0.5 * c[0] + 0.3 * c[1] * p[0]), None), (p[0], p[1], 1.0), None, 3000)
    return c[0] + 2 * c[1] + c[2]


def exchanged(m: Any, p: Any, loop: Any) -> Any:
    """Some change places in two circles, one comes from a circle, and one is carried to two places."""

    def body(c: Any, _: Any) -> Any:
        a, b, x, y, z, u, v = c
        return (b, a, y, z, x, x, a * 0.5 + u * 0.25 - v * 0.125), a * x * p[0] - v

    start = tuple(p[i % 2] * (i + 1) / 7 for i in range(7))
    c, out = loop(body, start, None, 1000)
    return sum((i + 1) * x for i, x in enumerate(c)) + out[-1] + out[-2]


def exchanged_of_many(m: Any, p: Any, loop: Any) -> Any:
    """More than there are registers change places: there is no order in which one could be written first."""
    c, _ = loop(lambda c, _: ((*c[1:], c[0]), None), tuple(p[i % 2] * (i + 1) for i in range(20)), None, 1001)
    return sum((i + 1) * x for i, x in enumerate(c))


def of_many(m: Any, p: Any, loop: Any) -> Any:
    """More values carried than there are registers."""

    def body(c: Any, _: Any) -> Any:
        mean = sum(c[1:], c[0]) * 0.05
        return tuple(m.tanh(0.9 * x + 0.1 * mean * (i + 1)) for i, x in enumerate(c)), None

    c, _ = loop(body, tuple(p[i % 2] * (i + 1) / 20 for i in range(20)), None, 300)
    return sum(c)


def unrolled(body: Any, c: Any, xs: Any, length: int) -> Any:
    """The same loop in Python."""
    out = []
    for i in range(length):
        c, y = body(c, None if xs is None else xs[i])
        out.append(y)
    return c, out


def recorded(body: Any, c: Any, xs: Any, length: int) -> Any:
    return hoad.scan(body, c, xs, length=length)


@pytest.mark.parametrize("function", [lotka_volterra, with_rows, shifted, exchanged, exchanged_of_many, of_many])
def test_loops(function: Callable[..., Any]) -> None:
    """Values to the last bit as Python's floats; derivatives as those of the loop unrolled."""
    p = np.array([0.8, 0.6])
    before = codes_made()
    made = hoad.record(lambda p: function(np, p, recorded), p)
    assert not IS_MADE or function is exchanged_of_many or codes_made() > before
    plain = [float(x) for x in p]
    assert made.evaluate(p) == function(np, [np.float64(x) for x in plain], unrolled)
    by_scan = hoad.grad(lambda p: function(np, p, recorded))(p)
    by_hand = hoad.grad(lambda p: function(np, p, unrolled))(p)
    assert np.allclose(by_scan, by_hand, rtol=1e-12, atol=0)
    curved = hoad.hessian(lambda p: function(np, p, recorded))(p)
    along = hoad.jvp(hoad.grad(lambda p: function(np, p, recorded)), (p,), (np.array([1.0, 0.0]),))[1]
    assert np.allclose(curved[:, 0], along, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("bound", [0.5, 2.0, 1e3, 1e12])
def test_a_loop_that_ends_itself(bound: float) -> None:
    def f(x: Any) -> Any:
        y, n = hoad.while_loop(lambda c: c[0] < bound, lambda c: (c[0] * 1.01 + 0.01 * x, c[1] + 1.0), (x, 0.0))
        return y * n

    y, n = 0.9, 0.0
    while y < bound:
        y, n = y * 1.01 + 0.01 * 0.9, n + 1.0
    assert hoad.record(f, 0.9).evaluate(0.9) == y * n
    program = hoad.record(f, 0.9)
    assert len({program.evaluate(0.9) for _ in range(50)}) == 1


@pytest.mark.parametrize("length", [0, 1, 2, 3, 1000])
def test_lengths(length: int) -> None:
    def f(x: Any) -> Any:
        c, ys = hoad.scan(lambda c, _: (c * 1.5 - c * c * 0.3, c + 1.0), x, None, length=length)
        return c + np.sum(ys)

    c, total = 0.7, []
    for _ in range(length):
        total.append(c + 1.0)
        c = c * 1.5 - c * c * 0.3
    program = hoad.record(f, 0.7)
    for _ in range(OFTEN if length < 10 else 3):
        assert program.evaluate(0.7) == c + np.sum(np.array(total))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [63, 64, 511, 512, 513, 1300])
def test_functions_of_rows(length: int, reverse: bool) -> None:
    """Those that do not wait for the steps are computed ahead, for the right rows, with the same bits in every run."""
    ts = np.random.default_rng(length).uniform(0.1, 1.5, length)

    def loop(m: Any, a: Any, ts: Any, scan: Any) -> Any:
        def body(c: Any, t: Any) -> Any:
            x, n = c
            wave = m.sin(a * t + 0.5)
            return (0.5 * x + wave * m.exp(-n * 1e-3) + m.tanh(m.exp(t)), n + 1), (wave * x, m.cos(t))

        (x, _), (first, second) = scan(body, (a, 0.0), ts)
        return x, first, second

    def unrolled(body: Any, c: Any, ts: Any) -> Any:
        rows = []
        for t in ts[::-1] if reverse else ts:
            c, row = body(c, t)
            rows.append(row)
        first, second = zip(*(rows[::-1] if reverse else rows), strict=True)
        return c, (np.array(first), np.array(second))

    def f(a: Any, ts: Any) -> Any:
        return loop(np, a, ts, lambda body, c, ts: hoad.scan(body, c, ts, reverse=reverse))

    def weighted(results: Any) -> Any:
        x, first, second = results
        return x + np.arange(1.0, length + 1) @ first + second[0] - 2 * second[length // 3]

    def by_complex_step(a: Any, ts: Any) -> Any:
        return weighted(loop(np, a, ts, unrolled)).imag / 1e-25

    a = 0.7
    program = hoad.record(f, a, ts)
    values = [program.evaluate(a, ts) for _ in range(30)] + [hoad.jit(f)(a, ts), f(a, ts)]
    assert len({tuple(bits(x)) for x in values}) == 1
    gradient = hoad.grad(lambda *x: weighted(f(*x)), (0, 1))
    gradients = [gradient(a, ts), *[jitted(a, ts) for jitted in [hoad.jit(gradient)] for _ in range(30)]]
    assert len({tuple(bits(x)) for x in gradients}) == 1
    for found, wanted in zip(values[0], loop(np, a, ts, unrolled), strict=True):
        assert np.allclose(found, wanted, rtol=1e-14, atol=0)
    k = length // 3
    assert np.isclose(gradients[0][0], by_complex_step(a + 1e-25j, ts), rtol=1e-12)
    assert np.isclose(gradients[0][1][k], by_complex_step(a, ts + 1e-25j * (np.arange(length) == k)), rtol=1e-12)


def test_threads_share_a_program() -> None:
    """One of them makes the machine code, all run it."""
    program = hoad.record(random_program(11, 200, 50), 0.7, -1.3, np.arange(5.0))
    wanted = bits(program.evaluate(0.2, 0.3, np.ones(5)))
    wrong = []

    def work() -> None:
        wrong.extend(1 for _ in range(3000) if bits(program.evaluate(0.2, 0.3, np.ones(5))) != wanted)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not IS_MADE, reason="no machine code is made here")
def test_its_memory_goes_with_the_program() -> None:
    def once() -> None:
        program = hoad.record(random_program(3, 60, 20), 0.7, -1.3, np.arange(5.0))
        for _ in range(1500):
            program.evaluate(0.7, -1.3, np.arange(5.0))

    once()
    before, made = executable_pages(), codes_made()
    for _ in range(10):
        once()
    assert codes_made() >= made + 10
    assert executable_pages() <= before + 2
