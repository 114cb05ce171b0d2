"""Oracles that share nothing with hoad: NumPy itself for values, complex steps and differences for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hoad

STEP = 1e-200


def same(found: Any, wanted: Any) -> bool:
    """Equal shape, dtype and values; nan equals nan, and the sign of a zero counts."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    floats = found.dtype.kind in "fc"
    return np.array_equal(found, wanted, equal_nan=floats) and (
        not floats or np.array_equal(np.signbit(found[found == 0].real), np.signbit(wanted[wanted == 0].real))
    )


def assert_same(found: Any, wanted: Any) -> None:
    assert same(found, wanted), f"{found!r} ({np.asarray(found).dtype}) is not {wanted!r} ({np.asarray(wanted).dtype})"


def units(x: Any) -> list[np.ndarray]:
    """The directions e_k, shaped like x."""
    x = np.asarray(x, dtype=float)
    return list(np.eye(x.size).reshape(x.size, *x.shape))


def by_complex_steps(f: Callable[[Any], Any], x: Any) -> np.ndarray:
    """The Jacobian of an analytic f, exact to rounding: Im f(x + ihe) / h."""
    columns = [np.imag(f(np.asarray(x, dtype=complex) + 1j * STEP * e)) / STEP for e in units(x)]
    return assembled(columns, f, x)


def by_differences(f: Callable[[Any], Any], x: Any, h: float = 1e-3) -> np.ndarray:
    """The Jacobian by central differences of order eight."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}

    def at(x: Any) -> np.ndarray:
        return np.asarray(f(x), dtype=float)

    x = np.asarray(x, dtype=float)
    columns = [sum(w * (at(x + k * h * e) - at(x - k * h * e)) for k, w in weights.items()) / h for e in units(x)]
    return assembled(columns, f, x)


def assembled(columns: list[Any], f: Callable[[Any], Any], x: Any) -> np.ndarray:
    shape = (*np.shape(f(x)), *np.shape(x))
    return np.stack(columns, axis=-1).reshape(shape) if columns else np.zeros(shape)


def assert_value(f: Callable[[Any], Any], x: Any, *, exact: bool = True) -> None:
    """f has the same value traced as plain: bit for bit, or to a few roundings."""
    plain = f(x)
    value, _ = hoad.jvp(f, (x,), (np.zeros_like(x),))
    if exact:
        assert_same(value, plain)
    else:
        assert np.shape(value) == np.shape(plain) and np.asarray(value).dtype == np.asarray(plain).dtype
        np.testing.assert_allclose(value, plain, rtol=1e-14, atol=1e-14)


def check(f: Callable[[Any], Any], x: Any, *, analytic: bool = True, exact: bool = True, rtol: float = 1e-11) -> None:
    """The value of f traced is that of f; its Jacobian, forward and reverse, is that of an oracle."""
    assert_value(f, x, exact=exact)
    forward = hoad.jacobian(f, mode="forward")(x)
    reverse = hoad.jacobian(f, mode="reverse")(x)
    wanted = by_complex_steps(f, x) if analytic else by_differences(f, x)
    assert np.shape(forward) == np.shape(reverse) == wanted.shape == (*np.shape(f(x)), *np.shape(x))
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(forward, wanted, rtol=0, atol=(rtol if analytic else 1e-8) * scale)
    np.testing.assert_allclose(reverse, forward, rtol=0, atol=1e-13 * scale)
