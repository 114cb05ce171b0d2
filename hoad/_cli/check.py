"""`hoad check`, once its arguments are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

PASSED, FAILED, USAGE = 0, 1, 2

ORDER = 4  # to which modes are compared


def run(
    target: str,
    at: Sequence[str],
    along: Sequence[str],
    order: int | None,
    gradient: str | None,
    hessian: str | None,
    modes: bool,
    plot: str | None,
    out: TextIO,
) -> int:
    """Check the derivatives of a function, and report.

    Parameters
    ----------
    target : str
        ``MODULE:FUNCTION``.
    at, along : sequence of str
        A point and a direction for every argument; no directions for random ones.
    order : int or None
        The highest order of the Taylor test, or of `modes`.
    gradient, hessian : str or None
        Functions to check in place of hoad's derivatives.
    modes : bool
        Whether every mode is compared with every other, in place of the Taylor test.
    plot : str or None
        A file for the picture.
    out : file object
        For the report.

    Returns
    -------
    int
        0 if all passed, 1 if not.

    Raises
    ------
    UsageError
        If something cannot be found, read, evaluated or drawn.
    """
    f = find_function(target)
    points = tuple(read_point(text) for text in at)
    directions = tuple(read_point(text) for text in along)
    if directions and len(directions) != len(points):
        given = f"{count(len(points), 'point')} but {count(len(directions), 'direction')}"
        raise UsageError(f"{given} were given. Give --along for each --at.")
    if modes and (directions or gradient or hessian):
        raise UsageError("--modes compares hoad's own derivatives, along directions of its own. Leave out the others.")
    g, h = (find_function(name) if name else None for name in (gradient, hessian))
    try:
        reports = [_modes(f, points, order)] if modes else _reports(f, points, directions, order, g, h)
    except UsageError:
        raise
    except HoadError as error:
        raise UsageError(f"{target} cannot be checked there: {error}") from error
    except (Exception, SystemExit) as error:  # whatever a user's function does
        advice = ". For an array of one number, write --at 1.5," if "'float'" in str(error) else ""
        raise UsageError(f"{target} cannot be checked there: {told(error)}{advice}") from error
    text = "\n\n".join(map(str, reports)) + "\n"
    encoding = getattr(out, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("±", "+-").encode(encoding, "replace").decode(encoding)
    out.write(text)
    if plot:
        _draw(reports[-1], plot)
    return PASSED if all(report.passed for report in reports) else FAILED


def _modes(f: Callable[..., Any], points: tuple[Any, ...], order: int | None) -> Report:
    return check_modes(f, points if len(points) > 1 else points[0], ORDER if order is None else order)


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


def _draw(report: Any, file: str) -> None:
    try:
        report.plot().savefig(file, dpi=150)
    except (ImportError, OSError, ValueError) as error:
        raise UsageError(f"no picture was drawn: {error}") from error
