"""Eigenvalues or singular values in another order, with their vectors: `w[::-1], V[:, ::-1]`, or by `argsort`.

Functions of a matrix are the same in any order of its eigenvalues, if the vectors are in the same one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hoad._core.graph.inspect import const_value, node_row
from hoad._core.trace.traced import traced_node
from hoad._ops import primitives as prim


class Source(NamedTuple):
    """A factorisation, and the orders into which its values or vectors have been brought, the last one first.

    An order is None for the reverse one, the indices, or the node of the indices.
    """

    node: int
    orders: tuple[Any, ...] = ()


def operand_and_order(graph: Any, k: int) -> tuple[int, Any] | None:
    """The operand of which node k has the items along the last axis in another order, and that; None if it is none."""
    primitive, operands, params, aval, *_ = node_row(graph, k)
    if not operands or operands[0] < 0 or node_row(graph, operands[0])[3].shape != aval.shape or not aval.ndim:
        return None
    shape = aval.shape
    n = shape[-1]
    if primitive is prim.GETITEM:
        steps = [math.prod(shape[d + 1 :]) for d in range(aval.ndim)]
        return (operands[0], None) if n > 1 and params == (shape, (*steps[:-1], -1), n - 1) else None
    if primitive is not prim.GATHER_ITEMS or 0 in shape:
        return None
    if operands[1] < 0:
        places = np.reshape(const_value(graph, operands[1]), (-1, n))
        order = places[0]
        if not np.array_equal(np.sort(order), np.arange(n)):
            return None
        is_same = np.array_equal(places, order + n * np.arange(len(places))[:, None])
        return (operands[0], tuple(order.tolist())) if is_same else None
    if len(shape) == 1 and _is_order(graph, operands[1], n):
        return operands[0], operands[1]
    index, (node, *more), params, *_ = node_row(graph, operands[1])
    if index is not prim.FLAT_INDEX or more or not _is_order(graph, node, n):
        return None
    *rest, last = params[1]
    is_same = last is None and len(rest) == aval.ndim - 1 and all(key == (None, None, None) for key in rest)
    return (operands[0], node) if is_same else None


def _is_order(graph: Any, k: int, n: int) -> bool:
    """Whether a node is a permutation of 0, ..., n - 1."""
    if k < 0 or node_row(graph, k)[3].shape != (n,):
        return False
    if node_row(graph, k)[0] is prim.ARGSORT:
        return True
    found = operand_and_order(graph, k)
    return found is not None and _is_order(graph, found[0], n)


def restored(graph: Any, orders: tuple[Any, ...], x: Any) -> Any:
    """What is along the last axis of x, in the order of the factorisation."""
    for order in orders:
        if order is None:
            x = x[..., ::-1]
        elif isinstance(order, tuple):
            x = x[..., np.argsort(order)]
        else:
            order = traced_node(graph, order)
            x = np.array(x, like=order)[..., np.argsort(order)]
    return x
