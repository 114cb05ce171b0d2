"""Which items of the outputs of a program depend on which items of its inputs."""

from __future__ import annotations

import numpy as np

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.primitive import UFUNC
from hoad._core.graph.tape import Graph
from hoad._ops.dependence import Mask, Sets, links
from hoad._ops.primitives import INPUT, RESULT

MOST_BYTES = 1 << 26  # of the sets of all nodes, beyond which all outputs are taken to depend on all inputs
MOST_PAIRS = 1 << 24  # of items, the same

Between = list[list[Mask]]  # of each output and input: (items of the one, items of the other)


def spread_nodes(graph: Graph, end: int, given: dict[int, Sets]) -> dict[int, Sets]:
    """The sets of the items of nodes, from those of inputs; nodes that depend on none are left out."""
    found = dict(given)
    for i in range(end):
        primitive, operands, params, aval, *_ = node_row(graph, i)
        if primitive is INPUT or i in given:
            continue
        which = 0
        if primitive is RESULT:
            which = params[0]
            primitive, operands, params = node_row(graph, operands[0])[:3]
        known = [k for k, operand in enumerate(operands) if operand in found]
        if not known:
            continue
        if primitive.kind == UFUNC and not aval.shape:
            sets = [found[operands[k]] for k in known]
        else:
            avals = operand_avals(graph, operands)
            values = [const_value(graph, k) if k < 0 else None for k in operands]
            sets = [links(primitive, params, avals, aval, k, values, which).forward(found[operands[k]]) for k in known]
        union = np.asarray(np.bitwise_or.reduce(sets))
        if union.any():
            found[i] = union
    return found


def dependence(graph: Graph, end: int, inputs: list[int], outputs: list[int]) -> Between | None:
    """Of each output and input, which items of the one depend on which of the other; None if that is too large."""
    own, whole = ([aval.size for aval in operand_avals(graph, nodes)] for nodes in (inputs, outputs))
    width = -(-sum(own) // 8)
    items = sum(aval.size for aval in operand_avals(graph, list(range(end))))
    if not width or items * width > MOST_BYTES or sum(whole) * sum(own) > MOST_PAIRS:
        return None
    bounds = np.cumsum(own)[:-1]
    sets = np.split(np.packbits(np.eye(sum(own), dtype=bool), axis=1), bounds)
    found = spread_nodes(graph, end, dict(zip(inputs, sets, strict=True)))
    made = []
    for k, size in zip(outputs, whole, strict=True):
        bits = found.get(k, np.zeros((size, width), np.uint8))
        made.append(np.split(np.unpackbits(bits, axis=1, count=sum(own)).astype(bool), bounds, axis=1))
    return made
