"""Lanes: some inputs vary, and the whole program is run once for each of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference.interpreter import evaluate
from reference.listing import Listing, Operand


def evaluate_lanes(
    listing: Listing, values: Sequence[Any], varying: Sequence[bool], wanted: Sequence[Operand | None]
) -> list[Any]:
    """As `evaluate`, with an axis of lanes in front of the varying inputs and of every result."""
    lanes = {len(value) for value, varies in zip(values, varying, strict=True) if varies}
    (count,) = lanes
    runs = [
        evaluate(listing, [v[lane] if varies else v for v, varies in zip(values, varying, strict=True)], wanted)
        for lane in range(count)
    ]
    return [None if column[0] is None else np.stack(column) for column in zip(*runs, strict=True)]
