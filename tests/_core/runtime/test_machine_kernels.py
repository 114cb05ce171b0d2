"""Machine code of arithmetic on arrays: the bits of NumPy, whatever waits in registers, on the stack, or in rows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _core.runtime.bits import ARITHMETIC, SPECIAL, bits, computed, executable_pages

import hoad
from hoad._core.kernels.vector import target
from hoad._core.runtime.machine_kernels import codes_made

OFTEN = 600  # runs of a block, after which every kernel is machine code
IS_MADE = sys.platform == "linux" and target() != "portable"
INSTALLED = Path(hoad.__file__).parents[1]


def random_program(seed: int, size: int, reach: int) -> Callable[..., Any]:
    """A function of two arrays and a number, each operation on two of the last `reach` values."""

    def f(x: Any, y: Any, t: Any) -> Any:
        operations = (
            *ARITHMETIC,
            lambda a, b: t * a + b,
            lambda a, b: b - 0.25 * a,
            lambda a, b: np.where(a > b, a, 2.0 - b),
            lambda a, b: np.sqrt(np.abs(a)) * b,
            lambda a, b: (a - b) * a + a,
            lambda a, b: np.maximum(a, b) - np.minimum(b, 0.5),
            lambda a, b: np.sign(a) * b,
            lambda a, b: np.reciprocal(a) - np.abs(b),
            lambda a, b: np.where(a == b, b + t, a - t),
            lambda a, b: np.where(a <= b, a, 1.0),
            lambda a, b: (a < b) * b + (a >= 0.25) * 2.0,
            lambda a, b: np.where(a != 0, b, a) * 0.5,
        )
        return computed([x, y, x - t], operations, seed, size, reach)

    return f


def require_numpy(f: Callable[..., Any], *args: Any) -> None:
    """The first run and those by machine code give what NumPy does, bit by bit."""
    before = codes_made()
    program = hoad.record(f, *args)
    with np.errstate(all="ignore"):
        wanted = bits(f(*args))
        for _ in range(OFTEN):
            found = program.evaluate(*args)
        assert bits(found) == wanted
    assert not IS_MADE or codes_made() > before


@pytest.mark.parametrize("reach", [3, 20, 200])
@pytest.mark.parametrize("size", [12, 60, 300])
def test_the_bits_of_numpy(size: int, reach: int) -> None:
    """Few values, as many as there are registers, and more, which wait on the stack."""
    for seed, n in ((1, 8), (2, 21), (3, 515), (4, 3)):
        x, y = np.random.default_rng(seed).normal(size=(2, n))
        require_numpy(random_program(size + reach + seed, size, reach), x, y, 0.7)


def test_special_values() -> None:
    x, y = (np.ravel(v) for v in np.meshgrid(SPECIAL, SPECIAL))
    for t in (0.5, -0.0, np.inf, np.nan):
        require_numpy(random_program(5, 80, 20), x, y, t)


@pytest.mark.parametrize("reach", [10, 60])
def test_the_bits_of_kernels_in_gradients(reach: int) -> None:
    """Rules have operations that functions have not: strong zeros, masks, sums of contributions."""
    x, y = (np.ravel(v) for v in np.meshgrid(SPECIAL, SPECIAL))
    for seed in range(6):
        f = random_program(seed, 60, reach)
        program = hoad.gradient(hoad.record(lambda *v, f=f: np.sum(sum(f(*v))), x, y, 0.7))
        first = bits(program.evaluate(x, y, 0.3))
        for _ in range(OFTEN):
            found = program.evaluate(x, y, 0.3)
        assert bits(found) == first


def neighbours(x: Any, y: Any) -> Any:
    """Values of which later ones read neighbours: rows that are kept from one block to the next."""
    d = x[1:] - x[:-1]
    e = d * d + y[1:] * x[:-1] - 0.5 * d
    g = (e[1:] - e[:-1]) * d[1:] + e[1:] * e[:-1]
    return g * g - x[2:], e, (g[2:] - g[:-2]) / (1.0 + g[1:-1] * g[1:-1])


def in_parts(x: Any, y: Any) -> Any:
    """Parts of one array, written one after the other."""
    out = np.zeros(x.size + 4, like=x)
    out[2:-2] = x * y - x
    out[:-4] += out[2:-2] * 3.0 - y
    out[4:] -= out[:-4] * y + x
    return (out * out - 2.0 * out,)


@pytest.mark.parametrize("function", [neighbours, in_parts])
@pytest.mark.parametrize("n", [9, 512, 513, 1100, 5000])
def test_neighbours(function: Callable[..., Any], n: int) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n))
    program = hoad.record(function, x, y)
    for _ in range(OFTEN):
        found = program.evaluate(x, y)
    assert bits(found) == bits(function(x, y))


def polynomials(x: Any) -> Any:
    """Many results of few arguments, side by side in memory and not."""
    a, b, c = x[0], x[1], x[2]
    powers = [a * b - c, a * a * b, b * c * c - a, a * b * c, c - a * b, a + b + c, b * b - 4 * a * c, a - b, c * c]
    return np.array(powers), powers[3] * powers[6]


@pytest.mark.parametrize("n", [1, 7, 8, 100, 513, 2000])
def test_lanes(n: int) -> None:
    """Columns of arguments and results: any number of points gives what one point does."""
    x = np.random.default_rng(n).normal(size=(n, 3))
    batched = hoad.jit(hoad.vmap(polynomials))
    for _ in range(OFTEN):
        found = batched(x)
    rows = [polynomials(row) for row in x]
    assert np.array_equal(found[0], np.array([row[0] for row in rows]))
    assert np.array_equal(found[1], np.array([row[1] for row in rows]))


def test_results_over_arguments() -> None:
    """A result may take the place of an argument."""
    x, y = np.random.default_rng(3).normal(size=(2, 1030))
    f = hoad.jit(lambda x, y: (x * y - x) * (x + y) - x * 0.5)
    wanted = (x * y - x) * (x + y) - x * 0.5
    for _ in range(OFTEN):
        place = x.copy()
        f(place, y, out=place)
        assert np.array_equal(place, wanted)


def test_threads() -> None:
    """Shared by threads, whose parts begin with what blocks before them make."""
    x, y = np.random.default_rng(4).normal(size=(2, 300_000))
    f = hoad.jit(lambda x, y: neighbours(x, y)[0])
    one, three = hoad.jit(f, threads=1), hoad.jit(f, threads=3)
    for _ in range(3):
        assert np.array_equal(one(x, y), three(x, y)) and np.array_equal(one(x, y), neighbours(x, y)[0])


@pytest.mark.skipif(target() != "v4", reason="runs under AVX-512, for AVX2")
def test_avx2(tmp_path: Path) -> None:
    """This file with registers of four numbers, sixteen of them."""
    env = os.environ | {"HOAD_KERNELS": "v3", "PYTHONPATH": str(INSTALLED)}
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "not avx2"]
    command = [sys.executable, "-m", "pytest", *options, __file__]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.skipif(not IS_MADE, reason="no machine code is made here")
def test_its_memory_goes_with_the_program() -> None:
    def once() -> None:
        x = np.arange(16.0)
        program = hoad.record(random_program(3, 60, 20), x, x, 0.5)
        for _ in range(OFTEN):
            program.evaluate(x, x, 0.5)

    once()
    before, made = executable_pages(), codes_made()
    for _ in range(10):
        once()
    assert codes_made() >= made + 10
    assert executable_pages() <= before + 2
