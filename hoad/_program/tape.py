"""Sealed tapes, and their rows in readable form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hoad._core.graph.inspect import const_value, graph_nbytes, guard_rows, node_row, operand_avals
from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import Graph
from hoad._core.record.recording import compute_values
from hoad._core.runtime.engine import Lowered
from hoad._ops.primitives import ASSEMBLE, INPUT, ITEM, RESULT
from hoad._pytree.arguments import argument_names
from hoad._pytree.containers import Forms, leaf_names, regrouped
from hoad.errors import count


@dataclass(frozen=True)
class Constant:
    """An operand that is a number or an array, not a node."""

    value: Any


@dataclass(frozen=True)
class TapeNode:
    """A row of a tape.

    Attributes
    ----------
    number : int
        The number of the node, counted from 1 through all tapes of a program.
    operation : str
        The name of its primitive.
    operands : tuple
        Numbers of nodes, and constants.
    parameters : dict
        Arguments of the operation other than operands.
    result : float, bool, ndarray or None
        Its value at the point of recording; None if it depends on a symbolic seed without a value.
    shape : tuple of int
        The shape of its value.
    swept : int or None
        In an adjoint or tangent tape, the node whose sweep emitted this one.
    adjoint_of : int or None
        In an adjoint tape, the node whose adjoint (or a contribution to it) this is.
    part : int or None
        Which contribution it is, counted from 1; 0 for a sum of contributions.
    tangent_of : int or None
        In a tangent tape, the node whose tangent this is.
    name : str or None
        The name of an input: see `Tape.input_names`.
    """

    number: int
    operation: str
    operands: tuple[int | Constant, ...]
    parameters: dict[str, Any]
    result: Any
    shape: tuple[int, ...]
    swept: int | None = None
    adjoint_of: int | None = None
    part: int | None = None
    tangent_of: int | None = None
    name: str | None = None

    @property
    def parents(self) -> tuple[int, ...]:
        """The numbers of the nodes among its operands."""
        return tuple(k for k in self.operands if isinstance(k, int))


class Tape:
    """A sealed sequence of nodes; nodes of the tapes that it was derived from may be operands too.

    A tape never changes. It keeps alive everything that it refers to.
    """

    def __init__(
        self,
        graph: Graph,
        window: tuple[int, int, int, int],
        inputs: list[int],
        outputs: list[int],
        kind: str,
        single: bool,
        parent: Tape | None = None,
        takes: Forms | None = None,
        gives: Forms | None = None,
    ) -> None:
        self._graph = graph
        self._start, self._end, self._first_guard, self._guards = window  # nodes from, to; guards from, to
        self._parent = parent  # the tape it came of
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._single = single
        # Containers among the arguments of the primal tape, and in what this one gives; None where there are none.
        self._takes: Forms | None = takes if parent is None else parent._takes
        self._gives = gives
        self._evaluated = False
        self._odd: bool | None = None  # once it is known: see Program._is_odd
        self._lowered: tuple[Any, Lowered] | None = None  # the inputs it was lowered for, and how it runs
        self._notes: Any = None
        # What was recorded and its keywords, to be recorded again where the lines of scalar operations are asked for.
        self._source: tuple[Callable[..., Any], dict[str, Any]] | None = None
        self._given: int | None = None  # how many arguments that function was called with, if these are the inputs
        self._arguments: tuple[str, ...] | None = None  # what it calls them, once that was asked for
        self._wrt: tuple[int, ...] | None = None  # of an adjoint tape, the nodes whose adjoints its outputs are
        self._names: tuple[dict[int, str], tuple[str, ...]] | None = None  # of inputs by node, of outputs; once found
        # Emits the tape once more, noting whose derivative each node is; most are never read, so none keeps notes.
        self._find_notes: Callable[[], Any] | None = None
        self.kind = kind

    @property
    def size(self) -> int:
        """How many nodes the tape has."""
        return self._end - self._start

    @property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of its inputs."""
        return tuple(k + 1 for k in self._inputs)

    @property
    def outputs(self) -> tuple[int | Constant, ...]:
        """The numbers of its outputs; an output that depends on nothing is a constant."""
        return tuple(self._shown(k) for k in self._outputs)

    @property
    def input_names(self) -> tuple[str | None, ...]:
        """The names of its inputs: ``x`` or ``theta['a']``, of symbolic seeds ``seed`` or ``dx``; None if unknown."""
        named = self._named()[0]
        return tuple(named.get(i) for i in self._inputs)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of its outputs: ``output`` or ``output['b']``, of adjoints ``∇x``."""
        return self._named()[1]

    @property
    def parents(self) -> tuple[int, ...]:
        """The numbers of the nodes of earlier tapes that its nodes or outputs refer to."""
        operands = (k for i in range(self._start, self._end) for k in node_row(self._graph, i)[1])
        return tuple(sorted({k + 1 for k in (*operands, *self._outputs) if 0 <= k < self._start}))

    @property
    def nodes(self) -> list[TapeNode]:
        """All rows, with their values at the point of recording."""
        return self.rows(0, self.size)

    def rows(self, start: int, stop: int) -> list[TapeNode]:
        """The rows of the tape from position `start` up to `stop`."""
        if not self._evaluated:
            compute_values(self._graph, self._start, self._end)
            self._evaluated = True
        return [self._node(i) for i in range(self._start, self._end)[start:stop]]

    @property
    def guards(self) -> list[tuple[int, Any, str | None]]:
        """(node number, recorded truth value, ``"file:line"``) of every branch that the function took."""
        own = guard_rows(self._graph)[self._first_guard : self._guards]
        return [(k + 1, was, where) for k, was, where in own]

    @property
    def nbytes(self) -> int:
        """The bytes in the tables of this tape and of the tapes it was derived from, without arrays."""
        return sum(graph_nbytes(self._graph))

    def _arranged(self, values: list[Any]) -> Any:
        """The values of the outputs, as the tape gives them."""
        if self._gives is not None:
            values = regrouped(values, self._gives, constants=self.kind == "primal")
        return values[0] if self._single else tuple(values)

    def _shown(self, operand: int) -> int | Constant:
        return operand + 1 if operand >= 0 else Constant(const_value(self._graph, operand))

    def _node(self, i: int) -> TapeNode:
        primitive, operands, params, aval, value, _ = node_row(self._graph, i)
        swept, target, part = (None if k < 0 else k for k in self._note(i))
        of = None if target is None else target + 1
        return TapeNode(
            number=i + 1,
            operation=primitive.name,
            operands=tuple(self._shown(k) for k in operands),
            parameters=_parameters(primitive, params),
            result=value,
            shape=aval.shape,
            swept=None if swept is None else swept + 1,
            adjoint_of=None if self.kind == "tangent" else of,
            part=part,
            tangent_of=of if self.kind == "tangent" else None,
            name=self._named()[0].get(i) if primitive is INPUT else None,
        )

    def _named(self) -> tuple[dict[int, str], tuple[str, ...]]:
        """The names of its inputs by node, as far as they are known, and of its outputs in order."""
        if self._names is None:
            self._names = dict(zip(self._inputs, self._input_labels(), strict=False)), self._output_labels()
        return self._names

    def _input_labels(self) -> list[str]:
        parent = self._parent
        if parent is None:
            arguments = self._argument_names() or ()
            if self._takes is None:
                return list(arguments)
            return leaf_names(arguments, self._takes) if len(arguments) == len(self._takes) else []
        if self.kind == "adjoint":
            ends, labels = parent._outputs, parent._paths("seed")
        else:
            ends = self._first._inputs
            labels = [f"d{name}" for name in self._names_of(ends)]
        avals = operand_avals(self._graph, list(ends))
        return [label for label, aval in zip(labels, avals, strict=True) if aval.inexact]

    def _argument_names(self) -> tuple[str, ...] | None:
        if self._arguments is None and self._given is not None and self._source is not None:
            self._arguments = argument_names(self._source[0], self._given)
        return self._arguments

    def _output_labels(self) -> tuple[str, ...]:
        if self._wrt is not None:
            return tuple(f"∇{name}" for name in self._names_of(self._wrt))
        if self.kind == "tangent" and self._parent is not None:
            return tuple(x if x.startswith("output") else f"d{x}" for x in self._parent.output_names)
        return tuple(self._paths("output"))

    def _paths(self, root: str) -> list[str]:
        """How each output is got at in what the tape gives."""
        n = len(self._outputs if self._gives is None else self._gives)
        return leaf_names([root] if self._single or n == 1 else [f"{root}[{k}]" for k in range(n)], self._gives)

    def _names_of(self, nodes: Iterable[int]) -> list[str]:
        """The names of inputs of this tape or of those it came of, or else the numbers of the nodes."""
        known: dict[int, str] = {}
        tape = self._parent
        while tape is not None:
            known |= tape._named()[0]
            tape = tape._parent
        return [known.get(i, f"@{i + 1}") for i in nodes]

    @property
    def _first(self) -> Tape:
        tape = self
        while tape._parent is not None:
            tape = tape._parent
        return tape

    def _note(self, i: int) -> tuple[int, int, int]:
        if self._notes is None and self._find_notes is not None:
            self._notes = self._find_notes()
        return (-1, -1, -1) if self._notes is None else tuple(self._notes[i - self._start].tolist())

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[TapeNode]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        counts = (count(self.size, "node"), count(len(self._inputs), "input"), count(len(self._outputs), "output"))
        return f"<Tape: {self.kind}, {', '.join(counts)}>"


def _parameters(primitive: Primitive, params: Any) -> dict[str, Any]:
    if primitive in (ITEM, RESULT):
        return {"index": params[0]}
    if primitive is ASSEMBLE:
        return {"offsets": params[0].tolist(), "parts": params[1]}
    return primitive.keywords(params)
