"""Minima and fits that are known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np


def bowl(z: Any, p: Any) -> Any:
    """Least at z₀ = √p, z₁ = 1 / p, where it is p."""
    return (z[0] ** 2 - p) ** 2 + (p * z[1] - 1.0) ** 2 + p


def bowl_slope(z: Any, p: Any) -> Any:
    return np.array([4.0 * z[0] * (z[0] ** 2 - p), 2.0 * p * (p * z[1] - 1.0)])


def misfit(z: Any, p: Any) -> Any:
    return np.array([z[0] - p, z[1] * p - 1.0, 2.0 * (z[0] - p**2)])
