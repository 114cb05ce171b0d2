"""Powers of 2 near the sizes of numbers: what differs in size is scaled before it is combined, and back exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import is_traced
from hoad._ops.primitives import STOP_GRADIENT

MOST = 1020  # beyond, inverses are not numbers


def constant(x: Any) -> Any:
    """x without a derivative."""
    return apply_primitive(STOP_GRADIENT, None, x) if is_traced(x) else x


def exponents(sizes: Any) -> Any:
    """Those of the powers of 2 nearest to sizes, as far as their inverses are numbers too; 0 for 0, inf and nan."""
    sizes = constant(sizes)
    usual = np.where((sizes > 0.0) & np.isfinite(sizes), sizes, 1.0)
    return np.clip(np.rint(np.log2(usual)), -MOST, MOST)


def scaled(x: Any, exponent: Any) -> Any:
    """x times a power of 2, which may be out of range where the product is not."""
    half = np.rint(exponent / 2.0)
    return x * np.exp2(half) * np.exp2(exponent - half)
