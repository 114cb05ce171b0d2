"""`hoad check`, once its arguments are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np

from hoad._cli.target import UsageError, find_function, read_point
from hoad.check.agreement import modes as check_modes
from hoad.check.by_hand import gradient as check_gradient
from hoad.check.by_hand import hessian as check_hessian
from hoad.check.by_hand import jacobian as check_jacobian
from hoad.check.report import Report
from hoad.check.taylor_remainder import taylor_test
from hoad.errors import HoadError, count, told

PASSED, FAILED = 0, 1

ORDER = 4  # to which modes are compared


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Check the derivatives of a function, and report; returns the exit status, 0 if all passed, 1 if not.

    Raises
    ------
    UsageError
        If something cannot be found, read, evaluated or drawn.
    """
    f = find_function(options.function)
    points = tuple(read_point(text) for text in options.at)
    directions = tuple(read_point(text) for text in options.along)
    if directions and len(directions) != len(points):
        given = f"{count(len(points), 'point')} but {count(len(directions), 'direction')}"
        raise UsageError(f"{given} were given. Give --along for each --at.")
    if options.modes and (directions or options.gradient or options.hessian):
        raise UsageError("--modes compares hoad's own derivatives, along directions of its own. Leave out the others.")
    g, h = (find_function(name) if name else None for name in (options.gradient, options.hessian))
    try:
        if options.modes:
            order = ORDER if options.order is None else options.order
            reports: list[Report] = [check_modes(f, points if len(points) > 1 else points[0], order)]
        else:
            reports = _reports(f, points, directions, options.order, g, h)
    except UsageError:
        raise
    except HoadError as error:
        raise UsageError(f"{options.function} cannot be checked there: {error}") from error
    except (Exception, SystemExit) as error:  # whatever a user's function does
        advice = ". For an array of one number, write --at 1.5," if "'float'" in str(error) else ""
        raise UsageError(f"{options.function} cannot be checked there: {told(error)}{advice}") from error
    text = "\n\n".join(map(str, reports)) + "\n"
    encoding = getattr(out, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("±", "+-").encode(encoding, "replace").decode(encoding)
    out.write(text)
    if options.plot:
        try:
            reports[-1].plot().savefig(options.plot, dpi=150)
        except (ImportError, OSError, ValueError) as error:
            raise UsageError(f"no picture was drawn: {error}") from error
    return PASSED if all(report.passed for report in reports) else FAILED


def _reports(
    f: Callable[..., Any],
    points: tuple[Any, ...],
    directions: tuple[Any, ...],
    order: int | None,
    g: Callable[..., Any] | None,
    h: Callable[..., Any] | None,
) -> list[Report]:
    """The components of what was written by hand, and then the Taylor test."""
    reports: list[Report] = []
    one = len(points) == 1
    if g is not None:
        check = check_jacobian if np.ndim(f(*points)) else check_gradient
        reports.append(check(f, g, *points, argnums=0 if one else tuple(range(len(points)))))
    if h is not None:
        if not one:
            raise UsageError("--hessian is for a function of one argument: give one --at.")
        reports.append(check_hessian(f, h, *points, gradient=g))
    if one:
        v = directions[0] if directions else None
        given = [report for report in reports if getattr(report, "shape_error", "")]
        if not given:
            reports.append(taylor_test(f, points[0], v, order=order, gradient=g, hessian=h))
    elif g is None:
        reports.append(taylor_test(f, points, directions or None, order=order))
    return reports
