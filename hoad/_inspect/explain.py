"""A report on one recording of a function: which inputs each output depends on, its branches, what it captured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import Graph
from hoad._core.record.recording import Extension
from hoad._display.notation import operation_text
from hoad._display.values import shape_text
from hoad._inspect import debug_nans
from hoad._inspect.origin import input_names, name_of
from hoad._program.dependence_of_programs import spread_nodes
from hoad._program.program import Program
from hoad._program.record import recorded_as
from hoad._program.tape import Tape
from hoad._pytree.arguments import check_function
from hoad._pytree.containers import leaf_names
from hoad.errors import ArgumentError, NoRuleError, count

MOST_ITEMS = 1024  # of all inputs together, up to which dependence is followed item by item
SHOWN = 8  # rows of each kind in print


@dataclass(frozen=True)
class Number:
    """An input or an output: a number or an array, with the name that the user gave it."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Branch:
    """A guard: the condition, its outcome, and the user's line."""

    condition: str
    outcome: Any
    where: str | None


@dataclass(frozen=True)
class Captured:
    """An array that f uses and that is not an argument: its shape and dtype, and the first line that uses it."""

    shape: tuple[int, ...]
    dtype: str
    where: str | None


@dataclass(frozen=True)
class Explanation:
    """The report of `hoad.explain`; print it.

    Attributes
    ----------
    name : str
        The name of f.
    inputs, outputs : tuple of Number
        ``name``, ``shape`` and ``dtype`` of each number and array, leaf by leaf.
    depends : dict
        For (name of an output, name of an input) an array of booleans of shape (shape of the output, shape of the
        input): whether an item depends on another. A single boolean if the inputs have more than 1024 items.
    flat : tuple
        Pairs (output, input) of names for which the output depends on the input, but has derivative zero everywhere.
    branches : tuple of Branch
        ``condition``, ``outcome`` and ``where`` of every guard.
    captured : tuple of Captured
        ``shape``, ``dtype`` and ``where`` of every array that f uses and that is not an argument.
    escaped : tuple of str
        The lines where `hoad.value` returned numbers.
    operations : dict
        The number of nodes of each operation, the most frequent first.
    lines : dict
        The number of nodes of each of the user's lines, the most frequent first.
    warnings : tuple of str
        Possible mistakes: constant outputs, inputs that nothing depends on, derivatives that are zero.
    program : Program
        The recording itself.
    """

    name: str
    inputs: tuple[Number, ...]
    outputs: tuple[Number, ...]
    depends: dict[tuple[str, str], NDArray[np.bool_]]
    flat: tuple[tuple[str, str], ...]
    branches: tuple[Branch, ...]
    captured: tuple[Captured, ...]
    escaped: tuple[str, ...]
    operations: dict[str, int]
    lines: dict[str, int]
    warnings: tuple[str, ...]
    program: Program = field(repr=False)

    def __str__(self) -> str:
        return _report(self)


class _Listener(debug_nans):
    """A watcher that looks at no result, so that the recording keeps its lines, and notes where numbers are taken."""

    def __init__(self) -> None:
        super().__init__(nan=False, inf=False)
        self.escaped: list[str] = []

    def taken(self, where: str) -> None:
        self.escaped.append(where)


def explain(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Which inputs each output of f depends on, where f branches, what it captured, and what may be a mistake.

    Parameters
    ----------
    f : callable
        A function of floats, arrays and containers of these, written with NumPy.
    *args : float, array or container of these
        The point of recording. Every float and every array is an input.
    **kwargs
        Passed to f unchanged.

    Returns
    -------
    Explanation
        A report with fields; print it.

    Raises
    ------
    ArgumentError
        If f cannot be called, or there is no argument.
    DTypeError
        If an argument is not a float and contains none.
    TracedValueError
        If an argument is traced by another derivative.

    Notes
    -----
    Dependence is structural: it follows from the recorded operations on the branches that were taken, whatever the
    values. Items are followed through slices, joins, sums, products of matrices, programs and loops. Operations that
    count as a whole (a decomposition, a user's primitive, a checkpointed loop, the solution of an equation) mix all
    items, so the report may contain a dependence that does not exist. It omits none, except through a branch, a
    constant, or `hoad.value`.

    Cost: f once, traced, and some hundred microseconds per node; a reverse sweep for each output.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x, y):
    ...     return np.cumsum(x) if y > 0 else x
    >>> found = hoad.explain(f, np.ones(3), 2.0)
    >>> found.depends["f", "x"].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> found.warnings
    ('nothing depends on y, except through a branch',)
    """
    check_function("explain", f)
    if not args:
        raise ArgumentError("explain needs the arguments of f: explain(f, x).")
    listener = _Listener()
    with listener:
        program = recorded_as(
            "explain",
            f,
            args,
            kwargs,
            "explain makes a recording of its own, so its arguments must be plain; an argument is traced by a "
            "derivative that is being taken. Pass hoad.value(x).",
        )
    tape = program[0]
    name, n = name_of(f), len(tape._outputs)
    inputs = _numbers(tape._graph, tape._inputs, input_names(f, tuple(range(len(args))), tape._takes))
    results = [f"{name}[{k}]" for k in range(n)] if tape._gives is None and n > 1 else leaf_names([name], tape._gives)
    outputs = _numbers(tape._graph, tape._outputs, results)
    spread = _Spread(tape._graph, tape._end, tape._inputs, inputs)
    depends = {
        (output.name, x.name): table
        for output, operand in zip(outputs, tape._outputs, strict=True)
        for x, table in zip(inputs, spread.tables(operand, output.shape), strict=True)
    }
    flat = _flat(program, inputs, outputs, depends)
    recorded = [i for i in range(tape.size) if i not in tape._inputs]
    lines = Counter(where for i in recorded if (where := tape._graph.where(i)) is not None)
    operations = Counter(node_row(tape._graph, i)[0].name for i in recorded)
    return Explanation(
        name=name,
        inputs=inputs,
        outputs=outputs,
        depends=depends,
        flat=flat,
        branches=tuple(Branch(_condition(tape, number), outcome, where) for number, outcome, where in tape.guards),
        captured=_captured(tape),
        escaped=tuple(dict.fromkeys(listener.escaped)),
        operations=dict(operations.most_common()),
        lines=dict(lines.most_common()),
        warnings=tuple(_warnings(tape, spread, inputs, outputs, depends, flat)),
        program=program,
    )


def _numbers(graph: Graph, operands: Sequence[int], names: list[str]) -> tuple[Number, ...]:
    avals = operand_avals(graph, list(operands))
    return tuple(Number(name, x.shape, x.dtype.name) for name, x in zip(names, avals, strict=True))


# ---- dependence -----------------------------------------------------------------------------------------------------


class _Spread:
    """For each node of a recording, of each of its items, the set of the items of inputs that it depends on."""

    def __init__(self, graph: Graph, end: int, nodes: Sequence[int], inputs: Sequence[Number]) -> None:
        sizes = [math.prod(x.shape) for x in inputs]
        self.by_items = sum(sizes) <= MOST_ITEMS
        self.sizes = sizes if self.by_items else [1] * len(sizes)
        self.shapes = [x.shape for x in inputs]
        bits = np.packbits(np.eye(sum(self.sizes), dtype=bool), axis=1)
        self.width = bits.shape[1]
        parts = np.split(bits, np.cumsum(self.sizes)[:-1])
        whole = zip(parts, sizes, strict=True)
        given = [part if self.by_items else np.repeat(part, size, axis=0) for part, size in whole]
        self.sets = spread_nodes(graph, end, dict(zip(nodes, given, strict=True)))

    def members(self, operand: int, size: int) -> NDArray[np.bool_]:
        """(items of an operand, members)."""
        sets = self.sets.get(operand)
        if sets is None:
            return np.zeros((size, sum(self.sizes)), bool)
        return np.unpackbits(sets, axis=1, count=sum(self.sizes)).astype(bool)

    def tables(self, operand: int, shape: tuple[int, ...]) -> list[NDArray[np.bool_]]:
        """For each input, whether items of an operand of some shape depend on its items."""
        columns = np.split(self.members(operand, math.prod(shape)), np.cumsum(self.sizes)[:-1], axis=1)
        if not self.by_items:
            return [np.asarray(column.any()) for column in columns]
        return [column.reshape(shape + own) for column, own in zip(columns, self.shapes, strict=True)]


def _flat(
    program: Program, inputs: Sequence[Number], outputs: Sequence[Number], depends: dict[tuple[str, str], Any]
) -> tuple[tuple[str, str], ...]:
    """The outputs and inputs between which the derivative is zero everywhere, though the one depends on the other."""
    tape = program[0]
    found = []
    for output, operand in zip(outputs, tape._outputs, strict=True):
        reached = [k for k, x in enumerate(inputs) if depends[output.name, x.name].any()]
        if not reached:
            continue
        with Extension(tape._graph, tape._end, tape._guards, apart=True) as extension:
            aval = operand_avals(tape._graph, [operand])[0]
            try:
                seed = [extension.input(aval)] if aval.inexact else []
                bars = extension.adjoints([operand] * len(seed), seed, [tape._inputs[k] for k in reached], False)
            except NoRuleError:
                continue
            zero = [bar < 0 and not np.any(const_value(extension.graph, bar)) for bar in bars]
        found += [(output.name, inputs[k].name) for k, none in zip(reached, zero, strict=True) if none]
    return tuple(found)


# ---- what else was recorded -----------------------------------------------------------------------------------------


def _condition(tape: Tape, number: int) -> str:
    """The operation of a node, with the numbers that it compares in the place of their nodes."""
    node = tape._node(number - 1)
    values = {k: node_row(tape._graph, k - 1)[4] for k in node.parents}
    return operation_text(node, tape, {k: repr(x) for k, x in values.items() if isinstance(x, float)})


def _captured(tape: Tape) -> tuple[Captured, ...]:
    """The constant arrays among the operands, by the first node that takes each; indices are none."""
    found: dict[int, Captured] = {}
    for i in range(tape.size):
        for k in node_row(tape._graph, i)[1]:
            if k >= 0 or k in found:
                continue
            array = const_value(tape._graph, k)
            if isinstance(array, np.ndarray) and array.ndim and array.dtype.kind in "fc":
                found[k] = Captured(array.shape, array.dtype.name, tape._graph.where(i))
    return tuple(found.values())


def _warnings(
    tape: Tape,
    spread: _Spread,
    inputs: Sequence[Number],
    outputs: Sequence[Number],
    depends: dict[tuple[str, str], Any],
    flat: tuple[tuple[str, str], ...],
) -> list[str]:
    constant = [output for output in outputs if not any(depends[output.name, x.name].any() for x in inputs)]
    found = [f"{output.name} depends on no input: it is constant" for output in constant]
    guards = [spread.tables(number - 1, np.shape(outcome)) for number, outcome, _ in tape.guards]
    for k, x in enumerate(inputs):
        if any(depends[output.name, x.name].any() for output in outputs):
            continue
        branch = any(tables[k].any() for tables in guards)
        found.append(f"nothing depends on {x.name}" + (", except through a branch" if branch else ""))
    ends = {output.name: operand for output, operand in zip(outputs, tape._outputs, strict=True)}
    for of, by in flat:
        names = sorted({x.name for x in _operations_behind(tape, ends[of]) if x.zero_derivative})
        through = f", through {', '.join(names)}" if names else ""
        found.append(f"{of} has derivative zero with respect to {by} everywhere{through}")
    return found


def _operations_behind(tape: Tape, operand: int) -> set[Primitive]:
    """The operations that an operand depends on."""
    reached, found = {operand}, set()
    for i in range(operand, -1, -1):
        if i in reached:
            primitive, operands, *_ = node_row(tape._graph, i)
            reached.update(operands)
            found.add(primitive)
    return found


# ---- as text --------------------------------------------------------------------------------------------------------


def _report(x: Explanation) -> str:
    """The report as lines of text."""
    takes = ", ".join(f"{n.name}{_shape(n.shape)}" for n in x.inputs)
    gives = ", ".join(f"{n.name}{_shape(n.shape)}" for n in x.outputs)
    lines = [f"{x.name}: {takes} -> {gives}; {count(sum(x.operations.values()), 'operation')}"]
    lines += [f"  {output.name} depends on {_inputs_of(x, output)}" for output in x.outputs]
    lines += _rows("branches", [f"{b.condition} was {b.outcome}{_at(b.where)}" for b in x.branches])
    lines += _rows("captured", [f"an array of shape ({shape_text(c.shape)}){_at(c.where)}" for c in x.captured])
    lines += _rows("taken out by hoad.value", list(x.escaped))
    lines += _rows("operations", [f"{n} {name}" for name, n in x.operations.items()])
    lines += _rows("lines with most operations", [f"{n} at {where}" for where, n in x.lines.items()])
    lines += _rows("worth a look", list(x.warnings))
    return "\n".join(lines)


def _rows(title: str, rows: list[str]) -> list[str]:
    """A title with rows under it, the first of them; nothing where there are none."""
    if not rows:
        return []
    more = [f"    and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
    return [f"  {title}:", *(f"    {row}" for row in rows[:SHOWN]), *more]


def _inputs_of(x: Explanation, output: Number) -> str:
    found = []
    for n in x.inputs:
        table = x.depends[output.name, n.name]
        if not table.any():
            continue
        some = table.shape and not table.all()
        found.append(f"{n.name} ({int(table.sum())} of {table.size} pairs of items)" if some else n.name)
    return ", ".join(found) or "nothing"


def _shape(shape: tuple[int, ...]) -> str:
    return f" ({shape_text(shape)})" if shape else ""


def _at(where: str | None) -> str:
    return "" if where is None else f" at {where}"
