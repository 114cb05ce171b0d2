"""Evaluating a listing, a row at a time, with NumPy's public functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hoad._core.graph.primitive import UFUNC
from reference.listing import Constant, Listing, Operand, Row


def _getitem(params: Any, x: Any) -> Any:
    shape, strides, offset = params
    if 0 in shape:
        return np.zeros(shape, x.dtype)
    flat = np.ravel(x)
    return as_strided(flat[offset:], shape, [s * flat.itemsize for s in strides]).copy()


def _put(params: Any, x: Any, v: Any, flat: Any) -> Any:
    made = np.array(x, order="C")
    for place, item in zip(np.ravel(flat), np.ravel(v), strict=True):
        made.reshape(-1)[place] = item
    return made


def _assemble(row: Row, operands: list[Any]) -> Any:
    """Zeros, with items added at flat offsets, and then parts: gathered, or at (byte offset, shape, byte strides)."""
    offsets, parts = row.params
    made = np.zeros(row.aval.shape, row.aval.dtype)
    flat = made.reshape(-1)
    rest = iter(operands)
    for offset in offsets:
        flat[offset] += next(rest)
    for part in parts:
        item = np.asarray(next(rest))
        if part is None:
            np.add.at(flat, next(rest), item)
        elif item.size:
            start, shape, strides = part
            places = as_strided(
                np.arange(flat.size)[start // flat.itemsize :], shape, [s * 8 // flat.itemsize for s in strides]
            )
            np.add.at(flat, places, item)
    return made


def _reduced(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda params, x: ufunc.reduce(x, axis=params[0]).reshape(params[1])


COMPUTE: dict[str, Callable[..., Any]] = {
    "identity": lambda params, x: x,
    "stop_gradient": lambda params, x: x,
    "item": lambda params, x: np.ravel(x)[params[0]],
    "sum": _reduced(np.add),
    "max": _reduced(np.maximum),
    "min": _reduced(np.minimum),
    "reshape": lambda params, x: np.reshape(x, params[0]),
    "transpose": lambda params, x: np.transpose(x, params[0]),
    "broadcast_to": lambda params, x: np.broadcast_to(x, params[0]),
    "getitem": _getitem,
    "gather": lambda params, x, flat: np.ravel(x)[flat],
    "put": _put,
    "concatenate": lambda params, *xs: np.concatenate(xs, axis=params[0]),
    "matmul": lambda params, x, y: np.matmul(x, y),
    "solve": lambda params, x, y: np.linalg.solve(x, y),
    "inv": lambda params, x: np.linalg.inv(x),
    "det": lambda params, x: np.linalg.det(x),
    "slogdet": lambda params, x: tuple(np.linalg.slogdet(x)),
}


def compute(row: Row, operands: list[Any]) -> Any:
    """The value of a row; a tuple for an operation with several results."""
    primitive = row.primitive
    assert primitive is not None
    if primitive.name == "assemble":
        return _assemble(row, operands)
    if primitive.kind == UFUNC:
        return primitive.function(*operands)
    return COMPUTE.get(primitive.name, primitive.function)(row.params, *operands)


def evaluate(listing: Listing, values: Sequence[Any], wanted: Sequence[Operand | None]) -> list[Any]:
    """The values of `wanted` at these values of the inputs; symbolic zeros are None."""
    found: list[Any] = []
    inputs = dict(zip(listing.inputs, values, strict=True))
    with np.errstate(all="ignore"):
        for i, row in enumerate(listing.rows):
            if row.primitive is None:
                found.append(np.asarray(inputs[i], dtype=row.aval.dtype))
            elif row.primitive.name == "result":
                found.append(found[row.operands[0]][row.params[0]])  # type: ignore[index]
            else:
                operands = [_first(x.value if isinstance(x, Constant) else found[x]) for x in row.operands]
                found.append(compute(row, operands))
                assert np.shape(_first(found[-1])) == row.aval.shape, f"{row} gave {found[-1]}"
    return [None if x is None else _first(x.value if isinstance(x, Constant) else found[x]) for x in wanted]


def _first(value: Any) -> Any:
    """An operand that is an operation with several results stands for the first."""
    return value[0] if isinstance(value, tuple) else value
