"""Event functions: recorded once, with one series for all of them along each step of the solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.taylor.event_search import EventSearch
from hoad._core.taylor.series import NotClosedError
from hoad._core.trace.traced import is_traced, plain_value
from hoad._program.program import Program
from hoad._program.trace import is_number
from hoad._pytree.arguments import check_function, packed
from hoad.errors import ArgumentError, NoRuleError, ShapeError
from hoad.ode.options import traced_error
from hoad.ode.order import check_names, telling_order
from hoad.ode.system import System, double


def event_search(system: System, events: Any, t: float, order: int) -> EventSearch | None:
    """What finds the events of one event function or several, with the attributes that SciPy gives a meaning to."""
    functions = _functions(events)
    if not functions:
        return None
    programs = [_recorded(system, g, t) for g in functions]
    try:
        series, offsets, sizes = system.series(programs, order)
    except NotClosedError as error:
        raise NoRuleError(f"an event function has no Taylor arithmetic: there is none for {error}.") from None
    directions = [int(np.sign(getattr(g, "direction", 0))) for g in functions]
    lefts = [int(getattr(g, "terminal", None) or -1) for g in functions]
    return EventSearch(series, sum(system.sizes), offsets, sizes, directions, lefts)


def _functions(events: Any) -> list[Callable[..., Any]]:
    """The event functions, of which there may be one, several or none."""
    if events is None:
        return []
    functions = list(events) if isinstance(events, (list, tuple)) else [events]
    for g in functions:
        if not callable(g):
            raise ArgumentError(
                f"taylor_solution takes events as a function g(t, y), or a list of such, but was given {g!r}."
            )
    return functions


def _recorded(system: System, g: Callable[..., Any], t: float) -> Program:
    """An event function by (*y, t)."""
    check_function(f"ode.{system.name}", g)

    def one(returned: Any) -> list[Any]:
        value = packed(returned)
        if not is_number(value) or np.size(value) != 1:
            raise ShapeError(
                f"an event function gives one number, not {type(returned).__name__} of shape {np.shape(value)}."
            )
        if np.asarray(plain_value(value)).dtype.kind == "b":
            raise ArgumentError(
                "an event function gives a number that changes sign where the event happens, but this one gave a "
                "boolean, which has no sign. Give y[0] - c in place of y[0] > c."
            )
        return [np.reshape(double(value, system.name), ())]

    check_names(system.name, "an event function", g)
    y0 = system.structure.unflatten([plain_value(x) for x in system.y])
    failures = IndexError, KeyError, TypeError
    with telling_order(system.name, "an event function", g, t, y0, system.args, is_number, failures):
        program, held = system.recorded("an event function", g, t, one)
    if any(map(is_traced, held)):
        raise traced_error(system.name, "polynomials")
    return program
