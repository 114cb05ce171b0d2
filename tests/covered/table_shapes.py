"""Functions that put items elsewhere: shapes, joining and splitting, choosing by place or condition, writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from covered.points import A, M, S, T, V, W
from covered.rows import Kind, Row

D, C, S_ = Kind.DIFFERENTIABLE, Kind.CONSTANT, Kind.STRUCTURAL
PLACES = np.array([[1, 0, 1], [0, 0, 1]])


def written(write: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """What a function that writes to an array leaves there: the array is one like x, and twice as large."""

    def f(x: Any) -> Any:
        y = np.zeros_like(x) + 2.0 * x
        write(y, x)
        return y

    return f


def filled(write: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """What a function that writes x to an array of zeros leaves there."""

    def f(x: Any) -> Any:
        y = np.zeros((3, 3), like=x)
        write(y, x)
        return y

    return f


SHAPES = [
    Row("numpy.reshape", D, lambda x: np.reshape(x, (3, 2)), M),
    Row("numpy.reshape", D, lambda x: np.reshape(x, (3, -1), order="F"), M, "order='F'"),
    Row("numpy.ravel", D, np.ravel, M),
    Row("numpy.ravel", D, lambda x: np.ravel(x, order="F"), M, "order='F'"),
    Row("numpy.transpose", D, np.transpose, M),
    Row("numpy.transpose", D, lambda x: np.transpose(x, (2, 0, 1)), T, "axes"),
    Row("numpy.matrix_transpose", D, np.matrix_transpose, T),
    Row("numpy.swapaxes", D, lambda x: np.swapaxes(x, 0, -1), T),
    Row("numpy.moveaxis", D, lambda x: np.moveaxis(x, 0, -1), T),
    Row("numpy.rollaxis", D, lambda x: np.rollaxis(x, 2), T),
    Row("numpy.squeeze", D, np.squeeze, W.reshape(1, 3, 1)),
    Row("numpy.expand_dims", D, lambda x: np.expand_dims(x, (0, 2)), M),
    Row("numpy.atleast_1d", D, np.atleast_1d, S),
    Row("numpy.atleast_2d", D, np.atleast_2d, V),
    Row("numpy.atleast_3d", D, np.atleast_3d, M),
    Row("numpy.broadcast_to", D, lambda x: np.broadcast_to(x, (2, 3)), V),
    Row("numpy.broadcast_arrays", D, lambda x: np.broadcast_arrays(x, np.zeros((2, 1))), V),
    Row("numpy.broadcast_arrays", D, lambda x: np.broadcast_arrays(np.zeros((2, 1)), x), V, "the second"),
    Row("numpy.copy", D, np.copy, M),
    Row("numpy.flip", D, lambda x: np.flip(x, 1), M),
    Row("numpy.fliplr", D, np.fliplr, M),
    Row("numpy.flipud", D, np.flipud, M),
    Row("numpy.roll", D, lambda x: np.roll(x, (1, -1), axis=(0, 1)), M),
    Row("numpy.rot90", D, np.rot90, M),
    Row("numpy.tril", D, lambda x: np.tril(x, -1), T, "a stack"),
    Row("numpy.tile", D, lambda x: np.tile(x, (2, 1)), V),
    Row("numpy.repeat", D, lambda x: np.repeat(x, [2, 0, 1]), V),
    Row("numpy.resize", D, lambda x: np.resize(x, (2, 4)), V),
    Row("numpy.pad", D, lambda x: np.pad(x, 1), M),
    Row("numpy.pad", D, lambda x: np.pad(x, 1, "edge"), V, "mode='edge'"),
    Row("numpy.pad", D, lambda x: np.pad(x, 2, "reflect"), V, "mode='reflect'"),
    Row("numpy.pad", D, lambda x: np.pad(x, 2, "wrap"), V, "mode='wrap'"),
    Row("numpy.pad", D, lambda x: np.pad(x, 1, "symmetric"), V, "mode='symmetric'"),
    Row("numpy.pad", D, lambda x: np.pad(x, 1, constant_values=x[0]), V, "array, constant_values"),
    Row("numpy.pad", D, lambda x: np.pad(x, 1, "linear_ramp", end_values=x[0]), V, "mode='linear_ramp'"),
    Row("numpy.pad", D, lambda x: np.pad(x, 1, "mean"), M, "mode='mean'"),
    Row("numpy.pad", D, lambda x: np.pad(x, 2, "maximum"), V, "mode='maximum', 'minimum', 'median'", analytic=False),
    Row("numpy.pad", D, lambda x: np.pad(x, 1, "reflect", reflect_type="odd"), V, "reflect_type='odd'"),
    Row(
        "numpy.pad",
        Kind.IMPOSSIBLE,
        lambda x: np.pad(V, 1, constant_values=x),
        S,
        "constant_values alone",
        note="NumPy calls hoad only if the array is traced.",
    ),
    Row("numpy.delete", D, lambda x: np.delete(x, [0, 2], axis=1), M),
    Row("numpy.diag", D, np.diag, A),
    Row("numpy.diag", D, np.diag, V, "a vector"),
    Row("numpy.diagflat", D, np.diagflat, V),
    Row("numpy.diagonal", D, lambda x: np.diagonal(x, 1), A),
    Row("numpy.tril", D, np.tril, A),
    Row("numpy.triu", D, lambda x: np.triu(x, 1), A),
    Row("numpy.meshgrid", D, lambda x: np.meshgrid(x, [1.0, 2.0]), V),
]

JOINED = [
    Row("numpy.concatenate", D, lambda x: np.concatenate([x, [1.0], 2 * x]), V),
    Row("numpy.concatenate", D, lambda x: np.concatenate([x, x[0]], axis=None), M, "axis=None"),
    Row("numpy.stack", D, lambda x: np.stack([x, W, x], axis=1), V),
    Row("numpy.hstack", D, lambda x: np.hstack([x, 2 * x]), M),
    Row("numpy.vstack", D, lambda x: np.vstack([x, W]), M),
    Row("numpy.dstack", D, lambda x: np.dstack([x, x]), M),
    Row("numpy.column_stack", D, lambda x: np.column_stack([x, W]), V),
    Row("numpy.block", D, lambda x: np.block([[x, x], [W, x]]), V),
    Row("numpy.append", D, lambda x: np.append(x, [1.0]), V),
    Row("numpy.append", D, lambda x: np.append(W, x), V, "values"),
    Row("numpy.split", D, lambda x: np.split(x, [1], axis=1), M),
    Row("numpy.array_split", D, lambda x: np.array_split(x, 2), V),
    Row("numpy.hsplit", D, lambda x: np.hsplit(x, [1]), M),
    Row("numpy.vsplit", D, lambda x: np.vsplit(x, 2), M),
    Row("numpy.dsplit", D, lambda x: np.dsplit(x, 2), T),
    Row("numpy.unstack", D, lambda x: np.unstack(x), M),
]

CHOSEN = [
    Row("numpy.take", D, lambda x: np.take(x, [2, 0, 2], axis=1), M),
    Row("numpy.take", D, lambda x: np.take(x, [5, -4], mode="wrap"), V, "mode='wrap'"),
    Row("numpy.take_along_axis", D, lambda x: np.take_along_axis(x, PLACES, axis=0), M),
    Row("numpy.choose", D, lambda x: np.choose([0, 1, 0], [x, 2 * x]), V, "choices"),
    Row(
        "numpy.select",
        D,
        lambda x: np.select([x > 1, x < 0], [x, x**2], 0.5),
        V,
        "condlist, choicelist",
        analytic=False,
    ),
    Row(
        "numpy.take_along_axis",
        C,
        lambda x: np.take_along_axis(M, np.argsort(x, axis=0), axis=0),
        M,
        "indices",
    ),
    Row(
        "numpy.choose",
        C,
        lambda x: np.choose(np.argmax(x, axis=0), [V, W]),
        M,
        "a",
    ),
    Row("numpy.select", D, lambda x: np.select([x > 1, x < 0], [x, W], x[0]), V, "choicelist, default", analytic=False),
    Row(
        "numpy.select",
        Kind.IMPOSSIBLE,
        lambda x: np.select([V > 1, V < 0], [V, W], x),
        V,
        "default alone",
        note="NumPy calls hoad only if condlist or choicelist holds traced values.",
    ),
    Row(
        "numpy.full_like",
        Kind.IMPOSSIBLE,
        lambda x: np.full_like(W, x),
        S,
        "fill_value alone",
        note="NumPy calls hoad only if the array is traced. Write np.full(shape, x, like=x).",
    ),
    Row("numpy.where", C, lambda x: np.where(x, 1.0, 2.0), V, "condition"),
    Row("numpy.where", D, lambda x: np.where([True, False, True], x, W), V, "x"),
    Row("numpy.where", D, lambda x: np.where(x[:, :1] > 0, x, 0.0), M, "condition, x", analytic=False),
    Row("numpy.where", D, lambda x: np.where([True, False, True], W, x), V, "y"),
    Row("numpy.compress", D, lambda x: np.compress([True, False, True], x, axis=1), M, "a"),
    Row("numpy.extract", D, lambda x: np.extract(x > 0, x), M, "condition, arr", analytic=False),
]

WRITTEN = [
    Row("numpy.copyto", D, filled(lambda y, x: np.copyto(y, x, where=np.eye(3) > 0)), V, "src", analytic=False),
    Row("numpy.copyto", D, written(lambda y, x: np.copyto(y, 1.0, where=[True, False, True])), V, "dst"),
    Row("numpy.place", D, filled(lambda y, x: np.place(y, np.eye(3) > 0, x)), V, "vals", analytic=False),
    Row("numpy.put", D, filled(lambda y, x: np.put(y, [0, 4, -1], x)), V, "v", analytic=False),
    Row("numpy.put", D, written(lambda y, x: np.put(y, [0, 2], 1.0)), V, "a"),
    Row("numpy.putmask", D, filled(lambda y, x: np.putmask(y, np.eye(3) > 0, x)), V, "values", analytic=False),
    Row(
        "numpy.put_along_axis",
        D,
        filled(lambda y, x: np.put_along_axis(y, PLACES[:1], x, 0)),
        V,
        "values",
        analytic=False,
    ),
    Row("numpy.putmask", D, written(lambda y, x: np.putmask(y, y > 0, 5.0)), V, "a, mask", analytic=False),
    Row("numpy.place", D, written(lambda y, x: np.place(y, [True, False, False], 5.0)), V, "arr"),
    Row("numpy.put_along_axis", D, written(lambda y, x: np.put_along_axis(y, PLACES[:1], 5.0, 0)), M, "arr"),
    Row("numpy.fill_diagonal", D, filled(lambda y, x: np.fill_diagonal(y, x)), V, "val", analytic=False),
    Row("numpy.fill_diagonal", D, written(lambda y, x: np.fill_diagonal(y, 1.0)), A, "a"),
]

LIKE = "An array that can be written to."
PLAIN = "Without like=, NumPy converts to plain numbers and does not call hoad. A traced array needs no conversion."
MADE = [
    Row("numpy.array", D, lambda x: np.array([[x[0], 1.0], [x[1], x[2]]], like=x), V, note="With like=."),
    Row("numpy.asarray", D, lambda x: np.asarray([x[0], x[2]], like=x), V, note="With like=."),
    *(
        Row(f"numpy.{f.__name__}", D, lambda x, f=f: f([x[0], x[2]], like=x), V, note="With like=.")
        for f in (np.asanyarray, np.ascontiguousarray)
    ),
    *(
        Row(f"numpy.{f.__name__}", Kind.IMPOSSIBLE, f, V, "without like=", note=PLAIN)
        for f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)
    ),
    Row("numpy.full", D, lambda x: np.full((2, 3), x, like=x), V, "fill_value", note="With like=."),
    Row("numpy.full_like", D, lambda x: np.full_like(x, x[0]), V, "a, fill_value"),
    Row("numpy.zeros", S_, lambda x: np.zeros((2, 3), like=x), V, "like", note=LIKE),
    Row("numpy.ones", S_, lambda x: np.ones((2, 3), like=x), V, "like", note=LIKE),
    *(
        Row(f"numpy.{f.__name__}", S_, lambda x, f=f: f(3, like=x), V, "like", note=LIKE)
        for f in (np.arange, np.eye, np.identity, np.tri)
    ),
    Row("numpy.empty", S_, lambda x: np.empty((2, 0), like=x), V, "like", note=LIKE),
    Row("numpy.zeros_like", S_, np.zeros_like, V, note=LIKE),
    Row("numpy.ones_like", S_, np.ones_like, V, note=LIKE),
    Row("numpy.empty_like", S_, lambda x: np.empty_like(x, shape=(0, 2)), V, note=LIKE),
    Row("numpy.shape", S_, np.shape, M),
    Row("numpy.ndim", S_, np.ndim, M),
    Row("numpy.size", S_, np.size, M),
    Row("numpy.finfo", S_, lambda x: float(np.finfo(x.dtype).eps), V, "x.dtype"),
    Row("numpy.iinfo", S_, lambda x: np.iinfo(np.argmax(x).dtype).max, V, "dtype of an index"),
    Row("numpy.isdtype", S_, lambda x: np.isdtype(x.dtype, "real floating"), V, "x.dtype"),
    Row("numpy.iscomplexobj", S_, np.iscomplexobj, V),
    Row("numpy.isrealobj", S_, np.isrealobj, V),
]

ROWS = SHAPES + JOINED + CHOSEN + WRITTEN + MADE
