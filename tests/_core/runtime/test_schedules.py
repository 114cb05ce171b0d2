"""What the engine computes is what the operations of the tape give one by one, however it runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _core.runtime.loops import SHAPES, Step, steps
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import evaluate, evaluate_lanes
from reference.listing import of_program

import hoad
from hoad._core.base import threads as core
from hoad._core.record.recording import lowered

# Around the lengths at which something changes: a run at all, a block, two blocks.
LENGTHS = (2, 7, 15, 16, 17, 40, 130, 511, 512, 513, 1100)
OFTEN = 600  # runs, after which arithmetic is machine code
BAND: list[Step] = [(0, 1, 2), (2, 0, 1), (9, 3, 5), (4, 1, 1)]


def points(n: int) -> tuple[Any, Any]:
    random = np.random.default_rng(n)
    return random.uniform(-1.0, 1.0, n), random.uniform(-1.0, 1.0, n)


def require_same(program: hoad.Program, x: Any) -> None:
    """At x, the engine gives what the reference does."""
    listing = of_program(program)
    wanted = evaluate(listing, [x], listing.outputs)[0]
    found = program.evaluate(x)
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-13 * np.size(x) ** 0.5 * scale)
    for _ in range(OFTEN if np.size(x) < 2000 else 4):
        again = program.evaluate(x)
    assert np.array_equal(again, found, equal_nan=True)


@pytest.mark.parametrize("shape", SHAPES)
@given(steps, st.sampled_from(LENGTHS))
@example(BAND, 1100)
@example(BAND, 512)
@settings(max_examples=10)
def test_values_and_gradients(shape: str, program: list[Step], n: int) -> None:
    x, other = points(n)
    tapes = hoad.record(lambda x: SHAPES[shape](program, x), x)
    require_same(tapes, other)
    require_same(hoad.gradient(tapes), other)


def test_a_second_derivative_on_the_same_function() -> None:
    """It grows on a copy, which has constants that the function's own graph has not."""
    x, other = points(17)
    tapes = hoad.record(lambda x: np.sum(np.sin(x * x)), x)
    for seed in (2.5, 0.3, -7.0):
        require_same(hoad.gradient(tapes, seed=seed), other)


@pytest.mark.parametrize("shape", ["windowed", "arrays", "mixed"])
@given(steps, st.sampled_from((17, 130, 513)))
@settings(max_examples=10)
def test_second_sweeps(shape: str, program: list[Step], n: int) -> None:
    x, other = points(n)
    v = np.linspace(-1.0, 1.0, n)
    tapes = hoad.gradient(hoad.record(lambda x: SHAPES[shape](program, x), x))
    require_same(hoad.gradient(tapes, seed=v), other)


@given(steps, st.sampled_from((33 * 512 + 1, 64 * 512, 40_003)), st.sampled_from((2, 3, 7)))
@example(BAND, 64 * 512, 3)
@example([(0, 3, 0), (7, 1, 0), (0, 0, 0)], 64 * 512, 2)
@example([(3, 3, 0), (8, 0, 1), (5, 5, 1)], 33 * 512 + 1, 2)
@settings(max_examples=20)
def test_threads(program: list[Step], n: int, threads: int) -> None:
    """Long enough to be shared: what the reference gives, and the bits of one thread."""
    x, other = points(n)
    tapes = hoad.gradient(hoad.record(lambda x: SHAPES["arrays"](program, x), x))
    core.assume_cores(8)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOAD_THREADS", "8")
            shared = tapes.evaluate(other, threads=threads)
            assert shared.tobytes() == tapes.evaluate(other, threads=1).tobytes()
    finally:
        core.assume_cores(0)
    require_same(tapes, other)


@pytest.mark.parametrize("shape", SHAPES)
@given(steps, st.sampled_from((2, 7, 17)), st.sampled_from((1, 2, 7, 8, 9, 64, 127, 130)))
@settings(max_examples=10)
def test_lanes(shape: str, program: list[Step], n: int, lanes: int) -> None:
    """Any number of lanes at once, for values and gradients."""
    tapes = hoad.record(lambda x: SHAPES[shape](program, x), np.linspace(-1.0, 1.0, n))
    rows = np.random.default_rng(n).uniform(-1.0, 1.0, (lanes, n))
    for run in tapes, hoad.gradient(tapes):
        listing = of_program(run)
        (wanted,) = evaluate_lanes(listing, [rows], [True], listing.outputs)
        tape = run[-1]
        (found,) = lowered(tape._graph, list(tape._outputs), run._input_nodes(), 0, [True]).run([rows], lanes)
        scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-13 * n**0.5 * scale)
