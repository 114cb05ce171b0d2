"""Sparsity patterns of linear sweeps: by blocks of array operations, or number by number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hoad._core.graph.pattern import index_sets
from hoad._core.graph.reach import count_between
from hoad._core.record.recording import Recording
from hoad._sparse.entry_blocks import ONE, Blocks, known_values, node_of
from hoad._sparse.relations import Indices, relation_of
from hoad._sparse.sparse_structure import FlatBlock, Structure

# Nodes of a sweep, most of them numbers, from which on it is followed number by number.
MANY_NODES = 256

Value = Callable[[int], Any]


def pattern_of(recording: Recording, seed: int, output: int, value: Value | None = None) -> Structure:
    """The entries that the matrix from the items of a seed to those of an output may have.

    ``value(operand)`` is that of a node that decides what goes where, a condition or an index, or None.
    """
    shape = recording.aval(output).size, recording.aval(seed).size
    if not is_of_numbers(recording, seed, output):
        return Structure.of(shape, False, Blocks(recording, seed, output, value).flat())
    members, starts = index_sets(recording.graph, seed, output, partial(_through, recording, shape[1], value))
    rows = np.repeat(np.arange(shape[0]), np.diff(starts))
    return Structure(shape, False, rows * shape[1] + members)


def is_of_numbers(recording: Recording, seed: int, output: int) -> bool:
    """Whether a sweep is long, and most of its operations are on numbers."""
    nodes, numbers = count_between(recording.graph, seed, output)
    return nodes >= MANY_NODES and 2 * numbers >= nodes


def _through(
    recording: Recording, columns: int, value: Value | None, i: int, given: dict[int, tuple[Any, Any]]
) -> tuple[Indices, Indices]:
    """(members, starts) of the items of an array, from those of the operands that depend on the seed."""
    node = node_of(recording.graph, i)
    values = known_values(recording, node, given, value)
    met = []
    for k, (members, starts) in given.items():
        entries, rows = relation_of(node.primitive, node.params, node.avals, node.aval, k, values, node.which).spread(
            np.repeat(np.arange(node.avals[k].size), np.diff(starts))
        )
        rows = np.arange(node.aval.size) if rows is None else rows
        met.append(FlatBlock(rows, members if entries is None else members[entries], ONE))
    found = Structure.of((node.aval.size, columns), False, met)
    return found.columns, np.searchsorted(found.rows, np.arange(node.aval.size + 1))
