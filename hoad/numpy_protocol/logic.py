"""Bitwise operators on truth values."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.traced import (
    FUNCTIONS,
    here,
)
from hoad.errors import NoRuleError
from hoad.numpy_protocol.door import as_traced


def _bitwise(function: np.ufunc, logical: np.ufunc) -> None:
    def implementation(*operands: Any) -> Any:
        if any(as_traced(x).dtype != bool for x in operands):
            raise NoRuleError(f"np.{function.__name__} of numbers has no derivative rule ({here()}).")
        return logical(*operands)

    FUNCTIONS[function] = implementation


_bitwise(np.bitwise_and, np.logical_and)
_bitwise(np.bitwise_or, np.logical_or)
_bitwise(np.bitwise_xor, np.logical_xor)
_bitwise(np.invert, np.logical_not)
