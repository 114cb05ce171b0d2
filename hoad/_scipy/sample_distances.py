"""Distances of samples by their distribution functions: `scipy.stats.wasserstein_distance` and `energy_distance`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats

from hoad._numpy.products import inexact
from hoad._scipy.registry import implements


def _distribution(values: Any, weights: Any, at: Any) -> Any:
    """The share of the values up to each of some points."""
    if weights is None:
        return np.searchsorted(np.sort(values), at, side="right") / values.shape[0]
    order = np.argsort(values)
    sums = np.concatenate([np.zeros(1), np.cumsum(weights[order])])
    return sums[np.searchsorted(values[order], at, side="right")] / sums[-1]


def _apart(u: Any, v: Any, u_weights: Any, v_weights: Any) -> tuple[Any, Any]:
    """The difference of both distribution functions between each two of all values, and how far these are apart."""
    u, v = inexact(u), inexact(v)
    weights = [None if w is None else inexact(w) for w in (u_weights, v_weights)]
    together = np.sort(np.concatenate([u, v]))
    shares = [_distribution(x, w, together[:-1]) for x, w in zip((u, v), weights, strict=True)]
    return shares[0] - shares[1], np.diff(together)


@implements(scipy.stats.wasserstein_distance)
def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """The area between the distribution functions of two samples.

    Notes
    -----
    Cost: all values are sorted. Where two values are equal it has no derivative, and gets that of one side.

    Examples
    --------
    >>> from hoad.scipy import stats
    >>> hoad.grad(stats.wasserstein_distance)(np.array([0.0, 1.0]), np.array([5.0, 6.0]))
    array([-0.5, -0.5])
    """
    difference, widths = _apart(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(difference) * widths)


@implements(scipy.stats.energy_distance)
def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """√2 times the root of the integral of the squared difference of the distribution functions of two samples.

    Notes
    -----
    Cost: all values are sorted. Where two values are equal it has no derivative, and gets that of one side.

    Examples
    --------
    >>> from hoad.scipy import stats
    >>> hoad.grad(stats.energy_distance)(np.array([0.0]), np.array([2.0]))
    array([-0.5])
    """
    difference, widths = _apart(u_values, v_values, u_weights, v_weights)
    return np.sqrt(2.0 * np.sum(difference * difference * widths))
