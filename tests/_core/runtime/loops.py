"""Random programs that are wide enough for the engine's ways of running: rows of numbers, chains, serial code.

A program is built from small integers, and computes with whatever it is given. Results stay near 1, so that errors of
rounding do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

Step = tuple[int, int, int]
steps = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=7)

OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y * 0.5,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (1.5 + y * y),
    lambda x, y: np.sin(x) * y,
    lambda x, y: np.tanh(x + y),
    lambda x, y: -x,
    lambda x, y: np.exp(-x * x),
    lambda x, y: np.maximum(x, y),
    lambda x, y: x**2 - 0.25,
]
OFFSETS = (0, 1, -1, 2, 0, -2, 3, 0)


def turn(program: list[Step], known: list[Any]) -> Any:
    """One turn of a loop: the operations on what is known, one after the other."""
    for k, a, b in program:
        known = [*known, OPERATIONS[k](known[-1 - a % len(known)], known[-1 - b % len(known)])]
    return known[-1]


def windowed(program: list[Step], x: Any) -> Any:
    """A loop over the numbers of x, each turn reading some near its own: turns do not wait for each other."""
    n = len(x)
    total = 0.0
    for i in range(n):
        near = [x[min(max(i + OFFSETS[b], 0), n - 1)] for _, _, b in program]
        total = total + turn(program, [*near, x[i]]) * (0.5 + i % 3)
    return total / n


def recurrent(program: list[Step], x: Any) -> Any:
    """A loop whose turns wait for each other."""
    state, other = x[0], x[1 % len(x)]
    for i in range(len(x)):
        state, other = np.sin(turn(program, [x[i], other, state])), 0.5 * (state + other)
    return state * other


def scattered(program: list[Step], x: Any) -> Any:
    """Operations on numbers from anywhere: nothing follows anything in memory."""
    random = np.random.default_rng(len(program))
    known = [x[i] for i in range(len(x))]
    for k in random.integers(0, len(program), 4 * len(x)):
        i, j = random.integers(0, len(known), 2)
        known.append(np.tanh(OPERATIONS[program[k][0]](known[i], known[j])))
    return sum(known[-len(x) :], 0.0) / len(x)


VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x[1:],
    lambda x: x[:-1],
    lambda x: x[::-1],
    lambda x: x[::2],
    lambda x: x[2:-1],
    lambda x: np.reshape(x[: len(x) // 2 * 2], (2, -1)),
    lambda x: np.reshape(x[: len(x) // 3 * 3], (-1, 3)).T,
]


def cut(x: Any, y: Any) -> tuple[Any, Any]:
    """Both at one shape: a matrix meets a row of its own width, rows are cut to one length, numbers meet anything."""
    if np.ndim(x) > np.ndim(y):
        y, x = cut(y, x)
        return x, y
    if np.ndim(x) == 0:
        return x, y
    if np.ndim(x) < np.ndim(y):
        return (np.sum(x) / len(x), y) if len(x) < np.shape(y)[1] else (x[: np.shape(y)[1]], y)
    if np.ndim(x) == 1:
        n = min(len(x), len(y))
        return x[:n], y[:n]
    rows, columns = (min(p, q) for p, q in zip(np.shape(x), np.shape(y), strict=True))
    return x[:rows, :columns], y[:rows, :columns]


def arrays(program: list[Step], x: Any) -> Any:
    """Operations on arrays and on views of them, with broadcasting and a sum at the end."""
    known = [x]
    for k, a, b in program:
        left = known[-1 - a % len(known)]
        right = known[-1 - b % len(known)]
        left = VIEWS[a](left) if np.ndim(left) == 1 and len(left) > 6 else left
        known.append(OPERATIONS[k](*cut(left, right)))
    return sum((np.sum(y * y) / np.size(y) for y in known[1:]), 0.0)


def mixed(program: list[Step], x: Any) -> Any:
    """Arrays, then a loop over their numbers, then arrays again."""
    y = np.cos(x) * x
    parts = [turn(program, [y[i], x[i], y[(i + 1) % len(x)]]) for i in range(len(x))]
    z = np.array(parts) * 0.5 + y
    return np.sum(z[1:] * z[:-1]) / len(x) + parts[0] * z[-1]


SHAPES = {f.__name__: f for f in (windowed, recurrent, scattered, arrays, mixed)}
