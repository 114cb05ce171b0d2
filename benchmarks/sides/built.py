"""A derivative that a side has built, ready to be called and timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

Arguments = tuple[np.ndarray, ...]
CACHE = 32 * 1024


def in_a_row(arguments: Arguments) -> int:
    """How many calls are timed in a row: few enough that their arguments stay in the cache, up to 16."""
    return max(1, min(16, CACHE // sum(argument.nbytes for argument in arguments)))


@dataclass
class Built:
    """`prepare` binds the arguments of a single call, outside the clock; `result` makes an array of what it returns.

    `aside` are seconds of building that do not count: a C compiler's, for what a user would have compiled beforehand.
    """

    prepare: Callable[[Arguments], Callable[[], Any]]
    result: Callable[[Any], Any] = np.asarray
    aside: float = 0.0

    def at(self, arguments: Arguments) -> np.ndarray:
        """The derivative there."""
        return np.array(self.result(self.prepare(arguments)()), dtype=float)

    def seconds(self, points: Sequence[Arguments]) -> float:
        """Time a call at each of the points."""
        calls = [self.prepare(arguments) for arguments in points]
        start = perf_counter()
        for call in calls:
            call()
        return perf_counter() - start
