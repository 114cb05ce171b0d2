"""Derivatives of expressions, as expressions: a sweep over the graph behind them, read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.record.recording import Extension
from hoad._symbolic.operators import Operators, record_call
from hoad._symbolic.rows import Layout, constant, in_order, read_constant, read_nodes

FLOAT64 = np.dtype(np.float64)

# From a growing graph, the operands of the roots and the node to differentiate by, to the operands of the derivatives.
Sweep = Callable[[Extension, list[int], int], list[int]]


def _swept(roots: list[Operators], by: Operators, sweep: Sweep) -> list[Any]:
    """The expressions that a sweep gives."""
    layout = Layout(roots)
    with Extension(layout.graph, layout.size, 0) as extension:
        outputs = extension.compact(sweep(extension, layout.outputs, layout.numbers[id(by)]))
    known = {k: node for k, node in enumerate(layout.nodes) if node is not None}
    made = read_nodes(extension.graph, extension.size, known)
    return [made[k] if k >= 0 else read_constant(extension.graph, k) for k in outputs]


def tangent(e: Operators, by: Operators, n: int) -> Any:
    """The n-th derivative with respect to a scalar: forward, n times with one table of what is known."""
    if n == 0:
        return e
    if not _occurs(by, e):
        return _zeros(e.shape)

    def sweep(extension: Extension, outputs: list[int], node: int) -> list[int]:
        one = extension.constant(by.dtype.type(1.0) if by.dtype != FLOAT64 else 1.0)
        for _ in range(n):
            outputs = extension.tangents(outputs, [node], [one])
        return outputs

    return _swept([e], by, sweep)[0]


def rows_of_jacobian(e: Operators, by: Operators) -> Any:
    """The derivative with respect to an array: in reverse, once for each entry of the expression."""
    if not _occurs(by, e) or not e.size or not e.aval.inexact:
        return _zeros(e.shape + by.shape)

    def sweep(extension: Extension, outputs: list[int], node: int) -> list[int]:
        one = extension.constant(e.dtype.type(1.0) if e.dtype != FLOAT64 else 1.0)
        return [extension.adjoints([y], [one], [node], False)[0] for y in outputs]

    if not e.shape:
        return _swept([e], by, sweep)[0]
    flat = record_call(np.ravel, (e,))
    rows: Any = np.stack(_swept([flat[k] for k in range(e.size)], by, sweep))
    return rows.reshape(e.shape + by.shape)


def _occurs(part: Operators, whole: Operators) -> bool:
    return any(node is part for node in in_order([whole]))


def _zeros(shape: tuple[int, ...]) -> Any:
    return constant(np.zeros(shape) if shape else 0.0)
