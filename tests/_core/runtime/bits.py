"""What tests of machine code share: programs of arithmetic, special values, and results as bits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -1e-310, 1e308, -1.7e308, 1.0, -3.0)
ARITHMETIC: tuple[Callable[[Any, Any], Any], ...] = (
    operator.add,
    operator.sub,
    operator.mul,
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: -a,
    lambda a, b: a**2 - b,
)


def bits(values: Any) -> list[int]:
    """Bit patterns, those of all nan as one: which operand's sign a nan takes is not said."""
    flat = np.concatenate([np.ravel(value) for value in values]).astype(np.float64)
    return np.where(np.isnan(flat), np.nan, flat).view(np.int64).tolist()


def computed(
    given: list[Any], operations: Sequence[Callable[[Any, Any], Any]], seed: int, size: int, reach: int
) -> Any:
    """Three values of a random program: `size` operations, each on two of the last `reach` values."""
    choices = np.random.default_rng(seed)
    kinds = choices.integers(0, len(operations), size)
    values = list(given)
    for kind, (left, right) in zip(kinds, choices.random((size, 2)), strict=True):
        recent = values[-reach:]
        values.append(operations[kind](recent[int(left * len(recent))], recent[int(right * len(recent))]))
    return values[-1], values[-size // 2], sum(values[-5:])


def executable_pages() -> int:
    """Parts of the memory of this process that hold machine code made here."""
    return sum(" r-xp 00000000 00:00 0" in line for line in Path("/proc/self/maps").read_text().splitlines())
