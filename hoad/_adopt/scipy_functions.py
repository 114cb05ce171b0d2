"""What adopted code finds in the place of SciPy's functions that end in compiled code."""

from __future__ import annotations

import importlib
import sys

from hoad._adopt.modules import replace
from hoad._scipy import FILES

_done: set[str] = set()  # names of the parts that were looked at


def declare_loaded() -> None:
    """Put hoad's functions in the place of SciPy's, in the parts of SciPy that have been loaded since the last time."""
    for part in FILES.keys() & sys.modules.keys() - _done:
        _done.add(part)
        for file in FILES[part]:
            importlib.import_module(f"hoad._scipy.{file}")
        table = importlib.import_module("hoad._scipy.registry").IMPLEMENTED
        replace(sys.modules[part], list(table.items()))
        replace(sys.modules["scipy"], [])
