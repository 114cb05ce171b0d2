"""Which functions give results whose order in memory is known, as `hoad._core.trace.memory_order` keeps it.

Of others it is known where their operands lie as in C; after those that do not, a view that depends on the order
cannot be told from a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.trace.traced import FUNCTIONS, KEEPING_ORDER, METHODS

AS_IN_C: tuple[Any, ...] = (
    *(np.compress, np.dot, np.inner, np.kron, np.outer, np.repeat, np.resize, np.take, np.tensordot),
)
AS_OPERANDS: tuple[Any, ...] = (
    *(
        np.astype,
        np.clip,
        np.copy,
        np.einsum,
        np.empty_like,
        np.full_like,
        np.ones_like,
        np.reshape,
        np.where,
        np.zeros_like,
    ),
)
METHODS_IN_ORDER = ("__getitem__", "astype", "clip", "copy", "dot", "repeat", "reshape", "take")

KEEPING_ORDER.update(FUNCTIONS[f] for f in AS_IN_C + AS_OPERANDS)
KEEPING_ORDER.update(METHODS[name] for name in METHODS_IN_ORDER)
