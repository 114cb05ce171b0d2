"""Programs as plain data: a growing list of rows, each an operation on rows and constants.

A listing is a graph of the model, on which the model's sweeps run, with all of hoad's primitives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from model.essay import Constant, Graph

import hoad
from hoad._core.graph.inspect import const_value, node_row
from hoad._core.graph.primitive import Primitive, primitive_named, rules_epoch
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.sweep.rule_template import template_rows
from hoad._core.sweep.tangent import template_of

# Operations that are linear in all operands together: zeros that are strong stay so. Not read off the primitives, whose
# facts are checked by it.
LINEAR = frozenset(
    """identity negative positive conjugate degrees radians rad2deg deg2rad sum reshape transpose broadcast_to getitem
    gather stop_gradient concatenate astype item result cumsum real imag fft ifft rfft irfft""".split()
)

Operand = int | Constant


class Row(NamedTuple):
    """A node of the model, whose operation is a primitive or "input"."""

    operation: Primitive | str
    operands: tuple[Any, ...]
    parameters: dict[str, Any]  # those of the primitive, and what the (first) result is
    shape: tuple[int, ...]
    strong: bool  # its zeros absorb infinite and undefined factors

    @property
    def primitive(self) -> Primitive | None:
        return None if isinstance(self.operation, str) else self.operation

    @property
    def name(self) -> str:
        return self.operation if isinstance(self.operation, str) else self.operation.name

    @property
    def params(self) -> Any:
        return self.parameters["params"]

    @property
    def aval(self) -> AbstractValue:
        return self.parameters["aval"]


def row_of(
    operation: Primitive | str, operands: Iterable[Any], params: Any, aval: AbstractValue, strong: bool = False
) -> Row:
    return Row(operation, tuple(operands), {"params": params, "aval": aval}, aval.shape, strong)


class Listing(Graph):
    """Rows in order; rows only refer to earlier ones."""

    nodes: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[int] = []
        self.outputs: list[Any] = []

    @property
    def rows(self) -> list[Row]:
        return self.nodes

    def add_input(self, aval: AbstractValue) -> int:
        self.rows.append(row_of("input", (), None, aval))
        self.inputs.append(len(self.rows) - 1)
        return self.inputs[-1]

    def aval(self, operand: Any) -> AbstractValue:
        """Shape and dtype of an operand."""
        if isinstance(operand, int):
            return self.rows[operand].aval
        value = np.asarray(operand.value)
        return intern_aval(value.dtype, value.shape)

    def is_strong(self, operand: Any) -> bool:
        return isinstance(operand, int) and self.rows[operand].strong

    def emit(self, operation: Any, *operands: Any, params: Any = None, aval: AbstractValue | None = None) -> Any:
        """Append a row as it stands, but for products with a strong zero, which are strong, and sums with None, a zero.

        The result of an operation with no further parameters is what its first operand is, unless that is said.
        """
        primitive = _named(operation) if isinstance(operation, str) else operation
        if primitive.name == "add" and None in operands:
            return operands[1] if operands[0] is None else operands[0]
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
        self.rows.append(row_of(primitive, operands, params, aval or self.aval(operands[0]), made_strong))
        return len(self.rows) - 1

    def results(self, i: int) -> list[int]:
        """The rows of all results of an operation that has several; made where they are missing."""
        row = self.rows[i]
        if row.primitive is None or row.primitive.nout == 1:
            return [i]
        found = {r.params[0]: k for k, r in enumerate(self.rows) if r.name == "result" and r.operands == (i,)}
        avals = row.primitive.infer(row.params, *map(self.aval, row.operands))
        return [i] + [
            found[k] if k in found else self.emit("result", i, params=(k,), aval=avals[k]) for k in range(1, len(avals))
        ]

    def depending(self, inputs: Iterable[int]) -> set[Any]:
        """These rows, and those that depend on them differentiably."""
        found = set(inputs)
        for i, row in enumerate(self.rows):
            several = row.primitive is not None and row.primitive.nout > 1
            if row.name != "stop_gradient" and (row.aval.inexact or several) and not found.isdisjoint(row.operands):
                found.add(i)
        return found


def _is_zero(operand: Any, strong: bool) -> bool:
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
        return place[operand] if operand >= 0 else Constant(const_value(program[-1]._graph, operand))

    for tape in program:
        for i in range(tape._start, tape._end):
            primitive, operands, params, aval, *_ = node_row(tape._graph, i)
            if primitive.name == "input":
                place[i] = listing.add_input(aval)
            else:
                place[i] = listing.emit(primitive, *map(placed, operands), params=params, aval=aval)
    listing.outputs = [placed(k) for k in program[-1]._outputs]
    return listing


def once(make: Callable[..., Listing]) -> Callable[..., Listing]:
    """Makes the same listing of a rule once; it may not be changed."""
    known = functools.lru_cache(maxsize=4096)(lambda epoch, *signature: make(*signature))

    def made(primitive: Primitive, params: Any, avals: Any, active: Any, *mode: str) -> Listing:
        signature = primitive, params, tuple(avals), tuple(active), *mode
        try:
            hash(signature)
        except TypeError:
            return make(*signature)
        return known(rules_epoch(), *signature)

    return made


def own_template(
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
        place[i] = listing.emit(row_primitive, *map(placed, operands), params=row_params, aval=aval)
    listing.outputs = [placed(k) for k in data["outputs"]]
    return listing


template = once(own_template)
