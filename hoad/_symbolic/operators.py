"""What operators and functions of NumPy do with expressions, and what expressions refuse to be."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.tape import Graph
from hoad._core.trace.coerce import new_input
from hoad._core.trace.traced import FUNCTIONS, MAKERS, METHODS, is_traced, node_of, plain_value
from hoad._symbolic.rows import Node, read_nodes
from hoad.errors import TracedValueError

OPERANDS = (np.ndarray, np.generic, int, float, complex, list, tuple)


def _of_two(function: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods of an operator for an expression on its left, and on its right."""
    name = function.__name__.strip("_")
    return (
        _named(f"__{name}__", function, lambda self, other: binary(function, self, other)),
        _named(f"__r{name}__", function, lambda self, other: binary(function, other, self)),
    )


def _of_one(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return _named(f"__{function.__name__}__", function, lambda self: record_call(function, (self,)))


def _named(name: str, function: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """A method with the name under which Python calls it, and what the module `operator` says of the function."""
    method.__name__, method.__qualname__ = name, f"Operators.{name}"
    method.__doc__ = None if isinstance(function, np.ufunc) else function.__doc__
    return method


class Operators(Node):
    """What is recorded, and what raises; the nodes themselves are `Expression`."""

    __slots__ = ()
    __array_priority__ = 1000.0

    # ---- recording

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return record_call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if function in MAKERS:
            return record_call(MAKERS[function], (self, *args), kwargs)
        return record_call(FUNCTIONS.get(function, function), args, kwargs)

    @staticmethod
    def __hoad_record__(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of hoad's own, called with expressions among its arguments."""
        return record_call(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS and not name.startswith("__"):
            return lambda *args, **kwargs: record_call(METHODS[name], (self, *args), kwargs)
        raise AttributeError(f"an expression has no attribute {name!r}")

    __add__, __radd__ = _of_two(operator.add)
    __sub__, __rsub__ = _of_two(operator.sub)
    __mul__, __rmul__ = _of_two(operator.mul)
    __truediv__, __rtruediv__ = _of_two(operator.truediv)
    __floordiv__, __rfloordiv__ = _of_two(operator.floordiv)
    __mod__, __rmod__ = _of_two(operator.mod)
    __pow__, __rpow__ = _of_two(operator.pow)
    __matmul__, __rmatmul__ = _of_two(operator.matmul)
    __and__, __rand__ = _of_two(operator.and_)
    __or__, __ror__ = _of_two(operator.or_)
    __xor__, __rxor__ = _of_two(operator.xor)
    __lt__, __gt__ = _of_two(operator.lt)[0], _of_two(operator.gt)[0]
    __le__, __ge__ = _of_two(operator.le)[0], _of_two(operator.ge)[0]
    __neg__, __abs__, __invert__ = _of_one(operator.neg), _of_one(operator.abs), _of_one(operator.invert)
    __floor__, __ceil__, __trunc__ = _of_one(np.floor), _of_one(np.ceil), _of_one(np.trunc)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __eq__(self, other: object) -> Any:
        return binary(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return binary(operator.ne, self, other)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __pos__(self) -> Any:
        return self

    def __round__(self, ndigits: int | None = None) -> Any:
        return record_call(builtins.round, (self, ndigits))

    # ---- what it cannot be

    def __bool__(self) -> bool:
        raise no_value("bool() of an expression", "Choose with np.where(condition, a, b), or compare by `is`.")

    def __float__(self) -> float:
        raise no_value("float() of an expression", "Use np.sin instead of math.sin (and the like), or e.evaluate.")

    def __int__(self) -> int:
        raise no_value("int() of an expression", "Use np.floor or np.trunc, or e.evaluate.")

    def __complex__(self) -> complex:
        raise no_value("complex() of an expression", "Use e.evaluate.")

    def __index__(self) -> int:
        raise no_value("an expression used as an index", "Index with a number.")

    def __reduce__(self) -> NoReturn:
        raise TracedValueError(
            f"an expression cannot be pickled ({here()}): its symbols would be others where it is read. Pickle "
            "e.to_program(), which is the same formula of numbered inputs."
        )

    def __copy__(self) -> Operators:
        return self

    def __deepcopy__(self, memo: Any) -> Operators:
        return self


def no_value(what: str, advice: str) -> TracedValueError:
    """The error for an expression that would become a number."""
    return TracedValueError(f"{what} ({here()}) asks for a value that it does not have. {advice}")


# ---- recording ------------------------------------------------------------------------------------------------------


def binary(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """An operator; NotImplemented beside what hoad does not know."""
    for operand in (x, y):
        if not isinstance(operand, (Operators, *OPERANDS)) and not is_traced(operand):
            return NotImplemented
    return record_call(function, (x, y))


def record_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Call a function with expressions among its arguments: what traced values in their place have recorded."""
    graph = Graph(False)
    known: dict[int, Operators] = {}  # by number of the input
    inputs: dict[int, Any] = {}  # by id of the expression

    def enter(x: Any) -> Any:
        if is_traced(x):
            raise TracedValueError(
                f"an expression met a value that is traced by a derivative being taken ({here()}). Put the value in "
                "the place of a symbol: e.evaluate({x: value}), which is recorded."
            )
        if not isinstance(x, Operators):
            return x
        if id(x) not in inputs:
            inputs[id(x)] = traced = new_input(graph, x.aval)
            known[node_of(traced)] = x
        return inputs[id(x)]

    returned = function(*_mapped(enter, args), **_mapped(enter, kwargs or {}))
    numbers: list[int] = []
    returned = _mapped(lambda x: plain_value(x) if is_traced(x) and node_of(x) < 0 else x, returned)  # of constants
    _mapped(lambda x: numbers.append(node_of(x)) if is_traced(x) else None, returned)
    if not numbers:
        return returned
    made = read_nodes(graph, max(numbers) + 1, known)
    return _mapped(lambda x: made[node_of(x)] if is_traced(x) else x, returned)


def _mapped(function: Callable[[Any], Any], x: Any) -> Any:
    """The function of every item of nested sequences, dicts and object arrays."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[_mapped(function, item) for item in x])
    if isinstance(x, (tuple, list)):
        return type(x)([_mapped(function, item) for item in x])
    if isinstance(x, dict):
        return {key: _mapped(function, item) for key, item in x.items()}
    if isinstance(x, np.ndarray) and x.dtype == object:
        made = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape):
            made[index] = function(x[index])
        return made
    return function(x)
