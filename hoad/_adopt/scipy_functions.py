"""What adopted code finds in the place of SciPy's functions that end in compiled code."""

from __future__ import annotations

import sys

from hoad._adopt.modules import replace
from hoad._scipy import COMPILED, DISTRIBUTIONS, FILES, implemented, of_distributions, of_plain_values

_done: set[str] = set()  # names of the parts that were looked at
_compiled_done: set[str] = set()


def declare_loaded() -> None:
    """Put hoad's functions in the place of SciPy's, in the parts of SciPy that have been loaded since the last time."""
    for part in FILES:
        if part in sys.modules and part not in _done:
            _done.add(part)
            replace(sys.modules[part], list(implemented(part).items()))
            replace(sys.modules["scipy"], [])
    for name in COMPILED:
        if name in sys.modules and name not in _compiled_done:
            _compiled_done.add(name)
            replace(sys.modules[name], of_plain_values(name))
    if DISTRIBUTIONS in sys.modules and DISTRIBUTIONS not in _done:
        _done.add(DISTRIBUTIONS)
        for module, pairs in of_distributions():
            replace(module, pairs)
