"""Calls of NumPy's functions with random arguments, for the campaign `surface`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hoad
from hoad._core.trace.traced import is_traced


class Draw:
    """What a trial draws: shapes, arrays, axes and other keywords."""

    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        self.rng, self.dtype, self.lists = rng, dtype, False
        self.arrays: list[Any] = []

    def one(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def few(self, most: int, least: int = 0) -> int:
        return int(self.rng.integers(least, most + 1))

    def shape(self, most: int = 3, least: int = 0, empty: bool = True) -> tuple[int, ...]:
        lengths = [1, 2, 3, 3, 4]
        if empty and self.rng.random() < 0.05:
            lengths += [0]
        return tuple(int(self.one(*lengths)) for _ in range(self.few(most, least)))

    def broadcastable(self, shape: tuple[int, ...], wider: bool = True) -> tuple[int, ...]:
        """A shape that broadcasts with this one."""
        own = tuple(1 if self.rng.random() < 0.3 else n for n in shape)
        own = own[self.few(len(own)) :]
        return self.shape(1) + own if wider and len(own) == len(shape) and self.rng.random() < 0.3 else own

    def plain(self, shape: tuple[int, ...], dtype: str | None = None) -> np.ndarray:
        """An array of distinct numbers about 0, in any layout."""
        kind = np.dtype(dtype or self.dtype)
        size = int(np.prod(shape))
        x = (self.rng.permutation(size) - 0.4 * size + 0.3 * self.rng.random(size) + 0.2) / 1.7
        if kind.kind == "c":
            x = x + 1j * self.rng.standard_normal(size)
        return self.laid(x.astype(kind).reshape(shape))

    def laid(self, x: np.ndarray) -> np.ndarray:
        """The array as it is, in Fortran's order, or as a view of a wider one."""
        how = self.few(3)
        if how == 1:
            return np.array(x, order="F")
        if how == 2 and x.ndim:
            wide = np.repeat(x, 2, axis=-1)
            return wide[..., ::2]
        if how == 3 and x.ndim:
            return np.ascontiguousarray(x[::-1])[::-1]
        return x

    def array(self, shape: tuple[int, ...], dtype: str | None = None) -> int:
        """An argument to differentiate by: its number among them."""
        self.arrays.append(self.plain(shape, dtype))
        return len(self.arrays) - 1

    def axis(self, ndim: int, none: bool = True) -> Any:
        if none and self.rng.random() < 0.3:
            return None
        if self.rng.random() < 0.04:
            return ndim
        return int(self.rng.integers(-ndim, ndim)) if ndim else self.one(0, -1)

    def axes(self, ndim: int) -> Any:
        if ndim < 2 or self.rng.random() < 0.6:
            return self.axis(ndim)
        found = self.rng.permutation(ndim)[: self.few(ndim, 1)]
        return tuple(int(d) - self.one(0, ndim) for d in found)

    def operand(self, shape: tuple[int, ...], dtype: str | None = None) -> Callable[[Any], Any]:
        """Something of this shape, of the arguments: one of them, a plain array, nested lists of items, a number."""
        how = self.few(5)
        if how < 3:
            k = self.array(shape, dtype)
            return lambda xs: xs[k]
        if how == 3:
            plain = self.plain(shape, dtype)
            return lambda xs: plain
        k = self.array(shape, dtype)
        if how == 4 and len(shape) == 1 and shape[0]:
            self.lists = True
            return lambda xs: [xs[k][i] for i in range(shape[0])]
        return lambda xs: xs[k] * 1

    def dict_of(self, **options: Any) -> dict[str, Any]:
        """Some of these keywords; a value is a function that draws one."""
        return {name: draw() for name, draw in options.items() if self.rng.random() < 0.4}


def flattened(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [x for part in found for x in flattened(part)]
    if isinstance(found, np.ndarray) and found.dtype == object:
        like = next(filter(is_traced, found.ravel()), None)
        if like is not None:
            return [np.array(found.tolist(), like=like)]
        return [found.astype(complex if any(map(np.iscomplexobj, found.flat)) else float)]
    return [found]


Case = Callable[[Draw], Callable[[list[Any]], Any]]
CASES: dict[str, Case] = {}
REAL = set[str]()  # of no complex numbers, in NumPy either


def case(name: str, real: bool = False) -> Callable[[Case], Case]:
    def declared(build: Case) -> Case:
        CASES[name] = build
        if real:
            REAL.add(name)
        return build

    return declared


def _each(names: str, build: Callable[[str, Draw], Callable[[list[Any]], Any]], real: bool = False) -> None:
    for name in names.split():
        case(name, real)(lambda d, name=name: build(name, d))


def _function(name: str) -> Any:
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _called(name: str, method: bool) -> Callable[..., Any]:
    """A function, or the method of the same name."""
    return (lambda x, *args, **options: getattr(x, name)(*args, **options)) if method else _function(name)


# ---- reductions -----------------------------------------------------------------------------------------------------


def _reduction(name: str, d: Draw) -> Any:
    shape = d.shape()
    x = d.operand(shape)
    options = d.dict_of(axis=lambda: d.axes(len(shape)), keepdims=lambda: d.one(True, False))
    if name in ("var", "std", "nanvar", "nanstd") and not d.lists:  # nan by 0/0 is not a traced number
        options |= d.dict_of(ddof=lambda: d.one(0, 1))
    method = name in ("sum", "mean", "prod", "max", "min", "var", "std", "all", "any") and d.rng.random() < 0.3
    if method:
        k = d.array(shape)
        return lambda xs: getattr(xs[k], name)(**options)
    if name in ("all", "any"):
        return lambda xs: _function(name)(np.real(np.asarray(x(xs)) if type(x(xs)) is list else x(xs)) > 0, **options)
    return lambda xs: _function(name)(x(xs), **options)


_each("sum mean prod var std all any nansum nanmean nanprod nanvar nanstd", _reduction)
_each("max min ptp median nanmax nanmin amax amin", _reduction, real=True)


@case("reduce")
def _reduce(d: Draw) -> Any:
    ufunc = d.one(np.add, np.multiply)
    shape = d.shape()
    k, options = d.array(shape), d.dict_of(axis=lambda: d.axes(len(shape)), keepdims=lambda: d.one(True, False))
    return lambda xs: ufunc.reduce(xs[k], **options)


@case("extreme reduce", real=True)
def _extreme_reduce(d: Draw) -> Any:
    ufunc = d.one(np.maximum, np.minimum)
    shape = d.shape()
    k, options = d.array(shape), d.dict_of(axis=lambda: d.axes(len(shape)), keepdims=lambda: d.one(True, False))
    return lambda xs: ufunc.reduce(xs[k], **options)


def _quantile(name: str, d: Draw) -> Any:
    shape = d.shape(empty=False)
    k = d.array(shape)
    q: Any = d.rng.random(d.shape(2)) * (100 if name == "percentile" else 1)
    options = d.dict_of(axis=lambda: d.axes(len(shape)), keepdims=lambda: d.one(True, False))
    methods = ("linear", "hazen", "weibull", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint")
    options |= d.dict_of(method=lambda: d.one(*methods, "nearest", "inverted_cdf", "closest_observation"))
    return lambda xs: _function(name)(xs[k], q if np.ndim(q) else float(q), **options)


_each("quantile percentile", _quantile, real=True)


@case("average")
def _average(d: Draw) -> Any:
    shape = d.shape()
    x, axis = d.operand(shape), d.axes(len(shape))
    options = d.dict_of(keepdims=lambda: d.one(True, False), returned=lambda: d.one(True, False))
    if axis is None or d.rng.random() < 0.3:
        own = shape
    else:
        try:
            axes = [a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]
            own = tuple(shape[a] for a in axes)
        except (IndexError, ZeroDivisionError):
            own = shape
    if d.rng.random() < 0.3:
        return lambda xs: np.average(x(xs), axis=axis, **options)
    w = d.array(own, "float64")
    d.arrays[w] = np.abs(d.arrays[w]) + 0.5
    return lambda xs: np.average(x(xs), axis=axis, weights=xs[w], **options)


@case("cov")
def _cov(d: Draw) -> Any:
    shape = d.shape(2, 1, empty=False)
    k = d.array(shape)
    options = d.dict_of(rowvar=lambda: d.one(True, False), bias=lambda: d.one(True, False), ddof=lambda: d.one(0, 1))
    if d.rng.random() < 0.3:
        other = d.array(shape)
        return lambda xs: np.cov(xs[k], xs[other], **options)
    return lambda xs: np.cov(xs[k], **options)


def _place(name: str, d: Draw) -> Any:
    shape = d.shape(empty=False)
    k, options = d.array(shape), d.dict_of(axis=lambda: d.axis(len(shape)), keepdims=lambda: d.one(True, False))
    return lambda xs: (_called(name, d.dtype == "float32")(xs[k], **options), xs[k])


_each("argmax argmin", _place, real=True)


# ---- along an axis --------------------------------------------------------------------------------------------------


def _running(name: str, d: Draw) -> Any:
    shape = d.shape()
    x, axis = d.operand(shape), d.axis(len(shape))
    return lambda xs: _function(name)(x(xs), axis=axis)


_each("cumsum cumprod nancumsum nancumprod", _running)
if hasattr(np, "cumulative_sum"):

    def _cumulative(name: str, d: Draw) -> Any:
        shape = d.shape(3, 1)
        k, options = d.array(shape), d.dict_of(include_initial=lambda: d.one(True, False))
        axis = d.axis(len(shape), none=len(shape) == 1)
        return lambda xs: _function(name)(xs[k], axis=axis, **options)

    _each("cumulative_sum cumulative_prod", _cumulative)


@case("diff")
def _diff(d: Draw) -> Any:
    shape = d.shape(3, 1)
    x, axis, n = d.operand(shape), d.axis(len(shape), none=False), d.few(3, int(d.lists))
    ends: dict[str, Any] = {}
    for name in ("prepend", "append"):
        if d.rng.random() < 0.3:
            end = list(shape)
            if d.rng.random() < 0.5 and -len(shape) <= axis < len(shape):
                end[axis] = d.few(2, 1)
                ends[name] = d.operand(tuple(end))
            else:
                ends[name] = d.operand(())
    return lambda xs: np.diff(x(xs), n, axis, **{name: end(xs) for name, end in ends.items()})


@case("ediff1d")
def _ediff1d(d: Draw) -> Any:
    x = d.operand(d.shape())
    ends = {name: d.operand(d.shape(1)) for name in ("to_end", "to_begin") if d.rng.random() < 0.4}
    return lambda xs: np.ediff1d(x(xs), **{name: end(xs) for name, end in ends.items()})


@case("trapezoid")
def _trapezoid(d: Draw) -> Any:
    shape = d.shape(3, 1)
    axis = d.axis(len(shape), none=False)
    y = d.operand(shape)
    how = d.few(4)
    if how == 0:
        return lambda xs: np.trapezoid(y(xs), axis=axis)
    if how == 1:
        dx = d.operand(d.broadcastable(shape))
        return lambda xs: np.trapezoid(y(xs), dx=dx(xs), axis=axis)
    along = shape[axis] if -len(shape) <= axis < len(shape) else 2
    x = d.operand((along,) if how == 2 else shape if how == 3 else d.shape(1) + shape, "float64")
    return lambda xs: np.trapezoid(y(xs), x(xs), axis=axis)


@case("gradient")
def _gradient(d: Draw) -> Any:
    shape = d.shape(3, 1)
    k, edge = d.array(shape), d.one(1, 1, 2)
    how = d.few(3)
    if how == 0:
        axis = d.axes(len(shape))
        return lambda xs: np.gradient(xs[k], axis=axis, edge_order=edge)
    if how == 1:
        h = d.operand((), "float64")
        return lambda xs: np.gradient(xs[k], h(xs), edge_order=edge)
    axis = d.axis(len(shape), none=False)
    along = shape[axis] if -len(shape) <= axis < len(shape) else 2
    steps = np.cumsum(d.rng.random(along) + 0.1)
    d.arrays.append(steps)
    at = len(d.arrays) - 1
    if how == 2:
        return lambda xs: np.gradient(xs[k], xs[at], axis=axis, edge_order=edge)
    every = [np.cumsum(d.rng.random(n) + 0.1) if d.few(1) else float(d.few(3, 1)) for n in shape]
    return lambda xs: np.gradient(xs[k], *every, edge_order=edge)


@case("interp", real=True)
def _interp(d: Draw) -> Any:
    x, n = d.operand(d.shape(2)), d.few(5, 1)
    knots = np.cumsum(d.rng.random(n) + 0.1) - 2.0
    d.arrays.append(knots)
    at, fp = len(d.arrays) - 1, d.operand((n,))
    options = d.dict_of(left=lambda: 3.0, right=lambda: -2.0, period=lambda: d.one(1.5, -4.0))
    return lambda xs: np.interp(x(xs), xs[at], fp(xs), **options)


@case("polyval")
def _polyval(d: Draw) -> Any:
    p, x = d.operand((d.few(4, 1),)), d.operand(d.shape())
    return lambda xs: np.polyval(p(xs), x(xs))


@case("vander")
def _vander(d: Draw) -> Any:
    x, options = d.operand((d.few(4),)), d.dict_of(N=lambda: d.few(4), increasing=lambda: d.one(True, False))
    return lambda xs: np.vander(x(xs), **options)


def _slid(name: str, d: Draw) -> Any:
    a, v = d.operand((d.few(5, 1),)), d.operand((d.few(5, 1),))
    options = d.dict_of(mode=lambda: d.one("full", "same", "valid"))
    return lambda xs: _function(name)(a(xs), v(xs), **options)


_each("convolve correlate", _slid)


# ---- products -------------------------------------------------------------------------------------------------------


@case("matmul")
def _matmul(d: Draw) -> Any:
    n = d.few(3, 1)
    stack = d.shape(2)
    left = d.one((n,), (d.few(3, 1), n), (*stack, d.few(3, 1), n))
    right = d.one((n,), (n, d.few(3, 1)), (*d.broadcastable(stack), n, d.few(3, 1)))
    a, b = d.operand(left), d.operand(right, d.one(None, "float64"))
    function = d.one(np.matmul, np.dot, np.linalg.matmul)
    return lambda xs: function(a(xs), b(xs))


@case("inner")
def _inner(d: Draw) -> Any:
    n = d.few(3, 1)
    a, b = d.operand((*d.shape(2), n)), d.operand((*d.shape(2), n))
    function = d.one(np.inner, np.vdot) if d.few(3) else np.outer
    return lambda xs: function(a(xs), b(xs))


@case("tensordot")
def _tensordot(d: Draw) -> Any:
    shape = d.shape(3, 1)
    count = d.few(len(shape))
    a, b = d.operand(shape), d.operand(shape[len(shape) - count :] + d.shape(1))
    if d.few(1):
        return lambda xs: np.tensordot(a(xs), b(xs), count)
    axes = (tuple(range(len(shape) - count, len(shape))), tuple(range(count)))
    return lambda xs: np.tensordot(a(xs), b(xs), axes)


@case("cross")
def _cross(d: Draw) -> Any:
    stack = d.shape(2)
    a, b = ((*stack, 3), (*d.broadcastable(stack, False), d.one(3, 3, 2)))
    where = d.few(2)
    if where == 1:
        x, y = d.operand((3, *stack)), d.operand((3, *stack))
        options = d.dict_of(axisc=lambda: d.axis(len(stack) + 1, none=False))
        return lambda xs: np.cross(x(xs), y(xs), axisa=0, axisb=0, **options)
    if where == 2:
        x, y, axis = d.operand((3, *stack)), d.operand((3, *stack)), 0
        function = d.one(np.cross, np.linalg.cross)
        return lambda xs: function(x(xs), y(xs), axis=axis)
    x, y = d.operand(a), d.operand(b)
    return lambda xs: np.cross(x(xs), y(xs))


@case("kron")
def _kron(d: Draw) -> Any:
    a, b = d.operand(d.shape(2)), d.operand(d.shape(2))
    return lambda xs: np.kron(a(xs), b(xs))


@case("einsum")
def _einsum(d: Draw) -> Any:
    sizes = {c: d.few(3, 1) for c in "abc"}
    subscripts = ["".join(d.one(*"abc") for _ in range(d.few(3))) for _ in range(d.few(2, 1))]
    every = sorted(set("".join(subscripts)))
    text = ",".join(subscripts)
    if d.few(2):
        text += "->" + "".join(str(c) for c in d.rng.permutation(every)[: d.few(len(every))])
    operands = [d.operand(tuple(sizes[c] for c in part)) for part in subscripts]
    return lambda xs: np.einsum(text, *[x(xs) for x in operands])


@case("trace")
def _trace(d: Draw) -> Any:
    shape = d.shape(3, 2)
    k, options = d.array(shape), d.dict_of(offset=lambda: d.few(2) - 1)
    if d.few(1):
        first, second = (int(a) for a in d.rng.permutation(len(shape))[:2])
        options |= {"axis1": first, "axis2": second}
    name = d.one("trace", "diagonal")
    return lambda xs: _called(name, False)(xs[k], **options)


@case("norm")
def _norm(d: Draw) -> Any:
    shape = d.shape(3, 1, empty=False)
    k = d.array(shape)
    options = d.dict_of(keepdims=lambda: d.one(True, False))
    if len(shape) > 1 and d.few(1):
        first, second = (int(a) for a in d.rng.permutation(len(shape))[:2])
        options |= {"axis": (first, second), "ord": d.one(None, "fro", 1, -1, 2, np.inf, -np.inf, "nuc")}
    else:
        options |= {"axis": d.axis(len(shape), none=False), "ord": d.one(None, 1, 2, 3, 0.5, np.inf, -np.inf, 0)}
    return lambda xs: np.linalg.norm(xs[k], **options)


# ---- shapes and places ----------------------------------------------------------------------------------------------


@case("reshape")
def _reshape(d: Draw) -> Any:
    shape = d.shape()
    k = d.array(shape)
    new = tuple(int(n) for n in d.rng.permutation([*shape, *[1] * d.few(2)]))
    if new and d.few(1):
        at = d.few(len(new) - 1)
        new = (*new[:at], -1, *new[at + 1 :])
    options = d.dict_of(order=lambda: d.one("C", "F"))
    if d.few(1):
        return lambda xs: xs[k].reshape(*new, **options) if new else xs[k].reshape(new)
    return lambda xs: np.reshape(xs[k], new, **options)


@case("moved axes")
def _moved_axes(d: Draw) -> Any:
    shape = d.shape(3, 1)
    k, ndim = d.array(shape), len(shape)
    a, b = d.axis(ndim, none=False), d.axis(ndim, none=False)
    order = tuple(int(i) for i in d.rng.permutation(ndim))
    forms: list[Callable[[Any], Any]] = [
        lambda x: np.moveaxis(x, a, b),
        lambda x: np.swapaxes(x, a, b),
        lambda x: np.rollaxis(x, a, d.few(0)),
        lambda x: np.transpose(x, order),
        lambda x: x.transpose(*order),
        lambda x: x.T,
        lambda x: np.expand_dims(x, (0, -1)),
        lambda x: np.expand_dims(x, a),
        lambda x: np.squeeze(x),
        lambda x: np.flip(x, a),
        lambda x: np.flip(x),
        lambda x: np.ravel(x, "F"),
        lambda x: x.flatten(),
        lambda x: np.atleast_2d(x),
        lambda x: np.atleast_3d(x),
    ]
    if ndim > 1:
        forms += [lambda x: np.rot90(x, d.few(0) + 3), lambda x: np.fliplr(x), lambda x: np.matrix_transpose(x)]
    form = d.one(*forms)
    return lambda xs: form(xs[k])


@case("roll")
def _roll(d: Draw) -> Any:
    shape = d.shape()
    k, axis = d.array(shape), d.axes(len(shape))
    shift: Any = d.few(9) - 4
    if isinstance(axis, tuple) and d.few(1):
        shift = tuple(d.few(9) - 4 for _ in axis)
    return lambda xs: np.roll(xs[k], shift, axis)


@case("repeated")
def _repeated(d: Draw) -> Any:
    shape = d.shape()
    x = d.operand(shape)
    if d.few(1):
        reps = d.one(d.few(3), tuple(d.few(2) for _ in range(d.few(3))))
        return lambda xs: np.tile(x(xs), reps)
    axis = d.axis(len(shape))
    if axis is None or not -len(shape) <= axis < len(shape):
        return lambda xs: np.repeat(x(xs), 2, axis)
    counts = [d.few(2) for _ in range(shape[axis])]
    return lambda xs: np.repeat(x(xs), counts, axis)


@case("joined")
def _joined(d: Draw) -> Any:
    shape = d.shape(3, 1)
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.few(3, 1)):
        own = list(shape)
        if axis is not None and -len(shape) <= axis < len(shape):
            own[axis] = d.few(3)
        parts.append(d.operand(tuple(own), d.one(None, "float64", "float32")))
    name = d.one("concatenate", "append")
    if name == "append":
        return lambda xs: np.append(parts[0](xs), parts[-1](xs), axis)
    return lambda xs: np.concatenate([x(xs) for x in parts], axis)


@case("stacked")
def _stacked(d: Draw) -> Any:
    shape = d.shape()
    parts = [d.operand(shape, d.one(None, None, "float64")) for _ in range(d.few(3, 1))]
    name = d.one("stack", "hstack", "vstack", "dstack", "column_stack")
    options = {"axis": d.axis(len(shape) + 1, none=False)} if name == "stack" else {}
    return lambda xs: _function(name)([x(xs) for x in parts], **options)


@case("split")
def _split(d: Draw) -> Any:
    shape = d.shape(3, 1)
    k, axis = d.array(shape), d.axis(len(shape), none=False)
    where: Any = d.one(d.few(3, 1), [d.few(3), d.few(4)])
    return lambda xs: np.array_split(xs[k], where, axis)


@case("pad")
def _pad(d: Draw) -> Any:
    shape = d.shape(2, 1, empty=False)
    k = d.array(shape)
    width = d.one(1, 2, (1, 2), [(d.few(2), d.few(2)) for _ in shape])
    mode = d.one("constant", "edge", "wrap", "reflect", "symmetric")
    options = {"constant_values": d.one(2.0, (1.0, 3.0))} if mode == "constant" and d.few(1) else {}
    return lambda xs: np.pad(xs[k], width, mode, **options)


@case("triangle")
def _triangle(d: Draw) -> Any:
    k, name, offset = d.array(d.shape(3, 1)), d.one("tril", "triu"), d.few(4) - 2
    return lambda xs: _function(name)(xs[k], offset)


@case("diag")
def _diag(d: Draw) -> Any:
    k, name, offset = d.array(d.shape(2, 1)), d.one("diag", "diagflat"), d.few(4) - 2
    return lambda xs: _function(name)(xs[k], offset)


@case("taken")
def _taken(d: Draw) -> Any:
    shape = d.shape()
    k, axis = d.array(shape), d.axis(len(shape))
    at = d.rng.integers(-2, 3, d.shape(2))
    options = d.dict_of(mode=lambda: d.one("wrap", "clip", "raise"))
    indices: Any = at if at.ndim else int(at)
    if d.few(1):
        return lambda xs: xs[k].take(indices, axis=axis, **options)
    return lambda xs: np.take(xs[k], indices, axis, **options)


@case("compress")
def _compress(d: Draw) -> Any:
    shape = d.shape()
    k, axis = d.array(shape), d.axis(len(shape))
    kept = d.rng.random(d.few(4)) < 0.5
    if d.few(1):
        return lambda xs: xs[k].compress(kept, axis)
    return lambda xs: np.compress(kept, xs[k], axis)


@case("extract")
def _extract(d: Draw) -> Any:
    shape = d.shape()
    k, kept = d.array(shape), d.rng.random(shape) < 0.5
    return lambda xs: np.extract(kept, xs[k])


@case("sort", real=True)
def _sort(d: Draw) -> Any:
    shape = d.shape()
    k, axis = d.array(shape), d.axis(len(shape))
    return lambda xs: (np.sort(xs[k], axis), np.argsort(xs[k], axis))


@case("delete")
def _delete(d: Draw) -> Any:
    shape = d.shape(3, 1)
    k, axis = d.array(shape), d.axis(len(shape))
    which = d.one(0, -1, [0, 1], slice(None, None, 2))
    return lambda xs: np.delete(xs[k], which, axis)


@case("choose")
def _choose(d: Draw) -> Any:
    shape = d.shape()
    parts = [d.operand(d.broadcastable(shape)) for _ in range(3)]
    which, mode = d.rng.integers(-1, 4, shape), d.one("wrap", "clip", "raise")
    if d.few(1):
        return lambda xs: np.choose(which, [x(xs) for x in parts], mode=mode)
    masks = [d.rng.random(d.broadcastable(shape)) < 0.5 for _ in parts]
    return lambda xs: np.select(masks, [x(xs) for x in parts], default=1.5)


@case("where")
def _where(d: Draw) -> Any:
    shape = d.shape()
    mask = d.rng.random(d.broadcastable(shape)) < 0.5
    x, y = d.operand(d.broadcastable(shape)), d.operand(d.broadcastable(shape), d.one(None, "float32"))
    return lambda xs: np.where(mask, x(xs), y(xs))


@case("index")
def _index(d: Draw) -> Any:
    shape = d.shape(3)
    k, index = d.array(shape), _random_index(d, shape)
    return lambda xs: xs[k][index]


@case("meshgrid")
def _meshgrid(d: Draw) -> Any:
    parts = [d.operand(d.shape(1)) for _ in range(d.few(3, 1))]
    options = d.dict_of(indexing=lambda: d.one("xy", "ij"), sparse=lambda: d.one(True, False))
    return lambda xs: np.meshgrid(*[x(xs) for x in parts], **options)


@case("broadcast")
def _broadcast(d: Draw) -> Any:
    shape = d.shape()
    x, y = d.operand(shape), d.operand(d.broadcastable(shape))
    if d.few(1):
        return lambda xs: np.broadcast_arrays(x(xs), y(xs))
    wide = d.shape(1) + shape
    return lambda xs: np.broadcast_to(x(xs), wide)


@case("made")
def _made(d: Draw) -> Any:
    a, b = d.array(()), d.array((), d.one(None, "float32", "float64"))
    x, y = lambda xs: xs[a] * 1, lambda xs: xs[b] * 1
    form = d.few(4)
    if form == 0:
        return lambda xs: np.array([x(xs), y(xs), 2], like=_first(xs))
    if form == 1:
        return lambda xs: np.exp([x(xs), y(xs)])
    if form == 2:
        return lambda xs: np.stack([np.array([x(xs), y(xs)]).sum(), x(xs)])
    if form == 3:
        return lambda xs: np.full((2, 3), x(xs), like=_first(xs))
    return lambda xs: np.array([[x(xs), y(xs)], [1.5, y(xs)]], like=_first(xs), ndmin=d.few(0) + 3)


def _first(xs: list[Any]) -> Any:
    """An argument that NumPy takes for `like`."""
    return next((x for x in xs if hoad.value(x) is not x or isinstance(x, np.ndarray)), np.zeros(1))


# ---- element by element ---------------------------------------------------------------------------------------------


def _rounded(name: str, d: Draw) -> Any:
    shape = d.shape()
    x = d.operand(shape)
    if name == "clip":
        low, high = d.operand(d.broadcastable(shape)), d.operand(d.broadcastable(shape))
        if d.few(1):
            return lambda xs: np.clip(x(xs), low(xs), None)
        return lambda xs: np.clip(x(xs), low(xs), high(xs))
    return lambda xs: np.round(x(xs), 1)


_each("clip round", _rounded, real=True)


@case("operators")
def _operators(d: Draw) -> Any:
    shape = d.shape()
    x, y = d.array(shape), d.operand(d.broadcastable(shape), d.one(None, "float32", "float64"))
    operation = d.one(np.add, np.subtract, np.multiply, np.divide, np.hypot if d.dtype[0] == "f" else np.add)
    if d.few(1):
        return lambda xs: operation.outer(xs[x], y(xs))
    return lambda xs: operation(xs[x], y(xs))


# ---- linear algebra and transforms ----------------------------------------------------------------------------------


def _square(d: Draw, positive: bool = False) -> int:
    """A stack of matrices that are far from singular, symmetric and positive if asked for."""
    n, stack = d.few(3, 1), d.shape(1)
    x = d.plain((*stack, n, n))
    x = x / (1 + np.max(np.abs(x), initial=0.0)) + 2 * np.eye(n, dtype=x.dtype)
    if positive:
        x = x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(n, dtype=x.dtype)
    d.arrays.append(d.laid(x.astype(d.dtype)))
    return len(d.arrays) - 1


def _of_matrices(name: str, d: Draw) -> Any:
    k = _square(d, name == "cholesky")
    if name == "matrix_power":
        n = d.few(5) - 2
        return lambda xs: np.linalg.matrix_power(xs[k], n)
    if name == "solve":
        shape = d.arrays[k].shape
        b = d.operand((shape[-1],) if len(shape) == 2 and d.few(1) else (*d.shape(1), shape[-1], 2))
        return lambda xs: np.linalg.solve(xs[k], b(xs))
    if name == "cond":
        p = d.one(None, 1, -1, np.inf, "fro")
        return lambda xs: np.linalg.cond(xs[k], p)
    if name in ("eigvalsh", "cholesky"):  # NumPy reads one of the two triangles
        return lambda xs: getattr(np.linalg, name)(xs[k] + np.conj(np.swapaxes(xs[k], -1, -2)))
    return lambda xs: tuple(np.atleast_1d(*flattened(getattr(np.linalg, name)(xs[k]))))


_each("solve inv det slogdet cond cholesky eigvalsh svdvals pinv matrix_power", _of_matrices)


@case("other norms")
def _other_norms(d: Draw) -> Any:
    shape = d.shape(3, 2, empty=False)
    k, options = d.array(shape), d.dict_of(keepdims=lambda: d.one(True, False))
    if d.few(1):
        return lambda xs: np.linalg.matrix_norm(xs[k], **options)
    options |= d.dict_of(axis=lambda: d.axes(len(shape)), ord=lambda: d.one(1, 2, 3, np.inf))
    return lambda xs: np.linalg.vector_norm(xs[k], **options)


@case("vectors")
def _vectors(d: Draw) -> Any:
    n, stack = d.few(3, 1), d.shape(2)
    if d.few(1):
        axis = d.few(1) - 1
        at = len(stack) if axis else 0
        own = (*stack[:at], n, *stack[at:])
        x, y = d.operand(own), d.operand(own)
        function = np.linalg.vecdot if d.few(1) else np.vecdot if hasattr(np, "vecdot") else np.linalg.vecdot
        return lambda xs: function(x(xs), y(xs), axis=axis)
    parts = [d.operand((n, n)) for _ in range(d.few(4, 2))]
    return lambda xs: np.linalg.multi_dot([x(xs) for x in parts])


def _transformed(name: str, d: Draw) -> Any:
    several = name.rstrip("2n") != name
    shape = tuple(max(n, 2) for n in d.shape(3, 2 if several else 1, empty=False))
    real = name in ("rfft", "rfftn", "rfft2", "ihfft")
    k = d.array(shape, ("float32" if d.dtype == "float32" else "float64") if real else None)
    options = d.dict_of(norm=lambda: d.one("forward", "backward", "ortho"))
    if several and name.endswith("n"):
        options |= d.dict_of(axes=lambda: tuple(int(a) for a in d.rng.permutation(len(shape))[: d.few(len(shape), 1)]))
    elif not several:
        options |= d.dict_of(n=lambda: d.few(5, 1), axis=lambda: d.axis(len(shape), none=False))
    return lambda xs: getattr(np.fft, name)(xs[k], **options)


_each("fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft", _transformed)


@case("shifted")
def _shifted(d: Draw) -> Any:
    shape = d.shape(3, 1)
    k, axes, name = d.array(shape), d.axes(len(shape)), d.one("fftshift", "ifftshift")
    return lambda xs: getattr(np.fft, name)(xs[k], axes)


@case("looked up", real=True)
def _looked_up(d: Draw) -> Any:
    knots, v = np.sort(d.plain((d.few(4, 1),))), d.array(d.shape(2))
    d.arrays.append(knots)
    side, k = d.one("left", "right"), len(d.arrays) - 1
    return lambda xs: np.searchsorted(xs[k], xs[v], side)


@case("taken along")
def _taken_along(d: Draw) -> Any:
    shape = d.shape(3, 1, empty=False)
    k, axis = d.array(shape), d.axis(len(shape))
    if axis is None:
        at = d.rng.integers(-2, 2, d.few(3)) if np.prod(shape) > 1 else np.zeros(2, int)
    else:
        at = d.rng.integers(-1, 1, [2 if a == axis % len(shape) else n for a, n in enumerate(shape)])
    return lambda xs: np.take_along_axis(xs[k], at, axis)


@case("laid out")
def _laid_out(d: Draw) -> Any:
    shape = d.shape(2, 1)
    x, y = d.operand(shape), d.operand(shape, "float64")
    new, how = d.shape(2), d.few(3)
    if how == 0:
        return lambda xs: np.block([[x(xs), y(xs)], [y(xs), x(xs)]])
    if how == 1:
        return lambda xs: np.resize(x(xs), new)
    k, axis = d.array(d.shape(3, 1)), d.few(0)
    if how == 2 and hasattr(np, "unstack"):
        return lambda xs: np.unstack(xs[k], axis=axis)
    return lambda xs: np.flipud(xs[k])


def _of_numbers(name: str, d: Draw) -> Any:
    k = d.array(d.shape())
    options = d.dict_of(deg=lambda: True) if name == "angle" else {}
    return lambda xs: _function(name)(xs[k], **options)


_each("angle iscomplex isreal nan_to_num sinc real imag ones_like zeros_like", _of_numbers)


@case("ufuncs", real=True)
def _ufuncs(d: Draw) -> Any:
    shape = d.shape()
    x, y = d.array(shape), d.operand(d.broadcastable(shape), d.one(None, "float32", "float64"))
    one = d.one(np.sin, np.exp, np.arctan, np.cbrt, np.floor, np.trunc, np.sign, np.square, np.degrees, np.isnan)
    two = d.one(np.fmod, np.floor_divide, np.arctan2, np.copysign, np.logaddexp, np.fmax, np.less, np.heaviside)
    if d.few(1):
        return lambda xs: one(xs[x])
    return lambda xs: (two(xs[x], y(xs)), divmod(xs[x], y(xs)), xs[x] // 0.7)


# ---- writing --------------------------------------------------------------------------------------------------------


def _random_index(d: Draw, shape: tuple[int, ...]) -> Any:
    how = d.few(5)
    if how == 0:
        return d.rng.random(shape) < 0.5
    if how == 1 and shape and 0 not in shape:
        return d.rng.integers(-shape[0], shape[0], d.shape(2))
    if how == 2 and len(shape) > 1 and 0 not in shape:
        own = d.shape(1)
        return tuple(d.rng.integers(-n, n, own) for n in shape[:2])
    full: list[Any] = []
    for n in shape:
        kind = d.few(3)
        if kind == 0 and n:
            full.append(d.few(n - 1) - d.one(0, n))
        elif kind == 1:
            full.append(slice(d.one(None, 0, 1, -2), d.one(None, n, n - 1), d.one(None, 1, 2, -1)))
        else:
            full.append(slice(None))
    if d.rng.random() < 0.3:
        full.insert(d.few(len(full)), None)
    if d.rng.random() < 0.3:
        full = [*full[: d.few(len(full))], ...]
    return tuple(full)


def _random_view(d: Draw, y: Any) -> Callable[[Any], Any]:
    """What NumPy makes a view of, or a copy where it must."""
    shape, ndim = y.shape, y.ndim
    forms: list[Callable[[Any], Any]] = [
        lambda v: v[...],
        lambda v: v[None],
        lambda v: v.reshape(-1),
        lambda v: v.ravel(),
        lambda v: np.atleast_1d(v),
        lambda v: np.atleast_2d(v),
        lambda v: np.expand_dims(v, 0),
        lambda v: np.squeeze(v),
        lambda v: v.T,
        lambda v: np.transpose(v),
        lambda v: np.reshape(v, shape[::-1]),
        lambda v: v.reshape(-1, order="F"),
        lambda v: np.atleast_3d(v),
        lambda v: v.reshape((1, *shape)),
    ]
    if ndim:
        axis = d.axis(ndim, none=False) % ndim
        forms += [
            lambda v: v[::-1],
            lambda v: v[..., ::2],
            lambda v: v[1:],
            lambda v: np.flip(v, axis),
            lambda v: np.moveaxis(v, axis, 0),
            lambda v: np.swapaxes(v, axis, -1),
            lambda v: np.array_split(v, 2, axis)[0],
            lambda v: np.broadcast_arrays(v, 1.0)[0],
        ]
    if ndim > 1:
        forms += [lambda v: np.rot90(v), lambda v: v.swapaxes(0, 1), lambda v: v[:, 0], lambda v: v[0]]
    if y.dtype.kind == "c":
        forms += [lambda v: v.real, lambda v: v.imag, lambda v: np.real(v)]
    return d.one(*forms)  # type: ignore[no-any-return]


def _random_write(d: Draw, v: Any) -> Callable[[Any, list[Any], Any], Any]:
    """A write to an array like v, from the arguments and perhaps from the root: f(v, xs, root)."""
    shape, size = v.shape, v.size
    value = _random_value(d, shape)
    short = d.operand((d.one(0, 1, 2, 3, size, size + 1),))
    places: Any = d.rng.integers(-size, size, d.shape(2)) if size else np.zeros(0, int)
    places = d.one(places, [0], [], [0, 0])
    mode = d.one("raise", "wrap", "clip")
    mask = d.rng.random(shape) < 0.5
    other = d.rng.random(d.broadcastable(shape, False)) < 0.5
    index = _random_index(d, shape)
    ufunc = d.one(np.add, np.subtract, np.multiply)

    def at(v: Any, xs: list[Any], root: Any) -> None:
        v[index] = value(xs, v)

    def increased(v: Any, xs: list[Any], root: Any) -> None:
        v[index] += 1.5

    def whole(v: Any, xs: list[Any], root: Any) -> None:
        v *= value(xs, v)

    def reversed_in_place(v: Any, xs: list[Any], root: Any) -> None:
        v[:] = v[::-1]

    def from_root(v: Any, xs: list[Any], root: Any) -> None:
        v[...] = root

    def flat(v: Any, xs: list[Any], root: Any) -> None:
        v.flat = short(xs)

    forms: list[Callable[[Any, list[Any], Any], Any]] = [
        at,
        increased,
        whole,
        flat,
        lambda v, xs, root: np.put(v, places, short(xs), mode),
        lambda v, xs, root: v.put(places, short(xs), mode),
        lambda v, xs, root: np.place(v, mask, short(xs)),
        lambda v, xs, root: np.putmask(v, mask, short(xs)),
        lambda v, xs, root: np.putmask(v, mask, root if root.size == size else short(xs)),
        lambda v, xs, root: np.copyto(v, value(xs, v), where=other),
        lambda v, xs, root: np.copyto(v, value(xs, v)),
        lambda v, xs, root: v.fill(2.5),
        lambda v, xs, root: ufunc.at(v, index, 1.5),
        lambda v, xs, root: np.add(v, 1.0, out=v),
        lambda v, xs, root: np.multiply(v, value(xs, v), out=v, where=other),
        lambda v, xs, root: np.negative(v[::-1] if v.ndim else v, out=v),
        lambda v, xs, root: np.cumsum(v, axis=0, out=v) if v.ndim else None,
    ]
    if v.ndim:
        rows = tuple(n if d != 0 else 1 for d, n in enumerate(shape))
        along = d.rng.integers(0, max(shape[0], 1), rows)
        forms += [
            reversed_in_place,
            from_root,
            lambda v, xs, root: np.put_along_axis(v, along, 3.0, 0),
            lambda v, xs, root: np.add.at(v, [0, 0, -1], v[0]),
        ]
    if v.ndim > 1:
        wrap = d.one(True, False)
        forms.append(lambda v, xs, root: np.fill_diagonal(v, short(xs) if d.dtype != "complex128" else 2.0, wrap))
    if v.dtype.kind == "f" and v.ndim:
        forms.append(lambda v, xs, root: v.sort(0))
    return d.one(*forms)  # type: ignore[no-any-return]


def _random_value(d: Draw, shape: tuple[int, ...]) -> Callable[[list[Any], Any], Any]:
    if d.rng.random() < 0.3:
        return lambda xs, v: 2.5
    x = d.operand(d.broadcastable(shape, False), d.one(None, "float64"))
    return lambda xs, v: x(xs)


@case("written")
def _written(d: Draw) -> Any:
    """Writes through views of a copy, seen by the copy and by another view of it."""
    shape = d.shape()
    k = d.array(shape)
    make = d.one(
        lambda x: x.copy(), np.copy, lambda x: np.zeros_like(x) + x, lambda x: np.array(x, like=x), np.zeros_like
    )
    y: Any = make(d.arrays[k])
    if not isinstance(y, np.ndarray):
        make, y = np.copy, np.copy(y)
    views, writes = [], []
    for _ in range(d.few(2, 1)):
        v: Any = y
        chain = []
        for _ in range(d.few(3)):
            view = _random_view(d, v)
            try:
                v = view(v)
            except Exception:
                continue
            if not isinstance(v, np.ndarray):
                break
            chain.append(view)
        else:
            views.append(chain)
            writes.append(_random_write(d, v))
    return lambda xs: _run_writes(make(xs[k]), xs, views, writes)


def _run_writes(y: Any, xs: list[Any], views: list[Any], writes: list[Any]) -> Any:
    other = y.reshape(-1)
    seen = []
    for chain, write in zip(views, writes, strict=True):
        v = y
        for view in chain:
            v = view(v)
        write(v, xs, y)
        seen.append(v)
    return [np.array(x, like=y) for x in (y, other, *seen)]
