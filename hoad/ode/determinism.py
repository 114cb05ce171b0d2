"""Right sides are recorded once, so each must give the same whenever it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.record.recording import differentiating
from hoad._core.trace.coerce import as_argument
from hoad._core.trace.traced import graph_of, is_traced, plain_value
from hoad._program.program import Program
from hoad._transform.composite import captured_program
from hoad.errors import ArgumentError


def steady_program(
    driver: str, called: str, f: Callable[..., Sequence[Any]], values: Sequence[Any]
) -> tuple[Program, list[Any]]:
    """The program of f, as `captured_program` has it; raise where f gives something else when it is called again."""
    seen: list[list[Any]] = []

    def watched(*traced: Any) -> Sequence[Any]:
        found = f(*[as_argument(x, called) for x in traced])
        seen.append([plain_value(x) for x in found if not is_traced(x) or graph_of(x).valued])
        return found

    made = captured_program(watched, values)
    with differentiating(apart=True, repeated=True) as d:
        watched(*[d.input(x) for x in values])
    for first, again in zip(*seen, strict=True):
        if not np.array_equal(first, again, equal_nan=True):
            at = tuple(np.argwhere(np.atleast_1d(first != again))[0])
            raise ArgumentError(
                f"{driver} records {called} once, but called twice at the start it gave {np.atleast_1d(first)[at]!s}, "
                f"then {np.atleast_1d(again)[at]!s}: it draws random numbers, or keeps a state. Draw them before, and "
                "look them up by t, in an array or with np.interp."
            )
    return made
