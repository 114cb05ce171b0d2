"""Functions of SciPy that take traced values: what hoad has no other name for.

Modules have SciPy's names, and their functions SciPy's signatures. They are imported where they are asked for. Where
hoad has no function of its own, the one that is found is SciPy's, adopted.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hoad.scipy import integrate, interpolate, linalg, optimize, signal, sparse, spatial, special, stats

__all__ = ["integrate", "interpolate", "linalg", "optimize", "signal", "sparse", "spatial", "special", "stats"]

if importlib.util.find_spec("scipy") is None:
    raise ImportError("hoad.scipy has functions of SciPy, which is not installed: pip install 'hoad[scipy]'.")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"hoad.scipy.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
