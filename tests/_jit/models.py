"""What other processes find by name."""

from __future__ import annotations

from typing import Any

import numpy as np

import hoad


@hoad.jit
def wave(x: Any, y: Any) -> Any:
    return 4 * x * y + 3 * x * np.sin(4 * y)


def cube(x: Any) -> Any:
    return np.sum(x**3)


@hoad.primitive
def logged(x: Any) -> Any:
    return 2.0 * x


hoad.defvjp(logged, lambda g, p, x: (2.0 * g,))
