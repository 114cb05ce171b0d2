"""What a problem is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]
Point = Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]


def uniform(low: float, high: float) -> Point:
    """One argument of n numbers between the two."""
    return lambda rng, n: (rng.uniform(low, high, n),)


@dataclass(frozen=True)
class Problem:
    """A derivative to be timed.

    Parameters
    ----------
    asked : str
        ``"value"``, ``"gradient"``, ``"hessian"``, ``"sparse hessian"``, that of a band of three: its entries row by
        row, ``"hvp"`` (the second argument is the direction), ``"laplacian"``, ``"tensor k"`` of order k from 3 to 6,
        ``"derivatives k"``, all of orders 0, ..., k of a function of one number, ``"entries"``: the upper triangle
        of the Hessian, row by row, at each of many points, or ``"gradients"`` there.
    function : callable
        ``function(n)`` makes f(m, x), with its data; n is what the table varies.
    point : callable
        ``point(rng, n)`` makes the arguments of one call.
    by_hand : callable, optional
        ``by_hand(n)`` makes the derivative written by hand in NumPy: what all sides are checked against, and a side
        itself. Without it the sides are checked against each other.
    forms : mapping of str to callable
        Other texts of the same function, by the name of the side that needs them; made as `function` is.
    native : str, optional
        The names in `problems/native`: ``NAME.c`` is the derivative by hand, ``NAME.hpp`` the function for ADOL-C.
    rtol : float
        How closely results agree, relative to the largest entry.
    order : int, optional
        k, where all derivatives are asked: they stand along axis 0, and each is compared relative to its own size.
    """

    asked: str
    function: Callable[[int], Function]
    point: Point
    by_hand: Callable[[int], Function] | None = None
    forms: Mapping[str, Callable[[int], Function]] = field(default_factory=dict)
    native: str | None = None
    rtol: float = 1e-9
    order: int | None = None

    def form(self, side: str, n: int) -> Function:
        """The function of x as that side wants it."""
        return self.forms.get(side, self.function)(n)


def for_any_size(f: Function) -> Callable[[int], Function]:
    """A function without data that depends on n."""
    return lambda n: f
