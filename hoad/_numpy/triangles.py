"""What reads one triangle of a matrix, as `cholesky` and `eigh` do, and has the derivative by symmetric matrices.

Of a function that makes two triangles in different ways, that would be half of the truth; and their values do not tell,
for they may be equal by chance, as where one is left at zero. So the matrix is made of the triangle that is read
first, which is exact for what NumPy computes. An input that is a matrix itself stands for a symmetric one, and so does
what is made of it alike in both triangles: then adjoints are symmetric, and a step along a gradient stays symmetric.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.inspect import const_value, depends_on_inputs, depends_on_matrix, node_row, operand_avals
from hoad._core.graph.primitive import CONCATENATE, REDUCE, STRIDED, UFUNC, ufunc_primitive
from hoad._core.graph.tape import AbstractValue, Graph
from hoad._core.trace.traced import graph_of, is_traced, node_of
from hoad._numpy.registry import decided
from hoad._ops import primitives as prim
from hoad._ops.dependence import links

Dependence = bool | NDArray[np.bool_]  # of all items alike, or of each

MOST_NODES = 200  # that are looked at, so that recording stays cheap
DEEPEST = 100  # operations between the matrix and an input, within Python's limit of recursion
LARGE = 32  # rows, from which on a matrix is looked at only where a pair is zero


class _TooFar(Exception):
    """The nodes that a matrix is made of are too many."""


def mirrored(a: Any, lower: bool = True, conjugated: bool = True) -> Any:
    """a, or the symmetric (or Hermitian) matrix of the triangle that is read.

    That the values of the other are others is guarded: elsewhere they may be the same.
    """
    if not is_traced(a) or a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.shape[-1] < 2 or not a.size:
        return a
    graph, node = graph_of(a), node_of(a)
    is_input = node >= 0 and node_row(graph, node)[0] is prim.INPUT
    if not is_input and _is_symmetric_throughout(graph, node, {}):
        return a
    is_alike = is_input or (depends_on_matrix(graph, node, MOST_NODES) and _depends_alike(a))
    if is_alike:
        value = node_row(graph, node)[4]
        if value is None or prim.is_symmetric(value, conjugated):
            return a
    other = np.swapaxes(a, -1, -2)
    if conjugated and a.dtype.kind == "c":
        other = np.conjugate(other)
    if is_alike:
        decided(np.any(np.not_equal(a, other)))
    found = np.where(_triangle(a.shape[-1], lower), a, other)
    if a.dtype.kind != "c" or not conjugated:
        return found
    return np.where(np.eye(a.shape[-1], dtype=bool), np.real(a), found)


@functools.lru_cache(maxsize=16)
def _triangle(n: int, lower: bool) -> NDArray[np.bool_]:
    """True in one triangle, with the diagonal."""
    found = np.tri(n, dtype=bool)
    return found if lower else found.T


def _is_symmetric_throughout(graph: Graph, k: int, known: dict[int, bool]) -> bool:
    """Whether an operand is made item by item of numbers and of constant symmetric matrices, such as distances."""
    if k < 0:
        value = const_value(graph, k)
        return np.size(value) == 1 or (np.ndim(value) > 1 and np.array_equal(value, np.swapaxes(value, -1, -2)))
    found = known.get(k)
    if found is None:
        known[k] = False  # beyond so many, it is not looked for
        primitive, operands, _, aval, _, _ = node_row(graph, k)
        is_real = aval.dtype.kind in "fbiu"
        found = aval.size == 1 or (
            is_real
            and (primitive.kind == UFUNC or primitive.elementwise)
            and len(known) < MOST_NODES
            and all(_is_symmetric_throughout(graph, x, known) for x in operands)
        )
        known[k] = found
    return found


def _depends_alike(a: Any) -> bool:
    """Whether of each pair across the diagonal both items may depend on what is recorded, or none does."""
    if a.shape[-1] > LARGE and not _has_zero_pairs(node_row(graph_of(a), node_of(a))[4]):
        return True
    try:
        found = _Walk(graph_of(a)).of(node_of(a))
    except (_TooFar, RecursionError):
        return True
    return isinstance(found, bool) or np.array_equal(found, np.swapaxes(found, -1, -2))


def _has_zero_pairs(value: Any) -> bool:
    """Whether two items across the diagonal are both zero."""
    if value is None or np.count_nonzero(value) == value.size:
        return False
    zero = np.equal(value, 0)
    zero &= np.swapaxes(zero, -1, -2)
    zero &= ~np.eye(value.shape[-1], dtype=bool)
    return bool(zero.any())


class _Walk:
    """Which items of nodes may depend on inputs, of any recording in the graph.

    What is not known depends on all that it is made of.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.found: dict[int, Dependence] = {}
        self.depth = 0

    def of(self, k: int) -> Dependence:
        """Of the items of an operand."""
        if k < 0:
            return False
        found = self.found.get(k)
        if found is not None:
            return found
        if len(self.found) >= MOST_NODES or self.depth >= DEEPEST:
            raise _TooFar
        self.found[k] = True  # counts this one while its operands are looked at
        self.depth += 1
        found = self._node(k)
        self.depth -= 1
        if not isinstance(found, bool) and (count := np.count_nonzero(found)) in (0, found.size):
            found = bool(count)
        self.found[k] = found
        return found

    def _node(self, k: int) -> Dependence:
        primitive, operands, params, aval, value, _ = node_row(self.graph, k)
        if primitive is prim.INPUT or primitive is prim.IDENTITY:  # an input, or one of a recording within another
            return True
        if not aval.shape and primitive.kind == UFUNC and value:
            return depends_on_inputs(self.graph, k)  # no factor of it is zero
        special = SPECIAL.get(primitive)
        if special is not None:
            return special(self, operands, params, aval)
        if primitive.kind == UFUNC or primitive.elementwise:
            return self.either(operands, aval.shape)
        if primitive.kind in (STRIDED, REDUCE) or primitive is prim.ITEM:
            whole = self.of(operands[0])
            if isinstance(whole, bool):
                return whole
        if primitive.kind == CONCATENATE:
            parts = [
                self.spread(x, y.shape) for x, y in zip(operands, operand_avals(self.graph, operands), strict=True)
            ]
            return np.concatenate(parts, axis=params[0])
        return self._linked(primitive, operands, params, aval)

    def _linked(self, primitive: Any, operands: list[int], params: Any, aval: Any) -> Dependence:
        """By the structure of any other operation."""
        which = 0
        if primitive is prim.RESULT:
            which = params[0]
            primitive, operands, params = node_row(self.graph, operands[0])[:3]
        avals = operand_avals(self.graph, operands)
        values = [self.value(k) for k in operands]
        found = np.zeros(aval.size, bool)
        for k, operand in enumerate(operands):
            if self.of(operand) is not False:
                items = self.spread(operand, avals[k].shape).reshape(-1, 1).astype(np.uint8)
                found |= links(primitive, params, avals, aval, k, values, which).forward(items)[:, 0] != 0
        return found.reshape(aval.shape) if found.any() else False

    def either(self, operands: Sequence[int], shape: tuple[int, ...]) -> Dependence:
        """Item by item, where any operand does."""
        found: Dependence = False
        for k in operands:
            own = self.of(k)
            if own is True:
                return True
            if own is not False:
                found = found | own
        return _whole(found, shape)

    def spread(self, k: int, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Of each item of an operand of some shape."""
        return np.broadcast_to(np.asarray(self.of(k)), shape)

    def value(self, k: int) -> Any:
        """The value of an operand that is constant, else None."""
        if k < 0:
            return const_value(self.graph, k)
        return node_row(self.graph, k)[4] if self.of(k) is False else None

    def nonzero(self, k: int) -> Dependence:
        """Which items of an operand are not known to be zero."""
        own = self.of(k)
        if own is True:
            return True
        value = const_value(self.graph, k) if k < 0 else node_row(self.graph, k)[4]
        if value is None or np.count_nonzero(value) == np.size(value):  # None: recorded without values
            return True
        return np.asarray(np.not_equal(value, 0) if own is False else np.logical_or(np.not_equal(value, 0), own))


def _whole(found: Dependence, shape: tuple[int, ...]) -> Dependence:
    return found if isinstance(found, bool) or found.shape == shape else np.broadcast_to(found, shape)


def _product(walk: _Walk, operands: Sequence[int], params: Any, aval: AbstractValue) -> Dependence:
    """A factor counts where the other is not zero."""
    x, y = operands
    found = _both(walk.of(x), lambda: walk.nonzero(y))
    if found is not True:
        found = found | _both(walk.of(y), lambda: walk.nonzero(x))
    return _whole(found, aval.shape)


def _quotient(walk: _Walk, operands: Sequence[int], params: Any, aval: AbstractValue) -> Dependence:
    x, y = operands
    found = walk.of(x)
    if found is not True:
        found = found | _both(walk.of(y), lambda: walk.nonzero(x))
    return _whole(found, aval.shape)


def _both(x: Dependence, y: Callable[[], Dependence]) -> Dependence:
    return False if x is False else x & y()


def _matrix_product(walk: _Walk, operands: Sequence[int], params: Any, aval: AbstractValue) -> Dependence:
    own = [walk.of(k) for k in operands]
    if own[0] is False and own[1] is False:
        return False
    avals = operand_avals(walk.graph, list(operands))

    def counted(x: Dependence, k: int) -> Any:  # single floats, whose products are those of BLAS
        return np.broadcast_to(np.asarray(x), avals[k].shape).astype(np.float32)

    sums = np.zeros(aval.shape, np.float32)
    if own[0] is not False:
        sums = sums + counted(own[0], 0) @ counted(walk.nonzero(operands[1]), 1)
    if own[1] is not False:
        sums = sums + counted(walk.nonzero(operands[0]), 0) @ counted(own[1], 1)
    return np.asarray(sums > 0)


def _choice(walk: _Walk, operands: Sequence[int], params: Any, aval: AbstractValue) -> Dependence:
    """``where(c, x, 0)``, ``where(c, x, y)``."""
    condition, *chosen = operands
    x, y = (*[walk.of(k) for k in chosen], False)[:2]
    taken = walk.value(condition)
    if taken is not None:
        found = np.where(np.asarray(taken, bool), x, y)
    else:
        found = np.logical_or(np.logical_or(x, y), walk.of(condition))
    return np.broadcast_to(found, aval.shape)


def _gathered(walk: _Walk, operands: Sequence[int], params: Any, aval: AbstractValue) -> Dependence:
    x, places = operands
    own, at = walk.of(x), walk.value(places)
    if isinstance(own, bool):
        return own or walk.of(places) is not False
    return bool(own.any()) if at is None else np.broadcast_to(own.ravel()[np.asarray(at)], aval.shape)


def _assembled(walk: _Walk, operands: Sequence[int], params: Any, aval: AbstractValue) -> Dependence:
    """Zeros, to which items, slices and gathers come."""
    offsets, parts = params
    found = np.zeros(aval.shape, bool)
    flat = found.reshape(-1)
    for at, k in zip(offsets, operands, strict=False):
        if walk.of(k) is not False:
            flat[at] = True
    rest = iter(operands[len(offsets) :])
    for part in parts:
        k = next(rest)
        places = walk.value(next(rest)) if part is None else None
        own = walk.of(k)
        if own is False:
            continue
        if part is not None:  # items of a slice may be the same ones, as those of a broadcast array
            start, shape, strides = part
            size = aval.itemsize
            view = np.ndarray(shape, bool, found, start // size, tuple(s // size for s in strides))
            view[... if own is True else np.broadcast_to(own, shape)] = True
        elif places is not None:
            flat[np.asarray(places)[np.broadcast_to(own, np.shape(places))]] = True
        else:
            flat[:] = True
    return found


SPECIAL: dict[Any, Callable[[_Walk, Sequence[int], Any, AbstractValue], Dependence]] = {
    prim.ASTYPE: lambda walk, operands, params, aval: walk.either(operands, aval.shape),
    prim.MATMUL: _matrix_product,
    prim.MASK: _choice,
    prim.SELECT: _choice,
    prim.GATHER_ITEMS: _gathered,
    prim.ASSEMBLE: _assembled,
    ufunc_primitive(np.multiply): _product,
    ufunc_primitive(np.divide): _quotient,
}
