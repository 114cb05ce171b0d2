"""Which entries of a Jacobian may be other than zero, and how few directions give all of them.

No row of a band of width w has entries in both columns j and j + w, so the columns j, j + w, j + 2w, ... may share a
direction: the compression of Curtis, Powell and Reid (1974), with a colouring by remainders, the best for bands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.pattern import intervals
from hoad._core.graph.tape import Graph
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._ops.dependence import Intervals, links, mixing
from hoad._ops.primitives import GATHER_ITEMS, PUT_ITEMS, RESULT

# The items of all nodes of a sweep, 8 bytes each, up to which a pattern is looked for.
MOST_ITEMS = 1 << 23


@dataclass(frozen=True)
class Pattern:
    """The columns of the first and the last entry of each row of a Jacobian, for each target; how many columns."""

    rows: list[Intervals]
    columns: int

    @property
    def directions(self) -> int:
        """Directions of which each gives the columns k, k + w, k + 2w, ..., of which no row has two."""
        widths = [np.max(highs - lows, initial=0) + 1 for lows, highs in self.rows]
        return min(int(max(widths, default=1)), max(self.columns, 1))

    def spread(self, compressed: Any, target: int) -> Any:
        """(columns, rows) of the Jacobian of a target, from (directions, rows)."""
        lows, highs = self.rows[target]
        block = np.zeros((self.columns, len(lows)), compressed.dtype)
        for k in range(self.directions):
            columns = lows + k
            (rows,) = np.nonzero(columns <= highs)
            columns = columns[rows]
            block[columns, rows] = compressed[columns % self.directions, rows]
        return block

    def spread_traced(self, compressed: Any, target: int) -> Any:
        """As `spread`, of traced values."""
        if not holds_traced((compressed,)):
            return self.spread(compressed, target)
        lows, highs = self.rows[target]
        columns = lows[:, None] + np.arange(self.directions)
        rows, k = np.nonzero(columns <= highs[:, None])
        columns = columns[rows, k]
        entries = apply_primitive(GATHER_ITEMS, None, compressed, columns % self.directions * len(lows) + rows)
        zeros = np.zeros((len(lows), self.columns), compressed.dtype)
        return np.transpose(apply_primitive(PUT_ITEMS, None, zeros, entries, rows * self.columns + columns))


def pattern_of(graph: Graph, seed: int, outputs: list[int]) -> Pattern | None:
    """The pattern of what a sweep gives for a seed; None where that would be too large to look for."""
    columns = operand_avals(graph, [seed])[0].size
    found = intervals(graph, seed, outputs, MOST_ITEMS, partial(_through, graph, empty=columns))
    return None if found is None else Pattern(found, columns)


def _through(graph: Graph, node: int, given: dict[int, Intervals], empty: int) -> Intervals:
    """The intervals of the items of an array, from those of the operands that depend on the seed."""
    primitive, operands, params, aval, *_ = node_row(graph, node)
    avals = operand_avals(graph, operands)
    values = [const_value(graph, k) if k < 0 else None for k in operands]
    lows, highs = np.full(aval.size, empty, np.int32), np.full(aval.size, -1, np.int32)
    for k, bounds in given.items():
        whole = primitive is RESULT or primitive.nout > 1  # its results are not told apart
        shapes = avals[k].shape, aval.shape
        link = mixing(*shapes) if whole else links(primitive, params, avals, aval, k, values, 0)
        low, high = link.cover(*bounds, empty)
        np.minimum(lows, low, out=lows)
        np.maximum(highs, high, out=highs)
    return lows, highs
