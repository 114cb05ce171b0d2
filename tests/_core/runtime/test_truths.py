"""Booleans and selections go through chains: bytes in memory, numbers 0 and 1 in rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _core.runtime.test_bits import LEFT, RIGHT, require_bits
from _core.runtime.test_schedules import LENGTHS, require_same
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad
from hoad._core.kernels.ufuncs import mask, select, strong_multiply

COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
OF_TWO = (np.logical_and, np.logical_or, np.logical_xor)
OF_ONE = (np.logical_not, np.isnan, np.isinf, np.isfinite, np.signbit)
MASK = np.random.default_rng(5).uniform(size=1100) < 0.5


def require_each(f: Callable[..., Any], *args: Any) -> None:
    """A replay gives what NumPy does, number by number and with the same dtypes."""
    with np.errstate(all="ignore"):
        found, wanted = hoad.record(f, *args).evaluate(*args), f(*args)
    for one, other in zip(found, wanted, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        require_bits(one, other)


@pytest.mark.parametrize("ufunc", COMPARISONS + OF_TWO, ids=lambda u: u.__name__)
def test_of_two_at_special_values(ufunc: np.ufunc) -> None:
    """In every form, kept and used on the way."""
    require_each(
        lambda x, y: (
            ufunc(x, y),
            np.where(ufunc(x, 0.5), x, y),
            np.where(ufunc(0.0, y), -x, 2.0),
            np.where(ufunc(x, x[3]), 1.0, y),
            np.where(ufunc(x, y), 1.0, -0.0),
            ufunc(x > 0, y > 1),
            1.0 * ufunc(x > 0, y > 1) + x,
        ),
        LEFT,
        RIGHT,
    )


@pytest.mark.parametrize("ufunc", OF_ONE, ids=lambda u: u.__name__)
def test_of_one_at_special_values(ufunc: np.ufunc) -> None:
    require_each(lambda x, y: (ufunc(x), np.where(ufunc(x + 0.0), y, x * 2.0)), LEFT, RIGHT)


def test_signs_at_special_values() -> None:
    require_each(lambda x, y: (np.sign(x), np.sign(y) * x), LEFT, RIGHT)


PROGRAMS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "not": lambda x, y: (np.logical_not(x > y), np.where(np.logical_not(x > y), x, y)),
    "kept and read": lambda x, y: (lambda c: (c, np.where(c, x, y), np.sum(np.where(c, 2.0, 0.5))))(x > y),
    "a little earlier": lambda x, y: (lambda c: (np.where(c[1:], x[:-1], y[1:]), np.where(c[:-1], x[1:], y[1:])))(
        x > y
    ),
    "kept, a little earlier": lambda x, y: (lambda c: (c, np.logical_and(c[1:], c[:-1])))(x > y),
    "far earlier": lambda x, y: (lambda c: (np.where(c[:-40], x[40:], y[40:]), np.where(c[40:], 1.0, 2.0)))(x > y),
    "turned round": lambda x, y: (lambda c: (np.where(c[::-1], x, y), np.where(c[::3], x[::3], 0.0)))(x > y),
    "a constant": lambda x, y: (np.where(MASK[: len(x)], x, y), np.where(MASK[: len(x)][::-1], x, -y)),
    "equal constants": lambda x, y: (np.where(np.ones(len(x), bool), x, y), np.where(np.zeros(len(x), bool), x, y)),
    "one truth": lambda x, y: (np.where(x[0] > y[0], x, y), np.where(x[0] > 2.0, x + y, y * 2.0)),
    "one number": lambda x, y: (np.where(x > 0, x[1], y[1]), np.where(x > 0, 1.0, 2.0), np.where(x > 0, x, y[0])),
    "of truths": lambda x, y: (np.where(x > 0, y > 0, x > y), np.where(x > 0, x > y, True)),
    "as numbers": lambda x, y: ((x > y) * 1.0, np.sum((x > y).astype(float)), (x > y).astype(float) - x),
    "counted": lambda x, y: (np.sum(x > y), np.sum(1.0 * (x > y)) * y),
    "put together": lambda x, y: (np.concatenate([1.0 * (x > y), x]), np.stack([np.where(x > y, x, y), y], axis=1)),
    "clipped": lambda x, y: (np.clip(x, -0.5, 0.5) + y, np.maximum(x, y) - np.minimum(x, 0.0), np.abs(x) + np.sign(y)),
    "columns": lambda x, y: (
        np.where(x[:, None] > y[:5], x[:, None], y[:5]),
        np.where((x > y)[:, None], y[:5], 0.0),
        np.where((x[:5] > y[:5]), 1.0, x[:, None]),
    ),
    "rows": lambda x, y: (lambda c: (c.T, np.where(c.T, 1.0, 2.0), np.where(c[:, 1:], 0.0, 1.0)))(x[:, None] > y[:3]),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [50, 512, 1100])
def test_programs(name: str, n: int) -> None:
    random = np.random.default_rng(n)
    require_each(PROGRAMS[name], random.uniform(-1.0, 1.0, n), random.uniform(-1.0, 1.0, n))


def test_numbers_alone() -> None:
    """Without axes there is no chain."""
    require_each(lambda x, y: (x > y, np.where(x > y, x, y), np.logical_not(x > y)), 0.5, 0.25)


Step = tuple[int, int, int, int]
steps = st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=12)


def selected(program: list[Step], x: Any) -> Any:
    """Values and booleans, made of one another, by operations that round alike everywhere."""
    values, truths = [x, 0.5 * x[::-1] + 0.1, x * (3.0 - x)], [x > 0.1]
    for op, i, j, k in program:
        a, b, c = values[-1 - i % len(values)], values[-1 - j % len(values)], truths[-1 - k % len(truths)]
        made: Any = (
            lambda a=a, b=b, c=c: np.where(c, a, b),
            lambda a=a, b=b, c=c: np.where(c, a * b, 0.0),
            lambda a=a, b=b: np.maximum(a, b),
            lambda a=a, b=b: np.minimum(a, 0.3) + b,
            lambda a=a, b=b: a < b,
            lambda a=a, c=c: np.logical_or(np.logical_not(c), a > 0),
            lambda a=a, c=c: np.logical_and(c, a >= -0.2),
            lambda a=a, b=b, c=c: a * c - b,
            lambda a=a, b=b: np.abs(a) * b + np.sign(b),
            lambda a=a, b=b, c=c: np.where(c[::-1], a, 1.0) + np.where(np.roll(c, 1), b, a[0]),
        )[op]()
        (truths if made.dtype == bool else values).append(made)
    return np.sum(values[-1] * x) + np.sum(np.where(truths[-1], values[-1], x))


@given(steps, st.sampled_from(LENGTHS))
@settings(max_examples=60)
def test_values_and_gradients(program: list[Step], n: int) -> None:
    random = np.random.default_rng(n)
    tapes = hoad.record(lambda x: selected(program, x), random.uniform(-1.0, 1.0, n))
    other = random.uniform(-1.0, 1.0, n)
    require_same(tapes, other)
    require_same(hoad.gradient(tapes), other)


@pytest.mark.parametrize("threads", [2, 5])
def test_the_number_of_threads_changes_no_bit(threads: int) -> None:
    def f(x: Any, y: Any) -> Any:
        c = x > y
        return c, np.where(c[1:], x[:-1], np.logical_and(c[:-1], y[1:] > 0) * y[1:]), np.where(c, x, 0.0)

    random = np.random.default_rng(0)
    x, y = random.uniform(size=(2, 400_000))
    program = hoad.record(f, x, y)
    for one, other in zip(program.evaluate(x, y, threads=threads), program.evaluate(x, y, threads=1), strict=True):
        assert one.tobytes() == other.tobytes()
    for one, other in zip(program.evaluate(x, y, threads=threads), f(x, y), strict=True):
        require_bits(one, other)


@pytest.mark.parametrize("one", [1.0, 2.0])
def test_masks_at_special_values(one: float) -> None:
    """Selections by what is not so, and strong products with 1 where it is so, are one operation."""

    def f(x: Any, y: Any) -> tuple[Any, ...]:
        c = x > y
        other = np.logical_not(c)
        return (
            strong_multiply(mask(c, one), y),
            strong_multiply(mask(other, one), y),
            strong_multiply(mask(other, 1.0), x) + strong_multiply(mask(c, 1.0), 0.5),
            mask(other, x),
            strong_multiply(select(c, 0.0, one), y),
            select(other, x, y),
            select(np.logical_not(x), x, y),
            mask(np.logical_not(y), x),
            strong_multiply(mask(c[::-1], 1.0), x),
            strong_multiply(mask(other[1:], 1.0), x[:-1]),
            select(other, 1.0, x)[3:],
        )

    require_each(f, LEFT, RIGHT)
