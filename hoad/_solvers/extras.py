"""Optional packages, imported when a solver needs them."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, extra: str, user: str) -> Any:
    """A module of an optional package, or an ImportError that names the extra."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (package, module):
            raise
        raise ImportError(f"{user} needs {package}, which is not installed: pip install 'hoad[{extra}]'.") from None
