"""A test problem with its published optimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Problem(NamedTuple):
    """Least f where `equal` is 0 and `positive` is not negative; all are functions of the unknowns one by one."""

    number: int
    start: tuple[float, ...]
    f: Callable[..., Any]
    optimum: float
    equal: Callable[..., Any] | None = None
    positive: Callable[..., Any] | None = None
    low: Any = -np.inf
    high: Any = np.inf

    @property
    def bounds(self) -> list[tuple[float, float]]:
        n = len(self.start)
        return list(zip(*(np.broadcast_to(np.asarray(end, float), (n,)) for end in (self.low, self.high)), strict=True))
