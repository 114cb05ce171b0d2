"""Squares of roots: |x|², hypot(x, y)², norm(x)² and √x √x have no kink at 0, and no pole.

Their rules divide by the root, which is 0 there. So where the square of a root is recorded, or another even power, its
value stays as it is written, and its derivatives are those of what is under the root: ``smooth(p, q)`` is p, and has
the derivatives of q. Products of powers of one number are found here too: x² |x|ᵃ has a derivative at 0 where |x|ᵃ has
none.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoad._core.graph.inspect import const_value, node_row
from hoad._core.graph.primitive import Primitive, primitive_named
from hoad._core.graph.roots import bind_roots
from hoad._core.graph.tape import Graph
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import graph_of, is_traced, node_of, traced_node
from hoad._numpy.complex import squared_size
from hoad._numpy.registry import operand_at
from hoad._ops import primitives as prim

# The shapes of expressions that are looked for here, not what is true of an operation: what is a size or a root, what
# only moves items, and through what a root is followed.
SIZES = ("absolute", "fabs", "hypot")
ROOTS = (*SIZES, "sqrt", "power", "float_power")
MOVES = ("item", "getitem", "reshape", "transpose", "broadcast_to", "gather")
CARRIERS = ("multiply", "divide", "negative", "select", "smooth", *MOVES)
DEEPEST = 10  # operations within which two expressions are compared, or a root is looked for
MOST_FACTORS = 8

Row = tuple[str, list[int], Any]


def _known(name: str) -> Primitive:
    primitive = primitive_named(name)
    assert primitive is not None
    return primitive


def _row(graph: Graph, node: int) -> Row:
    """Operation, operands and parameters of a node; a constant has no operation."""
    if node < 0:
        return "", [], None
    primitive, operands, params, *_ = node_row(graph, node)
    return primitive.name if primitive.qualified is None else "", operands, params


def _number(graph: Graph, operand: int) -> float | None:
    """The real number that a constant is."""
    value = None if operand >= 0 else const_value(graph, operand)
    return None if value is None or np.ndim(value) or np.iscomplexobj(value) else float(value)


def _are_equal(a: Any, b: Any) -> bool:
    """Whether parameters of an operation are equal; some hold arrays."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    return a is b or (np.array_equal(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b))


def is_same(graph: Graph, a: int, b: int, depth: int = DEEPEST) -> bool:
    """Whether two operands are one value, because the same is done to the same."""
    if a == b:
        return True
    if a < 0 and b < 0:
        return _are_equal(const_value(graph, a), const_value(graph, b))
    if a < 0 or b < 0 or not depth:
        return False
    (primitive, of_a, params, *_), (other, of_b, others, *_) = node_row(graph, a), node_row(graph, b)
    if primitive is not other or primitive.qualified is not None or primitive in (prim.INPUT, prim.RESULT):
        return False  # a user's operation may give something else each time
    if not of_a or not _are_equal(params, others):
        return False
    return len(of_a) == len(of_b) and all(is_same(graph, i, k, depth - 1) for i, k in zip(of_a, of_b, strict=True))


def _square(graph: Graph, node: int, depth: int = DEEPEST) -> Any:
    """The square of a node without its root; None if it has none within so many operations."""
    if not depth:
        return None
    name, operands, params = _row(graph, node)

    if name in SIZES:
        return _squared_size(operand_at(graph, k) for k in operands)
    if name == "sqrt":
        return _under_root(graph, node, operands[0])
    if name in ("power", "float_power"):
        return _under_root(graph, node, operands[0]) if _number(graph, operands[1]) == 0.5 else None
    if name == "select":
        return _under_norm(graph, operands)
    if name in ("negative", "smooth"):
        return _square(graph, operands[0], depth - 1)
    if name in MOVES:
        found = _square(graph, operands[0], depth - 1)
        if found is None or not is_traced(found):
            return None
        if name == "item":
            return np.reshape(found, -1)[params[0]]
        return apply_primitive(_known(name), params, found, *[operand_at(graph, k) for k in operands[1:]])
    if name == "divide":
        return _square_scaled(graph, operands[0], np.divide, operands[1], depth)
    if name == "multiply":
        found = _square_scaled(graph, operands[0], np.multiply, operands[1], depth)
        return _square_scaled(graph, operands[1], np.multiply, operands[0], depth) if found is None else found
    return None


def square_under(graph: Graph, node: int) -> Any:
    """The square of a norm, or of items of one; None for the square root of what may be no sum of squares."""
    name, operands, _ = _row(graph, node)
    while name in MOVES:
        name, operands, _ = _row(graph, operands[0])
    return None if name == "sqrt" and not is_sum_of_squares(graph, operands[0]) else _square(graph, node)


def is_sum_of_squares(graph: Graph, node: int, depth: int = DEEPEST) -> bool:
    """Whether an operand is never negative because of what it is made of, so that it has the slope 0 where it is 0."""
    if node < 0:
        return bool(np.all(np.asarray(const_value(graph, node)) >= 0))
    name, operands, _ = _row(graph, node)
    if name in ("square", "absolute", "exp"):
        return True
    if name == "power":
        power = _number(graph, operands[1])
        return power is not None and power > 0.0 and power % 2.0 == 0.0
    if name in ("multiply", "matmul") and operands[0] == operands[1]:
        return name == "multiply" or len(node_row(graph, node)[3].shape) == 0
    if not depth or name not in ("sum", "add", "multiply", "divide", "smooth", *MOVES):
        return False
    inner = operands[:1] if name in ("smooth", *MOVES) else operands
    return all(is_sum_of_squares(graph, k, depth - 1) for k in inner)


def _under_root(graph: Graph, root: int, node: int) -> Any:
    """What a square root is taken of; where that is negative, the root, which is nan with all its derivatives."""
    x = operand_at(graph, node)
    if not is_traced(x) or x.dtype.kind != "f" or is_sum_of_squares(graph, node):
        return x
    return np.where(np.less(x, 0.0), traced_node(graph, root), x)


def _square_scaled(graph: Graph, node: int, scaled: Callable[..., Any], by: int, depth: int) -> Any:
    """The same for a node that is multiplied or divided by another."""
    name, operands, _ = _row(graph, node)
    factor = operand_at(graph, by)
    if name in SIZES:  # scaled before it is squared, which keeps it in range
        return _squared_size(scaled(operand_at(graph, k), factor) for k in operands)
    found = _square(graph, node, depth - 1)
    return scaled(scaled(found, factor), factor) if found is not None and _keeps_range(factor) else None


def _squared_size(parts: Iterable[Any]) -> Any:
    """The sum of |x|² of one part, or of two."""
    return functools.reduce(operator.add, map(squared_size, parts))


def _keeps_range(factor: Any) -> bool:
    """Whether the square of a constant factor is neither infinite nor lost; of a traced one, that is not known."""
    if is_traced(factor):
        return True
    size = np.abs(np.asarray(factor))
    info = np.finfo(size.dtype if size.dtype.kind == "f" else np.float64)
    return bool(np.all((size == 0.0) | ((size > 1e3 * np.sqrt(info.tiny)) & (size < 1e-3 * np.sqrt(info.max)))))


def _under_norm(graph: Graph, operands: list[int]) -> Any:
    """u of ``where(u == 0, 0, sqrt(where(u == 0, 1, u)))``, which is how norms are recorded."""
    zero, at_zero, root = operands
    name, inner, _ = _row(graph, root)
    chosen, under, _ = _row(graph, inner[0]) if name == "sqrt" else ("", [], None)
    if chosen != "select" or _number(graph, at_zero) != 0.0 or _number(graph, under[1]) != 1.0:
        return None
    name, compared, _ = _row(graph, zero)
    if not (name == "equal" and is_same(graph, zero, under[0]) and is_same(graph, compared[0], under[2])):
        return None
    return traced_node(graph, under[2]) if _number(graph, compared[1]) == 0.0 else None


def _factors(graph: Graph, node: int) -> list[int]:
    """What a node is the product of; of a long product, what the last factors are."""
    found: list[int] = []
    ahead = [node]
    while ahead:
        name, operands, _ = _row(graph, ahead[-1])
        if name == "multiply" and len(found) + len(ahead) < MOST_FACTORS:
            ahead[-1:] = reversed(operands)
        else:
            found.append(ahead.pop())
    return found


def _product(graph: Graph, x: int, y: int) -> Any:
    """x y without a root that both have as a factor; or as a power, where both have powers of one number."""
    left, right = _factors(graph, x), _factors(graph, y)
    for i, a in enumerate(left):
        for k, b in enumerate(right):
            found = _square(graph, a) if is_same(graph, a, b) else None
            found = _power(graph, a, b) if found is None else found
            if found is not None:
                for rest in left[:i] + left[i + 1 :] + right[:k] + right[k + 1 :]:
                    found = found * traced_node(graph, rest)
                return found
    return None


def _power(graph: Graph, a: int, b: int) -> Any:
    """xᵐ xⁿ as xᵐ⁺ⁿ, where one exponent is not whole and both are positive in sum; else None."""
    (x, m), (y, n) = _as_power(graph, a), _as_power(graph, b)
    if (m.is_integer() and n.is_integer()) or m + n <= 0.0 or not is_same(graph, x, y):
        return None
    return traced_node(graph, x) ** (m + n)


def _as_power(graph: Graph, node: int) -> tuple[int, float]:
    """A node as a constant power of another."""
    name, operands, _ = _row(graph, node)
    if name == "smooth":
        return _as_power(graph, operands[0])
    if name == "square":
        return operands[0], 2.0
    exponent = _number(graph, operands[1]) if name in ("power", "float_power") else None
    return (node, 1.0) if exponent is None else (operands[0], exponent)


def _smooth(op: int, x: Any, y: Any, result: Any) -> Any:
    """`result`, with the derivatives of what it is without a root where it is an even power of one."""
    graph = graph_of(result)
    if not is_traced(x) or result.dtype.kind not in "fc":
        return result
    node = node_of(x)
    if op == SQUARE:
        found = _square(graph, node)
    elif op == MULTIPLY:
        found = _product(graph, node, node_of(y)) if is_traced(y) else None
    else:
        power = None if is_traced(y) or np.ndim(y) or np.iscomplexobj(y) else float(y)
        if power is None or power <= 0.0 or power % 2.0:
            return result
        found = _square(graph, node)
        found = found if found is None or power == 2.0 else found ** (power / 2.0)
    if found is None or not is_traced(found) or (found.shape, found.dtype) != (result.shape, result.dtype):
        return result
    return apply_primitive(prim.SMOOTH, None, result, found)


MULTIPLY, SQUARE = _known("multiply").op, _known("square").op

bind_roots([_known(name).op for name in ROOTS], [_known(name).op for name in CARRIERS], _smooth)
