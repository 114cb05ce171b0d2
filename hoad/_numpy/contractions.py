"""Sums of products over indices: einsum, and the products that it generalises.

Each becomes products of stacks of matrices, which BLAS computes and every mode knows; a repeated index is a view of a
diagonal.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.tape import intern_aval
from hoad._core.ops.plan import contiguous_strides
from hoad._core.trace.calls import apply_assembly, apply_primitive, are_matrices
from hoad._core.trace.memory_order import is_in_order, order_for, with_order, with_unknown_order
from hoad._core.trace.traced import Array, is_traced
from hoad._numpy.complex import conjugate
from hoad._numpy.creation import stack
from hoad._numpy.products import float_product, matmul, without_sparse
from hoad._numpy.reductions import sum
from hoad._numpy.registry import FLOAT64, as_traced, implements, normal_axis, only_defaults
from hoad._numpy.shape import moveaxis, ravel, reshape, transpose
from hoad._ops import primitives as prim
from hoad.errors import ShapeError

# Symbols of einsum, as numbers: letters by their codes, and those that an ellipsis stands for.
Subscripts = tuple[int, ...]
Shape = tuple[int, ...]
Step = Callable[..., Any]  # (parameters, *operands)
ELLIPSIS = -1


# ---- einsum ---------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _letters(text: str) -> Subscripts:
    """'a...b' as numbers."""
    text = text.replace(" ", "")
    if text.count("...") > 1 or "." in text.replace("...", ""):
        raise ValueError(f"einsum subscripts {text!r} contain a '.' that is not part of one ellipsis")
    found: list[int] = []
    for part in text.partition("..."):
        if part == "...":
            found.append(ELLIPSIS)
        else:
            if not all(letter.isascii() and letter.isalpha() for letter in part):
                raise ValueError(f"einsum subscripts {text!r} must be letters")
            found.extend(map(ord, part))
    return tuple(found)


def _sublist(items: Sequence[Any]) -> Subscripts:
    return tuple(ELLIPSIS if item is Ellipsis else _code(int(item)) for item in items)


def _code(number: int) -> int:
    """The letter that NumPy takes for a number in a sublist: A to Z, then a to z."""
    if not 0 <= number < 52:
        raise ValueError(f"einsum subscripts must be between 0 and 51, not {number}")
    return ord("A") + number if number < 26 else ord("a") + number - 26


@functools.lru_cache(maxsize=256)
def _of_text(text: str) -> tuple[tuple[Subscripts, ...], Subscripts | None]:
    """The subscripts of each operand, and those of the result if given."""
    left, arrow, right = text.partition("->")
    return tuple([_letters(part) for part in left.split(",")]), _letters(right) if arrow else None


def _parse(operands: tuple[Any, ...]) -> tuple[tuple[Subscripts, ...], Subscripts | None, list[Any]]:
    """The same, and the operands."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        return *_of_text(operands[0]), list(operands[1:])
    pairs = len(operands) // 2
    output = _sublist(operands[-1]) if len(operands) % 2 else None
    return tuple([_sublist(operands[2 * k + 1]) for k in range(pairs)]), output, list(operands[0 : 2 * pairs : 2])


def _expand(subscripts: Subscripts, ndim: int, longest: int) -> Subscripts:
    """The ellipsis as numbers below -1, aligned on the right."""
    if ELLIPSIS not in subscripts:
        return subscripts
    place = subscripts.index(ELLIPSIS)
    count = ndim - (len(subscripts) - 1)
    broadcast = tuple(-2 - (longest - count + k) for k in range(count))
    return (*subscripts[:place], *broadcast, *subscripts[place + 1 :])


def _operands(operands: tuple[Any, ...]) -> tuple[tuple[Subscripts, ...], Subscripts | None, list[Any]]:
    """The same, with operands that are traced or arrays."""
    inputs, output, arrays = _parse(operands)
    if len(arrays) != len(inputs):
        raise ValueError(f"einsum has subscripts for {len(inputs)} operands, but {len(arrays)} were given")
    return inputs, output, [as_traced(x) for x in arrays]


def normal_subscripts(operands: tuple[Any, ...]) -> tuple[tuple[Subscripts, ...], Subscripts, list[Any]]:
    """Subscripts without ellipses, one for each axis; those of the result are explicit."""
    inputs, output, parts = _operands(operands)
    return *_explicit(inputs, output, tuple([x.shape for x in parts])), parts


@functools.lru_cache(maxsize=256)
def _explicit(
    inputs: tuple[Subscripts, ...], output: Subscripts | None, shapes: tuple[Shape, ...]
) -> tuple[tuple[Subscripts, ...], Subscripts]:
    longest = 0
    for shape, subscripts in zip(shapes, inputs, strict=True):
        spare = len(shape) - (len(subscripts) - (ELLIPSIS in subscripts))
        if spare < 0 or (spare and ELLIPSIS not in subscripts):
            raise ShapeError(
                f"einsum: an operand of shape {shape} does not fit its {len(subscripts)} subscripts ({here()})."
            )
        longest = max(longest, spare)
    flat = tuple([_expand(s, len(shape), longest) for s, shape in zip(inputs, shapes, strict=True)])
    broadcast = tuple(-2 - k for k in range(longest))
    if output is None:
        every = [s for subscripts in flat for s in subscripts if s >= 0]
        return flat, (*broadcast, *sorted(s for s in set(every) if every.count(s) == 1))
    if longest and ELLIPSIS not in output:
        raise ValueError(
            f"einsum: the result has no '...', but that of an operand covers axes ({here()}). Sum over them with "
            "np.sum."
        )
    output = _expand(output, longest + len(output) - (ELLIPSIS in output), longest)
    if len(set(output)) < len(output):
        raise ValueError("einsum: a subscript of the result appears more than once")
    unknown = set(output) - {s for subscripts in flat for s in subscripts} - set(broadcast)
    if unknown:
        raise ValueError(f"einsum: the result has subscripts {[chr(s) for s in unknown]} that no operand has")
    return flat, output


def _sizes(inputs: Sequence[Subscripts], shapes: Sequence[Shape]) -> dict[int, int]:
    """The length of each index; 1 is stretched to what others have."""
    sizes: dict[int, int] = {}
    for subscripts, shape in zip(inputs, shapes, strict=True):
        for s, n in zip(subscripts, shape, strict=True):
            known = sizes.get(s, 1)
            if n != known and 1 not in (n, known):
                raise ShapeError(f"einsum: one subscript is used for axes of length {known} and {n} ({here()}).")
            sizes[s] = known if n == 1 else n
    return sizes


class _Plan:
    """What is done with operands of some shapes, noted once: each step gives one array more, all by their numbers."""

    def __init__(self, inputs: Sequence[Subscripts], output: Subscripts, shapes: Sequence[Shape], optimize: Any):
        self.shapes = [tuple(shape) for shape in shapes]
        self.steps: list[tuple[Step, Any, tuple[int, ...]]] = []
        self.sizes = _sizes(inputs, shapes)
        terms = [self._without_repeats(x, subscripts) for x, subscripts in enumerate(inputs)]
        for step in _steps([(self.shapes[x], s) for x, s in terms], output, optimize):
            chosen = [terms[k] for k in step]
            terms = [term for k, term in enumerate(terms) if k not in step]
            keep = set(output).union(*[s for _, s in terms])
            made, subscripts = chosen[0]
            for k, (y, b) in enumerate(chosen[1:], 2):
                needed = keep.union(*[s for _, s in chosen[k:]])
                made, subscripts = self._product(made, subscripts, y, b, needed)
            terms.append(self._summed(made, subscripts, keep))
        ((made, subscripts),) = terms
        missing = [s for s in output if s not in subscripts]
        made = self._arranged(made, subscripts, [s for s in output if s in subscripts])
        if missing:  # of length 1, or an ellipsis of nothing
            made = self._reshaped(made, tuple(1 if s in missing else self.sizes[s] for s in output))
        self.result = made

    def of(self, operands: Sequence[Any]) -> Any:
        """The result."""
        values = list(operands)
        for step, params, numbers in self.steps:
            values.append(step(params, *[values[k] for k in numbers]))
        return values[self.result]

    def _add(self, step: Step, params: Any, shape: Shape, *numbers: int) -> int:
        self.steps.append((step, params, numbers))
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def _reshaped(self, x: int, shape: Shape) -> int:
        return x if shape == self.shapes[x] else self._add(_reshape, shape, shape, x)

    def _among(self, order: Sequence[int], subscripts: Subscripts) -> Shape:
        """The shape of an operand that meets others in an order of the subscripts."""
        first = min([k for k, s in enumerate(order) if s in subscripts], default=len(order))
        return tuple(self.sizes[s] if s in subscripts else 1 for s in order[first:])

    def _without_repeats(self, x: int, subscripts: Subscripts) -> tuple[int, Subscripts]:
        """Diagonals along repeated subscripts; axes of length 1 that others stretch are dropped."""
        shape, sizes = self.shapes[x], self.sizes
        kept = tuple(dict.fromkeys(subscripts))
        groups = [[d for d, s in enumerate(subscripts) if s == k and shape[d] == sizes[k]] for k in kept]
        if any(len(group) != subscripts.count(k) for group, k in zip(groups, kept, strict=True)):
            stretched = [k for k, group in zip(kept, groups, strict=True) if not group]
            left = [d for d, s in enumerate(subscripts) if s not in stretched and shape[d] == sizes[s]]
            x = self._reshaped(x, tuple(shape[d] for d in left))
            return self._without_repeats(x, tuple(subscripts[d] for d in left))
        if len(kept) == len(subscripts):
            return x, kept
        own = contiguous_strides(shape)
        strides = tuple(int(np.sum([own[d] for d in group])) for group in groups)
        shape = tuple(shape[group[0]] for group in groups)
        return self._add(_getitem, (shape, strides, 0), shape, x), kept

    def _summed(self, x: int, subscripts: Subscripts, keep: set[int]) -> tuple[int, Subscripts]:
        """x summed over what nothing else needs."""
        axes = tuple(d for d, s in enumerate(subscripts) if s not in keep)
        if not axes:
            return x, subscripts
        shape = tuple(n for d, n in enumerate(self.shapes[x]) if d not in axes)
        return self._add(_sum, axes, shape, x), tuple(s for s in subscripts if s in keep)

    def _arranged(self, x: int, subscripts: Subscripts, order: Sequence[int]) -> int:
        """Axes in the order of `order`."""
        if tuple(order) == subscripts:
            return x
        axes = tuple(subscripts.index(s) for s in order)
        return self._add(_transpose, axes, tuple(self.shapes[x][d] for d in axes), x)

    def _product(self, x: int, a: Subscripts, y: int, b: Subscripts, keep: set[int]) -> tuple[int, Subscripts]:
        """Two operands contracted over what they share and nothing else needs."""
        sizes = self.sizes
        x, a = self._summed(x, a, keep | set(b))
        y, b = self._summed(y, b, keep | set(a))
        shared = [s for s in a if s in b]
        stack = [s for s in shared if s in keep]
        inner = [s for s in shared if s not in keep]
        rows = [s for s in a if s not in b]
        columns = [s for s in b if s not in a]
        if not inner or (stack and not rows and not columns):
            order = [*stack, *rows, *columns, *inner]
            left, right = (
                self._reshaped(self._arranged(z, of, [s for s in order if s in of]), self._among(order, of))
                for z, of in ((x, a), (y, b))
            )
            found = self._add(_multiply, None, tuple(sizes[s] for s in order), left, right)
            return self._summed(found, tuple(order), set(order).difference(inner))

        def count(indices: Sequence[int]) -> int:
            return math.prod(sizes[s] for s in indices)

        outer = tuple(sizes[s] for s in stack)
        left = self._arranged(x, a, [*stack, *rows, *inner])
        right = self._arranged(y, b, [*stack, *inner, *columns])
        left = self._reshaped(left, (*outer, count(rows), count(inner)) if rows or stack else (count(inner),))
        right = self._reshaped(right, (*outer, count(inner), count(columns)) if columns or stack else (count(inner),))
        before = (*outer, count(rows)) if rows or stack else ()
        found = self._add(_matmul, None, before + ((count(columns),) if columns or stack else ()), left, right)
        return self._reshaped(found, tuple(sizes[s] for s in (*stack, *rows, *columns))), (*stack, *rows, *columns)


def _reshape(shape: Shape, x: Any) -> Any:
    return apply_primitive(prim.RESHAPE, (shape,), x) if shape and type(x) is Array else reshape(x, shape)


def _transpose(order: tuple[int, ...], x: Any) -> Any:
    return apply_primitive(prim.TRANSPOSE, (order,), x) if type(x) is Array else transpose(x, order)


def _getitem(params: Any, x: Any) -> Any:
    return apply_primitive(prim.GETITEM, params, x)


def _sum(axes: tuple[int, ...], x: Any) -> Any:
    return sum(x, axes)


def _multiply(params: None, x: Any, y: Any) -> Any:
    return x * y


def _matmul(params: None, x: Any, y: Any) -> Any:
    return matmul(x, y)


@functools.lru_cache(maxsize=256)
def _plan(inputs: tuple[Subscripts, ...], output: Subscripts, shapes: tuple[Shape, ...], optimize: Any = True) -> _Plan:
    return _Plan(inputs, output, shapes, optimize)


def _search(subscripts: tuple[Subscripts, ...], output: Subscripts, shapes: tuple[Any, ...], how: Any) -> list[Any]:
    """NumPy's own search for the order of contractions."""
    names = sorted({s for part in subscripts for s in part})
    given: list[Any] = []
    for part, shape in zip(subscripts, shapes, strict=True):
        given += [np.broadcast_to(np.empty((), np.float64), shape), [names.index(s) for s in part]]
    path, _ = np.einsum_path(*given, [names.index(s) for s in output], optimize=how)
    return path[1:]


def _steps(terms: list[tuple[Shape, Subscripts]], output: Subscripts, optimize: Any) -> list[tuple[int, ...]]:
    """Which operands to contract, step by step."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    if isinstance(optimize, tuple) and optimize and optimize[0] == "einsum_path":
        path: Any = optimize[1:]
    else:
        how = "greedy" if isinstance(optimize, bool) else optimize
        path = _search(tuple(s for _, s in terms), output, tuple(shape for shape, _ in terms), how)
    return [tuple(sorted(step)) for step in path]


@implements(np.einsum)
@without_sparse("np.einsum")
def einsum(
    *operands: Any, out: Any = None, optimize: Any = True, dtype: Any = None, order: str = "K", casting: str = "safe"
) -> Any:
    """Products of two operands at a time; the dtype is that of their product."""
    if out is not None or dtype is not None:
        only_defaults("einsum", out=out, dtype=dtype)
    inputs, output, parts = _operands(operands)
    kind = FLOAT64 if all(x.dtype is FLOAT64 for x in parts) else np.result_type(*[x.dtype for x in parts])
    if kind is not FLOAT64:  # a sum of booleans says whether any product is true
        counted = np.dtype(np.intp) if kind.kind == "b" else kind
        parts = [x.astype(counted, copy=False) for x in parts]
    how = tuple(tuple(x) if isinstance(x, list) else x for x in optimize) if isinstance(optimize, list) else optimize
    plan, has_order, laid_out = _contraction(inputs, output, tuple([x.shape for x in parts]), how)
    made = plan.of(parts)
    made = np.not_equal(made, 0) if kind.kind == "b" else made
    if not has_order:
        return made
    return with_order(made, laid_out) if all(map(is_in_order, parts)) else with_unknown_order(made)


@functools.lru_cache(maxsize=256)
def _contraction(
    inputs: tuple[Subscripts, ...], output: Subscripts | None, shapes: tuple[Shape, ...], optimize: Any
) -> tuple[_Plan, bool, Any]:
    """What is done, whether the result has axes that can be ordered, and how NumPy orders them in memory."""
    inputs, output = _explicit(inputs, output, shapes)
    plan = _plan(inputs, output, shapes, optimize)
    if len(output) < 2 or plan.shapes[plan.result].count(1) >= len(output) - 1:
        return plan, False, None
    return plan, True, _order_in_memory(inputs, output, tuple([tuple([min(n, 2) for n in shape]) for shape in shapes]))


@functools.lru_cache(maxsize=256)
def _summed_axes(text: str, ndim: int) -> tuple[int, ...] | None:
    """The axes of one operand that subscripts ask to sum over, if that is all they ask for."""
    given, arrow, output = text.replace(" ", "").partition("->")
    if not arrow or not given.isalpha() or len(set(given)) != ndim or len(given) != ndim:
        return None
    kept = [letter for letter in given if letter in output]
    return tuple(d for d, letter in enumerate(given) if letter not in output) if kept == list(output) else None


def sum_of_one(operands: tuple[Any, ...]) -> Any:
    """The result of einsum where it is a sum of one array of float64 over some axes; None for anything else."""
    if len(operands) != 2 or type(operands[0]) is not str or type(operands[1]) is not Array:
        return None
    text, x = operands
    axes = _summed_axes(text, x.ndim) if x.dtype is FLOAT64 else None
    return sum(x, axes) if axes and is_in_order(x) else None


@functools.lru_cache(maxsize=256)
def _is_matmul(text: str, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether subscripts of two operands of these shapes ask for what ``@`` gives of them as they are."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    a, _, b = inputs.partition(",")
    if not arrow or not (a + b + output).isalpha() or (len(a), len(b)) != (len(left), len(right)):
        return False
    if not (1 <= len(a) <= 2 and 1 <= len(b) <= 2) or a[-1] != b[0] or left[-1] != right[0]:
        return False
    free = a[:-1] + b[1:]
    return output == free and len(set(a[-1] + free)) == 1 + len(free)


def matrix_product(operands: tuple[Any, ...]) -> Any:
    """The result of einsum where it is a product of matrices or vectors of float64; None for anything else."""
    if len(operands) != 3 or type(operands[0]) is not str:
        return None
    text, x, y = operands
    if not are_matrices(x, y) or not _is_matmul(text, x.shape, y.shape):
        return None
    made = float_product(x, y)
    if made.ndim == 2 and not (_lies_as_in_c(x) and _lies_as_in_c(y)):
        return with_unknown_order(made)
    return made


def _lies_as_in_c(x: Any) -> bool:
    return is_in_order(x) if type(x) is Array else x.flags.c_contiguous


def _order_in_memory(inputs: tuple[Subscripts, ...], output: Subscripts, shapes: tuple[Shape, ...]) -> Any:
    """How NumPy lays out the result: asked of a product of small arrays."""
    letters = {s: k for k, s in enumerate(dict.fromkeys(s for subscripts in inputs for s in subscripts))}
    pairs = zip(shapes, inputs, strict=True)
    of_each = [y for n, subscripts in pairs for y in (np.zeros(n), [letters[s] for s in subscripts])]
    product: Any = np.einsum
    return order_for(product(*of_each, [letters[s] for s in output if s in letters]), "K")


# ---- tensor products ------------------------------------------------------------------------------------------------


@implements(np.tensordot, np.linalg.tensordot)
@without_sparse("np.tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = as_traced(a), as_traced(b)
    if type(axes) is int and axes == 1 and are_matrices(a, b) and a.shape[-1] == b.shape[0]:
        return matmul(a, b)
    if isinstance(axes, (int, np.integer)):
        sides: list[list[Any]] = [list(range(a.ndim - int(axes), a.ndim)), list(range(int(axes)))]
    else:
        sides = [[side] if isinstance(side, (int, np.integer)) else list(side) for side in axes]
    left, right = ([normal_axis(d, x.ndim) for d in side] for side, x in zip(sides, (a, b), strict=True))
    if [a.shape[d] for d in left] != [b.shape[d] for d in right]:
        raise ShapeError(f"tensordot: axes {axes} of shapes {a.shape} and {b.shape} do not fit ({here()}).")
    symbols = [*range(a.ndim)]
    others = [a.ndim + d for d in range(b.ndim)]
    for i, j in zip(left, right, strict=True):
        others[j] = symbols[i]
    kept = (*[s for s in symbols if s not in others], *[s for s in others if s >= a.ndim])
    if a.dtype != b.dtype:
        dtype = np.result_type(a.dtype, b.dtype)
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    made = _plan((tuple(symbols), tuple(others)), kept, (a.shape, b.shape)).of((a, b))
    return with_order(made, None) if is_traced(made) and made.ndim > 1 else made  # as in C, which a product need not be


@implements(np.inner)
@without_sparse("np.inner")
def inner(a: Any, b: Any, /) -> Any:
    a, b = as_traced(a), as_traced(b)
    if a.ndim == b.ndim == 1 and a.shape == b.shape:
        return matmul(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    return tensordot(a, b, (-1, -1))


@implements(np.vdot)
@without_sparse("np.vdot")
def vdot(a: Any, b: Any, /) -> Any:
    a, b = as_traced(a), as_traced(b)
    a = conjugate(a)
    return matmul(a if a.ndim == 1 else ravel(a), b if b.ndim == 1 else ravel(b))


@implements(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    x1, x2 = as_traced(x1), as_traced(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {x1.ndim=} and {x2.ndim=}.")
    return reshape(x1, (-1, 1)) * x2


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    a, b = as_traced(a), as_traced(b)
    ndim = max(a.ndim, b.ndim)
    rows = (1,) * (ndim - a.ndim) + tuple(a.shape)
    columns = (1,) * (ndim - b.ndim) + tuple(b.shape)
    left = reshape(a, tuple(n for m in rows for n in (m, 1)))
    right = reshape(b, tuple(n for m in columns for n in (1, m)))
    return reshape(left * right, tuple(m * n for m, n in zip(rows, columns, strict=True)))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, **options: Any) -> Any:
    only_defaults("vecdot", **options)
    x1, x2 = conjugate(as_traced(x1)), as_traced(x2)
    if axis != -1:
        x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    if not x1.ndim or not x2.ndim or x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"vecdot of shapes {x1.shape} and {x2.shape}: the vectors differ in length ({here()}).")
    if x1.ndim == x2.ndim == 1:
        return matmul(x1, x2)
    products = x1 * x2
    found = sum(products, -1)
    return np.not_equal(found, 0) if products.dtype == bool else found


def matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    only_defaults("matvec", **options)
    x1, x2 = as_traced(x1), as_traced(x2)
    if x2.ndim == 1:
        return matmul(x1, x2)
    return matmul(x1, reshape(x2, (*x2.shape, 1)))[..., 0]


def vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    only_defaults("vecmat", **options)
    x1, x2 = conjugate(as_traced(x1)), as_traced(x2)
    if x1.ndim == 1:
        return matmul(x1, x2)
    return matmul(reshape(x1, (*x1.shape[:-1], 1, x1.shape[-1])), x2)[..., 0, :]


for _name, _implementation in (("vecdot", vecdot), ("matvec", matvec), ("vecmat", vecmat)):
    if hasattr(np, _name):  # vecdot came with NumPy 2.0, the others with 2.2
        implements(getattr(np, _name))(_implementation)
implements(np.linalg.vecdot)(vecdot)


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_traced(a), as_traced(b)
    a, b = moveaxis(a, axisa, 0), moveaxis(b, axisb, 0)
    if len(a) not in (2, 3) or len(b) not in (2, 3):
        raise ShapeError(f"np.cross needs vectors of three items, but found {a.shape[0]} and {b.shape[0]} ({here()}).")
    if len(a) == len(b) == 2:
        return with_order(a[0] * b[1] - a[1] * b[0], None)
    x, y, z = (a[0], a[1], a[2] if len(a) == 3 else 0.0)
    u, v, w = (b[0], b[1], b[2] if len(b) == 3 else 0.0)
    made = stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)
    return made if axisc == -1 else np.moveaxis(made, -1, axisc)  # a view, as NumPy's


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = as_traced(x1), as_traced(x2)
    lengths = x1.shape[axis], x2.shape[axis]
    if lengths != (3, 3):
        raise ShapeError(
            f"np.linalg.cross needs vectors of three items, but found {lengths[0]} and {lengths[1]} ({here()})."
        )
    return cross(x1, x2, axis=axis)


# ---- diagonals ------------------------------------------------------------------------------------------------------


@implements(np.diagonal, method="diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    a = as_traced(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    row, column = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    if row == column:
        raise ValueError("axis1 and axis2 cannot be the same")
    own = contiguous_strides(a.shape)
    length = max(min(a.shape[row] - max(-offset, 0), a.shape[column] - max(offset, 0)), 0)
    start = (max(-offset, 0) * own[row] + max(offset, 0) * own[column]) if length else 0
    kept = [d for d in range(a.ndim) if d not in (row, column)]
    shape = (*[a.shape[d] for d in kept], length)
    strides = (*[own[d] for d in kept], own[row] + own[column])
    return apply_primitive(prim.GETITEM, (shape, strides, start), a)


implements(np.linalg.diagonal)(lambda x, /, *, offset=0: diagonal(x, offset, -2, -1))


@implements(np.trace, method="trace")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    only_defaults("trace", out=out)
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


implements(np.linalg.trace)(lambda x, /, *, offset=0, dtype=None: trace(x, offset, -2, -1, dtype))


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    v = as_traced(v)
    if v.ndim == 1:
        return diagflat(v, k)
    if v.ndim != 2:
        raise ValueError("Input must be 1- or 2-d.")
    return diagonal(v, k)


NO_ITEMS = np.zeros(0, np.int64)  # of an assembly by slices alone


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    v = as_traced(v)
    v = v if v.ndim == 1 else ravel(v)
    n = v.shape[0] + abs(k)
    size = v.dtype.itemsize
    place = ((k if k > 0 else -k * n) * size, v.shape, ((n + 1) * size,))
    return apply_assembly(intern_aval(v.dtype, (n, n)), NO_ITEMS, (place,), v)
