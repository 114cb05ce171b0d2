"""From what coefficients are made of to a `Series`: rows of nodes, and a step for each."""

from collections.abc import Sequence

import numpy as np

from hoad._core.taylor.series import Series
from hoad._core.taylor.taylor_schedule import Ordering

DOUBLE: np.dtype[np.float64]
TRUTH: np.dtype[np.bool_]
MOVING: tuple[int, ...]
FURTHER: tuple[str, ...]

def build_series(ordering: Ordering, lanes: int, have_lanes: Sequence[bool], is_flow: bool, first: int) -> Series: ...

class Codegen:
    """The steps of nodes, in an order in which each finds what it needs."""
