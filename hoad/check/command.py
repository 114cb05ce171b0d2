"""`hoad check`, once its arguments are read."""

from __future__ import annotations

import ast
import difflib
import importlib
import operator
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from hoad.check.derivatives import gradient as check_gradient
from hoad.check.derivatives import hessian as check_hessian
from hoad.check.derivatives import jacobian as check_jacobian
from hoad.check.report import Report
from hoad.check.taylor import taylor_test
from hoad.errors import HoadError

__all__ = ["FAILED", "PASSED", "USAGE", "UsageError", "find_function", "read_point", "run"]

PASSED, FAILED, USAGE = 0, 1, 2


class UsageError(ValueError):
    """What was asked for on the command line cannot be done; the message says what to write instead."""


def find_function(target: str) -> Callable[..., Any]:
    """The function that ``MODULE:FUNCTION`` names; the current directory is searched first.

    Raises
    ------
    UsageError
        If there is none, with the closest name there is.

    Examples
    --------
    >>> from hoad.check.command import find_function
    >>> find_function("numpy:linalg.det").__name__
    'det'
    """
    module_name, colon, name = target.partition(":")
    if not colon or not module_name or not name:
        raise UsageError(f"{target!r} names no function. Write MODULE:FUNCTION, as in numpy:tanh or model:loss.")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if module_name != missing and not module_name.startswith(f"{missing}."):
            raise UsageError(f"module {module_name!r} needs {missing!r}, which is not installed.") from error
        if module_name.endswith(".py"):
            raise UsageError(f"{module_name!r} is a file; write its module: {module_name[:-3]}:{name}.") from error
        close = _close(module_name, [path.stem for path in Path(here).glob("*.py")])
        raise UsageError(f"there is no module {module_name!r} in {here} or among those installed.{close}") from error
    except Exception as error:
        raise UsageError(f"module {module_name!r} cannot be imported: {_told(error)}") from error
    try:
        function = operator.attrgetter(name)(module)
    except AttributeError as error:
        names = [key for key in vars(module) if not key.startswith("_") and callable(getattr(module, key))]
        raise UsageError(f"module {module_name!r} has no function {name!r}.{_close(name, names)}") from error
    if not callable(function):
        raise UsageError(f"{target} is {type(function).__name__}, not a function.")
    return function  # type: ignore[no-any-return]


def _close(name: str, names: Sequence[str]) -> str:
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" Did you mean {found[0]!r}?" if found else ""


def read_point(text: str) -> Any:
    """A float, or an array where there are commas or brackets: ``1.5``, ``1,2``, ``[[1, 2], [3, 4]]``.

    Raises
    ------
    UsageError
        If it is neither.

    Examples
    --------
    >>> from hoad.check.command import read_point
    >>> read_point("1,2")
    array([1., 2.])
    >>> read_point("1e-3")
    0.001
    """
    try:
        array = np.asarray(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise UsageError(
            f"{text!r} is no point. Write a number (1.5), numbers with commas (1.0,2.0; one of them: 1.0,), or rows "
            "in brackets ([[1,2],[3,4]])."
        )
    return array.astype(np.float64) if array.ndim else float(array)


def run(
    target: str,
    at: Sequence[str],
    along: Sequence[str],
    order: int | None,
    gradient: str | None,
    hessian: str | None,
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
        The highest order of the Taylor test.
    gradient, hessian : str or None
        Functions to check in place of hoad's derivatives.
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
        raise UsageError(
            f"{len(points)} points but {len(directions)} directions were given. Give --along for each --at."
        )
    g, h = (find_function(name) if name else None for name in (gradient, hessian))
    try:
        reports = _reports(f, points, directions, order, g, h)
    except (HoadError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"{target} cannot be checked there: {_told(error)}") from error
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


def _told(error: BaseException) -> str:
    """An exception in a line, with the place in the user's file."""
    package = str(Path(__file__).parents[1]) + os.sep
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(package)]
    own = [frame for frame in frames if frame.filename.startswith(os.getcwd() + os.sep)] or frames
    where = f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
    name = type(error).__name__
    text = str(error).strip()
    return f"{name}: {text}{where}" if text else f"{name}{where}"
