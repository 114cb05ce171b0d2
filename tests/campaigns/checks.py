"""Every mode of hoad beside every other, and beside plain NumPy, for a function of one array that gives a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hoad

LARGE = 300  # numbers from which second derivatives are taken along directions only
TOLERANCE = 1e-9


def first_wrong(f: Callable[..., Any], x: np.ndarray, rng: np.random.Generator) -> str | None:
    """What is wrong about the values of f and its derivatives of orders 1 to 3 at x, or None."""
    other = rng.uniform(-1.2, 1.2, x.shape)
    if not is_defined(f, other):
        other = x.copy()
    v = rng.uniform(-1, 1, x.shape) / np.sqrt(max(x.size, 1))
    for check in (values, firsts, seconds, lines):
        wrong = check(f, x, other, v)
        if wrong is not None:
            return f"{check.__name__}: {wrong}"
    return None


def is_defined(f: Callable[..., Any], x: np.ndarray) -> bool:
    """Whether f has a value at x: masks may leave another number of items there, or none."""
    try:
        f(x)
    except (ValueError, IndexError, ZeroDivisionError):
        return False
    return True


def differs(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two results are not the same to rounding, relative to the largest number in them."""
    size = 1 + np.max(np.abs(a), initial=0.0)
    return not np.max(np.abs(np.subtract(a, b)), initial=0.0) <= tolerance * size


def different(found: dict[str, Any], tolerance: float = TOLERANCE) -> str | None:
    (first, wanted), *others = found.items()
    for name, value in others:
        if np.shape(value) != np.shape(wanted) or differs(wanted, value, tolerance):
            k = np.argmax(np.abs(np.subtract(value, wanted))) if np.shape(value) == np.shape(wanted) else 0
            return f"{first} {np.ravel(wanted)[k]!r}, {name} {np.ravel(value)[k]!r} (item {k})"
    return None


def values(f: Callable[..., Any], x: np.ndarray, other: np.ndarray, v: np.ndarray) -> str | None:
    jitted = hoad.jit(f)
    jitted(other)
    found = {"plain": f(x), "jit": jitted(x), "jit again": jitted(x), "vmap": hoad.vmap(f)(np.stack([other, x]))[1]}
    return different(found, 1e-12)


def firsts(f: Callable[..., Any], x: np.ndarray, other: np.ndarray, v: np.ndarray) -> str | None:
    reverse = hoad.grad(f)(x)
    jitted = hoad.jit(hoad.grad(f))
    jitted(other)
    wrong = different({"grad": reverse, "jit": jitted(x), "vmap": hoad.vmap(hoad.grad(f))(np.stack([x, other]))[0]})
    try:
        slope, error = richardson(lambda t: f(x + t * v))
    except (ValueError, IndexError, ZeroDivisionError):  # f has no value there
        return wrong or different({"grad": np.sum(reverse * v), "jvp": hoad.jvp(f, (x,), (v,))[1]})
    found = {"grad": np.sum(reverse * v), "jvp": hoad.jvp(f, (x,), (v,))[1]}
    if error < 1e-7:
        found["differences"] = slope
    return wrong or different(found, max(TOLERANCE, 100 * error))


def seconds(f: Callable[..., Any], x: np.ndarray, other: np.ndarray, v: np.ndarray) -> str | None:
    product = hoad.hvp(f)(x, v)
    found = {"hvp": product, "vhp": hoad.vhp(f)(x, v)}
    found["reverse over reverse"] = hoad.grad(lambda y: np.sum(hoad.grad(f)(y) * v))(x)
    jitted = hoad.jit(hoad.hvp(f))
    jitted(other, v)
    found["jit"] = jitted(x, v)
    if x.size <= LARGE:
        found["hessian"] = np.tensordot(hoad.hessian(f)(x), v, v.ndim)
    return different(found)


def lines(f: Callable[..., Any], x: np.ndarray, other: np.ndarray, v: np.ndarray) -> str | None:
    """Derivatives along a line: by series, jitted and not, and by nested sweeps."""
    line = lambda t: f(x + t * v)  # noqa: E731
    series = hoad.derivatives(line, 3)(0.0)
    jitted = hoad.jit(hoad.derivatives(line, 3))
    jitted(0.25 if is_defined(f, x + 0.25 * v) else 0.0)
    nested = hoad.derivative(hoad.derivative(hoad.derivative(line)))(0.0)
    wrong = different({"derivatives": np.array(series), "jit": np.array(jitted(0.0))})
    first = {"derivatives": series[2], "hvp": np.sum(hoad.hvp(f)(x, v) * v)}
    return wrong or different(first) or different({"derivatives": series[3], "nested": nested})


def richardson(line: Callable[[float], Any]) -> tuple[float, float]:
    """The slope at 0 by extrapolated central differences, and how far the last three extrapolations are apart.

    Two can agree by chance where there are many small kinks, as sorting has.
    """
    rows: list[list[float]] = []
    for i in range(5):
        h = 0.02 / 2**i
        row = [(line(h) - line(-h)) / (2 * h)]
        for k, above in enumerate(rows[-1] if rows else []):
            row.append(row[k] + (row[k] - above) / (4 ** (k + 1) - 1))
        rows.append(row)
    found = [row[-1] for row in rows]
    size = 1 + abs(found[-1])
    return found[-1], float(max(abs(found[-1] - other) for other in (found[-2], found[-3], rows[-1][-2])) / size)


__all__ = ["first_wrong"]
