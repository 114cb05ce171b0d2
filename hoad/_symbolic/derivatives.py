"""Derivatives of expressions, as expressions: a sweep over the graph behind them, read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from hoad._core.record.recording import Extension
from hoad._symbolic.operators import Operators, record_call
from hoad._symbolic.rows import Layout, constant, in_order, read_constant, read_nodes

E = TypeVar("E", bound=Operators)

FLOAT64 = np.dtype(np.float64)

# From a growing graph, the operands of the roots and the node to differentiate by, to the operands of the derivatives.
Sweep = Callable[[Extension, list[int], int], list[int]]


def _swept(roots: list[E], by: E, sweep: Sweep) -> list[E]:
    """The expressions that a sweep gives."""
    layout = Layout(roots)
    with Extension(layout.graph, layout.size, 0) as extension:
        outputs = extension.compact(sweep(extension, layout.outputs, layout.numbers[id(by)]))
    known = {k: node for k, node in enumerate(layout.nodes) if node is not None}
    made = read_nodes(extension.graph, extension.size, known, by._make)
    return [made[k] if k >= 0 else read_constant(extension.graph, k, by._make) for k in outputs]


def tangent(e: E, by: E, n: int) -> E:
    """The n-th derivative with respect to a scalar: forward, n times with one table of what is known."""
    if n == 0:
        return e
    if not _occurs(by, e):
        return _zeros(e.shape, e)

    def sweep(extension: Extension, outputs: list[int], node: int) -> list[int]:
        one = extension.constant(by.dtype.type(1.0) if by.dtype != FLOAT64 else 1.0)
        for _ in range(n):
            outputs = extension.tangents(outputs, [node], [one])
        return outputs

    return _swept([e], by, sweep)[0]


def rows_of_jacobian(e: E, by: E) -> E:
    """The derivative with respect to an array: in reverse, once for each entry of the expression."""
    if not _occurs(by, e) or not e.size or not e.aval.inexact:
        return _zeros(e.shape + by.shape, e)

    def sweep(extension: Extension, outputs: list[int], node: int) -> list[int]:
        one = extension.constant(e.dtype.type(1.0) if e.dtype != FLOAT64 else 1.0)
        return [extension.adjoints([y], [one], [node], False)[0] for y in outputs]

    if not e.shape:
        return _swept([e], by, sweep)[0]
    flat = record_call(np.ravel, (e,))
    rows: Any = np.stack(_swept([flat[k] for k in range(e.size)], by, sweep))
    made: E = rows.reshape(e.shape + by.shape)
    return made


def _occurs(part: Operators, whole: Operators) -> bool:
    return any(node is part for node in in_order([whole]))


def _zeros(shape: tuple[int, ...], like: E) -> E:
    zeros: E = constant(np.zeros(shape) if shape else 0.0, like._make)
    return zeros
