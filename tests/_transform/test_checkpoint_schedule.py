"""Binomial schedules: they reverse every step, within their slots, and take as few steps as can be."""

from __future__ import annotations

import functools
import math

import pytest

import hoad
from hoad._transform.checkpoint_schedule import checkpoint_schedule, reach, recomputed_steps


@functools.cache
def fewest(steps: int, slots: int) -> int:
    """The fewest steps forward, by trying every place for the second state that is kept."""
    if steps == 1:
        return 0
    if slots == 1:
        return steps * (steps - 1) // 2
    return min(k + fewest(steps - k, slots - 1) + fewest(k, slots) for k in range(1, steps))


@pytest.mark.parametrize("slots", range(1, 10))
def test_schedules_are_valid_and_optimal(slots: int) -> None:
    for steps in range(1, 50):
        state: int | None = 0
        kept: dict[int, int] = {}
        taken = [0] * steps
        reversed_steps = []
        for kind, step, end, slot in checkpoint_schedule(steps, slots):
            if kind == "restore":
                state = kept[slot]
            assert state == step
            if kind == "store":
                kept[slot] = step
            elif kind == "advance":
                for k in range(step, end):
                    taken[k] += 1
                state = end
            elif kind == "reverse":
                reversed_steps.append(step)
                state = None  # only what is kept can be used
        assert reversed_steps == list(range(steps))[::-1]
        assert set(kept) <= set(range(slots))
        assert sum(taken) == fewest(steps, slots) == recomputed_steps(steps, slots)
        r = next(r for r in range(steps + 1) if math.comb(slots + r, slots) >= steps)
        assert max(taken) <= r


def test_known_numbers() -> None:
    """β(s, r) steps are reversed with each of them taken r times: Griewank 1992."""
    assert reach(3, 3) == 20 and reach(10, 3) == 286 and reach(2, -1) == 0
    assert recomputed_steps(reach(10, 3), 10) == 3 * 286 - math.comb(13, 11)
    assert recomputed_steps(1, 1) == 0 and recomputed_steps(5, 5) == 4 and recomputed_steps(5, 100) == 4
    assert recomputed_steps(10**6, 100) == 4 * 10**6 - math.comb(104, 101)


def test_long_schedules_are_lazy() -> None:
    actions = checkpoint_schedule(10**6, 1000)
    assert next(actions) == ("store", 0, 0, 0)
    assert next(actions).kind == "advance"


@pytest.mark.parametrize(("steps", "slots"), [(0, 1), (1, 0), (1.5, 2), (True, 1), (3, "2")])
def test_numbers_that_are_none(steps: object, slots: object) -> None:
    with pytest.raises(hoad.ArgumentError, match="positive int"):
        checkpoint_schedule(steps, slots)
    with pytest.raises(hoad.ArgumentError, match="positive int"):
        recomputed_steps(steps, slots)
