"""The linear sweeps whose matrices are sparse derivatives, and their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from hoad._core.record.recording import SYMBOLIC_ZERO, Recording
from hoad._core.trace.context import reset_in_context, set_in_context
from hoad._program.trace import call_traced, output_operand
from hoad._pytree.containers import kind_of
from hoad._sparse.colored_sweeps import compressed
from hoad._sparse.coloring import color
from hoad._sparse.pattern_of_sweep import is_of_numbers, pattern_of
from hoad._sparse.placed_operands import in_float64, joined, picked
from hoad._sparse.relations import Indices
from hoad._sparse.sparse_structure import FlatBlock, Structure
from hoad._sparse.weighted_blocks import NotInBlocksError, WeightedBlocks, moves_of
from hoad._transform.composite import UNFOLDED
from hoad.errors import ArgumentError, DTypeError, ShapeError

Triangle = Literal["lower", "upper", None]


class Values(NamedTuple):
    """A sparse matrix."""

    structure: Structure
    operand: int
    n_colors: int  # directions that are swept for it


class Side(NamedTuple):
    """A matrix times a seed."""

    like: int  # the operand that the seed is like
    gives: int  # the operand that the product is like
    sweep: Callable[[int], int]


class LinearSweep(NamedTuple):
    """What is linear in a symbolic seed: a matrix, from the items of the seed to those of an output."""

    recording: Recording
    seed: int
    output: int | None  # None: the matrix is zero
    shape: tuple[int, int]
    is_symmetric: bool
    sides: tuple[Side, ...]  # the same matrix times columns, and, unless it is symmetric, its transpose times rows
    last: Indices | None = None  # of each row the last column whose entry is asked for; None: all


Sweep = Callable[[Recording, Callable[..., Any], tuple[Any, ...], dict[str, Any], str], LinearSweep]


def sweep_of_jacobian(
    recording: Recording, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], driver: str
) -> LinearSweep:
    """Tangents of f, a function of an array."""
    y = _recorded(recording, f, args, kwargs, driver)
    (x,) = recording.inputs
    seed = recording.seed_input(x, strong=recording.aval(x).size > 1)
    shape = recording.aval(y).size, recording.aval(x).size

    def tangents(seed: int) -> int:
        return recording.tangents([y], [x], [seed])[0]

    def adjoints(seed: int) -> int:
        return recording.adjoints([y], [seed], [x])[0]

    output = tangents(seed)
    sides = Side(x, y, tangents), Side(y, x, adjoints)
    return LinearSweep(recording, seed, None if output == SYMBOLIC_ZERO else output, shape, False, sides)


def sweep_of_hessian(
    recording: Recording, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], driver: str
) -> LinearSweep:
    """Tangents of the gradient of f, a scalar function of an array."""
    gradient = recorded_gradient(recording, f, args, kwargs, driver)
    (x,) = recording.inputs
    size = recording.aval(x).size
    seed = recording.seed_input(x, strong=size > 1)

    def tangents(seed: int) -> int:
        return SYMBOLIC_ZERO if gradient == SYMBOLIC_ZERO else recording.tangents([gradient], [x], [seed])[0]

    output = tangents(seed)
    side = Side(x, gradient, tangents)
    return LinearSweep(recording, seed, None if output == SYMBOLIC_ZERO else output, (size, size), True, (side,))


def recorded_gradient(
    recording: Recording, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], driver: str
) -> int:
    """The gradient of f, a scalar function of an array; SYMBOLIC_ZERO if it does not depend on it."""
    y = _recorded(recording, f, args, kwargs, driver)
    aval = recording.aval(y)
    if aval.shape:
        raise ShapeError(
            f"{driver} needs a scalar function, but f(x) has shape {aval.shape}. Return a number, such as "
            "np.sum(f(x)), or take sparse_jacobian(f)."
        )
    return recording.adjoints([y], [recording.operand(aval.dtype.type(1.0))], recording.inputs)[0]


def _recorded(
    recording: Recording, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], driver: str
) -> int:
    """What f gives, a real number or array, with its first argument traced, a real array."""
    if not args:
        raise ArgumentError(
            f"{driver} differentiates with respect to the first argument of f, by position, but got none."
        )
    if kind_of(type(args[0])) is not None:
        raise ArgumentError(
            f"{driver} takes an array as the first argument of f, not a container, but got a {type(args[0]).__name__}. "
            "Make an array of a list by np.array, of other containers by hoad.ravel."
        )
    token = set_in_context(UNFOLDED, True)
    try:
        returned, _ = call_traced(recording, f, (in_double(args[0]), *args[1:]), (0,), driver, kwargs)
    finally:
        reset_in_context(UNFOLDED, token)
    y = output_operand(recording, returned, driver)
    for name, operand in (("x", recording.inputs[0]), ("f(x)", y)):
        if recording.aval(operand).is_complex:
            raise DTypeError(
                f"{driver} takes real functions of real arrays, but {name} is {recording.aval(operand).dtype}. "
                "Differentiate with respect to real and imaginary parts."
            )
    return y


def in_double(x: Any) -> Any:
    """x, an array of float32 in double precision: what is known of constants there leaves fewer entries."""
    return x.astype(np.float64) if getattr(x, "dtype", None) == np.float32 else x


def values_of_sweep(sweep: LinearSweep, by_columns: bool, triangle: Triangle, known: Structure | None) -> Values:
    """The structure of the matrix of a sweep and the operand of its values: in the known structure, if that has all."""
    found, n_colors = ([], 0) if sweep.output is None else _blocks_of(sweep, sweep.output, triangle, by_columns)
    structure = Structure.of(sweep.shape, by_columns, found)
    if known is not None:
        check_shape(structure.shape, known.shape)
        structure = known if known.has(structure) else structure
    return Values(structure, structure.values_of(sweep.recording, found), n_colors)


def check_shape(shape: tuple[int, ...], planned: tuple[int, ...]) -> None:
    """Raise if derivatives do not have the shape that they have in a plan."""
    if shape != planned:
        raise ShapeError(
            f"This plan is for derivatives of the shape {planned}, but here they have the shape {shape}. Make another, "
            "or take hoad.jit of the derivative, which keeps a plan for each shape."
        )


def _blocks_of(sweep: LinearSweep, output: int, triangle: Triangle, by_columns: bool) -> tuple[list[FlatBlock], int]:
    """The matrix as blocks, and how many directions were swept for them."""
    if is_of_numbers(sweep.recording, sweep.seed, output):
        entries = sweep.recording.entries_of_numbers(sweep.seed, output, partial(moves_of, sweep.recording))
        if entries is None:
            return _in_lanes(sweep, output, triangle, by_columns)
        return _of_numbers(sweep, entries, triangle, by_columns), 0
    try:
        return _in_blocks(sweep, output, triangle), 0
    except NotInBlocksError:
        return _in_lanes(sweep, output, triangle, by_columns)


def _of_numbers(sweep: LinearSweep, entries: Any, triangle: Triangle, by_columns: bool) -> list[FlatBlock]:
    """The matrix as one block of entries each of which is a number on the tape, in order."""
    found = _asked_for(sweep, triangle, [FlatBlock(*entries)], _cut)
    return [
        FlatBlock(rows, columns, sweep.recording.assembly_of_numbers(weights))
        for rows, columns, weights in _in_order(found, by_columns)
    ]


def _in_blocks(sweep: LinearSweep, output: int, triangle: Triangle) -> list[FlatBlock]:
    """The matrix as blocks."""
    blocks = WeightedBlocks(sweep.recording, sweep.seed, output)
    return _asked_for(sweep, triangle, blocks.flat(), blocks.cut, blocks.summed)


def _asked_for(
    sweep: LinearSweep, triangle: Triangle, found: list[FlatBlock], cut: Any, summed: Any = None
) -> list[FlatBlock]:
    """The blocks as far as they are asked for. Of a symmetric matrix what is above the diagonal is a copy.

    ``cut(block, keep)`` gives some entries of a block, ``summed(block)`` each entry once.
    """
    if sweep.last is not None:
        return _some([cut(block, block.columns <= sweep.last[block.rows]) for block in found])
    if not sweep.is_symmetric:
        return found
    lower = _some([cut(block, block.columns <= block.rows) for block in found])
    if triangle == "lower":
        return lower
    if triangle == "upper":
        return [_transposed(block) for block in lower]
    if summed is not None:  # so that an entry and its mirror image are the same to the bit
        lower = [summed(block) for block in lower]
    beside = _some([cut(block, block.columns < block.rows) for block in lower])
    return lower + [_transposed(block) for block in beside]


def _in_lanes(sweep: LinearSweep, output: int, triangle: Triangle, by_columns: bool) -> tuple[list[FlatBlock], int]:
    """The matrix as one block, of what the directions of a coloring give, and how many these are."""
    recording = sweep.recording
    pattern = pattern_of(recording, sweep.seed, output)
    indices, indptr = pattern.compressed
    coloring = color((indptr, indices, sweep.shape), "star" if sweep.is_symmetric else "auto")
    colors = [(coloring.column_colors, coloring.n_column_colors), (coloring.row_colors, coloring.n_row_colors)]
    found: list[int] = []
    for side, (labels, count) in zip(sweep.sides, colors, strict=False):
        if count:
            products = compressed(recording, side.like, labels, count, side.sweep)
            found += recording.or_zeros(products, [side.gives] * count)
    asked = _asked_for(sweep, triangle, [FlatBlock(pattern.rows, pattern.columns, coloring.slots)], _cut)
    blocks = [
        FlatBlock(rows, columns, picked(recording, joined(recording, [in_float64(recording, x) for x in found]), slots))
        for rows, columns, slots in _in_order(asked, by_columns)
    ]
    return blocks, sum(count for _, count in colors)


def _in_order(blocks: list[FlatBlock], by_columns: bool) -> list[FlatBlock]:
    """The entries of blocks that have an array of weights in one block, in the order of a structure; none if none."""
    if not sum(len(block.rows) for block in blocks):
        return []
    rows, columns, weights = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    order = np.lexsort((rows, columns) if by_columns else (columns, rows))
    return [FlatBlock(rows[order], columns[order], weights[order])]


def _cut(block: FlatBlock, keep: Any) -> FlatBlock:
    """Some entries of a block whose weights are an array of operands, or of places."""
    return FlatBlock(block.rows[keep], block.columns[keep], block.weight[keep])


def _some(blocks: list[FlatBlock]) -> list[FlatBlock]:
    return [block for block in blocks if len(block.rows)]


def _transposed(block: FlatBlock) -> FlatBlock:
    return FlatBlock(block.columns, block.rows, block.weight)
