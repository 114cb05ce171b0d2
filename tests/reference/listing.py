"""Programs as plain data: a growing list of rows, each an operation on rows and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hoad
from hoad._core.graph.inspect import const_value, node_row
from hoad._core.graph.primitive import Primitive, primitive_named
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.sweep.rule_template import template_rows
from hoad._core.sweep.tangent import template_of

# Operations that are linear in all operands together: zeros that are strong stay so.
LINEAR = frozenset(
    """identity negative positive conjugate degrees radians rad2deg deg2rad sum reshape transpose broadcast_to getitem
    gather stop_gradient concatenate astype item result cumsum real imag fft ifft rfft irfft""".split()
)


@dataclass(frozen=True, eq=False)
class Constant:
    """An operand that is a value."""

    value: Any


Operand = int | Constant


@dataclass(frozen=True)
class Row:
    """One operation; an input has no primitive."""

    primitive: Primitive | None
    operands: tuple[Operand, ...]
    params: Any
    aval: AbstractValue  # of the (first) result
    strong: bool  # its zeros absorb infinite and undefined factors


@dataclass
class Listing:
    """Rows in order; rows only refer to earlier ones."""

    rows: list[Row] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[Operand | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)

    def add_input(self, aval: AbstractValue) -> int:
        self.rows.append(Row(None, (), None, aval, False))
        self.inputs.append(len(self.rows) - 1)
        return self.inputs[-1]

    def aval(self, operand: Operand) -> AbstractValue:
        """Shape and dtype of an operand."""
        if isinstance(operand, int):
            return self.rows[operand].aval
        value = np.asarray(operand.value)
        return intern_aval(value.dtype, value.shape)

    def is_strong(self, operand: Operand) -> bool:
        return isinstance(operand, int) and self.rows[operand].strong

    def emit(self, primitive: Primitive | str, operands: Sequence[Operand], params: Any, aval: AbstractValue) -> int:
        """Append a row as it stands, but for one thing: products with a strong zero are strong products."""
        primitive = _named(primitive) if isinstance(primitive, str) else primitive
        operands = tuple(operands)
        strong = [self.is_strong(x) for x in operands]
        if primitive.name == "multiply" and any(strong):
            primitive = _named("strong_multiply_both" if all(strong) else "strong_multiply")
            operands = operands if strong[0] else operands[::-1]
        elif primitive.name == "strong_multiply" and isinstance(operands[0], int) and strong[1]:
            primitive = _named("strong_multiply_both")
        elif primitive.name == "divide" and strong[0]:
            primitive = _named("strong_divide")
        name = primitive.name
        made_strong = (
            name in ("strong_multiply", "strong_multiply_both", "strong_divide", "mask", "assemble")
            or (name in ("add", "subtract") and all(strong))
            or (name in LINEAR and any(strong))
            or (name == "complex" and any(strong) and all(map(_is_zero, operands, strong)))
        )
        self.rows.append(Row(primitive, operands, params, aval, made_strong))
        return len(self.rows) - 1

    def results(self, row: int) -> list[int]:
        """The rows of all results of an operation that has several; made where they are missing."""
        made = self.rows[row]
        if made.primitive is None or made.primitive.nout == 1:
            return [row]
        found = {
            r.params[0]: k
            for k, r in enumerate(self.rows)
            if r.primitive is not None and r.primitive.name == "result" and r.operands == (row,)
        }
        avals = made.primitive.infer(made.params, *map(self.aval, made.operands))
        return [row] + [
            found[k] if k in found else self.emit("result", [row], (k,), avals[k]) for k in range(1, len(avals))
        ]

    def splice(self, other: Listing, leaves: Sequence[Operand | None]) -> list[Operand | None]:
        """Emit the rows of another listing with `leaves` in place of its inputs; what its outputs are here."""
        place: dict[int, Operand | None] = dict(zip(other.inputs, leaves, strict=True))

        def placed(operand: Operand | None) -> Any:
            return place[operand] if isinstance(operand, int) else operand

        for i, row in enumerate(other.rows):
            if row.primitive is not None:
                place[i] = self.emit(row.primitive, [placed(x) for x in row.operands], row.params, row.aval)
        return [placed(x) for x in other.outputs]


def _is_zero(operand: Operand, strong: bool) -> bool:
    """Whether an operand can hold a strong zero, or nothing but zeros."""
    return strong or (isinstance(operand, Constant) and not np.any(operand.value))


def _named(name: str) -> Primitive:
    found = primitive_named(name)
    assert found is not None, name
    return found


def primal(f: Callable[..., Any], *xs: Any) -> Listing:
    """What f records at these arguments."""
    return of_program(hoad.record(f, *xs))


def of_program(program: hoad.Program) -> Listing:
    """All tapes of a program, one after the other."""
    listing = Listing()
    place: dict[int, Operand] = {}

    def placed(operand: int) -> Operand:
        return place[operand] if operand >= 0 else Constant(const_value(program[0]._graph, operand))

    for tape in program:
        for i in range(tape._start, tape._end):
            primitive, operands, params, aval, *_ = node_row(tape._graph, i)
            if primitive.name == "input":
                place[i] = listing.add_input(aval)
            else:
                place[i] = listing.emit(primitive, [placed(k) for k in operands], params, aval)
    listing.outputs = [placed(k) for k in program[-1]._outputs]
    return listing


def template(
    primitive: Primitive, params: Any, avals: Sequence[AbstractValue], active: Sequence[bool], mode: str = "vjp"
) -> Listing:
    """The rule at a signature: inputs g of each result, p of each result, the operands; outputs their adjoints.

    With mode "jvp", what the core makes of it: a tangent of each operand are further inputs, and the outputs tangents
    of the results.
    """
    bits = sum(1 << k for k, wanted in enumerate(active) if wanted)
    data = template_rows(template_of(primitive, params, tuple(avals), bits, mode))
    results = primitive.infer(params, *avals)
    leaves = (*results, *results, *avals, *(avals if mode == "jvp" else ()))
    listing = Listing()
    place: dict[int, Operand] = {k: listing.add_input(aval) for k, aval in enumerate(leaves)}

    def placed(operand: int | None) -> Any:
        if operand is None:
            return None
        return place[operand] if operand >= 0 else Constant(data["constants"][operand])

    for i, (row_primitive, operands, row_params, aval) in data["rows"].items():
        place[i] = listing.emit(row_primitive, [placed(k) for k in operands], row_params, aval)
    listing.outputs = [placed(k) for k in data["outputs"]]
    return listing
