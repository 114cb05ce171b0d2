"""The modes of hoad: ways to one and the same derivative of a scalar function along directions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._drivers.gradient import grad
from hoad._drivers.laplacian import directional_derivative
from hoad._drivers.products import jvp
from hoad._drivers.taylor import taylor
from hoad._drivers.tensors import derivative_tensor
from hoad.errors import DomainError

HIGHEST = 20  # order that is compared at all
NESTED = 10  # order of sweeps, one of which at most is reverse: their tapes grow like n³
REVERSED = 6  # order of reverse sweeps alone, whose tapes double with each

Function = Callable[..., Any]
Direction = tuple[Any, ...]  # for every argument an array of its shape


# ---- sweeps ---------------------------------------------------------------------------------------------------------


def forward(phi: Function, direction: Direction) -> Function:
    """The derivative along a direction, by a forward sweep."""
    return lambda *xs: jvp(phi, xs, direction)[1]


def reverse(phi: Function, direction: Direction) -> Function:
    """The derivative along a direction, by a reverse sweep."""

    def contracted(*xs: Any) -> Any:
        gradients = grad(phi, argnums=tuple(range(len(xs))))(*xs)
        return sum(np.sum(g * v) for g, v in zip(gradients, direction, strict=True))

    return contracted


def swept(phi: Function, word: str, directions: Sequence[Direction]) -> Function:
    """The derivative along directions, a letter a sweep, f forward and r reverse, the innermost first."""
    for letter, direction in zip(word, directions, strict=True):
        phi = forward(phi, direction) if letter == "f" else reverse(phi, direction)
    return phi


# ---- series ---------------------------------------------------------------------------------------------------------


def _by_series(phi: Function, directions: Sequence[Direction]) -> Function:
    """By one Taylor series where all directions are the same, by a family of them where not."""
    distinct, places = _distinct(directions)
    if len(distinct) > 1:
        units = np.eye(len(distinct))[places]
        return lambda *xs: directional_derivative(_plane(phi, xs, distinct), *units)(np.zeros(len(distinct)))
    order = len(directions)

    def along(*xs: Any) -> Any:
        try:
            return taylor(lambda t: _plane(phi, xs, distinct)([t]), 0.0, order).derivatives()[order]
        except DomainError as error:  # the user knows x, and no t
            raise DomainError(str(error).replace("of f at x = 0.0", "of f(x + t v) at t = 0", 1)) from None

    return along


def _by_tensor(phi: Function, directions: Sequence[Direction]) -> Function:
    """An entry of the tensor of all derivatives of this order within the plane of the directions."""
    distinct, places = _distinct(directions)
    order, entry = len(directions), tuple(places)
    return lambda *xs: derivative_tensor(_plane(phi, xs, distinct), order)(np.zeros(len(distinct)))[entry]


def _distinct(directions: Sequence[Direction]) -> tuple[list[Direction], list[int]]:
    """The directions, each once, and where each stands among them."""
    distinct = list({id(v): v for v in directions}.values())
    return distinct, [next(k for k, w in enumerate(distinct) if w is v) for v in directions]


def _plane(phi: Function, xs: Sequence[Any], distinct: Sequence[Direction]) -> Function:
    """s -> φ(x + Σ sⱼ vⱼ)."""

    def moved(k: int, x: Any, s: Any) -> Any:
        for j, direction in enumerate(distinct):
            x = x + s[j] * direction[k]
        return x

    return lambda s: phi(*(moved(k, x, s) for k, x in enumerate(xs)))


# ---- the table ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mode:
    """A way to derivatives of a scalar function."""

    name: str  # in a report
    of: Callable[[Function, Sequence[Direction]], Function]  # the derivative along as many directions as its order
    least: int  # the order from which on it is another than those before it
    most: int  # the order up to which it can be paid for
    # Of an order: of how many numbers of both signs a derivative along several directions is a sum, which amplifies
    # rounding.
    terms: Callable[[int], int] = lambda order: 1


MODES = (
    Mode("forward", lambda phi, vs: swept(phi, "f" * len(vs), vs), 0, NESTED),
    Mode("reverse", lambda phi, vs: swept(phi, "r" * len(vs), vs), 1, REVERSED),
    Mode("forward over reverse", lambda phi, vs: swept(phi, "r" + "f" * (len(vs) - 1), vs), 2, NESTED),
    Mode("reverse over forward", lambda phi, vs: swept(phi, "f" * (len(vs) - 1) + "r", vs), 2, NESTED),
    Mode("series", _by_series, 0, HIGHEST),
    Mode("tensor", _by_tensor, 1, HIGHEST, lambda order: math.comb(2 * order - 3, order - 2) if order > 1 else 1),
)
