"""Checking operations on arrays: directional derivatives in every mode, Jacobians and Hessians, against mpmath."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from rules.cases import Structured
from rules.modes import along, words
from rules.oracle import as_floats, directional

import hoad


def examples(case: Structured) -> Iterator[tuple[np.ndarray, ...]]:
    """The operands of each example of a row."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    for example in case.examples:
        yield example(rng)


def check_values(case: Structured) -> None:
    for xs in examples(case):
        want = as_floats(directional(case.oracle, xs, []))
        recorded = hoad.jvp(case.f, xs, tuple(map(np.ones_like, xs)))[0]
        close(case, xs, case.f(*xs), want, "NumPy")
        close(case, xs, recorded, want, "a recording")


def check_contractions(case: Structured) -> None:
    """w·f differentiated along random directions, each different, up to the highest order."""
    for xs in examples(case):
        rng = np.random.default_rng(1)
        directions = [tuple(rng.uniform(-1.0, 1.0, x.shape) for x in xs) for _ in range(case.orders)]
        weights = rng.uniform(-1.0, 1.0, np.shape(case.f(*xs)))
        for order in range(1, case.orders + 1):
            exact = as_floats(directional(case.oracle, xs, directions[:order]))
            size = np.sum(abs(weights * exact)) + abs(exact).max(initial=0.0) + magnitude(case, xs)
            want = np.sum(weights * exact)
            for word in words(order):
                got = along(lambda *args, f=case.f, w=weights: np.sum(w * f(*args)), word, directions[:order])(*xs)
                assert np.ndim(got) == 0
                error = abs(got - want) / size
                assert error <= case.tolerance, (
                    f"order {order} of {case.name} at shapes {[x.shape for x in xs]} by {word}: {got!r} is off "
                    f"{want!r} by {error:.1e} of its size"
                )


def check_jacobians(case: Structured) -> None:
    """Every entry of the Jacobian, forward and reverse."""
    for xs in examples(case):
        for k, x in enumerate(xs):
            units = np.eye(x.size).reshape(x.size, *x.shape)
            still = [np.zeros_like(other) for other in xs]
            columns = [as_floats(directional(case.oracle, xs, [[*still[:k], e, *still[k + 1 :]]])) for e in units]
            want = np.moveaxis(np.reshape(columns, (*x.shape, *columns[0].shape)), range(x.ndim), range(-x.ndim, 0))
            for mode in ("forward", "reverse"):
                close(
                    case, xs, hoad.jacobian(case.f, argnums=k, mode=mode)(*xs), want, f"{mode} jacobian by operand {k}"
                )


def check_hessians(case: Structured) -> None:
    """Every entry of the Hessian of w·f with respect to the first operand."""
    for xs in examples(case):
        x, *rest = xs
        weights = np.random.default_rng(2).uniform(-1.0, 1.0, np.shape(case.f(*xs)))
        still = [np.zeros_like(other) for other in rest]
        units = [[e, *still] for e in np.eye(x.size).reshape(x.size, *x.shape)]
        entries = np.empty((x.size, x.size))
        for i, j in itertools.combinations_with_replacement(range(x.size), 2):
            entry = np.sum(weights * as_floats(directional(case.oracle, xs, [units[i], units[j]])))
            entries[i, j] = entries[j, i] = entry
        want = np.reshape(entries, (*x.shape, *x.shape))
        found = hoad.hessian(lambda *args, f=case.f, w=weights: np.sum(w * f(*args)))(*xs)
        close(case, xs, found, want, "hessian")


def magnitude(case: Structured, xs: tuple[np.ndarray, ...]) -> float:
    """The size of the function itself, which its derivatives are compared with where they vanish."""
    return float(abs(np.asarray(case.f(*xs))).max(initial=1e-3))


def close(case: Structured, xs: tuple[np.ndarray, ...], got: Any, want: np.ndarray, how: str) -> None:
    assert np.shape(got) == want.shape, f"{case.name} by {how}: shape {np.shape(got)}, not {want.shape}"
    error = abs(got - want).max(initial=0.0) / (abs(want).max(initial=0.0) + magnitude(case, xs))
    assert error <= case.tolerance, f"{case.name} by {how} is off by {error:.1e} of its size:\n{got}\nnot\n{want}"
