"""Densities of `scipy.stats.gaussian_kde`: sums of Gaussian functions about the points of a data set."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.frame_globals import Apart
from hoad._core.trace.coerce import holds_traced
from hoad._scipy.compiled import module
from hoad._scipy.registry import IMPLEMENTED, Function

_stats = module("scipy.stats._stats")


def _exponents(points: Any, xi: Any, factor: Any) -> Any:
    """Of each place and point the logarithm of the Gaussian function, for the Cholesky factor of its covariance."""
    d = points.shape[1]
    apart = np.reshape(xi[:, None, :] - points[None, :, :], (-1, d))
    scaled = np.reshape(np.linalg.solve(factor, apart.T), (d, xi.shape[0], points.shape[0]))
    norm = 0.5 * d * math.log(2.0 * math.pi) + np.sum(np.log(np.diagonal(factor)))
    return -0.5 * np.sum(scaled * scaled, 0) - norm


def estimate(points: Any, values: Any, xi: Any, factor: Any, dtype: Any) -> Any:
    """The density at some places, for each column of weights."""
    return np.exp(_exponents(points, xi, factor)) @ values


def log_estimate(points: Any, values: Any, xi: Any, factor: Any, dtype: Any) -> Any:
    """Its logarithm."""
    exponents = _exponents(points, xi, factor)[:, :, None]
    largest = np.max(exponents, 1)
    return largest + np.log(np.sum(values[None] * np.exp(exponents - largest[:, None]), 1))


class OfTypes:
    """A function of Cython's that is chosen by types, in square brackets, and what runs where an argument is traced."""

    def __init__(self, original: Any, implementation: Function) -> None:
        self._original, self._implementation = original, implementation

    def __call__(self, *args: Any) -> Any:
        return self["double"](*args)

    def __getitem__(self, types: Any) -> Callable[..., Any]:
        def function(*args: Any) -> Any:
            with Apart():
                run = self._implementation if holds_traced(args) else self._original[types]
                return run(*args)

        return function


for _name, _implementation in (("gaussian_kernel_estimate", estimate), ("gaussian_kernel_estimate_log", log_estimate)):
    if hasattr(_stats, _name):
        IMPLEMENTED[getattr(_stats, _name)] = OfTypes(getattr(_stats, _name), _implementation)
