"""Places in an array that lie in a box: at equal distances along each of a few axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hoad._sparse.relations import Indices

MOST_AXES = 4
# A row shorter than this costs more to begin with than to gather.
SHORTEST_ROW = 4


class Box(NamedTuple):
    """Flat places ``offset + sum(index * strides)``, in C order of the indices into `shape`."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def box_of(places: Indices) -> Box | None:
    """The box that some places are, in this order; None if they are none.

    Cost: a pass over the places.
    """
    shape: list[int] = []
    strides: list[int] = []
    while len(shape) < MOST_AXES:
        if len(places) < 2:
            return None if not len(places) else _box(places, shape or [1], strides or [1])
        step = int(places[1] - places[0])
        breaks = np.flatnonzero(np.diff(places) != step)
        length = len(places) if not len(breaks) else int(breaks[0]) + 1
        if len(breaks) and not _is_of_rows(places, breaks, length):
            return None
        shape.append(length)
        strides.append(step)
        places = places[::length]
        if len(places) == 1:
            return _box(places, shape, strides)
    return None


def _is_of_rows(places: Indices, breaks: Any, length: int) -> bool:
    """Whether the steps break after every `length` places, or where the step from row to row is the same by chance."""
    if length < SHORTEST_ROW or len(places) % length:
        return False
    return bool(np.all((breaks + 1) % length == 0))


def _box(first: Indices, shape: list[int], strides: list[int]) -> Box:
    return Box(int(first[0]), tuple(shape[::-1]), tuple(strides[::-1]))
