"""The compiled core, in layers that import only from those above them in this list.

base, kernels, graph, ops, trace, runtime, lower, sweep, record, taylor, jit.
"""

import os.path as _path
from importlib import import_module as _import_module

try:
    _import_module("hoad._core.base.blocks")
except ModuleNotFoundError as _error:
    if _error.name != "hoad._core.base.blocks":
        raise
    _folder = _path.dirname(_path.dirname(__path__[0]))
    raise ImportError(
        f"Python found hoad in its source folder, {_folder}, whose compiled modules are not built, before any that is "
        "installed. Run Python in another folder, or build them where they stand by pip install -e ."
    ) from None
