"""The nodes of expressions, as rows that go into graphs and come out of them.

An expression is a node that holds its operands: nothing is recorded anywhere, so expressions of any origin meet in one
operation, in any thread, and go when nobody holds them. What needs a tape (a replay, a sweep) gets a graph of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._core.graph.inspect import const_value, operand_avals
from hoad._core.graph.primitive import Primitive
from hoad._core.graph.serialize import graph_of_rows, node_rows
from hoad._core.graph.tape import AbstractValue, Graph, intern_aval
from hoad._ops.primitives import INPUT, ITEM, RESULT
from hoad._program.tape import Constant

Key = tuple[Any, tuple[Any, ...], tuple[Any, ...]]  # of a signature: parameters, operands, results
Source = Constant | str | None  # of a leaf: its value, or its name


@dataclass(frozen=True, eq=False)
class Row:
    """What a node is beside its operands, as `node_rows` gives it."""

    primitive: Primitive
    flags: int = 0
    extra: Any = 0  # (dtype, shape) where the tables have an extension; the place of an item
    key: Key | None = None
    which: int = 0  # of several results

    @property
    def results(self) -> int:
        """How many results the operation has."""
        return 1 if self.key is None else len(self.key[2])


class Node:
    """What graphs are made of: a leaf with a source, or an operation on others."""

    __slots__ = ("aval", "operands", "row", "source")

    row: Row | None
    operands: tuple[Any, ...]
    source: Source
    aval: AbstractValue


KINDS: list[type[Any]] = []  # the classes of expressions, of numbers and of arrays, which a higher module defines


def make(row: Row | None, operands: tuple[Any, ...], source: Source, aval: AbstractValue) -> Any:
    """An expression of its parts."""
    of_numbers, of_arrays = KINDS
    made = object.__new__(of_arrays if aval.shape or aval.dtype.kind not in "fb" else of_numbers)
    made.row, made.operands, made.source, made.aval = row, operands, source, aval
    made._symbols = made._program = made._adjoint = None
    return made


def in_order(roots: Iterable[Any]) -> Iterator[Any]:
    """Every node behind these, operands first, in the order in which they are written."""
    seen: set[int] = set()
    stack = [(node, False) for node in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(node.operands))


class Layout:
    """A sealed graph of the nodes behind some, each once, and equal ones only once; `symbols` come first."""

    def __init__(self, roots: Sequence[Node], symbols: Sequence[Node] = ()) -> None:
        self.numbers: dict[int, int] = {}  # by id of the node: its operand
        self.nodes: list[Node | None] = []  # by number; None for a result that none has asked for
        self._rows: list[list[Any]] = []
        self._constants: list[Any] = []
        self._equal: dict[Any, int] = {}
        for node in in_order([*symbols, *roots]):
            self.numbers[id(node)] = self._added(node)
        self.graph = graph_of_rows(self._rows, self._constants)
        self.inputs = [self.numbers[id(symbol)] for symbol in symbols]
        self.outputs = [self.numbers[id(node)] for node in roots]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def _added(self, node: Node) -> int:
        row = node.row
        if row is None:
            if isinstance(node.source, Constant):
                return self._constant(node.source.value)
            return self._push(node, INPUT, 0, [], (node.aval.dtype.str, node.aval.shape) if node.aval.shape else 0)
        operands = [self.numbers[id(operand)] for operand in node.operands]
        if row.primitive is RESULT:
            number = operands[0] + row.which
            self._rows[number][1] |= row.flags
            if self.nodes[number] is None:
                self.nodes[number] = node
            return number
        same = (id(row.primitive), row.flags, row.extra, frozen(row.key), tuple(operands))
        if same not in self._equal:
            self._equal[same] = self._push(node, row.primitive, row.flags, operands, row.extra, row.key)
            for k in range(1, row.results):  # sweeps look for them right behind
                assert row.key is not None
                self._push(None, RESULT, 0, [self._equal[same], k], row.key[2][k])
        return self._equal[same]

    def _push(
        self, node: Node | None, primitive: Any, flags: int, operands: list[int], extra: Any, key: Any = None
    ) -> int:
        self._rows.append([primitive, flags, operands, extra, key])
        self.nodes.append(node)
        return len(self._rows) - 1

    def _constant(self, value: Any) -> int:
        same = frozen(value)
        if same not in self._equal:
            self._constants.append(value)
            self._equal[same] = ~(len(self._constants) - 1)
        return self._equal[same]


def frozen(x: Any) -> Any:
    """A key that two values share only if they are of one type, to the bit."""
    if isinstance(x, (tuple, list)):
        return tuple(frozen(item) for item in x)
    if isinstance(x, np.ndarray):
        return "array", x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, float):
        return type(x), struct.pack("d", x)
    return type(x), x


def read_nodes(graph: Graph, end: int, known: dict[int, Any]) -> list[Any]:
    """The first nodes of a graph; those `known`, by number, are what they were."""
    avals = operand_avals(graph, list(range(end)))
    constants: dict[int, Any] = {}
    found: list[Any] = []

    def operand(k: int) -> Any:
        if k >= 0:
            return found[k]
        if k not in constants:
            constants[k] = read_constant(graph, k)
        return constants[k]

    for i, (primitive, flags, numbers, extra, key) in enumerate(node_rows(graph, end)):
        if i in known:
            found.append(known[i])
            continue
        which = numbers.pop() if primitive is RESULT else 0
        kept = extra if isinstance(extra, tuple) or primitive is ITEM else 0
        row = Row(primitive, flags, kept, None if key is None else (key[0], tuple(key[1]), tuple(key[2])), which)
        found.append(make(row, tuple(operand(k) for k in numbers), None, avals[i]))
    return found


def constant(value: Any) -> Any:
    """The leaf of a number, or of an array that nobody else writes to."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
        return make(None, (), Constant(value), intern_aval(value.dtype, value.shape))
    return make(None, (), Constant(value), intern_aval(np.asarray(value).dtype, ()))


def read_constant(graph: Graph, number: int) -> Any:
    """The leaf of a constant operand."""
    return make(None, (), Constant(const_value(graph, number)), operand_avals(graph, [number])[0])
