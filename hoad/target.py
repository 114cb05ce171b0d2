"""Functions and points named on a command line: ``model:loss``, ``1.0,2.0``."""

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
from typing import Any

import numpy as np

__all__ = ["UsageError", "find_function", "read_point", "told"]


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
    >>> from hoad.target import find_function
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
        raise UsageError(f"module {module_name!r} cannot be imported: {told(error)}") from error
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
    >>> from hoad.target import read_point
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


def told(error: BaseException) -> str:
    """An exception in a line, with the place in the user's file."""
    package = str(Path(__file__).parent) + os.sep
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(package)]
    own = [frame for frame in frames if frame.filename.startswith(os.getcwd() + os.sep)] or frames
    where = f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
    name = type(error).__name__
    text = str(error).strip()
    return f"{name}: {text}{where}" if text else f"{name}{where}"
