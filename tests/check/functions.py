"""Functions with derivatives known in closed form, and the ways in which a hand that writes them slips."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import hoad

Function = Callable[..., Any]

A = np.arange(12.0).reshape(4, 3) / 7


def smooth(x: Any) -> Any:
    return x[0] ** 2 * x[1] + np.sin(x[2])


def smooth_gradient(x: Any) -> Any:
    return np.array([2 * x[0] * x[1], x[0] ** 2, np.cos(x[2])])


def smooth_hessian(x: Any) -> Any:
    return np.array([[2 * x[1], 2 * x[0], 0.0], [2 * x[0], 0.0, 0.0], [0.0, 0.0, -np.sin(x[2])]])


POINT = np.array([1.0, 3.0, 0.5])


def untraceable(f: Function) -> Function:
    """f as hoad cannot see into it."""
    return lambda *args: float(f(*(np.asarray(x, np.float64) for x in args)))


def spoiled(g: Function, index: Any, factor: float) -> Function:
    """g with one entry multiplied."""

    def wrong(*args: Any) -> Any:
        value = np.array(g(*args), np.float64)
        value[index] *= factor
        return value

    return wrong


def broadcast(b: Any) -> Any:
    """A function of b that is added to every row of a matrix."""
    return np.sum((A + b) ** 2)


def broadcast_gradient(b: Any) -> Any:
    return 2 * np.sum(A + b, axis=0)


def broadcast_gradient_unsummed(b: Any) -> Any:
    return 2 * (A + b)


def spoiled_at_order(f: Function, x: float, order: int, factor: float) -> Function:
    """f, with the derivative of this order at x multiplied: a term that has derivatives, but no value."""
    excess = (factor - 1) * hoad.derivative(f, order)(x) / math.factorial(order)

    @hoad.primitive
    def nothing(t: Any) -> Any:
        return 0.0 * t

    def rule(n: int) -> Any:
        if n > order:
            return lambda g, p, t: (0.0 * g,)
        scale = math.prod(range(order - n + 1, order + 1))
        return lambda g, p, t: (g * scale * excess * (t - x) ** (order - n),)

    hoad.defvjp(nothing, rule(1))
    return lambda t: f(t) + nothing(t)
