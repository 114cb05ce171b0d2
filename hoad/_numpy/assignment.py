"""Functions that write into an array: in place where it is traced, an error that says what to do where it is plain."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here, name_of
from hoad._core.graph.tape import intern_aval
from hoad._core.trace.calls import apply_assembly
from hoad._core.trace.errors import not_writable, writes_into
from hoad._core.trace.traced import FUNCTIONS, METHODS, OUT_POSITIONS, Array, Scalar, guard_value, is_traced
from hoad._core.trace.views import check_overlap, check_writable, places, read, shares, store, write
from hoad._numpy.creation import concatenate, stack
from hoad._numpy.indexing import along_axis, setitem
from hoad._numpy.rearranging import partition, sort
from hoad._numpy.registry import as_traced, implements, normal_axis
from hoad._numpy.shape import broadcast_to
from hoad._numpy.views import in_turn
from hoad.errors import DTypeError, NoRuleError, ShapeError, TracedValueError


def _require_array(x: Any, what: str) -> None:
    """Raise unless x is a traced array that may be written to."""
    if isinstance(x, Scalar):
        raise not_writable()
    if not isinstance(x, Array):
        raise writes_into(what)
    check_writable(x)


# ---- out= -----------------------------------------------------------------------------------------------------------


def out_position(implementation: Callable[..., Any]) -> int:
    """The position of the parameter `out` of an implementation, -1 if it has none."""
    if implementation not in OUT_POSITIONS:
        parameters = inspect.signature(implementation).parameters.values()
        names = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        OUT_POSITIONS[implementation] = names.index("out") if "out" in names else -1
    return OUT_POSITIONS[implementation]


def into(implementation: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an implementation, and write what it gives to the array that is given as `out`."""
    k = out_position(implementation)
    if "out" in kwargs:
        out = kwargs["out"]
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    else:
        out, args = args[k], (*args[:k], None, *args[k + 1 :])
    (out,) = out if isinstance(out, tuple) else (out,)
    what = f"{_name(implementation)}(..., out=)"
    _require_array(out, what)
    if implementation in (concatenate, stack):  # NumPy writes one part after another, and copies none before
        for part in args[0]:
            _require_apart(what, places(out).reshape(-1), out, part)
    elif implementation is FUNCTIONS[np.ptp]:  # NumPy writes the largest there, and reads for the smallest
        _require_apart(what, places(out).reshape(-1), out, args[0] if args else kwargs["a"])
    value = implementation(*args, **kwargs)
    if implementation not in {FUNCTIONS.get(function) for function in (np.clip, np.fix, np.outer)}:
        _require_shape(what, out, value)
    return _stored(out, value)


def _require_shape(what: str, out: Any, value: Any) -> None:
    """Raise where out has more axes or items than the result: NumPy broadcasts to it only what is made item by item."""
    if np.shape(out) != np.shape(value):
        raise ShapeError(f"{what} gives shape {np.shape(value)}, but out has shape {np.shape(out)} ({here()}).")


def ufunc_into(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a ufunc with out=, and with where= if that is given too."""
    options = {name: value for name, value in kwargs.items() if name not in ("out", "where")}
    where = kwargs.get("where", True)
    if all(_holds_objects(out) for out in kwargs["out"]) and not any(isinstance(x, Array) for x in inputs):
        return getattr(ufunc, method)(*[_boxed(x) for x in inputs], **kwargs)
    if method != "__call__" and where is not True:
        options["where"] = where
    for out in kwargs["out"]:
        if out is not None and not _is_without_derivative(out):
            _require_array(out, f"{name_of(ufunc)}(..., out=) or an in-place operator")
    result = getattr(ufunc, method)(*inputs, **options)
    if method not in ("__call__", "outer"):
        _require_shape(f"{name_of(ufunc)}.{method}(..., out=)", kwargs["out"][0], result)
    several = isinstance(result, tuple)
    if several and None not in kwargs["out"]:
        first, second = kwargs["out"]
        if isinstance(first, Array) and isinstance(second, Array) and _meet(first, places(first), second):
            raise TracedValueError(
                f"{name_of(ufunc)}(..., out=) would write two results to one place, NumPy in an order of its own "
                f"({here()}). Give it arrays that lie apart."
            )
    stored = [
        value if out is None else _stored(out, value, where)
        for out, value in zip(kwargs["out"], result if several else (result,), strict=True)
    ]
    return tuple(stored) if several else stored[0]


def _holds_objects(x: Any) -> bool:
    """Whether x takes traced numbers as they are."""
    return isinstance(x, np.ndarray) and x.dtype == object


def _boxed(x: Any) -> Any:
    """A traced number as NumPy takes it beside an object array."""
    if not isinstance(x, Scalar):
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box


def _is_without_derivative(x: Any) -> bool:
    """Whether x is a plain array of integers or booleans, to which traced ones may be written: they are guarded."""
    return not is_traced(x) and isinstance(x, np.ndarray) and x.dtype.kind in "biu"


def _stored(out: Any, value: Any, where: Any = True) -> Any:
    """out, which holds `value` now, at the places that `where` says."""
    if not isinstance(out, Array):
        np.copyto(out, _guarded(value), where=_guarded(where))
        return out
    value = broadcast_to(as_traced(value), tuple(out.shape))
    return store(out, value if where is True else np.where(where, value, out), "out=")


def _guarded(x: Any) -> np.ndarray:
    """A plain array of what has no derivative."""
    return np.asarray(bool(x) if isinstance(x, Scalar) and x.dtype == bool else x)


def _name(implementation: Callable[..., Any]) -> str:
    """What a user calls an implementation."""
    functions = [name_of(function) for function, known in FUNCTIONS.items() if known is implementation]
    return (functions + [f"ndarray.{name}" for name, known in METHODS.items() if known is implementation])[0]


METHODS["__into__"] = into
METHODS["__out_position__"] = out_position
METHODS["__ufunc_into__"] = ufunc_into


# ---- ufunc.at -------------------------------------------------------------------------------------------------------


def at(ufunc: np.ufunc, x: Any, index: Any, *operands: Any) -> None:
    """``x[index] = ufunc(x[index], y)``, once for each time that a place is named."""
    full = index if isinstance(index, tuple) else (index,)
    if _is_without_derivative(x) and all(not is_traced(y) or y.dtype.kind in "biu" for y in (*full, *operands)):
        plain = [_guarded(y) if is_traced(y) else y for y in (*full, *operands)]
        ufunc.at(x, tuple(plain[: len(full)]), *plain[len(full) :])
        return
    _require_array(x, f"{name_of(ufunc)}.at")
    where = places(x)[tuple(np.asarray(guard_value(k)) if isinstance(k, Array) else k for k in full)]
    others = [np.reshape(broadcast_to(as_traced(y), where.shape), -1) for y in operands]
    where = where.reshape(-1)
    named, which = np.unique(where, return_inverse=True)
    if ufunc in (np.add, np.subtract) and named.size < where.size:
        write(x, named, _summed(read(x, named), others[0] if ufunc is np.add else -others[0], which))
        return
    turns = _turns(which)
    for turn, taken in zip(turns, [[y[turn] for y in others] for turn in turns], strict=True):  # taken before any write
        _put_each(ufunc, x, where[turn], taken)


def _put_each(ufunc: np.ufunc, x: Any, where: np.ndarray, others: list[Any]) -> None:
    made = ufunc(read(x, where), *others)
    if not np.can_cast(made.dtype, x.dtype, "same_kind"):
        raise DTypeError(
            f"{name_of(ufunc)}.at gives {made.dtype}, which an array of {x.dtype} does not hold ({here()}). Make it an "
            "array of floats."
        )
    write(x, where, made)


def _summed(x: Any, y: Any, which: np.ndarray) -> Any:
    """x with y[i] added to x[which[i]], in turn."""
    y = y.astype(x.dtype)
    everywhere = (0, x.shape, (x.dtype.itemsize,))
    return apply_assembly(intern_aval(x.dtype, x.shape), np.zeros(0, np.int64), (everywhere, None), x, y, which)


def _turns(which: np.ndarray) -> list[np.ndarray]:
    """The numbers of the places, taken apart so that none comes twice in one part."""
    order = np.argsort(which, kind="stable")
    first = np.flatnonzero(np.diff(which[order], prepend=-1))
    turn = np.arange(which.size) - np.repeat(first, np.diff(first, append=which.size))
    return [np.sort(order[turn == k]) for k in range(int(turn.max(initial=-1)) + 1)]


METHODS["__at__"] = at


# ---- functions that write -------------------------------------------------------------------------------------------


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    _require_array(dst, "np.copyto")
    if where is True:
        setitem(dst, ..., src)
    else:
        check_overlap(dst, src)
        setitem(dst, ..., np.where(where, src, dst))


def _whole(indices: Any) -> np.ndarray:
    """Places that are plain, or guarded."""
    return np.asarray(guard_value(indices) if isinstance(indices, Array) else indices)


@implements(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    _require_array(a, "np.put")
    chosen = _whole(ind).reshape(-1)
    if mode == "wrap":
        chosen = chosen % max(a.size, 1)
    elif mode == "clip":
        chosen = np.clip(chosen, 0, a.size - 1)
    if chosen.size and not a.size:
        raise IndexError("cannot replace elements of an empty array")
    _set_each(in_turn(a), chosen, v)


METHODS["put"] = put


def _set_each(x: Any, chosen: Any, values: Any) -> None:
    """``x[chosen] = values``, in turn and again and again; nothing where there are no values, as in NumPy."""
    count = chosen.size if isinstance(chosen, np.ndarray) else x.size
    values = as_traced(values)
    if count and values.size:
        setitem(x, chosen, np.resize(values, count))


@implements(method="__flat_items__")
def flat_items(x: Any, index: Any, value: Any) -> Any:
    """What ``x.flat[index] = value`` puts there: the items of the value in turn, again and again."""
    if is_traced(index) or not np.size(value):
        _require_apart("x.flat[i] = y", places(x), x, value)
        return value
    written = places(x)[index]
    if isinstance(value, Array) and shares(x, value):
        taken = np.resize(places(value), np.size(written))
        _, first, last = np.intersect1d(written, taken[::-1], return_indices=True)
        if (first < taken.size - 1 - last).any():
            _require_apart("x.flat[i] = y", written, x, value)
    return np.resize(as_traced(value), np.shape(written))


def _meet(x: Any, written: np.ndarray, values: Any) -> bool:
    """Whether a traced array has items at these places of x."""
    return shares(x, values) and bool(np.isin(places(values), written).any())


def _require_apart(what: str, written: np.ndarray, x: Any, values: Any) -> None:
    """Raise where values lie in x where it is written to: NumPy reads them while it writes, item by item."""
    if isinstance(values, Array) and _meet(x, written, values):
        raise TracedValueError(
            f"{what} would read values from the array that it writes to, in part after they are written over "
            f"({here()}). Give it a copy: values.copy()."
        )


def _marked(what: str, x: Any, mask: Any) -> np.ndarray:
    """The flat places that a mask of the size of x chooses."""
    mask = _whole(mask)
    if mask.size != x.size:
        raise ShapeError(
            f"{what} takes a mask of the size of the array, {x.shape}, but it has {mask.shape} ({here()})."
        )
    return np.flatnonzero(mask)


@implements(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    _require_array(arr, "np.place")
    chosen = _marked("np.place", arr, mask)
    if chosen.size and not np.size(vals):
        raise ValueError("Cannot insert from an empty array!")
    x = in_turn(arr)
    _require_apart("np.place", places(x)[chosen], arr, vals)
    _set_each(x, chosen, vals)


@implements(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    _require_array(a, "np.putmask")
    chosen = _marked("np.putmask", a, mask)
    if chosen.size and np.size(values):
        setitem(in_turn(a), chosen, np.resize(as_traced(values), a.size)[chosen])


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    _require_array(a, "np.fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    end = None
    if a.ndim == 2:
        step, end = a.shape[1] + 1, None if wrap else a.shape[1] * a.shape[1]
    elif len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    else:
        step = 1 + int(np.cumprod(a.shape[:-1]).sum())
    diagonal = in_turn(a)[:end:step]
    _require_apart("np.fill_diagonal", places(diagonal), a, val)
    _set_each(diagonal, ..., val)


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    _require_array(arr, "np.put_along_axis")
    if axis is None:
        arr, axis = in_turn(arr), 0
    setitem(arr, along_axis(arr, indices, normal_axis(axis, arr.ndim)), values)


@implements(method="fill")
def fill(x: Any, value: Any) -> None:
    _require_array(x, "ndarray.fill")
    if np.ndim(value):
        raise ShapeError(
            f"x.fill takes one number, but was given shape {np.shape(value)} ({here()}). Write x[...] = y."
        )
    setitem(x, ..., value)


@implements(method="sort")
def sort_in_place(
    x: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> None:
    _require_array(x, "ndarray.sort")
    setitem(x, ..., sort(x, axis, kind, order, stable=stable, descending=descending))


@implements(method="partition")
def partition_in_place(x: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    _require_array(x, "ndarray.partition")
    setitem(x, ..., partition(x, kth, axis, kind, order))


@implements(method="__set_flat__")
def set_flat(x: Any, value: Any) -> None:
    """``x.flat = value``: its items in turn, again and again."""
    _require_array(x, "ndarray.flat")
    _require_apart("x.flat = y", places(x), x, value)
    _set_each(in_turn(x), ..., value)


def _of_memory(name: str, asked: str, instead: str) -> None:
    def refuse(x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NoRuleError(
            f"{asked} is about how an array lies in memory, which traced arrays do not say ({here()}). Write {instead}."
        )

    METHODS[name] = refuse


@implements(method="setflags")
def setflags(x: Any, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
    """Of what protects an array from code that has no mistake, nothing is kept."""
    if write or align is not None or uic is not None:
        raise NoRuleError(
            "x.setflags, but for write=False, is about how an array lies in memory, which traced arrays do not say "
            f"({here()}). Write x.copy(), which may be written to."
        )


_of_memory("resize", "x.resize", "x = np.resize(x, shape), or np.pad")
_of_memory("__view__", "x.view", "x.real and x.imag for the parts of complex numbers, or x[...] for the same array")


@implements(method="view")
def view(x: Any, dtype: Any = None, type: Any = None) -> Any:
    """The same array; of other classes and dtypes it would be about memory."""
    dtype, type = (None, dtype) if dtype is np.ndarray else (dtype, type)
    if type in (None, np.ndarray) and (dtype is None or np.dtype(dtype) == x.dtype):
        return x[...]
    return METHODS["__view__"](x)


_of_memory("byteswap", "x.byteswap", "hoad.value(x).byteswap()")
_of_memory("setfield", "x.setfield", "x[...] = y, or x.real[...] = y for the parts of complex numbers")
_of_memory("getfield", "x.getfield", "x.astype(dtype), or x.real and x.imag for the parts of complex numbers")
_of_memory("__shape__", "x.shape = ...", "x = x.reshape(shape)")
