"""NumPy's functions that are constant almost everywhere, structural, or impossible."""

from __future__ import annotations

import numpy as np
from covered.rows import Kind, Row

V = np.array([0.5, -1.25, 2.0])

ROWS = [
    Row("numpy.argmax", Kind.CONSTANT, np.argmax, V),
    Row("numpy.ndim", Kind.STRUCTURAL, np.ndim, V),
]
