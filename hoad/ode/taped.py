"""The Taylor integrator on the tape: the steps as they were taken, one loop of series that have an adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.trace.traced import plain_value
from hoad._drivers.scan import scan
from hoad._drivers.values import stop_gradient
from hoad._program.callee import called
from hoad.ode.options import Options
from hoad.ode.piecewise import sums
from hoad.ode.system import System

SERVED = 1e3  # times that a recorded step's error may grow before it serves no more


def recorded_solution(system: System, options: Options, times: Any) -> list[Any]:
    """y at all times, for each leaf an array; the steps serve a variational equation as well."""
    plain = plain_value(times)
    varied = system.varied(float(plain[0]))
    stepper = options.stepper(varied, plain)
    options.check(stepper.run(plain, np.empty((len(plain), sum(varied.sizes))), options.max_steps, True), stepper)
    return _by_steps(system, options, times, *stepper.steps[:3])


def _by_steps(system: System, options: Options, times: Any, begun: Any, rests: Any, lengths: Any) -> list[Any]:
    """The same, by given steps."""
    plain = plain_value(times)
    start = times[0]
    along = system.along(options.order)

    def body(state: list[Any], row: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
        t, h = row
        series = called(along, (_line(t), *system.held, *state))
        return [sums(c, h) for c in series], [*state, _errors(options, series, h)]

    rows = [np.reshape(x, (1, *np.shape(x))) for x in system.y]  # of steps as they begin, or the start alone
    offsets, errors = np.zeros(1), np.zeros(1)
    if len(lengths):
        offsets = (begun - plain[0]) + rests
        _, (*rows, errors) = scan(body, list(system.y), (start + offsets, lengths), length=len(lengths))
    way = np.sign(plain[-1] - plain[0])
    k = np.clip(np.searchsorted(way * begun, way * plain, side="right") - 1, 0, None)
    t = start + offsets[k]
    wide = system.along(options.order, len(plain))
    series = called(wide, (np.stack([t, np.ones(len(plain))]), *system.held, *[x[k] for x in rows]))
    far = times - t  # they may have moved away from the steps
    _check_served(np.concatenate([errors, _errors(options, series, far)]), options)
    return [sums(c, np.reshape(far, (-1, *[1] * (c.ndim - 2)))) for c in series]


def _line(t: Any) -> Any:
    """The coefficients of the time."""
    return np.stack([t, np.ones(())])


def _errors(options: Options, series: Sequence[Any], h: Any) -> Any:
    """The last term over the size of y, without a derivative, so far behind where steps begin: of one, or of many."""
    series, h = stop_gradient(list(series)), stop_gradient(h)
    last, size = (
        np.max(np.concatenate([np.reshape(np.abs(c[k]), (*np.shape(h), -1)) for c in series], axis=-1), axis=-1)
        for k in (-1, 0)
    )
    return last * np.abs(h) ** options.order / np.maximum(size, options.atol / options.tol)


def _check_served(errors: Any, options: Options) -> None:
    """Record a guard: that the steps serve. The inputs where they do not need steps of their own."""
    worst = np.max(errors)
    found = plain_value(worst)
    bool(worst <= SERVED * max(float(found), options.tol))
