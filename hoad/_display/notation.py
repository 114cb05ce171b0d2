"""Operations in the notation that a reader of programs knows: ``4 * @1``, ``sin(@5)``, ``@1[1:]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from hoad._core.graph.inspect import node_row, operand_avals
from hoad._core.graph.primitive import Primitive
from hoad._display.places import item_text, slice_text
from hoad._display.values import constant_text
from hoad._ops import primitives as prim
from hoad._program.program import Program
from hoad._program.tape import Constant, Tape, TapeNode

MOST_OPERANDS = 6
MOST_PIECES = 4
PARAMETER_WIDTH = 40


@dataclass(frozen=True)
class Operation:
    """A node of a tape, and how its operands are named: as `names` says, else by number."""

    node: TapeNode
    tape: Tape
    names: Mapping[int, str]

    @property
    def primitive(self) -> Primitive:
        """What is done."""
        found: Primitive = node_row(self.tape._graph, self.node.number - 1)[0]
        return found

    def operand(self, k: int) -> str:
        """The k-th operand as text."""
        found = self.node.operands[k]
        return constant_text(found.value) if isinstance(found, Constant) else self.names.get(found, f"@{found}")

    def shape(self, k: int) -> tuple[int, ...]:
        """The shape of the k-th operand."""
        found = self.node.operands[k]
        if isinstance(found, Constant):
            return np.shape(found.value)
        shape: tuple[int, ...] = operand_avals(self.tape._graph, [found - 1])[0].shape
        return shape

    @property
    def itemsize(self) -> int:
        """Bytes of an item of the result."""
        return int(operand_avals(self.tape._graph, [self.node.number - 1])[0].itemsize)


def operation_text(node: TapeNode, tape: Tape, names: Mapping[int, str]) -> str:
    """The right-hand side of ``@3 = 4 * @1``, with nodes called by their `names`, or else by number."""
    operation = Operation(node, tape, names)
    if operation.primitive.symbol is not None:
        return (_prefix if operation.primitive.nin == 1 else _infix)(operation)
    return NOTATION.get(operation.primitive, _function)(operation)


def _function(x: Operation, name: str | None = None, **parameters: Any) -> str:
    """``name(@1, @2, parameter=value)``."""
    count = len(x.node.operands)
    shown = [x.operand(k) for k in range(count if count <= MOST_OPERANDS else MOST_OPERANDS - 2)]
    if count > MOST_OPERANDS:
        shown += ["...", x.operand(count - 1)]
    shown += [f"{key}={_parameter(value)}" for key, value in (parameters or x.node.parameters).items()]
    return f"{name or x.node.operation}({', '.join(shown)})"


def _parameter(value: Any) -> str:
    if isinstance(value, Program):
        return f"<{len(value)} tape{'s' if len(value) != 1 else ''}>"
    return _short(str(value) if isinstance(value, np.dtype) else repr(value))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= PARAMETER_WIDTH else text[: PARAMETER_WIDTH - 3] + "..."


def _infix(x: Operation) -> str:
    left, right = x.operand(0), x.operand(1)
    if x.primitive.symbol == "**" and left.startswith("-"):
        left = f"({left})"
    return f"{left} {x.primitive.symbol} {right}"


def _prefix(x: Operation) -> str:
    operand = x.operand(0)
    return f"{x.primitive.symbol}({operand})" if operand.startswith("-") else f"{x.primitive.symbol}{operand}"


def _reduction(x: Operation) -> str:
    """Axes as NumPy takes them, and the shape only where it does not follow from them."""
    shape = x.shape(0)
    axes, given = x.node.parameters["axes"], x.node.parameters["shape"]
    dropped = tuple(n for d, n in enumerate(shape) if d not in axes)
    kept = tuple(1 if d in axes else n for d, n in enumerate(shape))
    axis = "" if len(axes) == len(shape) else f", axis={axes[0] if len(axes) == 1 else axes}"
    rest = "" if given == dropped else ", keepdims=True" if given == kept else f", shape={given}"
    return f"{x.node.operation}({x.operand(0)}{axis}{rest})"


def _transpose(x: Operation) -> str:
    axes = x.node.parameters["axes"]
    return f"transpose({x.operand(0)})" if axes == tuple(reversed(range(len(axes)))) else _function(x)


# ---- places in arrays -----------------------------------------------------------------------------------------------


def _flat(shape: tuple[int, ...]) -> str:
    return "" if len(shape) == 1 else ".flat"


def _getitem(x: Operation) -> str:
    taken, strides, offset = (x.node.parameters[key] for key in ("shape", "strides", "offset"))
    index = slice_text(x.shape(0), taken, strides, offset) if x.shape(0) else None
    return _function(x) if index is None else x.operand(0) + index


def _assemble(x: Operation) -> str:
    """Zeros of a shape, and what is added where."""
    count = len(x.node.parameters["offsets"]) + len(x.node.parameters["parts"])
    shown = list(islice(_pieces(x), MOST_PIECES if count <= MOST_PIECES else MOST_PIECES - 1))
    rest = f", ... ({count} in all)" if count > MOST_PIECES else ""
    shape = x.node.shape[0] if len(x.node.shape) == 1 else x.node.shape
    return f"zeros({shape}) with {', '.join(shown)}{rest}"


def _pieces(x: Operation) -> Iterator[str]:
    """``[3] += @7`` for the items, the slices and the gathers of an assemble node."""
    shape, offsets = x.node.shape, x.node.parameters["offsets"]
    for k, offset in enumerate(offsets):
        yield f"{item_text(shape, offset)} += {x.operand(k)}"
    k = len(offsets)
    for place in x.node.parameters["parts"]:
        if place is None:
            yield f"{_flat(shape)}[{x.operand(k + 1)}] += {x.operand(k)}"
            k += 2
        else:
            yield f"{_place(x, *place)} += {x.operand(k)}"
            k += 1


def _place(x: Operation, start: int, taken: tuple[int, ...], strides: tuple[int, ...]) -> str:
    size = x.itemsize
    index = slice_text(x.node.shape, taken, tuple(s // size for s in strides), start // size)
    return index or f"[offset={start // size}, shape={taken}, strides={tuple(s // size for s in strides)}]"


# How an operation is written that has no symbol and is no call of a function.
NOTATION: dict[Primitive, Callable[[Operation], str]] = {
    **dict.fromkeys((prim.SUM, prim.MAX, prim.MIN), _reduction),
    prim.INPUT: lambda x: "?" if x.node.name is None else _short(x.node.name),
    prim.IDENTITY: lambda x: x.operand(0),
    prim.RESULT: lambda x: _function(replace(x, names={})),  # of all results: a name is that of the first alone
    prim.ABSOLUTE: lambda x: _function(x, "abs"),
    prim.SELECT: lambda x: _function(x, "where"),
    prim.MASK: lambda x: f"where({x.operand(0)}, {x.operand(1)}, 0)",
    prim.ASTYPE: lambda x: _function(x, dtype=np.dtype(x.node.parameters["dtype"])),
    prim.TRANSPOSE: _transpose,
    prim.ITEM: lambda x: x.operand(0) + item_text(x.shape(0), x.node.parameters["index"]),
    prim.GETITEM: _getitem,
    prim.GATHER_ITEMS: lambda x: f"{x.operand(0)}{_flat(x.shape(0))}[{x.operand(1)}]",
    prim.ASSEMBLE: _assemble,
}
