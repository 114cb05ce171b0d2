"""The lanes of a loop as columns: operations on numbers become operations on arrays, with an item for each lane.

A loop that carries nothing does the same operations on numbers in every lane. As operations on arrays they go through
chains, block by block, as if the function had been written for arrays: what is equal is computed once, negations and
pairs are one pass, and arrays of a few numbers that were only put together and taken apart again are never made. The
bits are those of the lanes, but for functions of arrays that they share.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.primitive import STRIDED, UFUNC, Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._core.trace.calls import apply_primitive
from hoad._ops.primitives import ADD, DIVIDE, MULTIPLY, POWER
from hoad._program.program import Program
from hoad._transform.programs import nodes_behind, recorded

MOST_NUMBERS = 1024  # of an array in a lane
MOST_OPERATIONS = 20_000  # on numbers, in a lane
FEW = 8  # numbers, which NumPy adds up one by one, beginning with
HUGE = 2.0**1000  # whose reciprocal has all its digits
START = float(np.sum(np.array([-0.0])))  # whichever zero it is

Ids = np.ndarray[Any, Any]  # which numbers an array in a lane holds, by their place in a list
_Row = tuple[Primitive, list[int], Any, AbstractValue]  # a node: what it does, with what, and what that gives


class _NoColumnsError(Exception):
    """A program that does more than elementary functions of numbers."""


class _Item(NamedTuple):
    """A number of an input."""

    input: int
    place: int


class _Operation(NamedTuple):
    """A number that an elementary function gives."""

    primitive: Primitive
    operands: tuple[int, ...]


class Columns:
    """The numbers that a program computes in a lane, each once."""

    def __init__(self, program: Program) -> None:
        tape = program._last
        if tape._first_guard != tape._guards:
            raise _NoColumnsError
        self.numbers: list[float | _Item | _Operation] = []
        self._known: dict[Any, int] = {}
        self._one: dict[int, int] = {}  # of operands that are numbers
        self._many: dict[int, Ids] = {}  # of arrays
        self._graph = tape._graph
        inputs = program._input_nodes()
        for k, (node, aval) in enumerate(zip(inputs, program.input_types, strict=True)):
            _check(aval)
            self._note(node, [self._number((_Item, k, j), _Item(k, j)) for j in range(aval.size)], aval)
        for i in nodes_behind(self._graph, tape._outputs, set(inputs))[0]:
            self._add(i, node_row(self._graph, i)[:4])
        self.outputs = [self._ids(k) for k in tape._outputs]

    def _number(self, key: Any, number: float | _Item | _Operation) -> int:
        at = self._known.setdefault(key, len(self.numbers))
        if at == len(self.numbers):
            self.numbers.append(number)
            if at > MOST_OPERATIONS:
                raise _NoColumnsError
        return at

    def _note(self, i: int, ids: list[int] | Ids, aval: AbstractValue) -> None:
        if aval.ndim:
            self._many[i] = np.reshape(np.asarray(ids, dtype=np.intp), aval.shape)
        else:
            self._one[i] = int(ids[0])

    def _id(self, operand: int) -> int:
        """Which number an operand is."""
        if operand < 0 and operand not in self._one:
            self._one[operand] = int(self._constants(operand)[()])
        return self._one[operand]

    def _ids(self, operand: int) -> Ids:
        """Which numbers an operand holds."""
        if operand in self._many:
            return self._many[operand]
        return self._constants(operand) if operand < 0 else np.array(self._one[operand], dtype=np.intp)

    def _constants(self, operand: int) -> Ids:
        value = np.asarray(const_value(self._graph, operand))
        if value.dtype != np.float64 or value.size > MOST_NUMBERS:
            raise _NoColumnsError
        ids = [self._number(x.hex(), x) for x in value.ravel().tolist()]
        return np.reshape(np.array(ids, dtype=np.intp), value.shape)

    def _add(self, i: int, row: _Row) -> None:
        """Note the numbers that a node gives."""
        primitive, operands, _, aval = row
        _check(aval)
        if aval.ndim or not _is_elementary(primitive, aval):
            self._note(i, np.ravel(self._result(row)), aval)
            return
        self._one[i] = self._applied(primitive, tuple([self._id(k) for k in operands]))

    def _applied(self, primitive: Primitive, operands: tuple[int, ...]) -> int:
        """The number that an elementary function gives; x / 2ᵏ is x 2⁻ᵏ, to the last bit."""
        if primitive is DIVIDE:
            divisor = self.numbers[operands[1]]
            if isinstance(divisor, float) and abs(math.frexp(divisor)[0]) == 0.5 and 1.0 / HUGE <= abs(divisor) <= HUGE:
                primitive, operands = MULTIPLY, (operands[0], self._number((1.0 / divisor).hex(), 1.0 / divisor))
        return self._number((primitive.op, operands), _Operation(primitive, operands))

    def _result(self, row: _Row) -> Ids:
        primitive, operands, params, aval = row
        name = primitive.name if primitive.qualified is None else ""
        if name in ("identity", "stop_gradient", "smooth"):
            return self._ids(operands[0])
        if _is_elementary(primitive, aval):
            given = np.broadcast_arrays(*[self._ids(k) for k in operands])
            places = zip(*[x.ravel().tolist() for x in given], strict=True)
            return np.array([self._applied(primitive, at) for at in places], np.intp)
        if name == "item":
            return self._ids(operands[0]).ravel()[params[0] : params[0] + 1]
        if name == "gather" and operands[1] < 0:
            return np.ravel(np.take(self._ids(operands[0]), const_value(self._graph, operands[1])))
        if name == "concatenate":
            return np.concatenate([self._ids(k) for k in operands], axis=params[0])
        if name == "assemble" and None not in params[1] and aval.dtype == np.float64:
            return self._assembled(row)
        if name == "sum" and not aval.ndim and self._ids(operands[0]).size < FEW:
            first = self._number(START.hex(), START)
            return np.array([functools.reduce(self._plus, self._ids(operands[0]).ravel().tolist(), first)])
        if primitive.kind == STRIDED:
            return _seen(primitive, params, self._ids(operands[0]), operand_avals(self._graph, operands)[0])
        raise _NoColumnsError

    def _plus(self, a: int, b: int) -> int:
        return self._applied(ADD, (a, b))

    def _assembled(self, row: _Row) -> Ids:
        """Zeros, in which items are put, and to which slices are added."""
        _, operands, (offsets, parts), aval = row
        made: list[Any] = np.full(aval.size, self._number((0.0).hex(), 0.0), dtype=np.intp).tolist()
        places = np.arange(aval.size)
        for at, k in zip(offsets.tolist(), operands, strict=False):
            made[at] = self._id(k)
        for (start, shape, strides), k in zip(parts, operands[len(offsets) :], strict=True):
            part = as_strided(places[start // aval.itemsize :], shape, strides)
            for at, x in zip(part.ravel().tolist(), self._ids(k).ravel().tolist(), strict=True):
                made[at] = self._plus(made[at], x)
        return np.array(made, dtype=np.intp)


def _check(aval: AbstractValue) -> None:
    if aval.dtype not in (np.float64, np.bool_) or aval.size > MOST_NUMBERS:
        raise _NoColumnsError


def _is_elementary(primitive: Primitive, aval: AbstractValue) -> bool:
    """Whether arrays give the bits that lanes give; x ** 2, which they take for a product, may not."""
    is_array = aval.ndim > 0
    return primitive.kind == UFUNC and primitive.has_kernel(is_array) and not (is_array and primitive is POWER)


def _seen(primitive: Primitive, params: Any, ids: Ids, aval: AbstractValue) -> Ids:
    """The numbers of an array that a view shows."""
    shape, strides, offset = primitive.function(params, aval)
    flat = np.ascontiguousarray(ids).ravel()[offset // aval.itemsize :]
    return as_strided(flat, shape, [s // aval.itemsize * flat.itemsize for s in strides]).copy()


class Wide:
    """A loop over `length` lanes, to be recorded as operations on arrays."""

    def __init__(self, columns: Columns, takes: str, length: int) -> None:
        self._columns = columns
        self._takes = takes
        self._length = length

    def __call__(self, *inputs: Any) -> list[Any]:
        values: dict[int, Any] = {}
        for at in _order(self._columns):
            values[at] = self._value(self._columns.numbers[at], inputs, values)
        return [self._stacked(ids, values) for ids in self._columns.outputs]

    def _value(self, number: float | _Item | _Operation, inputs: tuple[Any, ...], values: dict[int, Any]) -> Any:
        if isinstance(number, _Operation):
            return apply_primitive(number.primitive, None, *[values[k] for k in number.operands])
        if isinstance(number, float):
            return number
        x = inputs[number.input]
        if self._takes[number.input] == "k":
            return np.reshape(x, (-1,))[number.place]
        return np.reshape(x, (self._length, -1))[:, number.place]

    def _stacked(self, ids: Ids, values: dict[int, Any]) -> Any:
        """A result: its numbers side by side, lane after lane."""
        rows = [np.broadcast_to(values[k], (self._length,)) for k in ids.ravel().tolist()]
        found = rows[0] if len(rows) == 1 else np.stack(rows, axis=1)
        return np.reshape(found, (self._length, *ids.shape))


def _order(columns: Columns) -> list[int]:
    """The numbers that the outputs depend on, operands first."""
    found: set[int] = set()
    left = [k for ids in columns.outputs for k in ids.ravel().tolist()]
    while left:
        k = left.pop()
        number = columns.numbers[k]
        if k not in found:
            found.add(k)
            left.extend(number.operands if isinstance(number, _Operation) else ())
    return sorted(found)


def in_columns(program: Program, takes: str, gives: str, length: int, avals: list[AbstractValue]) -> Program | None:
    """A program of arrays that gives what the lanes of a loop give; None where there is none.

    The bits are the same, but for those of functions of arrays that the lanes share, which are taken number by number.
    Sums over the lanes are left to these, which add them up in an order of their own.
    """
    if set(gives) != {"y"} or 0 in [aval.size for aval in program.output_types]:
        return None
    try:
        return recorded(Wide(Columns(program), takes, length), avals)
    except _NoColumnsError:
        return None
