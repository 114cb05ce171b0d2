"""What adopted code finds in the place of SciPy's functions that end in compiled code."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from hoad._adopt.modules import replace
from hoad._core.base.frame_globals import found_for
from hoad._scipy import FILES

_done: set[str] = set()  # names of the parts that were looked at


class _Scipy(ModuleType):
    """The package, whose parts SciPy loads when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        return found_for(getattr(sys.modules["scipy"], name))


def declare_loaded() -> None:
    """Put hoad's functions in the place of SciPy's, in the parts of SciPy that have been loaded since the last time."""
    for part in FILES.keys() & sys.modules.keys() - _done:
        _done.add(part)
        for file in FILES[part]:
            importlib.import_module(f"hoad._scipy.{file}")
        table = importlib.import_module("hoad._scipy.registry").IMPLEMENTED
        pairs = [(f, other) for f, other in table.items() if any(f is x for x in vars(sys.modules[part]).values())]
        replace(sys.modules[part], pairs)
        package = sys.modules["scipy"]
        parts = [(x, found_for(x)) for x in vars(package).values() if isinstance(x, ModuleType)]
        replace(package, [(x, other) for x, other in parts if other is not x], _Scipy)
