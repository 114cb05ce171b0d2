"""Modules that give NumPy's functions under names of the array API, as SciPy and scikit-learn carry them along."""

from __future__ import annotations

import functools
import sys
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from hoad._adopt.modules import replace
from hoad._core.base.frame_globals import Apart, found_for, stand_in

_known: set[str] = set()  # names of modules that were looked at


def declare_loaded() -> None:
    """Let adopted code find what it may find in such modules that have been loaded since the last time."""
    if len(sys.modules) != len(_known):
        for name in sorted(sys.modules.keys() - _known, reverse=True):  # parts before what has them
            _known.add(name)
            if name.endswith("array_api_compat.numpy"):
                module = sys.modules[name]
                replace(module, [(module.clip, _clip)] if hasattr(module, "clip") else [])
            elif name.endswith("array_api_compat.numpy.linalg"):
                module = sys.modules[name]
                replace(module, [(module.solve, np.linalg.solve)])
            elif "array_api" in name:
                _declare_choice(sys.modules[name])


def _clip(x: Any, /, min: Any = None, max: Any = None, **options: Any) -> Any:
    """By NumPy's function, where the module fills items by a mask; of NumPy's, either bound must be given as None."""
    return np.clip(x, min, max, **options)


def _declare_choice(module: ModuleType) -> None:
    """Of functions that choose such a module by the classes of arrays, and keep it for the next time."""
    function: Any = vars(module).get("array_namespace")
    if isinstance(function, FunctionType):

        @functools.wraps(function)
        def array_namespace(*args: Any, **kwargs: Any) -> Any:
            with Apart():
                return found_for(function(*args, **kwargs))

        stand_in(function, array_namespace)
