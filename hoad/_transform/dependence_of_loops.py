"""Which items of the results of a loop depend on which items of its operands.

It follows from the body alone. With D[o, i] what an output o of the body depends on of an input i, what enters at a
step reaches an output n steps later by D[o, c] Cⁿ⁻¹ D[c, i], products of truth values with C = D[c, c] of what is
carried. Soon these powers are zero, or all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hoad._ops.dependence import Entrywise, Labels, Mask
from hoad._program.dependence_of_programs import MOST_PAIRS, Between

MOST_POWERS = 64  # beyond which all further ones are taken together
MOST_WORK = 1 << 31  # multiplications of truth values, some tenths of a second


class Form(NamedTuple):
    """What a loop takes and gives, by the letters of `hoad._core.runtime.loops`."""

    takes: str
    gives: str
    length: int
    backwards: bool


def links_of_loop(loop: Form, between: Between, k: int, which: int) -> Entrywise | None:
    """Between operand k and a result, from what is between inputs and outputs of the body; None if all are with all."""
    if "w" in loop.gives or not loop.length:
        return None
    size = sum(between[which][i].shape[1] for i, letter in enumerate(loop.takes) if letter == "c")
    if size**3 * min(MOST_POWERS, loop.length) > MOST_WORK:
        return None
    whole, own = between[which][k].shape
    by_lag, later = _by_lag(loop, between, k, which)
    is_by_rows = loop.takes[k] == "x" and loop.gives[which] == "y"
    if is_by_rows and max(loop.length - len(by_lag), 0) ** 2 // 2 * np.count_nonzero(later) > MOST_PAIRS:
        return None
    results: list[Labels] = []
    operands: list[Labels] = []
    for ends, begins, reached in _steps(loop, loop.takes[k], loop.gives[which], by_lag, later):
        items, of = np.nonzero(reached)
        results.append((ends[:, None] * whole + items).ravel())
        operands.append((begins[:, None] * own + of).ravel())
    rows = [loop.length if letter in "xy" else 1 for letter in (loop.gives[which], loop.takes[k])]
    shape = rows[0] * whole, rows[1] * own
    none = [np.zeros(0, np.int64)]
    return Entrywise(shape, np.concatenate(results or none), np.concatenate(operands or none))


def _by_lag(loop: Form, between: Between, k: int, which: int) -> tuple[list[Mask], Mask]:
    """What input k of a body reaches in an output, by the number of steps between; and what by any larger number."""
    direct = between[which][k]
    ins = [i for i, letter in enumerate(loop.takes) if letter == "c"]
    outs = [o for o, letter in enumerate(loop.gives) if letter == "c"]
    nothing = np.zeros_like(direct)
    if not ins:
        return [direct], nothing
    entering = [between[o][k] for o in outs]
    if loop.takes[k] == "c":  # it comes out of the step before the first
        entering = [np.eye(*x.shape, dtype=np.bool_) & (i == k) for x, i in zip(entering, ins, strict=True)]
        direct = nothing
    leaving = np.concatenate([between[which][i] for i in ins], axis=1)
    carried = np.block([[between[o][i] for i in ins] for o in outs])
    found, reached = [direct], np.concatenate(entering)
    for _ in range(min(MOST_POWERS, loop.length)):
        found.append(_product(leaving, reached))
        before, reached = reached, _product(carried, reached)
        if np.array_equal(reached, before):
            return found, found[-1]
        if not reached.any():
            return found, nothing
    closure = carried | np.eye(len(carried), dtype=np.bool_)
    while not np.array_equal(closure, squared := _product(closure, closure)):
        closure = squared
    return found, _product(leaving, _product(closure, reached))


def _product(a: Mask, b: Mask) -> Mask:
    """That of matrices of truth values."""
    return np.asarray(a.astype(np.float32) @ b.astype(np.float32) > 0)


def _steps(
    loop: Form, takes: str, gives: str, by_lag: list[Mask], later: Mask
) -> Iterator[tuple[Labels, Labels, Mask]]:
    """(rows of the result, rows of the operand, what the items of the one reach in the other), for all steps."""
    length, none = loop.length, np.zeros(1, np.int64)
    rows = np.arange(length)[::-1] if loop.backwards else np.arange(length)
    tables = [*by_lag, later]
    last = len(by_lag)
    if takes == "x" and gives == "y":
        for lag in range(min(last, length)):
            yield rows[lag:], rows[: length - lag], tables[lag]
        if last < length and later.any():
            ends, begins = np.tril_indices(length, -last)
            yield rows[ends], rows[begins], later
        return
    if takes == "k" or gives == "s":  # what is the same at all steps, or summed over them, counts from the first on
        tables = list(np.logical_or.accumulate(tables))
    before = int(takes == "c")  # the step before the first
    if takes != "x" and gives != "y":
        yield none, none, tables[min(length - 1 + before, last)]
        return
    for lag in range(before, last + 1):
        n = np.arange(lag - before, length if lag == last else min(lag - before + 1, length))
        if gives == "y":
            yield rows[n], np.zeros_like(n), tables[lag]
        else:
            yield np.zeros_like(n), rows[length - 1 - n], tables[lag]
