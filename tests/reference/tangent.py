"""The model's forward sweep, on any of hoad's primitives.

A vjp is linear in g, so a reverse sweep over its own template, with respect to g, is its transpose: the jvp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from model.essay import Constant, splice, tangent_sweep

from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import AbstractValue
from reference.adjoint import adjoint
from reference.listing import Listing, Operand, once, own_template


@once
def transposed(primitive: Primitive, params: Any, avals: Sequence[AbstractValue], active: Sequence[bool]) -> Listing:
    """The jvp of a rule: inputs as those of its template, then a tangent of each operand; outputs of each result."""
    listing = own_template(primitive, params, avals, active)
    dots = [listing.add_input(aval) for aval in avals]
    g = listing.inputs[: len(primitive.infer(params, *avals))]
    listing.outputs = adjoint(listing, listing.outputs, dots, g)
    assert listing.needed(listing.outputs).isdisjoint(g), f"{primitive.name} is not linear in g"
    return listing


def tangent(
    listing: Listing, targets: Sequence[Operand | None], wrt: Sequence[int], seeds: Sequence[Operand]
) -> list[Operand | None]:
    """Append the tangents of `targets`, when those of the rows `wrt` are `seeds`; None where nothing arrives."""
    return tangent_sweep(listing, wrt, seeds, targets, push_forward)


def push_forward(listing: Listing, i: int, dot: dict[Any, Any]) -> Any:
    """The tangent of row i, and with the first result of an operation those of all others."""
    row = listing.rows[i]
    dots = [dot.get(x) for x in row.operands]
    if row.name == "identity":
        return dots[0]
    if row.name == "item":
        return listing.emit("item", *dots, params=row.params, aval=row.aval)
    if row.name == "assemble":
        return _assembled(listing, i, dots)
    assert row.primitive is not None
    if row.name == "result":
        return dot.get(i)
    if row.name == "stop_gradient" or not (row.aval.inexact or row.primitive.nout > 1):
        return None
    results = listing.results(i)
    jvp = transposed(row.primitive, row.params, [listing.aval(x) for x in row.operands], [x is not None for x in dots])
    dot.update(zip(results, splice(listing, jvp, *[None] * len(results), *results, *row.operands, *dots), strict=True))
    return dot[i]


def _assembled(listing: Listing, i: int, dots: Sequence[Operand | None]) -> int:
    """The tangents of what an assemble row holds, at the same places."""
    row = listing.rows[i]
    operands: list[Operand] = []
    for x, dot in zip(row.operands, dots, strict=True):
        aval = listing.aval(x)
        if not aval.inexact:
            operands.append(x)  # the places of a gathered part
        else:
            operands.append(Constant(np.zeros(aval.shape, aval.dtype)) if dot is None else dot)
    return listing.emit("assemble", *operands, params=row.params, aval=row.aval)
