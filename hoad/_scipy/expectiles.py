"""Expectiles of samples: `scipy.stats.expectile`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.stats

from hoad._core.trace.traced import is_traced, plain_value
from hoad._numpy.products import inexact
from hoad._numpy.registry import decided
from hoad._scipy.registry import implements, plain_result, refused

KEPT = {"keepdims": True} if "keepdims" in inspect.signature(scipy.stats.expectile).parameters else {}  # from 1.18 on


@implements(scipy.stats.expectile)
def expectile(a: Any, alpha: Any = 0.5, *, weights: Any = None, **options: Any) -> Any:
    """The expectile: a mean, in which values above it have the weight alpha, and others 1 - alpha.

    Notes
    -----
    Cost: SciPy's search, once, and two sums. Which values are above it is guarded, so that others are recorded again.

    References
    ----------
    Newey and Powell (1987), "Asymmetric least squares estimation and testing".

    Examples
    --------
    >>> from hoad.scipy import stats
    >>> hoad.grad(lambda a: stats.expectile(a, 0.75))(np.array([0.0, 1.0, 2.0]))
    array([0.2, 0.2, 0.6])
    """
    if options.get("nan_policy") == "omit":
        raise refused("expectile", 'with nan_policy="omit"', "Leave out what is nan.", "scipy.stats")
    a = inexact(a)
    plain = plain_value(a) if is_traced(a) else a
    found = plain_result(scipy.stats.expectile, (plain, alpha), {"weights": weights, **options, **KEPT})
    # Without one, SciPy takes the first axis, and its signature says None.
    axis = options.get("axis", tuple(np.flatnonzero(np.equal(np.shape(found), 1))) if KEPT else None)
    shares = np.where(plain <= found, 1.0 - alpha, alpha)
    if weights is not None:
        shares = shares * inexact(weights)
    mean = np.sum(shares * a, axis, keepdims=True) / np.sum(shares + 0.0 * plain, axis, keepdims=True)
    decided(mean < a)
    return mean if options.get("keepdims") else np.squeeze(mean, axis)
