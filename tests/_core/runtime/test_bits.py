"""Where a replay gives the bits of NumPy's operations one by one, and in what order it calls what may be noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308, -1e308, 0.1, 3.0, 1e-310])
LEFT, RIGHT = (np.repeat(SPECIAL, len(SPECIAL)), np.tile(SPECIAL, len(SPECIAL)))
ARITHMETIC = (np.add, np.subtract, np.multiply, np.divide)
# What has no kernel of ours runs by NumPy's own loops.
OF_NUMPY = (np.fmax, np.fmin, np.copysign, np.cbrt, np.log2, np.log10, np.exp2, np.arcsinh, np.floor, np.trunc, np.rint)

# Before NumPy 2.3 sums over several axes were added in other blocks.
BLOCKS_ACROSS_AXES = np.lib.NumpyVersion(np.__version__) < "2.3.0"


def require_bits(found: Any, wanted: Any) -> None:
    """Equal, with the signs of zeros; any nan is a nan."""
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(wanted), np.signbit(wanted) & ~np.isnan(wanted))


@pytest.mark.parametrize("first", ARITHMETIC, ids=lambda u: u.__name__)
@pytest.mark.parametrize("second", ARITHMETIC, ids=lambda u: u.__name__)
def test_arithmetic_at_special_values(first: np.ufunc, second: np.ufunc) -> None:
    """In every form: rows and numbers on every side, alone and in pairs."""
    with np.errstate(all="ignore"):
        for f in (
            lambda x, y, k: first(x, y),
            lambda x, y, k: first(x, k) + 0.0 * y,
            lambda x, y, k: first(k, x) - y,
            lambda x, y, k: second(first(x, y), x),
            lambda x, y, k: second(y, first(x, y)),
            lambda x, y, k: second(first(x, k), y),
            lambda x, y, k: second(first(k, x), k),
            lambda x, y, k: second(k, first(x, y)),
        ):
            program = hoad.record(f, LEFT.copy(), RIGHT.copy(), 0.5)
            for k in (0.5, -0.0, np.inf):
                require_bits(program.evaluate(LEFT, RIGHT, k), f(LEFT, RIGHT, k))


SIGNED: dict[str, Any] = {
    "added": lambda x, y: (x + -y, -x + y, -x + -y, -x + -x, x + -x),
    "taken away": lambda x, y: (x - -y, -x - y, -x - -y, -x - -x, x - -x),
    "multiplied": lambda x, y: (x * -y + x, y - -x * -y, -(x * -y) + y, -x / y - -(y / -x), (-x) ** 2 - y),
    "twice": lambda x, y: (-(-x) * y - x, -(-(-x)) + y, -(-x * y) * -x + -(-y)),
    "read twice": lambda x, y: (lambda m: (m * m + m, m * x - m * y, m + y * m, y - m + x * m))(-(x * y)),
    "kept": lambda x, y: (lambda m: (m, x + m, y * m + x))(-(x - y)),
    "of a number": lambda x, y: (x * -x[3] + y, -(y * x[5]) - -x[7], (-x[3] - y) * -y),
    "of a view": lambda x, y: (x + -(y[::-1]), x[::2] * -y[1::2] - x[1::2]),
    "a little earlier": lambda x, y: (lambda m: x[1:] + m[:-1] - y[1:] * m[1:])(-(x * y)),
    "a product a little earlier": lambda x, y: (lambda m: (x[1:] - m[:-1]) * y[1:] - m[1:])(-x * y),
    "in a function": lambda x, y: (np.minimum(-x, -2.0) * y - x, np.maximum(-(x * y), 1.0) + x, -np.floor(x) + y),
    "in a sum": lambda x, y: (np.sum((-x * 0.5 + y)[:100]) * -x + y, np.sum(-(x * y)) + y),
}


@pytest.mark.parametrize("name", SIGNED)
def test_signs(name: str) -> None:
    """Negations are not done where others can take them over."""
    f = SIGNED[name]
    with np.errstate(all="ignore"):
        found, wanted = hoad.record(f, LEFT.copy(), RIGHT.copy()).evaluate(LEFT, RIGHT), f(LEFT, RIGHT)
    for one, other in zip(found, wanted, strict=True):
        require_bits(one, other)


@pytest.mark.parametrize("seed", range(60))
def test_random_signs(seed: int) -> None:
    def f(x: Any, y: Any) -> Any:
        random = np.random.default_rng(seed)
        made = [x, y, -x, -y]
        for _ in range(16):
            a, b = (made[k] for k in random.integers(len(made), size=2))
            made.append((a + b, a - b, a * b, a / b, -a, -b, -(a * b), a * a, a * 0.5, 2.0 - b)[random.integers(10)])
        return made[-1], made[-2], made[random.integers(4, len(made))]

    with np.errstate(all="ignore"):
        found, wanted = hoad.record(f, LEFT.copy(), RIGHT.copy()).evaluate(LEFT, RIGHT), f(LEFT, RIGHT)
    for one, other in zip(found, wanted, strict=True):
        require_bits(one, other)


@pytest.mark.parametrize("ufunc", OF_NUMPY, ids=lambda u: u.__name__)
def test_what_has_no_kernel_is_numpys(ufunc: np.ufunc) -> None:
    with np.errstate(all="ignore"):
        x, y = np.tile(LEFT, 5), np.tile(RIGHT, 5)
        f = (lambda x, y: ufunc(x, y) * 1.0) if ufunc.nin == 2 else (lambda x, y: ufunc(x + 0.0 * y))
        require_bits(hoad.record(f, x, y).evaluate(x, y), f(x, y))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100, 128, 129, 255, 500, 512])
@pytest.mark.parametrize("offset", [0, 1, 16, 17, 200, 400])
def test_sums_of_a_block_are_numpys(n: int, offset: int) -> None:
    x = np.random.default_rng(n).normal(size=1000)

    def part(x: Any) -> Any:
        return (x * x - 0.5)[offset : offset + n]

    assert hoad.record(lambda x: np.sum(part(x)), x[::-1].copy()).evaluate(x) == np.sum(part(x))


def test_signs_of_zeros() -> None:
    zeros = np.full(20, -0.0)
    require_bits(hoad.record(lambda x: np.sum(x), np.ones(20)).evaluate(zeros), np.sum(zeros))
    program = hoad.gradient(hoad.record(lambda x: np.sum(x[1:] * -0.0), np.ones(20)))
    require_bits(program.evaluate(np.ones(20)), np.zeros(20))


@pytest.mark.parametrize("shift", [1, 2, 15, 16, 17, 40, 511, 512, 513])
def test_what_lies_earlier_is_kept(shift: int) -> None:
    """Overlapping ranges, near enough for a row to remember and too far, over several blocks."""
    x = np.random.default_rng(shift).normal(size=2000)

    def f(x: Any) -> Any:
        y = x * 3.0 - 1.0
        return y[shift:] * x[shift:] + y[:-shift] * 2.0 - (y * y)[:-shift]

    require_bits(hoad.record(f, x[::-1].copy()).evaluate(x), f(x))
    gradient = hoad.gradient(hoad.record(lambda x: np.sum(f(x)), x[::-1].copy())).evaluate(x)
    y = 3.0 * x - 1.0
    wanted = np.zeros_like(x)
    wanted[shift:] += 3.0 * x[shift:] + y[shift:]
    wanted[:-shift] += 6.0 - 6.0 * y[:-shift]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("last", [2.0, 3.0, -0.0, np.nan])
@pytest.mark.parametrize("first", [2.0, 0.0, np.nan])
def test_constant_arrays_of_equal_numbers(first: float, last: float) -> None:
    x, c = np.linspace(-1.0, 1.0, 700), np.full(700, first)
    c[-1] = last

    def f(x: Any) -> Any:
        return x**c, c[1:] - x[1:] * c[:-1], (c * c)[::-1] - x

    with np.errstate(all="ignore"):
        for found, wanted in zip(hoad.record(f, x[::-1].copy()).evaluate(x), f(x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=4e-16)
            np.testing.assert_array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


def test_outputs_of_all_kinds() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        return y, y, y[::-1], y[3:40], x, x[2], np.sum(y), np.full(5, 3.0) * x[0], 7.0

    x = np.linspace(-1.0, 1.0, 50)
    program = hoad.record(f, x[::-1].copy())
    first, second = program.evaluate(x), program.evaluate(x)
    for found, again, wanted in zip(first, second, f(x), strict=True):
        require_bits(found, wanted)
        assert not np.shares_memory(found, again)
        assert not np.shares_memory(found, x)


CALLED: list[str] = []


@hoad.primitive
def early(x: Any) -> Any:
    CALLED.append("early")
    return x + 1.0


@hoad.primitive
def late(x: Any) -> Any:
    CALLED.append("late")
    return x - 1.0


def test_functions_are_called_in_their_order() -> None:
    def f(x: Any) -> Any:
        a = early(np.exp(x) * 2.0)
        b = late(x)
        return np.sum(a * b) + sum((x[i] * x[i] - x[i - 1] for i in range(1, 300)), 0.0)

    program = hoad.record(f, np.ones(300))
    CALLED.clear()
    program.evaluate(np.linspace(0.0, 1.0, 300))
    assert CALLED == ["early", "late"]


def test_the_first_failure_is_the_one_that_is_told() -> None:
    def f(x: Any) -> Any:
        a = np.linalg.inv(np.exp(x[:4].reshape(2, 2)))
        return np.sum(a) + np.sum(refused(x))

    program = hoad.record(f, np.arange(6.0))
    with pytest.raises(np.linalg.LinAlgError):
        program.evaluate(np.zeros(6))


@hoad.primitive
def refused(x: Any) -> Any:
    if not np.any(x):
        raise ValueError("refused")
    return x * 1.0


@pytest.mark.parametrize(
    "shape", [(50, 25, 10), (7, 3), (5, 8), (5, 9), (5, 128), (5, 129), (3, 4, 5000), (4, 1), (4, 0)]
)
def test_sums_of_rows(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=shape) * 10.0 ** random.integers(-8, 8, shape)
    for x in (values, np.full(shape, -0.0)):
        for axis in (-1, tuple(range(1, len(shape))), 0):
            found, wanted = hoad.jit(lambda x, axis=axis: np.sum(x, axis=axis))(x), np.sum(x, axis=axis)
            if BLOCKS_ACROSS_AXES and axis not in (-1, 0):
                np.testing.assert_allclose(found, wanted, rtol=1e-12)
            else:
                require_bits(found, wanted)


@pytest.mark.parametrize("n", [33, 512, 528, 1040, 1537])
@pytest.mark.parametrize("columns", [2, 32, 33, 70])
def test_columns_are_stored_together(columns: int, n: int) -> None:
    """More and fewer than are stored at a time; operands that later columns read too."""
    x, y = np.random.default_rng(n).normal(size=(2, n))

    def f(x: Any, y: Any) -> Any:
        found = [x * y]
        for k in range(1, columns):
            found.append(found[-1] * 0.5 + x * (y - float(k)))
        return np.stack(found, axis=1), found[0] - found[-1]

    program = hoad.record(f, y, x)
    require_bits(program.evaluate(x, y)[0], f(x, y)[0])
    require_bits(program.evaluate(x, y)[1], f(x, y)[1])
    if n % 3 == 0:  # behind others, which are read at earlier coordinates

        def g(x: Any, y: Any) -> Any:
            return f(x, y)[0][1:] - f(x, y)[0][:-1]

        require_bits(hoad.record(g, y, x).evaluate(x, y), g(x, y))
