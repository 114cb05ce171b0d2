"""Sums along an axis end chains, block by block: the order of a sum depends on the shape alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _core.runtime.test_bits import require_bits
from _core.runtime.test_schedules import require_same

import hoad

WIDE = ((3, 511), (512, 3), (5, 513), (1300, 2), (2, 1300))
SHAPES = ((40, 7), (7, 40), (1, 90), (90, 1), (6, 50, 11), (30, 1, 70), *WIDE)
AXES = (0, 1, -1, (0, 1), (-2, -1))


def values_of(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(sum(shape)).uniform(-1.0, 1.0, shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_sums_of_a_product(shape: tuple[int, ...], axis: Any) -> None:
    """To rounding, with what reads the sums and what reads the numbers; also the last axis of a view."""
    x = values_of(shape)

    def f(x: Any) -> Any:
        y = x * (x + 0.5)
        s = np.sum(y, axis=axis, keepdims=True)
        return s, y - s, np.sum(np.sin(0.01 * s) * y, axis=axis), np.sum(np.where(x > 0, y, 0.0), axis=axis)

    found, wanted = hoad.record(f, x).evaluate(x), f(x)
    for one, other in zip(found, wanted, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 8), (64, 128), (7, 300), (6, 50, 16)], ids=str)
def test_sums_across_rows_have_numpys_bits(shape: tuple[int, ...]) -> None:
    """Rows are added to one another as NumPy does."""
    x = values_of(shape)
    require_bits(hoad.record(lambda x: np.sum(x * 3.0, axis=-2), x).evaluate(x), np.sum(x * 3.0, axis=-2))


def test_short_rows_have_numpys_bits() -> None:
    """A row that lies in one block is added up as NumPy does."""
    x = values_of((64, 8))
    require_bits(hoad.record(lambda x: np.sum(x * 3.0, axis=1), x).evaluate(x), np.sum(x * 3.0, axis=1))


SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("value", SPECIAL)
def test_special_values(axis: int, value: float) -> None:
    for x in (np.full((3, 4), value), np.array([[value, -value], [1.0, value]]), np.full((1, 3), value)):
        with np.errstate(all="ignore"):
            program = hoad.record(lambda x: np.sum(x * 1.0, axis=axis), np.ones(x.shape))
            require_bits(program.evaluate(x), np.sum(x, axis=axis))


MODELS: dict[str, Callable[[Any], Any]] = {
    "cross entropy": lambda x: np.sum(np.log(np.sum(np.exp(x - np.max(x, axis=-1, keepdims=True)), axis=-1))),
    "columns": lambda x: np.sum(np.sqrt(1.0 + np.sum(x**2, axis=0))),
    "standardised": lambda x: np.sum(
        np.tanh((x - np.mean(x, axis=0)) / (0.1 + np.sum((x - np.mean(x, axis=0)) ** 2, axis=0)))
    ),
    "both ways": lambda x: np.sum(np.sin(np.sum(x * x, axis=-1))) * np.sum(np.cos(np.sum(x * 2.0, axis=0))),
    "booleans": lambda x: np.sum(np.sum(1.0 * (x > 0), axis=-1) * np.sum(np.where(x > 0, x, 0.0), axis=-1)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_models(name: str, shape: tuple[int, ...]) -> None:
    tapes = hoad.gradient(hoad.record(MODELS[name], values_of(shape)))
    require_same(tapes, 0.5 * values_of(shape) + 0.01)


AGAIN: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "after a sum": lambda y, s: (y * 2.0, (y * 2.0) * s),
    "kept too": lambda y, s: (lambda m: (m, m * s, m - s))(y + 0.5),
    "negated": lambda y, s: (lambda m: (m * s, s - m))(-y),
    "a little earlier": lambda y, s: (lambda m: (m[1:] * s + m[:-1], m[40:] * s))(y * 0.5),
    "of another": lambda y, s: (lambda m: (m * 3.0 - s, (m * 3.0) * s, m))(y - 1.0),
    "with a number": lambda y, s: (lambda m: (m * s, np.sum(m[:100] * s)))(y * y[3]),
    "two of them": lambda y, s: (lambda m, k: (m * s + k, m - k, (m * k) * s))(y + 1.0, y * 3.0),
    "twice": lambda y, s: (lambda m: (m * s, m * np.sum(np.abs(m[:64]))))(y * 2.0),
    "itself": lambda y, s: (lambda m: (m * m * s, m**2))(y - s),
}


@pytest.mark.parametrize("name", AGAIN)
@pytest.mark.parametrize("n", [100, 513, 1300])
def test_what_is_cheap_is_made_again(name: str, n: int) -> None:
    """In the chain that reads it, rather than kept until then."""
    x = values_of((n, 2))[:, 0].copy()

    def f(x: Any) -> tuple[Any, ...]:
        y = np.sqrt(np.abs(x))
        return AGAIN[name](y, np.max(y))

    for one, other in zip(hoad.record(f, x).evaluate(x), f(x), strict=True):
        require_bits(one, other)


@pytest.mark.parametrize("shape", [(100_000, 6), (3, 150_000), (4000, 130), (60, 30, 300), (700, 999)], ids=str)
def test_the_number_of_threads_changes_no_bit(shape: tuple[int, ...]) -> None:
    x = values_of(shape)
    program = hoad.record(lambda x: [np.sum(np.sin(x) * x, axis=a) for a in (0, 1, -1)] + [np.sum(x * x)], x)
    wanted = program.evaluate(x, threads=1)
    for threads in (2, 5):
        for one, other in zip(program.evaluate(x, threads=threads), wanted, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_sums_of_several_lengths_in_one_chain() -> None:
    """A part ends where all of their sums do, or one thread does it all."""

    def f(x: Any) -> list[Any]:
        y = np.sin(x)
        return [np.sum(np.reshape(y, (-1, k)), axis=1) for k in (3, 7, 49, 256, 1001)]

    x = values_of((3 * 49 * 256 * 11 * 13, 1))[:, 0].copy()
    program = hoad.record(f, x)
    for one, other, expected in zip(program.evaluate(x, threads=4), program.evaluate(x, threads=1), f(x), strict=True):
        assert one.tobytes() == other.tobytes()
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-11)
