"""Dense matrices of derivatives, a lane for each seed direction."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hoad._core.graph.inspect import node_row
from hoad._core.kernels.ufuncs import compose
from hoad._core.record.recording import Recording
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import WATCHERS, reset_in_context, set_in_context
from hoad._core.trace.traced import FUNCTIONS
from hoad._ops.primitives import TRANSPOSE
from hoad._pytree.arguments import check_function
from hoad._transform.jacobian_pattern import Pattern, pattern_of
from hoad._transform.maps import Map
from hoad.errors import ArgumentError

# Lanes run together: enough to pay for the dispatch of a step, few enough that its operands stay in cache.
MOST_LANES = 64
MOST_BYTES = 1 << 26

# Inside another derivative, a sweep for each unit vector where there are no more: it is as fast, and simplifies better.
MOST_UNROLLED = 8

# From how many entries on a pattern is looked for: below, it takes longer than it saves.
LEAST_COLUMNS = 128

Method = Literal["lanes", "map", "sweeps"]


@dataclass(frozen=True)
class DensePlan:
    """How one block of a Jacobian or a Hessian was computed: that of one input (forward) or of one output (reverse).

    Attributes
    ----------
    mode : {"forward", "reverse"}
        By tangents or by adjoints. A Hessian is computed by tangents of the gradient.
    entries : int
        n, the entries of the input (forward) or of the output (reverse).
    directions : int
        The number of directions swept: n, or fewer if entries that never occur in one row share a direction.
    method : {"lanes", "map", "sweeps"}
        Lanes of one sweep; inside another derivative, one node of a map, or a sweep on the tape for each direction.
    chunk : int
        The number of directions swept together.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.dense_plan(hoad.jacobian(np.sin), np.ones(4))
    (DensePlan(mode='forward', entries=4, directions=4, method='lanes', chunk=4),)
    """

    mode: Literal["forward", "reverse"]
    entries: int
    directions: int
    method: Method
    chunk: int


# Where the plans of what is being computed go, if somebody asked.
_PLANS: ContextVar[list[DensePlan] | None] = ContextVar("hoad_dense_plans", default=None)


def dense_plan(derivative: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[DensePlan, ...]:
    """How the dense Jacobians and Hessians in ``derivative(*args, **kwargs)`` are computed.

    Parameters
    ----------
    derivative : callable
        A function returned by `jacobian` or `hessian`, or any function that calls one.
    *args, **kwargs
        Its arguments. The plan depends on their shapes, and on the operations that are recorded there.

    Returns
    -------
    tuple of DensePlan
        One for each block, in order: a block for each input (forward) or for each output (reverse).

    Raises
    ------
    ArgumentError
        If `derivative` cannot be called.

    Notes
    -----
    Cost: that of the call, which is executed.

    Examples
    --------
    A banded matrix needs as many directions as the band is wide:

    >>> import numpy as np
    >>> import hoad
    >>> def rosenbrock(x):
    ...     return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> hoad.dense_plan(hoad.hessian(rosenbrock), np.ones(1000))
    (DensePlan(mode='forward', entries=1000, directions=3, method='lanes', chunk=3),)
    """
    check_function("dense_plan", derivative)
    plans: list[DensePlan] = []
    before = set_in_context(_PLANS, plans)
    try:
        derivative(*args, **kwargs)
    finally:
        reset_in_context(_PLANS, before)
    return tuple(plans)


def _tell(forward: bool, entries: int, directions: int, method: Method, chunk: int) -> None:
    plans = _PLANS.get()
    if plans is not None:
        plans.append(DensePlan("forward" if forward else "reverse", entries, directions, method, chunk))


def check_chunk(driver: str, chunk: Any) -> None:
    """Raise unless `chunk` is a number of lanes."""
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, (int, np.integer)) or chunk < 1):
        raise ArgumentError(f"{driver} takes chunk as a number of lanes, 1 or more, not {chunk!r}.")


def jacobian_blocks(
    recording: Recording, outputs: list[int], inputs: list[int], mode: str = "auto", chunk: int | None = None
) -> list[list[Any]]:
    """``blocks[o][i]``: the derivative of output o by input i, of shape (output shape, input shape).

    At most `chunk` lanes are run together, where they are lanes.
    """
    entries_in = sum(_directions(recording, i) for i in inputs)
    entries_out = sum(_directions(recording, o) for o in outputs)
    forward = mode == "forward" or (mode == "auto" and entries_in <= entries_out)
    columns = _traced if recording.nested else functools.partial(_in_lanes, chunk=chunk)
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
    if not order:
        return block
    back = _turned_back(recording, block, order)
    return np.transpose(block, order) if back is None else back


def _turned_back(recording: Recording, block: Any, order: tuple[int, ...]) -> Any:
    """What a traced block is the transpose of, if transposing it once more in that order gives that; else None."""
    if not holds_traced((block,)):
        return None
    primitive, operands, params, *_ = node_row(recording.graph, recording.operand(block))
    if primitive is not TRANSPOSE or [params[0][k] for k in order] != list(range(len(order))):
        return None
    return recording.results(list(operands))[0]


def _swept(recording: Recording, targets: list[int], seeded: int, seed: int, forward: bool) -> list[int]:
    """Derivatives of `targets` for a seed at `seeded`: tangents of outputs, or adjoints of inputs."""
    if forward:
        found = recording.tangents(targets, [seeded], [seed])
    else:
        found = recording.adjoints([seeded], [seed], targets)
    return recording.or_zeros(found, targets)


def float_dtype(recording: Recording, operand: int) -> Any:
    """The dtype of derivatives of an operand: float64 where it is a boolean or an integer itself."""
    aval = recording.aval(operand)
    return aval.dtype if aval.inexact else np.float64


def _pattern(found: Pattern | None) -> Pattern | None:
    """A pattern, if it saves half of the directions."""
    return found if found is not None and 2 * found.directions <= found.columns else None


def _in_lanes(
    recording: Recording, targets: list[int], seeded: int, forward: bool, chunk: int | None = None
) -> list[Any]:
    """One array per target, of shape (shape of what is seeded, target shape)."""
    # zeros of unit vectors stand for no dependence; a single entry has the seed 1 alone
    seed = recording.seed_input(seeded, strong=recording.aval(seeded).size > 1)
    aval = recording.aval(seed)
    swept = _swept(recording, targets, seeded, seed, forward)
    program = recording.lanes(swept, seed)
    pattern = None
    if aval.size >= LEAST_COLUMNS and not WATCHERS.get():  # who watches is told of one entry at a time
        pattern = _pattern(pattern_of(recording.graph, seed, swept))
    directions = aval.size if pattern is None else pattern.directions
    together = min(MOST_LANES, MOST_BYTES // max(1, program.bytes_per_lane)) if chunk is None else chunk
    together = max(1, min(together, directions))
    _tell(forward, aval.size, directions, "lanes", together)
    blocks = _rows(recording, targets, program, swept, seed, directions, together, 1.0)
    parts = _has_parts(recording, targets, seeded)
    if any(parts):
        turned = _rows(recording, targets, program, swept, seed, directions, together, -1j)
        blocks = [compose(b, t) if both else b for b, t, both in zip(blocks, turned, parts, strict=True)]
    if pattern is not None:
        blocks = [pattern.spread(block.reshape(directions, -1), k) for k, block in enumerate(blocks)]
    shapes = [recording.aval(t).shape for t in targets]
    return [_unboxed(block.reshape((*aval.shape, *shape))) for block, shape in zip(blocks, shapes, strict=True)]


def _rows(
    recording: Recording,
    targets: list[int],
    program: Any,
    swept: list[int],
    seed: int,
    directions: int,
    chunk: int,
    unit: complex,
) -> list[Any]:
    """What `program` gives for each direction, times `unit`, as its seed: for each target, a row for each direction.

    Direction k is 1 at the entries k, k + directions, ...; so it is a unit vector where there are as many as entries.
    """
    aval = recording.aval(seed)
    watchers = WATCHERS.get()
    shapes = [recording.aval(t).shape for t in targets]
    blocks = [
        np.empty((directions, *shape), float_dtype(recording, t)) for shape, t in zip(shapes, targets, strict=True)
    ]
    of_entry = np.arange(aval.size) % directions if directions else np.arange(0)
    for start in range(0, directions, chunk):
        lanes = min(chunk, directions - start)
        units = (of_entry == np.arange(start, start + lanes)[:, None]).astype(aval.dtype)
        units = units.reshape((lanes, *aval.shape))
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
    size = directions = recording.aval(seeded).size
    units, pattern = None, None

    def sweep(seed: int) -> list[int]:
        return _swept(recording, targets, seeded, seed, forward)

    if size > MOST_UNROLLED:
        units = Map(recording, seeded, np.arange(size), size, unit, sweep)
        pattern = _pattern(units.pattern())
        if pattern is not None:
            directions = pattern.directions
            units = Map(recording, seeded, np.arange(size) % directions, directions, unit, sweep)
    if units is None or units.is_of_numbers or directions <= MOST_UNROLLED:
        _tell(forward, size, directions, "sweeps", 1)
        blocks = _unrolled(recording, targets, seeded, unit, directions, sweep)
    else:
        _tell(forward, size, directions, "map", directions)
        blocks = units.rows()
    if pattern is None:
        return blocks
    return [pattern.spread_traced(np.reshape(block, (directions, -1)), k) for k, block in enumerate(blocks)]


def _unrolled(
    recording: Recording,
    targets: list[int],
    seeded: int,
    unit: complex,
    directions: int,
    sweep: Callable[[int], list[int]],
) -> list[Any]:
    """For each target an array with a row for each direction, of a sweep of its own."""
    size = recording.aval(seeded).size
    rows = [
        recording.results(sweep(recording.unit(seeded, np.arange(k, size, directions), unit)))
        for k in range(directions)
    ]
    if not rows:
        return [np.zeros((0, *recording.aval(t).shape)) for t in targets]
    return [
        (FUNCTIONS[np.stack](list(column)) if holds_traced(column) else np.stack(column))
        if len(rows) > 1
        else column[0]
        for column in zip(*rows, strict=True)
    ]
