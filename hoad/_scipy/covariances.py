"""Reciprocals of the eigenvalues of a covariance, by which SciPy's densities of several variables divide."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._numpy.registry import as_traced
from hoad._scipy.compiled import in_place_of, module

_multivariate = module("scipy.stats._multivariate")


@in_place_of(_multivariate, "_pinv_1d")
def reciprocals(v: Any, eps: Any = 1e-5) -> Any:
    """1/v, and 0 where v is negligible: as one function of all, of which the sum over eigenvectors is smooth.

    SciPy's goes item by item, and the eigenvectors alone have no derivatives where eigenvalues are equal.
    """
    v = as_traced(v)
    if np.all(np.abs(v) > eps):
        return 1.0 / v
    negligible = np.abs(v) <= eps
    return np.where(negligible, 0.0, 1.0 / np.where(negligible, 1.0, v))
