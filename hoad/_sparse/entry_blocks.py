"""Which entries the matrix of a linear sweep has: its sparsity pattern, node by node.

A sweep for a symbolic seed is linear in it, so each of its nodes is a matrix times the seed. That matrix is kept as a
few *blocks* of entries, each a row (an item of the node) and a column (an item of the seed). What is a diagonal of the
matrix is one block, and costs one index array where the function had one array operation.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hoad._core.graph.inspect import const_value, depends_on_inputs, node_row, operand_avals
from hoad._core.graph.primitive import Primitive
from hoad._core.graph.reach import between
from hoad._core.graph.tape import AbstractValue, Graph
from hoad._core.record.recording import Recording
from hoad._ops import primitives as prim
from hoad._ops.dependence import Entrywise, links
from hoad._sparse.progress import shown
from hoad._sparse.relations import Following, Indices, Joined, Relation, relation_of
from hoad._sparse.sparse_structure import FlatBlock, Structure
from hoad.errors import ArgumentError

# Blocks of a node from which on they are put together in one, which costs a pass over all of their entries.
MANY_BLOCKS = 24
MANY_ENTRIES = 1 << 16  # of a node, which may be the same ones again,
MANY_FOR_EACH = 16  # and so many more for each column
MOST_ENTRIES = 1 << 27  # of a node, 2 GB

# What the value of an operand says more of than its shape.
BY_VALUE = {prim.MASK, prim.SELECT, prim.GATHER_ITEMS, prim.PUT_ITEMS, prim.ASSEMBLE, prim.CORRELATE}

ONE = 0  # the weight of all entries of a pattern


@dataclass(frozen=True)
class Block:
    """Entries of a matrix."""

    rows: Indices | None  # None: one for each item of the node, in turn
    columns: Indices
    weight: int  # operand: a number, or a flat array; with the shape of the node where rows are in turn


class Node(NamedTuple):
    """A node of a sweep, or one of its results."""

    primitive: Primitive
    operands: list[int]
    params: Any
    aval: AbstractValue
    avals: list[AbstractValue]  # of the operands
    which: int  # of several results


def node_of(graph: Graph, i: int) -> Node:
    """A node of a graph."""
    primitive, operands, params, aval, *_ = node_row(graph, i)
    which = 0
    if primitive is prim.RESULT:
        (which,) = params
        primitive, operands, params, *_ = node_row(graph, operands[0])
    return Node(primitive, operands, params, aval, operand_avals(graph, operands), which)


def known_values(
    recording: Recording, node: Node, given: Container[int], value: Callable[[int], Any] | None
) -> list[Any]:
    """The values of the operands that decide what goes where, as far as they are known; those `given` are linear."""
    graph = recording.graph
    found: list[Any] = [None] * len(node.operands)
    for k, operand in enumerate(node.operands):
        if operand < 0:
            found[k] = const_value(graph, operand)
        elif k in given or node.primitive not in BY_VALUE:
            pass
        elif value is not None:
            found[k] = value(operand)
        elif node.primitive is prim.CORRELATE and not depends_on_inputs(graph, operand):
            (found[k],) = recording.compute([operand])
    return found


def _reached_from(graph: Graph, seed: int, output: int) -> tuple[list[int], list[Node]]:
    """The nodes between a seed and an output, without those of which programs that are called make no use."""
    order = between(graph, seed, output)
    nodes = [node_of(graph, i) for i in order]
    used = {output}
    for i, node in zip(reversed(order), reversed(nodes), strict=True):
        if i in used:
            used.update(x for k, x in enumerate(node.operands) if x >= 0 and _is_used(node, k))
    kept = [(i, node) for i, node in zip(order, nodes, strict=True) if i in used]
    return [i for i, _ in kept], [node for _, node in kept]


def _is_used(node: Node, k: int) -> bool:
    """Whether an operation makes use of its operand k, as far as its structure tells."""
    if not node.primitive.of_programs:
        return True
    found = links(node.primitive, node.params, node.avals, node.aval, k, [None] * len(node.avals), node.which)
    return not isinstance(found, Entrywise) or len(found.operand) > 0


class Blocks:
    """The blocks of the nodes of a sweep behind a seed: patterns, without weights."""

    def __init__(self, recording: Recording, seed: int, output: int, value: Callable[[int], Any] | None = None) -> None:
        """``value(operand)`` is that of a node that decides what goes where, a condition or an index, or None."""
        self.recording, self.seed, self.output = recording, seed, output
        self.columns = recording.aval(seed).size
        self._value = value
        self._found = {seed: [Block(None, np.arange(self.columns), self._one())]}
        order, nodes = _reached_from(recording.graph, seed, output)
        last = {x: i for i, node in zip(order, nodes, strict=True) for x in node.operands}
        for i, node in zip(shown(order, "sparse derivative"), nodes, strict=True):
            given = [k for k, x in enumerate(node.operands) if x in self._found]
            self._found[i] = self._of_node(node, given)
            for operand in {node.operands[k] for k in given}:
                if last[operand] == i and operand != output:  # nobody asks for it again
                    del self._found[operand]

    def flat(self) -> list[FlatBlock]:
        """The blocks of the output."""
        rows = np.arange(self.recording.aval(self.output).size)
        return [self._flattened(block, rows) for block in self._found.get(self.output, []) if len(block.columns)]

    def _of_node(self, node: Node, given: list[int]) -> list[Block]:
        values = known_values(self.recording, node, set(given), self._value)
        made: list[Block] = []
        for k in given:
            relation = relation_of(node.primitive, node.params, node.avals, node.aval, k, values, node.which)
            for block in self._found[node.operands[k]]:
                made.append(self._through(node, k, block, relation))
        made = self._merged(made)
        self._check(node, sum(len(block.columns) for block in made))
        return self._in_one(made, node.aval.size) if len(made) > MANY_BLOCKS or self._has_multiple(made) else made

    def _check(self, node: Node, count: int) -> None:
        if count > MOST_ENTRIES:
            raise ArgumentError(
                f"the pattern has {count} entries at an operation {node.primitive.name}: it is not sparse. Take the "
                "dense derivative, or hoad.hvp for products with it."
            )

    def _one(self) -> int:
        return ONE

    def _through(self, node: Node, k: int, block: Block, relation: Relation) -> Block:
        """What a node makes of a block of its operand k."""
        columns = block.columns
        if isinstance(relation, Joined):  # columns meet a label once, however many items bring them there
            labels = relation.operand if block.rows is None else relation.operand[block.rows]
            kept = labels >= 0
            met = Structure.of(
                (relation.label_count, self.columns), False, [FlatBlock(labels[kept], columns[kept], ONE)]
            )
            entries, items = relation.spread_labels(met.rows)
            return Block(items, met.columns[entries], ONE)
        if isinstance(relation, Following):
            return self._following(block, relation)
        which, rows = relation.spread(block.rows)
        return Block(rows, columns if which is None else columns[which], ONE)

    def _following(self, block: Block, relation: Following) -> Block:
        """As `_through`, by steps of 1, 2, 4, ... along the axis, each of which meets what those before have left."""
        found = self._flattened(block, np.arange(relation.size))
        step = 1
        while step < relation.length:
            kept = np.flatnonzero(relation.left(found.rows) > step)
            moved = FlatBlock(found.rows[kept] + step * relation.step, found.columns[kept], ONE)
            both = Structure.of((relation.size, self.columns), False, [found, moved])
            found = FlatBlock(both.rows, both.columns, ONE)
            step *= 2
        return Block(found.rows, found.columns, ONE)

    def _added(self, block: Block, other: Block) -> Block:
        """The sum of two blocks with the same entries."""
        return block

    def _has_multiple(self, blocks: list[Block]) -> bool:
        """Whether there are so many entries that some come several times."""
        return sum(len(block.columns) for block in blocks) > MANY_ENTRIES + MANY_FOR_EACH * self.columns

    def _in_one(self, blocks: list[Block], size: int) -> list[Block]:
        """One block of all entries, each of which it has once."""
        rows = np.arange(size)
        flat = [self._flattened(block, rows) for block in blocks]
        structure = Structure.of((size, self.columns), False, flat)
        return [Block(structure.rows, structure.columns, self._weights(structure, flat))]

    def _weights(self, structure: Structure, blocks: list[FlatBlock]) -> int:
        return ONE

    def _flattened(self, block: Block, rows: Indices) -> FlatBlock:
        """With a row for each entry; `rows` are those of a block that has one for each item of its node."""
        return FlatBlock(rows if block.rows is None else block.rows, block.columns, block.weight)

    def _merged(self, blocks: list[Block]) -> list[Block]:
        """The blocks, those with the same entries added up."""
        merged: list[Block] = []
        for block in blocks:
            for at, other in enumerate(merged):
                if _are_equal(block.columns, other.columns) and _are_equal(block.rows, other.rows):
                    merged[at] = self._added(other, block)
                    break
            else:
                merged.append(block)
        return merged


def _are_equal(one: Indices | None, other: Indices | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or (len(one) == len(other) and bool(np.array_equal(one, other)))
