"""Functions and points named on a command line: ``model:loss``, ``1.0,2.0``."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hoad.errors import count, told


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
    >>> from hoad._cli.target import find_function
    >>> find_function("numpy:linalg.det").__name__
    'det'
    """
    module_name, colon, name = target.partition(":")
    if not colon or not module_name or not name:
        raise UsageError(f"{target!r} names no function. Write MODULE:FUNCTION, as in numpy:tanh or model:loss.")
    here = os.getcwd()
    if os.sep in module_name or module_name.endswith(".py"):
        of_module = f"{Path(module_name).stem}:{name}"
        raise UsageError(f"{module_name!r} is a file; write its module, from the directory it is in: {of_module}.")
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if module_name != missing and not module_name.startswith(f"{missing}."):
            raise UsageError(f"module {module_name!r} needs {missing!r}, which is not installed.") from error
        close = close_name(module_name, [path.stem for path in Path(here).glob("*.py")])
        raise UsageError(f"there is no module {module_name!r} in {here} or among those installed.{close}") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"module {module_name!r} cannot be imported: {told(error)}") from error
    function: Any = module
    path: list[str] = []
    for part in name.split("."):
        try:
            function = getattr(function, part)
        except AttributeError as error:
            owner = ".".join(path) or f"module {module_name!r}"
            names = [key for key in dir(function) if not key.startswith("_") and callable(getattr(function, key, None))]
            raise UsageError(f"{owner} has no function {part!r}.{close_name(part, names)}") from error
        path.append(part)
    if not callable(function):
        raise UsageError(f"{target} is {type(function).__name__}, not a function.")
    return function  # type: ignore[no-any-return]


def close_name(name: str, names: Sequence[str]) -> str:
    """A sentence that asks whether the closest of some names was meant, or nothing."""
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" Did you mean {found[0]!r}?" if found else ""


def check_number_of_points(command: str, target: str, given: int) -> None:
    """Raise unless a function can be called with so many points.

    Raises
    ------
    UsageError
        If it cannot; the message has a command that could.
    """
    try:
        parameters = list(inspect.signature(find_function(target)).parameters.values())
        unbounded = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    except (TypeError, ValueError):  # a function in C need not say what it takes
        parameters, unbounded = [], True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in positional if p.default is p.empty]
    if max(1, len(needed)) <= given and (unbounded or given <= len(positional)):
        return
    names = needed or [p.name for p in positional[:1]] or ["x"] * unbounded
    if not names:
        raise UsageError(f"{target} takes no argument, so there is no point to give.")
    raise UsageError(
        f"{target} takes {count(len(names), 'argument')} ({', '.join(names)}), but {count(given, 'point')} "
        f"{'was' if given == 1 else 'were'} given. Give --at once for each argument, in their order: "
        f"hoad {command} {target} {' '.join(f'--at {name.upper()}' for name in names)}."
    )


def read_point(text: str) -> Any:
    """A float, or an array where there are commas or brackets: ``1.5``, ``1,2``, ``[[1, 2], [3, 4]]``.

    Raises
    ------
    UsageError
        If it is neither.

    Examples
    --------
    >>> from hoad._cli.target import read_point
    >>> read_point("1,2")
    array([1., 2.])
    >>> read_point("1e-3")
    0.001
    """
    try:
        array = np.asarray(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise UsageError(
            f"{text!r} is not a point. Write a finite number (1.5), numbers with commas (1.0,2.0; one of them: 1.0,), "
            "or rows in brackets ([[1,2],[3,4]])."
        )
    return array.astype(np.float64) if array.ndim else float(array)
