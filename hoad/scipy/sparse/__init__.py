"""Sparse matrices, with SciPy's names: each as hoad has it, or else SciPy's, adopted."""

from __future__ import annotations

from hoad.scipy.names import finder

__getattr__ = finder("scipy.sparse")
