"""The forward sweep (Griewank and Walther 2008, section 3.1), from the same rules.

A vjp is linear in g, so a reverse sweep over its own template, with respect to g, is its transpose: the jvp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import AbstractValue
from reference.adjoint import adjoint
from reference.listing import Constant, Listing, Operand, template


def transposed(primitive: Primitive, params: Any, avals: Sequence[AbstractValue], active: Sequence[bool]) -> Listing:
    """The jvp of a rule: inputs as those of its template, then a tangent of each operand; outputs of each result."""
    listing = template(primitive, params, avals, active)
    dots = [listing.add_input(aval) for aval in avals]
    wanted = [(x, dot) for x, dot in zip(listing.outputs, dots, strict=True) if x is not None]
    nout = len(primitive.infer(params, *avals))
    g = listing.inputs[:nout]
    listing.outputs = adjoint(listing, [x for x, _ in wanted], [dot for _, dot in wanted], g)
    _drop_unused(listing)
    assert not any(set(g) & set(row.operands) for row in listing.rows), f"{primitive.name} is not linear in g"
    return listing


def _drop_unused(listing: Listing) -> None:
    """Replace rows that no output needs by nothing, so that what is left can be looked at."""
    needed = {x for x in listing.outputs if isinstance(x, int)}
    for i in reversed(range(len(listing))):
        if i in needed:
            needed.update(x for x in listing.rows[i].operands if isinstance(x, int))
    kept = [i for i in range(len(listing)) if i in needed or listing.rows[i].primitive is None]
    place = {old: new for new, old in enumerate(kept)}

    def placed(x: Operand | None) -> Any:
        return place[x] if isinstance(x, int) else x

    rows = [listing.rows[i] for i in kept]
    listing.rows = [
        type(row)(row.primitive, tuple(placed(x) for x in row.operands), row.params, row.aval, row.strong)
        for row in rows
    ]
    listing.inputs = [place[i] for i in listing.inputs]
    listing.outputs = [placed(x) for x in listing.outputs]


def tangent(
    listing: Listing, targets: Sequence[Operand | None], wrt: Sequence[int], seeds: Sequence[Operand]
) -> list[Operand | None]:
    """Append the tangents of `targets`, when those of the rows `wrt` are `seeds`; None where nothing arrives."""
    dot: dict[int, Operand | None] = dict(zip(wrt, seeds, strict=True))

    def tangent_of(x: Operand | None) -> Operand | None:
        return dot.get(x) if isinstance(x, int) else None

    for i in range(len(listing)):
        row = listing.rows[i]
        if i in wrt or row.primitive is None or all(tangent_of(x) is None for x in row.operands):
            continue
        name = row.primitive.name
        dots = [tangent_of(x) for x in row.operands]
        if name == "identity":
            dot[i] = dots[0]
        elif name == "item":
            dot[i] = listing.emit("item", [x for x in dots if x is not None], row.params, row.aval)
        elif name == "assemble":
            dot[i] = _assembled(listing, i, dots)
        elif name not in ("result", "stop_gradient") and (row.aval.inexact or row.primitive.nout > 1):
            results = listing.results(i)
            active = [x is not None for x in dots]
            jvp = transposed(row.primitive, row.params, [listing.aval(x) for x in row.operands], active)
            g: list[Operand | None] = [None] * len(results)
            dot.update(zip(results, listing.splice(jvp, [*g, *results, *row.operands, *dots]), strict=True))
    return [tangent_of(x) for x in targets]


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
    return listing.emit("assemble", operands, row.params, row.aval)
