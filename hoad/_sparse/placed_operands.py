"""Operations on operands of a recording that have a place in mind: items picked, arrays made flat and joined."""

from __future__ import annotations

import numpy as np

from hoad._core.record.recording import Recording
from hoad._ops import primitives as prim
from hoad._sparse.boxes import box_of
from hoad._sparse.relations import Indices


def flat(recording: Recording, operand: int) -> int:
    """An operand as a flat array; a number stays one."""
    aval = recording.aval(operand)
    return operand if aval.ndim < 2 else recording.emit(prim.RESHAPE, ((aval.size,),), [operand])


def picked(recording: Recording, operand: int, places: Indices) -> int:
    """The items of an operand at flat places, as a flat array: a view if they lie in a box."""
    size = recording.aval(operand).size
    box = box_of(places)
    if box is None:
        return recording.emit(prim.GATHER_ITEMS, None, [operand, recording.operand(places)])
    if box.shape == (size,) and box.strides == (1,):
        return shaped(recording, operand, (size,))
    return flat(recording, recording.emit(prim.GETITEM, (box.shape, box.strides, box.offset), [operand]))


def in_float64(recording: Recording, operand: int) -> int:
    """An operand in double precision, in which values of matrices are put together."""
    if recording.aval(operand).dtype == np.float64:
        return operand
    return recording.emit(prim.ASTYPE, (np.dtype(np.float64).str,), [operand])


def shaped(recording: Recording, operand: int, shape: tuple[int, ...]) -> int:
    """An operand of a shape, or a number for all of it."""
    own = recording.aval(operand).shape
    if own == shape:
        return operand
    return recording.emit(prim.RESHAPE if own else prim.BROADCAST_TO, (shape,), [operand])


def joined(recording: Recording, operands: list[int]) -> int:
    """The items of operands, flat, one after the other."""
    parts = [shaped(recording, x, (recording.aval(x).size,)) for x in operands]
    return parts[0] if len(parts) == 1 else recording.emit(prim.JOIN, (0,), parts)
