"""The entries of the matrix of a linear sweep, as operands of the recording that the sweep was emitted into.

The nodes of a sweep move items, scale them and add them up. Here views and sums move the rows of blocks, and products
scale their weights, whole arrays at a time: the derivative of an array operation is as many array operations as the
matrix has diagonals, whatever its size, and no direction is swept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.inspect import const_value
from hoad._core.graph.primitive import CONCATENATE, STRIDED, UFUNC, Primitive, ufunc_primitive
from hoad._core.record.recording import Recording
from hoad._ops import primitives as prim
from hoad._sparse.entry_blocks import Block, Blocks, Node, known_values, node_of
from hoad._sparse.placed_operands import flat, in_float64, picked
from hoad._sparse.relations import Following, Indices, OfMatrix, Relation, relation_of
from hoad._sparse.sparse_structure import FlatBlock, Structure

# Entries of a node, for each item of the seed, which some items more do not change; more are left to lanes.
MOST_ENTRIES = 64
FEW_ENTRIES = 1 << 12

MOVES = {prim.IDENTITY, prim.ASSEMBLE, prim.SUM, prim.ITEM, prim.CUMSUM}
INDICES = {prim.GATHER_ITEMS: 1, prim.PUT_ITEMS: 2}  # the operand that says where items go
PLAIN = {prim.STRONG_MULTIPLY: prim.MULTIPLY, prim.STRONG_DIVIDE: prim.DIVIDE}  # which zeros are strong, nodes tell
SCALES = {prim.MULTIPLY, prim.STRONG_MULTIPLY_BOTH, prim.DIVIDE, prim.MASK, *PLAIN}
NOT: Any = ufunc_primitive(np.logical_not)


class NotInBlocksError(Exception):
    """A linear sweep that is not made of moves, products with arrays and sums."""


class WeightedBlocks(Blocks):
    """The blocks of the nodes of a sweep behind a seed, with their weights."""

    def cut(self, block: FlatBlock, keep: NDArray[np.bool_]) -> FlatBlock:
        """Some entries of a block."""
        if keep.all():
            return block
        at = np.flatnonzero(keep)
        return FlatBlock(block.rows[at], block.columns[at], self._of_entries(block.weight, at))

    def summed(self, block: FlatBlock) -> FlatBlock:
        """A block of the output with each entry once; those that come several times are added up."""
        structure = Structure.of((self.recording.aval(self.output).size, self.columns), False, [block])
        if structure.nnz == len(block.rows):
            return block
        return FlatBlock(structure.rows, structure.columns, structure.values_of(self.recording, [block]))

    def _of_node(self, node: Node, given: list[int]) -> list[Block]:
        if not _is_known(node, given):
            raise NotInBlocksError(node.primitive.name)
        return super()._of_node(node, given)

    def _check(self, node: Node, count: int) -> None:
        if count > MOST_ENTRIES * (self.columns + FEW_ENTRIES):
            raise NotInBlocksError(node.primitive.name)

    def _one(self) -> int:
        return self.recording.operand(1.0)

    def _through(self, node: Node, k: int, block: Block, relation: Relation) -> Block:
        if isinstance(relation, Following) and relation.size > FEW_ENTRIES:
            raise NotInBlocksError(node.primitive.name)
        if node.primitive is prim.MATMUL:
            return self._product(node, k, block, relation)
        moved = self._moved(node, block, relation)
        if isinstance(relation, OfMatrix):
            if relation.values is None:
                raise NotInBlocksError(node.primitive.name)
            return replace(moved, weight=self._emit(prim.MULTIPLY, moved.weight, self._constants(relation.values)))
        if node.primitive is prim.ADD or _moves(node):
            return moved
        if node.primitive is prim.SUBTRACT:
            return replace(moved, weight=self._emit(prim.NEGATIVE, moved.weight)) if k else moved
        if node.primitive is not prim.SELECT:
            return self._scaled(node, k, moved)
        condition = node.operands[0] if k == 1 else self._emit(NOT, node.operands[0])
        masked = node._replace(primitive=prim.MASK, operands=[condition, 0], avals=[node.avals[0], node.avals[k]])
        return self._scaled(masked, 1, moved)

    def _moved(self, node: Node, block: Block, relation: Relation) -> Block:
        """A block with its entries in the items of a node that they go to."""
        entries, rows = relation.spread(block.rows)
        weight = block.weight
        shape = self.recording.aval(weight).shape
        if not shape:
            pass
        elif entries is None:
            if rows is None and shape != node.aval.shape:
                weight = self._emit(prim.RESHAPE, weight, params=(node.aval.shape,))
            elif rows is not None:
                weight = self._flat(weight)
        elif block.rows is None and rows is None and node.primitive.kind == STRIDED:
            weight = self._emit(node.primitive, weight, params=node.params)
        elif block.rows is None and rows is None and node.primitive.kind == UFUNC:
            weight = self._emit(prim.BROADCAST_TO, weight, params=(node.aval.shape,))
        else:
            weight = self._picked(weight, entries)
            if rows is None:
                weight = self._emit(prim.RESHAPE, weight, params=(node.aval.shape,))
        return Block(rows, block.columns if entries is None else block.columns[entries], weight)

    def _scaled(self, node: Node, k: int, block: Block) -> Block:
        """A block of operand k of an elementwise node, times what the other operands are there."""
        operands = list(node.operands)
        if node.primitive is not prim.MASK:  # whose condition stays one; a truth value times a number is a product too
            operands = [x if other == k else in_float64(self.recording, x) for other, x in enumerate(operands)]
        operands[k] = block.weight
        if block.rows is not None:
            for other, aval in enumerate(node.avals):
                if other != k:
                    operands[other] = self._at(operands[other], aval.shape, node.aval.shape, block.rows)
        weight = self._emit(PLAIN.get(node.primitive, node.primitive), *operands, params=node.params)
        shape = self.recording.aval(weight).shape
        if shape and block.rows is None and shape != node.aval.shape:
            weight = self._emit(prim.BROADCAST_TO, weight, params=(node.aval.shape,))
        return replace(block, weight=weight)

    def _at(self, operand: int, own: tuple[int, ...], whole: tuple[int, ...], items: Indices) -> int:
        """What an operand is where a result that it is broadcast to has these items."""
        if not own:
            return operand
        places = np.broadcast_to(prim.flat_places(own), whole).ravel()[items]
        return self._picked(operand, places)

    def _product(self, node: Node, k: int, block: Block, relation: Relation) -> Block:
        """A block of one factor of a product of matrices, times the other factor; zeros of a constant leave nothing."""
        entries, rows = relation.spread(block.rows)
        items = np.arange(node.avals[k].size) if block.rows is None else block.rows
        items = items if entries is None else items[entries]
        rows = np.arange(node.aval.size) if rows is None else rows
        columns = block.columns if entries is None else block.columns[entries]
        weight = self._flat(block.weight)
        weight = weight if entries is None else self._of_entries(weight, entries)
        factor = node.operands[1 - k]
        places = _places_of_factor(node, k, items, rows)
        if factor >= 0:
            return Block(rows, columns, self._emit(prim.MULTIPLY, weight, self._picked(factor, places)))
        numbers = np.asarray(const_value(self.recording.graph, factor)).ravel()[places]
        kept = np.flatnonzero(numbers)
        weight = self._emit(prim.MULTIPLY, self._of_entries(weight, kept), self._constants(numbers[kept]))
        return Block(rows[kept], columns[kept], weight)

    def _added(self, block: Block, other: Block) -> Block:
        return replace(block, weight=self._emit(prim.ADD, block.weight, other.weight))

    def _has_multiple(self, blocks: list[Block]) -> bool:
        return False

    def _weights(self, structure: Structure, blocks: list[FlatBlock]) -> int:
        return structure.values_of(self.recording, blocks)

    def _flattened(self, block: Block, rows: Indices) -> FlatBlock:
        return super()._flattened(replace(block, weight=self._flat(block.weight)), rows)

    def _flat(self, weight: int) -> int:
        return flat(self.recording, weight)

    def _of_entries(self, weight: int, entries: Indices) -> int:
        """A flat weight as far as these entries go."""
        aval = self.recording.aval(weight)
        return weight if not aval.shape or len(entries) == aval.size else self._picked(weight, entries)

    def _picked(self, operand: int, places: Indices) -> int:
        return picked(self.recording, operand, places)

    def _constants(self, values: Any) -> int:
        """A constant of one number if all are the same, else of an array."""
        values = np.asarray(values, np.float64)
        same = len(values) and np.all(values == values[0])
        return self.recording.operand(float(values[0]) if same else values)

    def _emit(self, primitive: Primitive, *operands: int, params: Any = None) -> int:
        return self.recording.emit(primitive, params, list(operands))


def moves_of(recording: Recording, i: int, given: list[int]) -> list[tuple[int, Indices, Indices]] | None:
    """Of a node that only moves items: (operand, its items, their places), for the operands that are given."""
    node = node_of(recording.graph, i)
    if not _moves(node) or not _is_known(node, given):
        return None
    values = known_values(recording, node, given, None)
    found = []
    for k in given:
        items, places = relation_of(node.primitive, node.params, node.avals, node.aval, k, values).spread(None)
        items = np.arange(node.avals[k].size) if items is None else items
        found.append((k, items, np.arange(node.aval.size) if places is None else places))
    return found


def _moves(node: Node) -> bool:
    """Whether a node puts items where they belong, adding up what meets, and does nothing else."""
    return node.primitive in MOVES or node.primitive in INDICES or node.primitive.kind in (STRIDED, CONCATENATE)


def _is_known(node: Node, given: list[int]) -> bool:
    """Whether a node that depends on the seed through these operands is linear in it in a way that blocks have."""
    if any(node.avals[k].dtype != np.float64 for k in given) or node.aval.dtype != np.float64:
        return False
    if node.primitive in INDICES:
        return node.operands[INDICES[node.primitive]] < 0
    if node.primitive is prim.ASSEMBLE:
        return _is_placed(node)
    if node.primitive in (prim.ADD, prim.SUBTRACT, prim.SELECT) or _moves(node):
        return True
    if len(given) > 1:
        return False
    if node.primitive.kind == UFUNC:
        return node.primitive.nin == 1 or node.primitive in SCALES
    return node.primitive in (prim.MATMUL, prim.CORRELATE) or node.primitive.name == "sparse_product"


def _is_placed(node: Node) -> bool:
    """Whether all that an assembly adds to zeros has constant places."""
    offsets, parts = node.params
    at = len(offsets)
    for part in parts:
        at += 1
        if part is None:
            if node.operands[at] >= 0:
                return False
            at += 1
    return True


def _places_of_factor(node: Node, k: int, items: Indices, rows: Indices) -> Indices:
    """Where the other factor has what connects items of factor k of a product with items of the product."""
    own, other, whole = node.avals[k].shape, node.avals[1 - k].shape, node.aval.shape
    at_own, at_whole = np.unravel_index(items, own), np.unravel_index(rows, whole)
    inner = at_own[-1] if k == 0 or len(own) == 1 else at_own[-2]
    if len(other) == 1:
        return inner
    outer = at_whole[-1] if k == 0 or len(own) == 1 else at_whole[-2]
    end = len(whole) - (1 + (len(own) > 1))  # where the axes of stacks end
    stacks = at_whole[end - (len(other) - 2) : end]
    stacks = tuple(at if n > 1 else np.zeros_like(at) for at, n in zip(stacks, other, strict=False))
    return np.ravel_multi_index((*stacks, *((outer, inner) if k else (inner, outer))), other)
