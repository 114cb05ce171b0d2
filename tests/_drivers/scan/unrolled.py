"""Loops of hoad, and the Python loops that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def unrolled(f: Callable[[Any, Any], Any], init: Any, xs: Any, reverse: bool = False) -> Any:
    """`hoad.scan` as a Python loop, for a carry and rows that are arrays or floats."""
    n = len(xs)
    rows: list[Any] = [None] * n
    carry = init
    for t in range(n - 1, -1, -1) if reverse else range(n):
        carry, rows[t] = f(carry, xs[t])
    return carry, np.stack(rows)


def vector_body(matrix: Any, drive: Any) -> Callable[[Any, Any], Any]:
    """A body with a vector for a carry, which uses traced values around it."""

    def body(carry: Any, x: Any) -> Any:
        new = np.tanh(matrix @ carry + drive * x) + 0.1 * carry * x
        return new, np.sum(carry * new) * x[0]

    return body


def vector_loss(loop: Callable[..., Any], rows: Any, reverse: bool) -> Callable[[Any], Any]:
    """A function of 16 numbers: matrix, what drives the loop, the carry it begins with, a factor of the rows."""

    def loss(v: Any) -> Any:
        body = vector_body(v[:9].reshape(3, 3), v[9:12])
        carry, ys = loop(body, v[12:15], rows * v[15], reverse=reverse)
        return np.sum(carry**2) + np.sum(np.sin(ys))

    return loss


def nested(loop: Callable[..., Any]) -> Callable[[Any], Any]:
    """A loop in a loop, whose body uses what is carried around it."""

    def f(a: Any) -> Any:
        def outer(c: Any, x: Any) -> Any:
            def inner(z: Any, k: Any) -> Any:
                return z * np.cos(a * x) + c * k, z

            z, zs = loop(inner, x, np.arange(3.0))
            return c + np.sin(z) * 0.1, np.sum(zs)

        c, ys = loop(outer, a, np.linspace(0.1, 1.0, 6))
        return c + np.sum(ys**2)

    return f
