"""NumPy's functions that have derivatives."""

from __future__ import annotations

import numpy as np
from covered.rows import Kind, Row

V = np.array([0.5, -1.25, 2.0])

ROWS = [
    Row("numpy.cumsum", Kind.DIFFERENTIABLE, np.cumsum, V),
    Row("numpy.convolve", Kind.DIFFERENTIABLE, lambda x: np.convolve(x, [1.0, 2.0]), V),
]
