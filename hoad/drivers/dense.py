"""Dense matrices of derivatives, a lane for each seed direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hoad._core.operands import holds_traced
from hoad._core.recording import WATCHERS, Recording
from hoad._core.traced import FUNCTIONS
from hoad._core.ufuncs import compose
from hoad.transform.maps import Map

# Lanes run together: enough to pay for the dispatch of a step, few enough that its operands stay in cache.
MOST_LANES = 64
MOST_BYTES = 1 << 26

# Inside another derivative, a sweep for each unit vector where there are no more: it is as fast, and simplifies better.
MOST_UNROLLED = 8


def jacobian_blocks(recording: Recording, outputs: list[int], inputs: list[int], mode: str = "auto") -> list[list[Any]]:
    """``blocks[o][i]``: the derivative of output o by input i, of shape (output shape, input shape)."""
    entries_in = sum(_directions(recording, i) for i in inputs)
    entries_out = sum(_directions(recording, o) for o in outputs)
    forward = mode == "forward" or (mode == "auto" and entries_in <= entries_out)
    columns = _traced if recording.nested else _in_lanes
    if forward:
        by_input = [columns(recording, outputs, i, forward) for i in inputs]
        return [
            [_inputs_last(block[o], recording, i) for block, i in zip(by_input, inputs, strict=True)]
            for o in range(len(outputs))
        ]
    return [columns(recording, inputs, o, forward) for o in outputs]


def _directions(recording: Recording, operand: int) -> int:
    """How many real numbers make an operand."""
    aval = recording.aval(operand)
    return math.prod(aval.shape) * (2 if aval.is_complex else 1)


def _has_parts(recording: Recording, targets: list[int], seeded: int) -> list[bool]:
    """For each target, whether its derivatives take a second sweep, for the seed -1j: it is real, the seeded complex.

    Real and imaginary part of the block are then what the two seeds give, for adjoints and tangents belong to Re(g dz).
    """
    return [recording.aval(seeded).is_complex and not recording.aval(t).is_complex for t in targets]


def _inputs_last(block: Any, recording: Recording, i: int) -> Any:
    """(input shape, output shape) as (output shape, input shape)."""
    n = len(recording.aval(i).shape)
    order = tuple(range(n, np.ndim(block))) + tuple(range(n)) if n else ()
    return np.transpose(block, order) if order else block


def _swept(recording: Recording, targets: list[int], seeded: int, seed: int, forward: bool) -> list[int]:
    """Derivatives of `targets` for a seed at `seeded`: tangents of outputs, or adjoints of inputs."""
    if forward:
        found = recording.tangents(targets, [seeded], [seed])
    else:
        found = recording.adjoints([seeded], [seed], targets)
    return recording.or_zeros(found, targets)


def float_dtype(recording: Recording, operand: int) -> Any:
    """The dtype of derivatives of an operand: float64 where it is a truth value or an integer itself."""
    aval = recording.aval(operand)
    return aval.dtype if aval.inexact else np.float64


def _in_lanes(recording: Recording, targets: list[int], seeded: int, forward: bool) -> list[Any]:
    """One array per target, of shape (shape of what is seeded, target shape)."""
    # zeros of unit vectors stand for no dependence; a single entry has the seed 1 alone
    seed = recording.seed_input(seeded, strong=recording.aval(seeded).size > 1)
    aval = recording.aval(seed)
    swept = _swept(recording, targets, seeded, seed, forward)
    program = recording.lanes(swept, seed)
    blocks = _rows(recording, targets, program, swept, seed, 1.0)
    parts = _has_parts(recording, targets, seeded)
    if any(parts):
        turned = _rows(recording, targets, program, swept, seed, -1j)
        blocks = [compose(b, t) if both else b for b, t, both in zip(blocks, turned, parts, strict=True)]
    shapes = [recording.aval(t).shape for t in targets]
    return [_unboxed(block.reshape((*aval.shape, *shape))) for block, shape in zip(blocks, shapes, strict=True)]


def _rows(
    recording: Recording, targets: list[int], program: Any, swept: list[int], seed: int, unit: complex
) -> list[Any]:
    """What `program` gives for each unit vector, times `unit`, as its seed: for each target, a row for each seed."""
    aval = recording.aval(seed)
    watchers = WATCHERS.get()
    shapes = [recording.aval(t).shape for t in targets]
    blocks = [
        np.empty((aval.size, *shape), float_dtype(recording, t)) for shape, t in zip(shapes, targets, strict=True)
    ]
    chunk = max(1, min(MOST_LANES, MOST_BYTES // max(1, program.bytes_per_lane)))
    for start in range(0, aval.size, chunk):
        lanes = min(chunk, aval.size - start)
        units = np.eye(lanes, aval.size, start, dtype=aval.dtype).reshape((lanes, *aval.shape))
        units = units if unit == 1 else unit * units
        values = program.run([units], lanes)
        if watchers:
            watchers[-1].lanes(recording, swept, seed, units, values)
        for block, rows in zip(blocks, values, strict=True):
            block[start : start + lanes] = rows
    return blocks


def _unboxed(block: Any) -> Any:
    """A number of its own for an array without dimensions."""
    if block.ndim:
        return block
    return block.item() if block.dtype.name in ("float64", "complex128") else block[()]


def _traced(recording: Recording, targets: list[int], seeded: int, forward: bool) -> list[Any]:
    """As `_in_lanes`, as traced values of an outer derivative: one node for all units, or a sweep for each."""
    aval = recording.aval(seeded)
    parts = _has_parts(recording, targets, seeded)
    units = (1.0, -1j) if any(parts) else (1.0,)
    blocks = [_stacked(recording, targets, seeded, unit, forward) for unit in units]
    if any(parts):
        blocks[0] = [compose(x, y) if both else x for x, y, both in zip(*blocks, parts, strict=True)]
    shapes = [recording.aval(t).shape for t in targets]
    return [
        np.reshape(block, (*aval.shape, *shape)) if (*aval.shape, *shape) != np.shape(block) else block
        for block, shape in zip(blocks[0], shapes, strict=True)
    ]


def _stacked(recording: Recording, targets: list[int], seeded: int, unit: complex, forward: bool) -> list[Any]:
    """For each target an array with a row for each unit vector, times `unit`."""
    size = recording.aval(seeded).size
    if size > MOST_UNROLLED:
        units = Map(
            recording, lambda k: _swept(recording, targets, seeded, recording.unit_at(seeded, k, unit), forward)
        )
        if not units.is_of_numbers:
            return units.rows(size)
    rows = [
        recording.results(_swept(recording, targets, seeded, recording.unit(seeded, k, unit), forward))
        for k in range(size)
    ]
    if not rows:
        return [np.zeros((0, *recording.aval(t).shape)) for t in targets]
    return [
        (FUNCTIONS[np.stack](list(column)) if holds_traced(column) else np.stack(column)) if size > 1 else column[0]
        for column in zip(*rows, strict=True)
    ]
