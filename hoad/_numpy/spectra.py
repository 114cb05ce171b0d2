"""Functions of matrices by eigenvalues or singular values, seen as such when they are recorded.

A sum over functions of eigenvalues, or V f(w) Vᵀ, is smooth where eigenvalues are equal, though the factors are not. So
it becomes an operation on the matrix, for which f is known by its Taylor coefficients at the eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hoad._core.graph.inspect import const_value, node_row
from hoad._core.trace.calls import apply_primitive, has_factors
from hoad._core.trace.traced import graph_of, is_traced, node_of, traced_node
from hoad._numpy.complex import is_complex
from hoad._numpy.registry import operand_at
from hoad._numpy.reordered import Source, operand_and_order, restored
from hoad._numpy.shape import reshape
from hoad._ops import primitives as prim

# The Taylor coefficients 0, ..., DEGREE of a function at each item of an array, along axis 0; given by the layer above.
# A pair, of which the second is that for items that are held; None for a function that has none.
taylor_of: list[Callable[[Callable[[Any], Any], Any, int], tuple[Any, Any] | None]] = []

# Orders 1 to 4 of a derivative of a function of a matrix take so many coefficients; the others serve close eigenvalues.
DEGREE = 14

# How many operations lie between values and a function of them at most, and factors in a product with vectors.
MOST_BETWEEN, MOST_FACTORS = 1000, 8

# The operations whose results may be eigenvalues or singular values, in some order.
OF_VALUES = frozenset({prim.EIGH, prim.RESULT, prim.GETITEM, prim.GATHER_ITEMS})

# ---- what a node is -------------------------------------------------------------------------------------------------


def _values_of(graph: Any, k: int) -> Source | None:
    """The factorisation whose eigenvalues or singular values node k is, in some order."""
    primitive, operands, *_ = node_row(graph, k)
    if primitive is prim.EIGH:
        return Source(k)
    if primitive is prim.RESULT and node_row(graph, k - 1)[0] in prim.SVDS and operands[0] == k - 1:
        return Source(k - 1)
    reordered = operand_and_order(graph, k)
    found = reordered and _values_of(graph, reordered[0])
    return Source(found.node, (reordered[1], *found.orders)) if reordered and found else None


def _depends(graph: Any, k: int, source: Source) -> bool:
    """Whether node k depends on a factorisation."""
    first = source.node
    seen: set[int] = set()
    stack = [k]
    while stack:
        k = stack.pop()
        if k == first:
            return True
        if k > first and k not in seen:
            seen.add(k)
            stack.extend(node_row(graph, k)[1])
    return False


def _core(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without axes of length 1."""
    return tuple(n for n in shape if n != 1)


def _is_uniform(x: Any) -> bool:
    """Whether all items of an array are the same."""
    items = np.ravel(x)
    return bool(np.all(items == items[:1]))


def _between(graph: Any, node: int) -> tuple[int, list[int], bool] | None:
    """The values of a factorisation that a node is made of item by item, and the nodes from these to it, in order.

    And whether one formula without cases leads to each item. None if there are no values, or others; or if something
    that differs between items depends on the factors in another way.
    """
    shape = node_row(graph, node)[3].shape
    core = _core(shape)
    seen: set[int] = set()
    others: list[int] = []
    constants: set[int] = set()  # looked at once there are values
    source, stack, is_one = -1, [node], True
    while stack and len(seen) < MOST_BETWEEN:
        k = stack.pop()
        if k < 0:
            constants.add(k)
            continue
        if k in seen:
            continue
        primitive, operands, _, aval, *_ = node_row(graph, k)
        alike = aval.shape == shape or _core(aval.shape) == core
        if alike and primitive in OF_VALUES and _values_of(graph, k) is not None:
            if source not in (-1, k):
                return None
            source = k
        elif alike and (primitive.elementwise or primitive in (prim.ASTYPE, prim.RESHAPE)):
            stack.extend(operands)
            is_one = is_one and (primitive.analytic or not primitive.elementwise)
        else:
            others.append(k)
            is_one = is_one and aval.size == 1
            continue
        seen.add(k)
    if source < 0 or stack:
        return None
    is_one = is_one and all(_is_uniform(const_value(graph, k)) for k in constants)
    first = _values_of(graph, source)
    assert first is not None
    n = node_row(graph, source)[3].shape[-1]
    if any((n == 1 or node_row(graph, k)[3].size > 1) and _depends(graph, k, first) for k in others):
        return None
    depends = {source}
    for k in sorted(seen):
        if not depends.isdisjoint(node_row(graph, k)[1]):
            depends.add(k)
    return (source, sorted(depends), is_one) if node in depends else None


# ---- functions of values --------------------------------------------------------------------------------------------


class Function(NamedTuple):
    """A function of eigenvalues or singular values, item by item."""

    first: Source
    reference: Any  # Taylor coefficients, (..., DEGREE + 1, n)
    coefficients: Any  # the same where eigenvalues are held
    one: bool  # whether it is one formula for all items, without cases


def _function_of(x: Any) -> Function | None:
    """The function of eigenvalues or singular values that x is item by item; None if it is none."""
    graph, node = graph_of(x), node_of(x)
    found = None if node < 0 else _between(graph, node)  # of a constant
    if found is None:
        return None
    source, between, is_one = found

    def again(w: Any) -> Any:
        made = {source: w}
        for k in between[1:]:
            primitive, operands, params, *_ = node_row(graph, k)
            values = [made[x] if x in made else operand_at(graph, x) for x in operands]
            made[k] = apply_primitive(primitive, params, *values)
        return made[node]

    first, values = _values_of(graph, source), traced_node(graph, source)
    assert first is not None
    if node == source:
        held = apply_primitive(prim.STOP_GRADIENT, None, values)
        reference, known = (restored(graph, first.orders, _rows(x, 1.0)) for x in (values, held))
        return Function(first, reference, known, True)
    expanded = taylor_of[0](again, values, DEGREE)
    if expanded is None:
        return None
    rows = [np.reshape(one, (DEGREE + 1, *values.shape)) for one in expanded] if values.ndim > 1 else expanded
    rows = [np.moveaxis(one, 0, -2) if values.ndim > 1 else one for one in rows]
    reference, known = (restored(graph, first.orders, one) for one in rows)
    return Function(first, reference, known, is_one)


def _rows(value: Any, slope: float) -> Any:
    """The Taylor coefficients of what has this value and slope, and no more."""
    rest = np.zeros((*value.shape[:-1], DEGREE, value.shape[-1]), value.dtype)
    rest[..., 0, :] = slope
    return np.concatenate([value[..., None, :], rest], axis=-2)


def _node_kinds(graph: Any, source: Source) -> tuple[Any, Any, list[Any]]:
    """SPECTRAL or SINGULAR, the matrix, and its factors."""
    first = source.node
    primitive, operands, *_ = node_row(graph, first)
    count = 2 if primitive is prim.EIGH else 3
    kind = prim.SPECTRAL if primitive is prim.EIGH else prim.SINGULAR
    return kind, operand_at(graph, operands[0]), [traced_node(graph, first + j) for j in range(count)]


def total(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes of what is made of the factors of a matrix, as that of a function of the matrix; or None.

    Of a function of eigenvalues or singular values, along the last axis; or of one times two vectors of coordinates.
    """
    if not has_factors(x) or x.ndim == 0 or x.dtype.kind != "f":
        return None
    graph, node = graph_of(x), node_of(x)
    if node < 0:  # a constant
        return None
    if axes[-1] == x.ndim - 1 and (found := _function_of(x)) is not None:
        kind, matrix, factors = _node_kinds(graph, found.first)
        if x.shape != matrix.shape[:-2] + x.shape[-1:] or x.shape[-1] != factors[-2].shape[-1]:
            return None
        part = apply_primitive(
            prim.SUM_OF[kind], (found.one,), matrix, x, found.reference, found.coefficients, *factors
        )
        return np.sum(part, axis=axes[:-1]) if len(axes) > 1 else part
    primitive, operands, *_ = node_row(graph, node)
    if primitive in (prim.ADD, prim.SUBTRACT):
        left, right = (operand_at(graph, k) for k in operands)
        if all(is_traced(y) and y.shape == x.shape for y in (left, right)):
            if any(_product(graph, node_of(y)).coordinates for y in (left, right)):
                parts = np.sum(left, axis=axes), np.sum(right, axis=axes)
                return parts[0] + parts[1] if primitive is prim.ADD else parts[0] - parts[1]
        return None
    product = _product(graph, node)
    if len(product.coordinates) != 2:
        return None
    y, z = product.coordinates
    if y.first != z.first or y.as_rows != z.as_rows or x.ndim > 2:
        return None
    if (x.ndim - 1 if y.as_rows else 0) not in axes:
        return None
    f = _matrix_of(graph, y.first, y.side, z.side, product.weight)
    if f is None:
        return None
    other = np.matmul(z.base, np.swapaxes(f, -1, -2)) if y.as_rows and x.ndim > 1 else np.matmul(f, z.base)
    return np.sum(y.base * other, axis=axes)


def determinant(x: Any) -> Any:
    """The product over the last axis of a function of eigenvalues: the determinant of that of the matrix. Or None."""
    if not has_factors(x) or x.ndim == 0 or x.dtype.kind != "f":
        return None
    found = _function_of(x)
    if found is None or node_row(graph_of(x), found.first.node)[0] is not prim.EIGH:
        return None
    f = _matrix_of(graph_of(x), found.first, "both", "both", x)
    return None if f is None else np.real(np.linalg.det(f))


# ---- products with vectors ------------------------------------------------------------------------------------------


class Factor(NamedTuple):
    """Singular vectors or eigenvectors as columns, each times a real weight; or (`turned`) the transpose of that."""

    first: Source
    side: str  # "left", "right", or "both" for eigenvectors
    weight: Any  # None for ones
    turned: bool
    conjugated: bool = False  # of complex ones


class Coordinates(NamedTuple):
    """Those of the columns of `base` in the basis of eigenvectors or singular vectors; (`as_rows`) of its rows."""

    first: Source
    side: str
    base: Any
    as_rows: bool


class Product(NamedTuple):
    """Coordinates, times each other, times a weight for each eigenvector."""

    weight: Any
    coordinates: tuple[Coordinates, ...]


def _scaled(a: Any, b: Any, divided: bool = False) -> Any:
    """The product of two weights, of which None is 1."""
    if b is None:
        return a
    if a is None:
        return 1.0 / b if divided else b
    return a / b if divided else a * b


def _factor(graph: Any, k: int, most: int = MOST_FACTORS) -> Factor | None:
    if k < 0 or not most:
        return None
    primitive, operands, params, aval, *_ = node_row(graph, k)
    if primitive in prim.SVDS:
        return Factor(Source(k), "left", None, False)
    if primitive is prim.RESULT:
        of = node_row(graph, operands[0])[0]
        if of is prim.EIGH and params[0] == 1:
            return Factor(Source(operands[0]), "both", None, False)
        is_right = of in prim.SVDS and params[0] == 2
        return Factor(Source(operands[0]), "right", None, True, aval.is_complex) if is_right else None
    if primitive is prim.CONJUGATE:
        found = _factor(graph, operands[0], most - 1)
        return found and found._replace(conjugated=not found.conjugated)
    last_two = (*range(aval.ndim - 2), aval.ndim - 1, aval.ndim - 2)
    if primitive is prim.TRANSPOSE and aval.ndim > 1 and tuple(params[0]) == last_two:
        found = _factor(graph, operands[0], most - 1)
        return found and found._replace(turned=not found.turned)
    if (reordered := operand_and_order(graph, k)) is not None:
        found = _factor(graph, reordered[0], most - 1)
        if found is None or found.turned or found.weight is not None:
            return None
        return found._replace(first=Source(found.first.node, (reordered[1], *found.first.orders)))
    if primitive in (prim.MULTIPLY, prim.DIVIDE):
        pairs = [operands] if primitive is prim.DIVIDE else [operands, operands[::-1]]
        for one, other in pairs:
            if (found := _factor(graph, one, most - 1)) is not None:
                weight = _weight(graph, other, aval, -2 if found.turned else -1)
                if weight is None:
                    return None
                return found._replace(weight=_scaled(found.weight, weight, primitive is prim.DIVIDE))
    if primitive is prim.MATMUL and aval.ndim == 2:
        found, diagonal = _factor(graph, operands[0], most - 1), _diagonal_of(graph, operands[1])
        if found is not None and not found.turned and diagonal is not None:
            return found._replace(weight=_scaled(found.weight, diagonal))
    return None


def _diagonal_of(graph: Any, k: int) -> Any:
    """The vector that a diagonal matrix was made of; None for another matrix."""
    k = _real_part_of(graph, k)
    if k < 0:
        return None
    primitive, operands, params, aval, *_ = node_row(graph, k)
    if primitive is not prim.ASSEMBLE or aval.ndim != 2 or len(operands) != 1 or len(params[0]):
        return None
    n = aval.shape[0]
    at_diagonal = (0, (n,), ((n + 1) * aval.dtype.itemsize,))
    return operand_at(graph, operands[0]) if aval.shape == (n, n) and tuple(params[1]) == (at_diagonal,) else None


def _real_part_of(graph: Any, k: int) -> int:
    """The real operand that became a complex one beside others; else the operand itself."""
    if k < 0:
        return k
    primitive, operands, *_ = node_row(graph, k)
    if primitive is not prim.COMPOSE or operands[1] >= 0 or np.any(const_value(graph, operands[1])):
        return k
    real: int = operands[0]
    return real


def _weight(graph: Any, k: int, whole: Any, axis: int) -> Any:
    """A real factor that differs along one axis of the whole alone, as an array with that axis last; else None."""
    k = _real_part_of(graph, k)
    value = operand_at(graph, k)
    if np.iscomplexobj(value):
        if k < 0:
            value = value if np.any(np.imag(value)) else np.real(value)
        elif node_row(graph, k)[0] is prim.RESHAPE:
            real = operand_at(graph, _real_part_of(graph, node_row(graph, k)[1][0]))
            value = reshape(real, value.shape)
            k = node_of(value)
        if np.iscomplexobj(value):
            return None
    shape = np.shape(value)
    if shape == ():
        return value
    full = (1,) * (len(whole.shape) - len(shape)) + shape
    rest = full[:axis] + full[axis:][1:]
    lead = whole.shape[: len(whole.shape) - 2] if len(whole.shape) > 1 else ()
    inner = rest[len(lead) :]
    if full[axis] != whole.shape[axis] or any(n != 1 for n in inner):
        return None
    if k >= 0 and node_row(graph, k)[0] is prim.RESHAPE:
        before = operand_at(graph, node_row(graph, k)[1][0])
        if np.shape(before) == (*full[: len(lead)], full[axis]):
            return before
    return value if len(shape) == 1 else np.reshape(value, (*full[: len(lead)], full[axis]))


def _product(graph: Any, k: int, most: int = MOST_FACTORS) -> Product:
    """What a node is a product of; of no coordinates if of none that are seen."""
    nothing = Product(None, ())
    if k < 0 or not most:
        return nothing
    primitive, operands, _, aval, *_ = node_row(graph, k)
    if aval.ndim not in (1, 2):
        return nothing
    if primitive is prim.MATMUL:
        left, right = (_factor(graph, x) for x in operands)
        if left is not None and left.turned and right is None:
            return Product(left.weight, (Coordinates(left.first, left.side, operand_at(graph, operands[1]), False),))
        if right is not None and not right.turned and left is None:
            return Product(right.weight, (Coordinates(right.first, right.side, operand_at(graph, operands[0]), True),))
        return nothing
    if primitive is prim.NEGATIVE:
        found = _product(graph, operands[0], most - 1)
        return found._replace(weight=_scaled(found.weight, -1.0))
    squared = primitive is prim.SQUARE or (
        primitive is prim.POWER and operands[1] < 0 and np.all(const_value(graph, operands[1]) == 2.0)
    )
    if squared:
        found = _product(graph, operands[0], most - 1)
        return Product(_scaled(found.weight, found.weight), 2 * found.coordinates)
    if primitive not in (prim.MULTIPLY, prim.DIVIDE):
        return nothing
    divided = primitive is prim.DIVIDE
    left_product, right_product = (_product(graph, x, most - 1) for x in operands)
    if left_product.coordinates and right_product.coordinates:
        if divided:
            return nothing
        both = (*left_product.coordinates, *right_product.coordinates)
        return Product(_scaled(left_product.weight, right_product.weight), both)
    if divided and right_product.coordinates:
        return nothing
    found, other = (left_product, operands[1]) if left_product.coordinates else (right_product, operands[0])
    if not found.coordinates:
        return nothing
    weight = _weight(graph, other, aval, -1 if aval.ndim == 1 or found.coordinates[0].as_rows else -2)
    return nothing if weight is None else found._replace(weight=_scaled(found.weight, weight, divided))


def _matrix_of(graph: Any, first: Source, left: str, right: str, weight: Any) -> Any:
    """Vectors of the left side, times weights, times the transpose of those of the right side; or None."""
    if left == right != "both":
        return None
    kind, matrix, factors = _node_kinds(graph, first)
    values = factors[0] if kind is prim.SPECTRAL else factors[1]
    if weight is None or np.ndim(weight) == 0:
        weight = np.ones(values.shape, values.dtype) * (1.0 if weight is None else weight)
    if weight.shape != values.shape or weight.dtype != values.dtype:
        return None
    found = _function_of(weight) if is_traced(weight) else None
    if found is None:
        if is_traced(weight) and _depends(graph, node_of(weight), first):
            return None
        known = restored(graph, first.orders, _rows(weight, 0.0))
        found = Function(first, known, known, False)
    if found.first != first:
        return None
    weight, known = restored(graph, first.orders, weight), (found.reference, found.coefficients)
    f = apply_primitive(prim.PRODUCT_OF[kind], (found.one,), matrix, weight, *known, *factors)
    if left != "right":
        return f
    f = np.swapaxes(f, -1, -2)
    return np.conj(f) if is_complex(f) else f


def multiplied(a: Any, b: Any) -> Any:
    """The product of two arrays, if it is that of a function of a matrix; else None."""
    if not (has_factors(a) and is_traced(b)) or a.dtype.kind not in "fc":
        return None
    graph, nodes = graph_of(a), (node_of(a), node_of(b))
    left, right = (_factor(graph, k) for k in nodes)
    if left is not None and right is not None:
        if left.first != right.first or left.turned or not right.turned:
            return None
        if is_complex(a) and left.conjugated == right.conjugated:
            return None
        f = _matrix_of(graph, left.first, left.side, right.side, _scaled(left.weight, right.weight))
        return np.conj(f) if left.conjugated and f is not None else f
    if is_complex(a):
        return None
    before, behind = (_product(graph, k) for k in nodes)
    if left is not None and not left.turned and len(behind.coordinates) == 1:
        (y,) = behind.coordinates
        if y.first != left.first or (y.as_rows and b.ndim > 1):
            return None
        f = _matrix_of(graph, y.first, left.side, y.side, _scaled(left.weight, behind.weight))
        return None if f is None else np.matmul(f, y.base)
    if right is not None and right.turned and len(before.coordinates) == 1:
        (y,) = before.coordinates
        if y.first != right.first or not (y.as_rows or a.ndim == 1):
            return None
        f = _matrix_of(graph, y.first, y.side, right.side, _scaled(before.weight, right.weight))
        return None if f is None else np.matmul(y.base, f)
    if len(before.coordinates) == len(behind.coordinates) == 1:
        (y,), (z,) = before.coordinates, behind.coordinates
        if y.first != z.first or not (y.as_rows or a.ndim == 1) or (z.as_rows and b.ndim > 1):
            return None
        f = _matrix_of(graph, y.first, y.side, z.side, _scaled(before.weight, behind.weight))
        return None if f is None else np.matmul(y.base, np.matmul(f, z.base))
    if a.ndim == b.ndim == 1 and any(_between(graph, k) is not None for k in nodes):
        return total(a * b, (0,))
    return None
