"""Members of numpy.ndarray: operators, attributes and methods."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from covered.points import POSITIVE, SORTED, A, M, N, T, V, W
from covered.rows import Kind, Row

D, C, S_, NONE = Kind.DIFFERENTIABLE, Kind.CONSTANT, Kind.STRUCTURAL, Kind.IMPOSSIBLE
OF_INTEGERS = "Of integers."
OTHER = np.array([0.75, 1.75, -1.5])

# Operators of two: (function, left, right, whether it is analytic).
OPERATORS: dict[str, tuple[Any, Any, Any, bool]] = {
    "add": (operator.add, V, OTHER, True),
    "sub": (operator.sub, V, OTHER, True),
    "mul": (operator.mul, V, OTHER, True),
    "truediv": (operator.truediv, V, OTHER, True),
    "pow": (operator.pow, POSITIVE, OTHER, True),
    "matmul": (operator.matmul, M, N, True),
    "mod": (operator.mod, V, OTHER, False),
}
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def changed(change: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """What a method or an operator leaves in an array that is made of x."""

    def f(x: Any) -> Any:
        y = 2.0 * x
        result = change(y, x)
        return y if result is None else result

    return f


def _set(y: Any, index: Any, value: Any) -> None:
    y[index] = value


def _delete(x: Any) -> None:
    del x[0]


def _flat(y: Any, value: Any) -> None:
    y.flat = value


def _operators() -> Iterator[Row]:
    for name, (f, a, b, analytic) in OPERATORS.items():
        yield Row(f"numpy.ndarray.__{name}__", D, lambda x, f=f, b=b: f(x, b), a, analytic=analytic)
        yield Row(f"numpy.ndarray.__r{name}__", D, lambda x, f=f, a=a: f(a, x), b, analytic=analytic)
        inplace = getattr(operator, f"i{name}")
        square = A if name == "matmul" else b
        yield Row(
            f"numpy.ndarray.__i{name}__",
            D,
            changed(lambda y, x, f=inplace, b=square: f(y, b)),
            A if name == "matmul" else a,
            analytic=analytic,
        )
    for name in COMPARISONS:
        f = getattr(operator, name)
        yield Row(f"numpy.ndarray.__{name}__", C, lambda x, f=f: f(x, OTHER), V)
    for name in ("and", "or", "xor"):
        f = getattr(operator, f"__{name}__")
        yield Row(f"numpy.ndarray.__{name}__", C, lambda x, f=f: f(x > 0, x < 1), V, note="Of booleans.")
        yield Row(f"numpy.ndarray.__r{name}__", C, lambda x, f=f: f(V < 1, x > 0), V, note="Of booleans.")
        inplace = getattr(operator, f"__i{name}__")
        yield Row(f"numpy.ndarray.__i{name}__", C, lambda x, f=inplace: f(x > 0, x < 1), V, note="Of booleans.")
    for name in ("lshift", "rshift"):
        f, inplace = getattr(operator, f"__{name}__"), getattr(operator, f"__i{name}__")
        yield Row(f"numpy.ndarray.__{name}__", C, lambda x, f=f: f(x.argsort(), 2), V, note=OF_INTEGERS)
        yield Row(f"numpy.ndarray.__r{name}__", C, lambda x, f=f: f(5, x.argsort()), V, note=OF_INTEGERS)
        yield Row(f"numpy.ndarray.__i{name}__", C, lambda x, f=inplace: f(x.argsort(), [2, 0, 1]), V, note=OF_INTEGERS)
        yield Row(f"numpy.ndarray.__{name}__", NONE, lambda x, f=f: f(x, 2), V, "floats", note="They have no bits.")


OPERATED = [
    *_operators(),
    Row("numpy.ndarray.__neg__", D, operator.neg, V),
    Row("numpy.ndarray.__pos__", D, operator.pos, V),
    Row("numpy.ndarray.__abs__", D, operator.abs, V, analytic=False),
    Row("numpy.ndarray.__invert__", C, lambda x: ~(x > 0), V, note="Of booleans."),
    Row("numpy.ndarray.__floordiv__", C, lambda x: x // OTHER, V),
    Row("numpy.ndarray.__rfloordiv__", C, lambda x: V // x, OTHER),
    Row("numpy.ndarray.__ifloordiv__", C, changed(lambda y, x: operator.ifloordiv(y, OTHER)), V),
    Row("numpy.ndarray.__divmod__", D, lambda x: divmod(x, OTHER), V, analytic=False),
    Row("numpy.ndarray.__rdivmod__", D, lambda x: divmod(V, x), OTHER, analytic=False),
    Row("numpy.ndarray.__getitem__", D, lambda x: x[::-1, [0, 2]], M),
    Row("numpy.ndarray.__getitem__", D, lambda x: x[x > 0], M, "a mask that depends on it", analytic=False),
    Row("numpy.ndarray.__setitem__", D, changed(lambda y, x: _set(y, 0, x[1])), M),
    Row("numpy.ndarray.__delitem__", NONE, _delete, M, note="An array keeps its shape, in NumPy too."),
    Row("numpy.ndarray.__contains__", C, lambda x: 0.75 in x, V, note="The answer is guarded."),
    Row("numpy.ndarray.__contains__", C, lambda x: x[1] in OTHER, OTHER, "value"),
    Row("numpy.ndarray.__contains__", C, lambda x: x[1] in x, M, "a row of it"),
    Row("numpy.ndarray.__iter__", D, lambda x: list(x), M),
    Row("numpy.ndarray.__len__", S_, len, M),
    Row("numpy.ndarray.__bool__", C, lambda x: bool(x[0]), V, note="A branch on it is guarded."),
    Row(
        "numpy.ndarray.__index__", C, lambda x: operator.index(np.argmax(x)), V, note="Of whole numbers; it is guarded."
    ),
    Row("numpy.ndarray.__copy__", D, copy.copy, V),
    Row("numpy.ndarray.__deepcopy__", D, copy.deepcopy, V),
]

PROTOCOLS = [
    Row("numpy.ndarray.__array_ufunc__", D, lambda x: x.__array_ufunc__(np.sin, "__call__", x), V, exact=False),
    Row("numpy.ndarray.__array_function__", D, lambda x: x.__array_function__(np.sum, (), (x,), {}), V),
]

ATTRIBUTES = [
    Row("numpy.ndarray.T", D, lambda x: x.T, M),
    Row("numpy.ndarray.mT", D, lambda x: x.mT, T),
    Row("numpy.ndarray.real", D, lambda x: x.real, V, analytic=False),
    Row("numpy.ndarray.imag", D, lambda x: (x * (1 + 2j)).imag, V, analytic=False),
    Row("numpy.ndarray.flat", D, changed(lambda y, x: _flat(y, x[0])), M, note="To be written to."),
    *(
        Row(f"numpy.ndarray.{name}", S_, operator.attrgetter(name), M)
        for name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")
    ),
]

METHODS = [
    Row("numpy.ndarray.all", C, lambda x: x.all(), V),
    Row("numpy.ndarray.any", C, lambda x: x.any(axis=0), M),
    Row("numpy.ndarray.argmax", C, lambda x: x.argmax(axis=1), M),
    Row("numpy.ndarray.argmin", C, lambda x: x.argmin(), M),
    Row("numpy.ndarray.argsort", C, lambda x: x.argsort(), V),
    Row("numpy.ndarray.argpartition", C, lambda x: x.argpartition(1), V),
    Row("numpy.ndarray.astype", D, lambda x: x.astype(complex).real, V, analytic=False),
    Row("numpy.ndarray.astype", C, lambda x: x.astype(int), 1.3 * V, "dtype=int"),
    Row("numpy.ndarray.clip", D, lambda x: x.clip(-0.5, 1.0), M, analytic=False),
    Row("numpy.ndarray.compress", D, lambda x: x.compress([True, False, True], axis=1), M),
    Row("numpy.ndarray.conj", D, lambda x: x.conj(), V, analytic=False),
    Row("numpy.ndarray.conjugate", D, lambda x: x.conjugate(), V, analytic=False),
    Row("numpy.ndarray.copy", D, lambda x: x.copy(), M),
    Row("numpy.ndarray.cumprod", D, lambda x: x.cumprod(axis=1), M),
    Row("numpy.ndarray.cumsum", D, lambda x: x.cumsum(axis=1), M),
    Row("numpy.ndarray.diagonal", D, lambda x: x.diagonal(1), A),
    Row("numpy.ndarray.dot", D, lambda x: x.dot(N), M),
    Row("numpy.ndarray.fill", D, changed(lambda y, x: y.fill(x[0, 1])), M),
    Row("numpy.ndarray.flatten", D, lambda x: x.flatten(), M),
    Row("numpy.ndarray.item", D, lambda x: x.item(1) * 2.0, V),
    Row("numpy.ndarray.max", D, lambda x: x.max(axis=0), M, analytic=False),
    Row("numpy.ndarray.mean", D, lambda x: x.mean(axis=0), M),
    Row("numpy.ndarray.min", D, lambda x: x.min(axis=0), M, analytic=False),
    Row("numpy.ndarray.prod", D, lambda x: x.prod(axis=0), M),
    Row("numpy.ndarray.put", D, changed(lambda y, x: y.put([0, 2], x)), V),
    Row("numpy.ndarray.ravel", D, lambda x: x.ravel(), M),
    Row("numpy.ndarray.repeat", D, lambda x: x.repeat(2, axis=0), M),
    Row("numpy.ndarray.reshape", D, lambda x: x.reshape(3, 2), M),
    Row("numpy.ndarray.round", C, lambda x: x.round(1), 1.03 * V),
    Row("numpy.ndarray.searchsorted", C, lambda x: x.searchsorted([0.5, 2.0]), SORTED),
    Row("numpy.ndarray.sort", D, changed(lambda y, x: y.sort()), M, analytic=False),
    Row("numpy.ndarray.squeeze", D, lambda x: x.squeeze(), W.reshape(1, 3, 1)),
    Row("numpy.ndarray.std", D, lambda x: x.std(axis=1), M, analytic=False),
    Row("numpy.ndarray.sum", D, lambda x: x.sum(axis=0), M),
    Row("numpy.ndarray.swapaxes", D, lambda x: x.swapaxes(0, 2), T),
    Row("numpy.ndarray.take", D, lambda x: x.take([1, 0], axis=1), M),
    Row("numpy.ndarray.trace", D, lambda x: x.trace(), A),
    Row("numpy.ndarray.transpose", D, lambda x: x.transpose(1, 0, 2), T),
    Row("numpy.ndarray.var", D, lambda x: x.var(axis=1), M, analytic=False),
]

ROWS = OPERATED + PROTOCOLS + ATTRIBUTES + METHODS
