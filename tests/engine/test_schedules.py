"""What the engine computes is what the operations of the tape give one by one, however it runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine.loops import SHAPES, Step, steps
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import evaluate
from reference.listing import of_program

import hoad

# Around the lengths at which something changes: a run at all, a block, two blocks.
LENGTHS = (2, 7, 15, 16, 17, 40, 130, 511, 512, 513, 1100)
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


@pytest.mark.parametrize("shape", SHAPES)
@given(steps, st.sampled_from(LENGTHS))
@example(BAND, 1100)
@example(BAND, 512)
@settings(max_examples=25)
def test_values_and_gradients(shape: str, program: list[Step], n: int) -> None:
    x, other = points(n)
    tapes = hoad.record(lambda x: SHAPES[shape](program, x), x)
    require_same(tapes, other)
    require_same(hoad.gradient(tapes), other)


@pytest.mark.parametrize("shape", ["windowed", "arrays", "mixed"])
@given(steps, st.sampled_from((17, 130, 513)))
@settings(max_examples=10)
def test_second_sweeps(shape: str, program: list[Step], n: int) -> None:
    x, other = points(n)
    v = np.linspace(-1.0, 1.0, n)
    tapes = hoad.gradient(hoad.record(lambda x: SHAPES[shape](program, x), x))
    require_same(hoad.gradient(tapes, seed=v), other)
