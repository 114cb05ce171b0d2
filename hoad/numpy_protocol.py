"""NumPy's functions and methods on traced values: each is a primitive or is composed of primitives.

One function, one implementation: ``__array_function__``, the methods and the operators all come here. What is not
here raises `NoRuleError`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from hoad import primitive as prim
from hoad._core import ufuncs
from hoad._core.primitive import Primitive, primitives
from hoad._core.tape import intern_aval
from hoad._core.traced import (
    FUNCTIONS,
    METHODS,
    REDUCTIONS,
    Array,
    Scalar,
    apply_assembly,
    apply_primitive,
    guard_value,
    here,
    holds_traced,
    is_traced,
    writes_into,
)
from hoad.errors import NoRuleError, ShapeError

Axis = int | Sequence[int] | None

FLOAT64 = np.dtype(np.float64)


def implements(*functions: Callable[..., Any], method: str | None = None) -> Callable[..., Any]:
    """Register an implementation of NumPy functions, and of a method if named."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = implementation
        if method is not None:
            METHODS[method] = implementation
        return implementation

    return register


def as_traced(x: Any) -> Any:
    """Traced values and plain arrays as they are; sequences that hold traced values packed into one array."""
    if is_traced(x):
        return x
    if holds_traced(x):
        return pack(x)
    return np.asarray(x)


def normal_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes as a sorted tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and 0 <= axis < ndim:
        return (axis,)
    axes = [operator.index(a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for a in axes:
        if not -ndim <= a < ndim:
            raise np.exceptions.AxisError(a, ndim)
    axes = [a % ndim for a in axes]
    if len(set(axes)) < len(axes):
        raise ValueError(f"duplicate axes in {axis}")
    return tuple(sorted(axes))


def only_defaults(name: str, **options: Any) -> None:
    """Raise for options that are not recorded."""
    for option, value in options.items():
        if value is not None and value is not np._NoValue and value is not True:
            raise NoRuleError(f"np.{name} with {option}= has no derivative rule ({here()}). Leave {option} out.")


# ---- shape ----------------------------------------------------------------------------------------------------------


@implements(np.reshape)
def reshape(x: Any, /, shape: Any = None, order: str = "C", *, copy: bool | None = None) -> Any:
    x = as_traced(x)
    size = math.prod(x.shape)
    shape = tuple(operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    if -1 in shape:
        known = math.prod(n for n in shape if n != -1)
        if shape.count(-1) > 1 or known == 0 or size % known:
            raise ShapeError(f"cannot reshape an array of shape {x.shape} into {shape} ({here()}).")
        shape = tuple(size // known if n == -1 else n for n in shape)
    if math.prod(shape) != size:
        raise ShapeError(f"cannot reshape an array of shape {x.shape} into {shape} ({here()}).")
    if order == "F":
        return transpose(reshape(transpose(x), shape[::-1]))
    if order not in ("C", "A", "K"):
        raise ValueError(f"order must be C, F, A or K, not {order!r}")
    if shape == x.shape:
        return x
    if shape == () and x.dtype == FLOAT64:
        return x[(0,) * x.ndim]
    return apply_primitive(prim.RESHAPE, (shape,), x)


def _reshape_method(x: Any, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    return reshape(x, shape[0] if len(shape) == 1 else shape, order)


METHODS["reshape"] = _reshape_method


@implements(np.ravel, method="ravel")
def ravel(x: Any, order: str = "C") -> Any:
    return reshape(x, (-1,) if math.prod(np.shape(x)) else (0,), order)


METHODS["flatten"] = ravel


@implements(np.transpose)
def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    x = as_traced(x)
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(operator.index(a) % x.ndim for a in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes {axes} do not fit an array of shape {x.shape}")
    if order == tuple(range(x.ndim)):
        return x
    return apply_primitive(prim.TRANSPOSE, (order,), x)


def _transpose_method(x: Any, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return transpose(x)
    return transpose(x, axes[0] if isinstance(axes[0], (tuple, list)) else axes)


METHODS["transpose"] = _transpose_method


@implements(np.swapaxes, method="swapaxes")
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(x, order)


@implements(np.broadcast_to)
def broadcast_to(x: Any, shape: SupportsIndex | tuple[int, ...] | list[int], subok: bool = False) -> Any:
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if x.shape == shape:
        return x
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ShapeError(f"cannot broadcast shape {x.shape} to {shape} ({here()}).")
    return apply_primitive(prim.BROADCAST_TO, (shape,), x)


@implements(np.expand_dims)
def expand_dims(x: Any, axis: int | Sequence[int]) -> Any:
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normal_axes(axis, x.ndim + count)
    rest = iter(x.shape)
    return reshape(x, tuple(1 if d in axes else next(rest) for d in range(x.ndim + count)))


@implements(np.squeeze, method="squeeze")
def squeeze(x: Any, axis: Axis = None) -> Any:
    axes = normal_axes(axis, x.ndim) if axis is not None else tuple(d for d, n in enumerate(x.shape) if n == 1)
    if any(x.shape[d] != 1 for d in axes):
        raise ValueError(f"cannot squeeze axis {axis} of shape {x.shape}: its length is not 1")
    return reshape(x, tuple(n for d, n in enumerate(x.shape) if d not in axes))


@implements(np.shape)
def shape(x: Any) -> tuple[int, ...]:
    return tuple(as_traced(x).shape)


@implements(np.ndim)
def ndim(x: Any) -> int:
    return int(as_traced(x).ndim)


@implements(np.size)
def size(x: Any, axis: int | None = None) -> int:
    return int(as_traced(x).size if axis is None else as_traced(x).shape[axis])


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return bool(as_traced(x).dtype.kind == "c")


@implements(np.copy, method="copy")
def copy(x: Any, order: str = "K", subok: bool = False) -> Any:
    return x


@implements(np.real, method="real")
def real(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise NoRuleError("np.real of a complex traced array has no derivative rule.")
    return x


@implements(np.imag)
def imag(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise NoRuleError("np.imag of a complex traced array has no derivative rule.")
    return np.zeros(x.shape, x.dtype)


@implements(method="astype")
def astype(x: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True) -> Any:
    dtype = np.dtype(dtype)
    if dtype == x.dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind != "c":
        raise NoRuleError(
            f"casting a complex traced array to a real one has no derivative rule ({here()}). Take np.real first."
        )
    return apply_primitive(prim.ASTYPE, (dtype.str,), x)


@implements(method="item")
def item(x: Any, *index: Any) -> Any:
    if not index:
        if x.size != 1:
            raise ValueError("can only convert an array of size 1 to a scalar")
        return x if isinstance(x, Scalar) else x[(0,) * x.ndim]
    return x[index] if len(index) > 1 or isinstance(index[0], tuple) else ravel(x)[index[0]]


# ---- making and joining ---------------------------------------------------------------------------------------------


def pack(x: Any) -> Any:
    """One traced array of nested sequences (or an object array) of numbers and traced values."""
    if not holds_traced(x):
        return np.asarray(x, dtype=np.float64)
    if isinstance(x, np.ndarray):
        flat = x.ravel().tolist()
        return reshape(_pack_flat(flat), x.shape)
    if all(isinstance(item, (Scalar, float, int, np.generic)) for item in x):
        return _pack_flat(list(x))
    return stack([as_traced(item) for item in x])


def _pack_flat(items: list[Any]) -> Any:
    if not all(isinstance(item, Scalar) or np.ndim(item) == 0 for item in items):
        return stack(items)
    offsets = np.arange(len(items), dtype=np.int64)
    numbers = [item if isinstance(item, Scalar) and item.dtype == FLOAT64 else 1.0 * item for item in items]
    numbers = [float(item) if not is_traced(item) else item for item in numbers]
    return apply_assembly(intern_aval(FLOAT64, (len(items),)), offsets, (), *numbers)


METHODS["__pack__"] = pack


@implements(np.array, np.asarray, np.asanyarray)
def array(x: Any, dtype: Any = None, *, like: Any = None, copy: Any = None, **options: Any) -> Any:
    made = as_traced(x)
    if not is_traced(made):
        return np.array(x, dtype=dtype, **options)
    return made if dtype is None else astype(made, dtype)


@implements(np.concatenate)
def concatenate(
    arrays: Sequence[Any], /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    only_defaults("concatenate", out=out, dtype=dtype)
    parts = [as_traced(x) for x in (arrays if isinstance(arrays, (tuple, list)) else list(arrays))]
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    ndim = parts[0].ndim
    (axis,) = normal_axes(axis, ndim)
    for x in parts:
        rest = x.shape[:axis] + x.shape[axis + 1 :]
        if x.ndim != ndim or rest != parts[0].shape[:axis] + parts[0].shape[axis + 1 :]:
            raise ShapeError(f"cannot concatenate shapes {[p.shape for p in parts]} along axis {axis} ({here()}).")
    dtype = np.result_type(*[x.dtype for x in parts])
    return apply_primitive(prim.JOIN, (axis,), *[x.astype(dtype) for x in parts])


@implements(np.stack)
def stack(
    arrays: Sequence[Any], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    only_defaults("stack", out=out, dtype=dtype)
    parts = [as_traced(x) for x in arrays]
    if any(x.shape != parts[0].shape for x in parts):
        raise ShapeError(f"cannot stack shapes {[x.shape for x in parts]}: all must be equal ({here()}).")
    (axis,) = normal_axes(axis, parts[0].ndim + 1)
    if parts[0].ndim == 0 and all(x.dtype == FLOAT64 for x in parts):
        return _pack_flat([x if is_traced(x) else float(x) for x in parts])
    shape = (*parts[0].shape[:axis], 1, *parts[0].shape[axis:])
    return concatenate([reshape(x, shape) if is_traced(x) else x.reshape(shape) for x in parts], axis)


def _filled(fill: Callable[..., Any]) -> Callable[..., Any]:
    """``zeros_like`` and its kin: a plain array, which a traced value never leaks into."""

    def make(
        x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
    ) -> Any:
        x = as_traced(x)
        return fill(x.shape if shape is None else shape, dtype=dtype or x.dtype)

    return make


implements(np.zeros_like, np.empty_like)(_filled(np.zeros))
implements(np.ones_like)(_filled(np.ones))


@implements(np.full_like)
def full_like(
    x: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    dtype = np.dtype(dtype or as_traced(x).dtype)
    shape = as_traced(x).shape if shape is None else shape
    if not is_traced(fill_value):
        return np.full(shape, fill_value, dtype=dtype)
    return broadcast_to(astype(fill_value, dtype), shape)


@implements(np.zeros, np.empty)
def zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    return np.zeros(shape, dtype)


@implements(np.ones)
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    return np.ones(shape, dtype)


@implements(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    if not is_traced(fill_value):
        return np.full(shape, fill_value, dtype)
    return broadcast_to(fill_value if dtype is None else astype(fill_value, dtype), shape)


# ---- indexing -------------------------------------------------------------------------------------------------------


def _is_integer(k: Any) -> bool:
    return isinstance(k, (int, np.integer)) and not isinstance(k, (bool, np.bool_))


def _basic_view(x: Any, index: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and offset (in items) of a basic index, asked of NumPy on a view without memory of its own."""
    dummy = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), x.shape, prim.contiguous_strides(x.shape))
    view = dummy[index]
    offset = view.__array_interface__["data"][0] - dummy.__array_interface__["data"][0] if view.size else 0
    return view.shape, view.strides, offset


@implements(method="__getitem__")
def getitem(x: Any, index: Any) -> Any:
    """Basic indices copy through strides, others gather; indices that are traced stay live."""
    full = index if isinstance(index, tuple) else (index,)
    if all(k is None or k is Ellipsis or isinstance(k, slice) or _is_integer(k) for k in full):
        view, strides, offset = _basic_view(x, (*full, ...) if Ellipsis not in full else full)
        if view == () and x.dtype == FLOAT64 and offset < 2**31 and x.ndim > 1 and x.size:
            return ravel(x)[offset]
        if view == x.shape and offset == 0 and strides == tuple(prim.contiguous_strides(x.shape)):
            return x
        return apply_primitive(prim.GETITEM, (view, tuple(strides), offset), x)
    return _advanced(x, full)


def _advanced(x: Any, full: tuple[Any, ...]) -> Any:
    encoded: list[Any] = []
    indices: list[Any] = []
    for k in full:
        if isinstance(k, slice):
            encoded.append((k.start, k.stop, k.step))
        elif k is None:
            encoded.append("newaxis")
        elif k is Ellipsis or _is_integer(k):
            encoded.append(k)
        else:
            k = np.zeros(0, np.int64) if isinstance(k, list) and not k else as_traced(k)
            if k.dtype == bool:  # the shape of the result hangs on the mask
                k = np.asarray(guard_value(k)) if isinstance(k, Array) else np.asarray(bool(k) if is_traced(k) else k)
            if k.dtype.kind not in "iub":
                raise IndexError(f"arrays used as indices must be of integer or boolean type, not {k.dtype}")
            encoded.append(None)
            indices.append(k)
    params = (x.shape, tuple(encoded))
    if any(is_traced(k) for k in indices):
        flat = apply_primitive(prim.FLAT_INDEX, params, *indices)
    else:
        flat = prim.FLAT_INDEX.function(params, *indices)
    return apply_primitive(prim.GATHER_ITEMS, None, x, flat)


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise NoRuleError(
            f"np.where(condition) alone has no derivative rule ({here()}). Use np.where(condition, x, y)."
        )
    condition = as_traced(condition)
    if condition.dtype != bool:
        condition = np.not_equal(condition, 0)
    if not any(is_traced(v) for v in (condition, x, y)):
        return np.where(condition, as_traced(x), as_traced(y))
    return ufuncs.select(condition, as_traced(x) if not isinstance(x, float | int) else x, y)


# ---- reductions -----------------------------------------------------------------------------------------------------


def _reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if d in axes else n for d, n in enumerate(shape))
    return tuple(n for d, n in enumerate(shape) if d not in axes)


def _keeps(keepdims: Any) -> bool:
    return bool(keepdims) and keepdims is not np._NoValue


def _reduce(primitive: Primitive, x: Any, axis: Axis, keepdims: Any) -> Any:
    axes = normal_axes(axis, x.ndim)
    shape = _reduced_shape(x.shape, axes, _keeps(keepdims))
    if isinstance(x, Scalar) or not axes:
        return x
    if primitive is not prim.SUM and math.prod(x.shape[a] for a in axes) == 0:
        raise ValueError(f"zero-size array to reduction operation {primitive.name} which has no identity")
    return apply_primitive(primitive, (axes, shape), x)


@implements(np.sum)
def sum(
    x: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    if out is not None or initial is not None or where is not None:
        only_defaults("sum", out=out, initial=initial, where=where)
    x = as_traced(x)
    if dtype is not None:
        x = astype(x, dtype)
    elif x.dtype.kind in "bi":
        x = astype(x, np.sum(np.zeros(0, x.dtype)).dtype)
    return _reduce(prim.SUM, x, axis, keepdims)


METHODS["sum"] = sum
REDUCTIONS[np.add] = lambda x, axis=0, *args, **options: sum(x, axis, *args, **options)


@implements(np.mean, method="mean")
def mean(
    x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Any:
    if out is not None or where is not None:
        only_defaults("mean", out=out, where=where)
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "bi":
        x = astype(x, dtype or np.float64)
    axes = normal_axes(axis, x.ndim)
    return _reduce(prim.SUM, x, axes, keepdims) / math.prod([x.shape[a] for a in axes])


@implements(np.max, np.amax, method="max")
def max(
    x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> Any:
    only_defaults("max", out=out, initial=initial, where=where)
    return _reduce(prim.MAX, as_traced(x), axis, keepdims)


@implements(np.min, np.amin, method="min")
def min(
    x: Any, axis: Axis = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> Any:
    only_defaults("min", out=out, initial=initial, where=where)
    return _reduce(prim.MIN, as_traced(x), axis, keepdims)


REDUCTIONS[np.maximum] = lambda x, axis=0, dtype=None, *args, **options: max(x, axis, *args, **options)
REDUCTIONS[np.minimum] = lambda x, axis=0, dtype=None, *args, **options: min(x, axis, *args, **options)


@implements(np.prod, method="prod")
def prod(
    x: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """A balanced tree of products: exact where factors are zero, at every order."""
    only_defaults("prod", out=out, initial=initial, where=where)
    x = as_traced(x)
    if dtype is not None or x.dtype.kind in "bi":
        x = astype(x, dtype or np.prod(np.zeros(0, x.dtype)).dtype)
    if isinstance(x, Scalar):
        return x
    axes = normal_axes(axis, x.ndim)
    kept = [d for d in range(x.ndim) if d not in axes]
    shape = _reduced_shape(x.shape, axes, _keeps(keepdims))
    count = math.prod(x.shape[d] for d in axes)
    factors = reshape(transpose(x, (*axes, *kept)), (count, *[x.shape[d] for d in kept]))
    if count == 0:
        return np.ones(shape, x.dtype)
    while count > 1:
        half = count // 2
        product = factors[:half] * factors[half : 2 * half]
        factors = product if count % 2 == 0 else concatenate([product, factors[2 * half :]])
        count -= half
    return reshape(factors, shape)


REDUCTIONS[np.multiply] = lambda x, axis=0, *args, **options: prod(x, axis, *args, **options)


@implements(np.clip, method="clip")
def clip(
    x: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **options: Any
) -> Any:
    only_defaults("clip", out=out, **options)
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise ValueError("np.clip takes either a_min and a_max or min and max, not both")
    low = min if a_min is None or a_min is np._NoValue else a_min
    high = max if a_max is None or a_max is np._NoValue else a_max
    x = as_traced(x)
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


@implements(np.round, np.around, method="round")
def round(x: Any, decimals: int = 0, out: Any = None) -> Any:
    only_defaults("round", out=out)
    scale = 10.0**decimals
    return np.rint(x * scale) / scale


# ---- products -------------------------------------------------------------------------------------------------------


@implements(np.matmul)
def matmul(a: Any, b: Any, /, **options: Any) -> Any:
    if options:
        only_defaults("matmul", **options)
    a, b = as_traced(a), as_traced(b)
    if a.dtype != b.dtype:
        dtype = np.result_type(a.dtype, b.dtype)
        a, b = a.astype(dtype), b.astype(dtype)
    return apply_primitive(prim.MATMUL, None, a, b)


@implements(np.dot, method="dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    only_defaults("dot", out=out)
    a, b = as_traced(a), as_traced(b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if (a.ndim <= 2 and b.ndim <= 2) or b.ndim == 1:
        return matmul(a, b)
    axis = b.ndim - 2
    rows = reshape(a, (-1, a.shape[-1]))
    order = (axis, *[d for d in range(b.ndim) if d != axis])
    columns = reshape(transpose(b, order), (b.shape[axis], -1))
    return reshape(matmul(rows, columns), a.shape[:-1] + b.shape[:-2] + b.shape[-1:])


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    only_defaults("outer", out=out)
    a, b = as_traced(a), as_traced(b)
    return np.multiply(
        reshape(a, (-1, 1)) if is_traced(a) else a.reshape(-1, 1), ravel(b) if is_traced(b) else b.ravel()
    )


@implements(np.divmod)
def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return np.floor_divide(x, y), np.remainder(x, y)


# ---- linear algebra -------------------------------------------------------------------------------------------------


def _inexact(x: Any) -> Any:
    x = as_traced(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    a, b = _inexact(a), _inexact(b)
    dtype = np.result_type(a.dtype, b.dtype)
    a, b = a.astype(dtype), b.astype(dtype)
    if b.ndim == 1:
        return apply_primitive(prim.SOLVE, None, a, reshape(b, (-1, 1)) if is_traced(b) else b.reshape(-1, 1))[..., 0]
    return apply_primitive(prim.SOLVE, None, a, b)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    return apply_primitive(prim.INV, None, _inexact(a))


@implements(np.linalg.det)
def det(a: Any) -> Any:
    return apply_primitive(prim.DET, None, _inexact(a))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    sign, logabsdet = apply_primitive(prim.SLOGDET, None, _inexact(a))
    return type(np.linalg.slogdet(np.eye(1)))(sign, logabsdet)


def _root(squares: Any) -> Any:
    """The square root, whose derivative at 0 is the subgradient 0."""
    zero = np.equal(squares, 0)
    return where(zero, 0.0, np.sqrt(where(zero, 1.0, squares)))


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _inexact(x)
    if axis is None:
        axes: tuple[int, ...] = tuple(range(x.ndim))
        if ord is None:
            return _root(sum(x * x, axes, keepdims=keepdims))
        if x.ndim not in (1, 2):
            raise ValueError("np.linalg.norm with ord needs one or two dimensions, or an axis")
    else:
        axes = tuple(a % x.ndim for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return _root(sum(x * x, axes, keepdims=keepdims))
    if ord == np.inf:
        return max(np.abs(x), axes, keepdims=keepdims)
    if ord == -np.inf:
        return min(np.abs(x), axes, keepdims=keepdims)
    if ord == 1:
        return sum(np.abs(x), axes, keepdims=keepdims)
    if ord == 0:
        return sum(np.not_equal(x, 0).astype(x.dtype), axes, keepdims=keepdims)
    powers = sum(np.abs(x) ** ord, axes, keepdims=keepdims)
    zero = np.equal(powers, 0)
    return where(zero, 0.0, where(zero, 1.0, powers) ** (1.0 / ord))


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    row, column = axes
    if ord is None or ord == "fro":
        return _root(sum(x * x, axes, keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        inner, outer_axis = (row, column) if abs(ord) == 1 else (column, row)
        sums = sum(np.abs(x), inner, keepdims=True)
        found = max(sums, outer_axis, keepdims=True) if ord > 0 else min(sums, outer_axis, keepdims=True)
        return found if keepdims else squeeze(found, axes)
    raise NoRuleError(f"np.linalg.norm of matrices with ord={ord!r} has no derivative rule. Use the Frobenius norm.")


# ---- truth values ----------------------------------------------------------------------------------------------------


def _bitwise(function: np.ufunc, logical: np.ufunc) -> None:
    def implementation(*operands: Any) -> Any:
        if any(as_traced(x).dtype != bool for x in operands):
            raise NoRuleError(f"np.{function.__name__} of numbers has no derivative rule ({here()}).")
        return logical(*operands)

    FUNCTIONS[function] = implementation


_bitwise(np.bitwise_and, np.logical_and)
_bitwise(np.bitwise_or, np.logical_or)
_bitwise(np.bitwise_xor, np.logical_xor)
_bitwise(np.invert, np.logical_not)


# ---- what writes into its argument -----------------------------------------------------------------------------------


def _refused(function: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise writes_into(f"np.{function.__name__}")

    return refuse


for _function in (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis):
    FUNCTIONS[_function] = _refused(_function)


# ---- ufuncs as methods ----------------------------------------------------------------------------------------------


def _ufunc_method(ufunc: np.ufunc) -> Callable[..., Any]:
    """The method that NumPy calls on the elements of object arrays."""
    return lambda x, *rest: ufunc(x, *rest)


def _declare_methods() -> None:
    for primitive in primitives():
        if primitive.elementwise and hasattr(np, primitive.name):
            METHODS.setdefault(primitive.name, _ufunc_method(primitive.function))
    METHODS["conj"] = METHODS["conjugate"]


_declare_methods()
