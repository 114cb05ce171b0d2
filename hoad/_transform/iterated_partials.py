"""Mixed partial derivatives in one variable after another: series of which the coefficients are expanded again.

Along lines, a derivative of order k is a difference of numbers that are up to kᵏ/k! times larger. Nothing cancels
where the coefficients by one variable are expanded in the next, for more operations: each level multiplies them by
about k²/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._transform.directions import MultiIndex
from hoad._transform.expansion import Expansion
from hoad._transform.expansion_along_lines import Family

Function = Callable[[Any], Any]


def nested(f: Function, x: Any, indices: Sequence[MultiIndex]) -> list[Any]:
    """For each result of f the derivatives ∂ᵃf, along a first axis; by each variable all orders that are met."""
    variables = [j for j in range(len(indices[0])) if any(a[j] for a in indices)]
    variables.sort(key=lambda j: max(a[j] for a in indices))  # the last one costs least
    orders = {j: sorted({a[j] for a in indices}) for j in variables}
    *inner, last = variables
    for j in inner:
        f = _coefficients(f, j, orders[j])
    curve = _unit(x, last)[np.newaxis]
    found = Expansion(f, [x], [curve], max(orders[last])).coefficients()
    places = [tuple(orders[j].index(a[j]) for j in reversed(inner)) for a in indices]
    factors = [float(math.prod(map(math.factorial, a))) for a in indices]
    return [
        np.stack([factor * y[(a[last], *at)] for a, at, factor in zip(indices, places, factors, strict=True)])
        for y in found
    ]


def _coefficients(f: Function, j: int, orders: Sequence[int]) -> Function:
    """The coefficients of some orders by entry j, along a first axis of each result."""

    def of(x: Any) -> list[Any]:
        family = Family(f, [x])
        found = family.expanded([_unit(x, j)[..., np.newaxis]], max(orders))
        return [
            np.stack([np.reshape(series[k], shape) for k in orders])
            for series, shape in zip(found, family.shapes, strict=True)
        ]

    return of


def _unit(x: Any, j: int) -> Any:
    return np.reshape(np.arange(np.size(x)) == j, np.shape(x)).astype(float)
