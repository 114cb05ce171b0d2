"""Solvers of other packages, given derivatives by hoad.

Each module needs the package of its name. It is imported where it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hoad.interop import ipopt, scipy

__all__ = ["ipopt", "scipy"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"hoad.interop.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
