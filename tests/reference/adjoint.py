"""The reverse sweep (Griewank and Walther 2008, section 3.2): walk back, splice each row's template, add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference.listing import Constant, Listing, Operand, template


def depending(listing: Listing, wrt: Sequence[int]) -> list[bool]:
    """Which rows depend differentiably on the rows `wrt`."""
    depends: list[bool] = []
    for i, row in enumerate(listing.rows):
        through = any(isinstance(x, int) and depends[x] for x in row.operands)
        stops = row.primitive is not None and row.primitive.name == "stop_gradient"
        several = row.primitive is not None and row.primitive.nout > 1
        depends.append(i in wrt or (through and not stops and (row.aval.inexact or several)))
    return depends


def adjoint(
    listing: Listing, targets: Sequence[Operand | None], seeds: Sequence[Operand], wrt: Sequence[int]
) -> list[Operand | None]:
    """Append the adjoints of the rows `wrt`, when those of `targets` are `seeds`; None where nothing arrives."""
    depends = depending(listing, wrt)
    bar: dict[int, Operand] = {}

    def add(row: Operand, contribution: Operand | None) -> None:
        if contribution is None or not isinstance(row, int) or not depends[row]:
            return
        if row in bar:
            contribution = listing.emit("add", [bar[row], contribution], None, listing.aval(row))
        bar[row] = contribution

    for target, seed in zip(targets, seeds, strict=True):
        if target is not None:
            add(target, seed)
    for i in reversed(range(len(depends))):
        if depends[i] and i not in wrt:
            for operand, contribution in _contributions(listing, i, bar, depends):
                add(operand, contribution)
    return [bar.get(i) for i in wrt]


def _contributions(listing: Listing, i: int, bar: dict[int, Operand], depends: list[bool]) -> list[tuple[Operand, Any]]:
    """What row i adds to the adjoint of each of its operands."""
    row = listing.rows[i]
    assert row.primitive is not None
    name = row.primitive.name
    results = [i]
    if row.primitive.nout > 1:
        results = listing.results(i)
    if name == "result" or not any(k in bar for k in results):
        return []  # the adjoint of a further result is used where its operation is reached
    if name == "identity":
        return [(row.operands[0], bar[i])]
    if name == "item":
        aval = listing.aval(row.operands[0])
        place = (np.array(row.params, dtype=np.int64), ())
        return [(row.operands[0], listing.emit("assemble", [bar[i]], place, aval))]
    if name == "assemble":
        return _taken_apart(listing, i, bar[i])
    g = [bar[k] if k in bar else _zeros(listing, k) for k in results]
    active = [isinstance(x, int) and depends[x] for x in row.operands]
    rule = template(row.primitive, row.params, [listing.aval(x) for x in row.operands], active)
    return list(zip(row.operands, listing.splice(rule, [*g, *results, *row.operands]), strict=True))


def _zeros(listing: Listing, row: int) -> Constant:
    aval = listing.aval(row)
    return Constant(np.zeros(aval.shape, aval.dtype))


def _taken_apart(listing: Listing, i: int, g: Operand) -> list[tuple[Operand, Any]]:
    """The adjoints of what an assemble row holds: items and parts of its own adjoint."""
    row = listing.rows[i]
    offsets, parts = row.params
    operands = list(row.operands)
    made: list[tuple[Operand, Any]] = []
    for offset in offsets:
        x = operands.pop(0)
        made.append((x, listing.emit("item", [g], (int(offset),), listing.aval(x))))
    for part in parts:
        x = operands.pop(0)
        if part is None:
            made.append((x, listing.emit("gather", [g, operands.pop(0)], None, listing.aval(x))))
            continue
        start, shape, strides = part
        size = row.aval.itemsize
        params = (tuple(shape), tuple(s // size for s in strides), start // size)
        made.append((x, listing.emit("getitem", [g], params, listing.aval(x))))
    return made
