"""Sparse derivatives by few directions: what is not made of blocks, swept once for each color of a coloring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.record.recording import Recording
from hoad._ops import primitives as prim
from hoad._transform.maps import Map

# Directions that are swept on the tape, one by one; more are one node of a map.
MOST_UNROLLED = 8

Sweep = Callable[[int], int]


def compressed(recording: Recording, like: int, labels: Any, count: int, sweep: Sweep) -> list[int]:
    """For each direction, the unit vectors with its label, the operand that a sweep gives, flat."""
    units = None if count <= MOST_UNROLLED else Map(recording, like, labels, count, 1.0, lambda seed: [sweep(seed)])
    if units is None or units.is_of_numbers:
        order = np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(count + 1))
        return [sweep(recording.unit(like, order[bounds[k] : bounds[k + 1]])) for k in range(count)]
    (rows,) = units.rows()
    rows = recording.operand(rows)
    size = recording.aval(rows).size // count
    return [recording.emit(prim.GETITEM, ((size,), (1,), k * size), [rows]) for k in range(count)]
