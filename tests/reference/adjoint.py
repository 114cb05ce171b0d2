"""The model's reverse sweep, on any of hoad's primitives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from model.essay import Constant, adjoint_sweep, splice

from reference.listing import Listing, Operand, template


def adjoint(
    listing: Listing, targets: Sequence[Operand | None], seeds: Sequence[Operand], wrt: Sequence[int]
) -> list[Operand | None]:
    """Append the adjoints of the rows `wrt`, when those of `targets` are `seeds`; None where nothing arrives."""
    return adjoint_sweep(listing, targets, seeds, wrt, pull_back)


def pull_back(listing: Listing, i: int, bar: dict[int, Any], depends: set[Any]) -> Iterable[tuple[Any, Any]]:
    """The operands of row i, each with what row i adds to its adjoint."""
    row = listing.rows[i]
    if row.name == "result":  # used where its operation is reached, which is so although its first result may have none
        bar.setdefault(row.operands[0], None)
        return []
    if row.name == "identity":
        return [(row.operands[0], bar[i])]
    if row.name == "item":
        aval = listing.aval(row.operands[0])
        place = (np.array(row.params, dtype=np.int64), ())
        return [(row.operands[0], listing.emit("assemble", bar[i], params=place, aval=aval))]
    if row.name == "assemble":
        return _taken_apart(listing, i, bar[i])
    assert row.primitive is not None
    results = listing.results(i)
    g = [_zeros(listing, k) if bar.get(k) is None else bar[k] for k in results]
    active = [x in depends for x in row.operands]
    rule = template(row.primitive, row.params, [listing.aval(x) for x in row.operands], active)
    return zip(row.operands, splice(listing, rule, *g, *results, *row.operands), strict=True)


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
        made.append((x, listing.emit("item", g, params=(int(offset),), aval=listing.aval(x))))
    for part in parts:
        x = operands.pop(0)
        if part is None:
            made.append((x, listing.emit("gather", g, operands.pop(0), aval=listing.aval(x))))
            continue
        start, shape, strides = part
        size = row.aval.itemsize
        params = (tuple(shape), tuple(s // size for s in strides), start // size)
        made.append((x, listing.emit("getitem", g, params=params, aval=listing.aval(x))))
    return made
