"""Random programs of array operations, for any argument that knows NumPy: floats, complex numbers, traced values.

A program is a list of steps of small integers; what does not fit the shapes at hand is left out, so every list is a
program. All operations are analytic where they are applied, which makes complex steps exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import hoad
from hoad._core.trace.traced import is_traced

Step = tuple[int, int, int, int]
MOST_ITEMS = 40

CONSTANTS = [
    np.array([0.5, -1.25, 0.75]),
    np.array([[0.25, 1.5], [-0.5, 0.125], [1.0, -0.75]]),
    np.array([[2.0], [-0.5]]),
    np.float64(1.5),
    2,
    -0.75,
    np.array([2, -1, 1]),
    np.asfortranarray(np.array([[0.5, -0.25, 1.0], [0.75, 1.25, -0.5]])),
    np.linspace(-1.0, 1.0, 8)[::-2],
]


def real(x: Any) -> Any:
    return x.real if isinstance(x, (np.ndarray, np.generic)) else x


def fits(*shapes: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


# ---- operations of one operand: (x, k) -> result or None ------------------------------------------------------------


def axis_of(x: Any, k: int) -> int | None:
    return None if np.ndim(x) == 0 else k % np.ndim(x)


def summed(x: Any, k: int) -> Any:
    axes: list[Any] = [None, *range(np.ndim(x)), -1 if np.ndim(x) else None, tuple(range(np.ndim(x)))[:2]]
    return np.sum(x, axis=axes[k % len(axes)], keepdims=k % 2 == 1) * 0.3


def averaged(x: Any, k: int) -> Any:
    return np.mean(x, axis=axis_of(x, k)) if np.size(x) else None


def multiplied(x: Any, k: int) -> Any:
    return np.prod(np.cos(x), axis=axis_of(x, k)) if np.ndim(x) else None


def transposed(x: Any, k: int) -> Any:
    n = np.ndim(x)
    return np.transpose(x, tuple(np.roll(np.arange(n), k).tolist())) if n > 1 else None


def reshaped(x: Any, k: int) -> Any:
    n = np.size(x)
    shapes = [(n,), (1, n), (n, 1), (2, n // 2), (n // 2, 2), (n // 3, 3), (1, n, 1)]
    shape = shapes[k % len(shapes)]
    return np.reshape(x, shape, order="CF"[k % 2]) if int(np.prod(shape)) == n else None


def sliced(x: Any, k: int) -> Any:
    if np.ndim(x) == 0:
        return x[None] if hasattr(x, "shape") else None
    cuts: list[Any] = [
        slice(None, None, -1),
        slice(1, None),
        slice(None, None, 2),
        (..., slice(None, None, -1)),
        (slice(None), None),
        (..., slice(0, 1)),
        slice(0, 0) if k % 5 == 0 else slice(-2, None),
    ]
    return x[cuts[k % len(cuts)]]


def item(x: Any, k: int) -> Any:
    return x[tuple(k % n for n in np.shape(x))] if np.ndim(x) and np.size(x) else None


def gathered(x: Any, k: int) -> Any:
    if np.ndim(x) == 0 or np.shape(x)[0] == 0:
        return None
    n = np.shape(x)[0]
    indices: list[Any] = [
        [0, 0, n - 1],
        np.array([k % n, -1]),
        np.arange(n) % 2 == 0,
        np.array([[0], [k % n]]),
        (np.array([0, k % n]), ...),
    ]
    return x[indices[k % len(indices)]]


def masked(x: Any, k: int) -> Any:
    return x[real(x) > 0.1 * (k % 3)] if np.ndim(x) else None


def widened(x: Any, k: int) -> Any:
    return np.expand_dims(x, axis=k % (np.ndim(x) + 1)) if np.ndim(x) < 4 else None


def narrowed(x: Any, k: int) -> Any:
    return np.squeeze(x)


def spread(x: Any, k: int) -> Any:
    return np.broadcast_to(x, (1 + k % 3, *np.shape(x)))


def looped(x: Any, k: int) -> Any:
    """A Python loop over items, as scalar code."""
    if np.ndim(x) == 0 or np.size(x) == 0:
        return None
    flat = np.ravel(x)
    total = flat[0] * 0.5
    for i in range(1, np.size(x)):
        total = np.sin(total * flat[i]) + flat[i - 1] * 0.25
    return total


def rowwise(x: Any, k: int) -> Any:
    return np.stack([np.tanh(row) * 0.5 for row in x], axis=k % 2) if np.ndim(x) == 2 and len(x) else None


def listed(x: Any, k: int) -> Any:
    """An object array of traced scalars, put beside an array again."""
    if np.ndim(x) != 1 or np.size(x) < 2:
        return None
    return np.concatenate([np.array([x[0] * x[1], x[k % np.size(x)]]) * 0.5, x])


def solved(x: Any, k: int) -> Any:
    if np.ndim(x) != 1 or not 0 < np.size(x) < 6:
        return None
    n = np.size(x)
    return np.linalg.solve(np.diag(np.full(n, 4.0)) + np.outer(np.sin(x), np.cos(x)) / n, x)


def inverted(x: Any, k: int) -> Any:
    if np.ndim(x) != 2 or np.shape(x)[0] != np.shape(x)[1] or np.size(x) == 0:
        return None
    return np.linalg.inv(np.sin(x) * 0.2 + 2 * np.eye(np.shape(x)[0]))


def determined(x: Any, k: int) -> Any:
    if np.ndim(x) != 2 or np.shape(x)[0] != np.shape(x)[1]:
        return None
    return np.linalg.det(np.sin(x) * 0.5 + np.eye(np.shape(x)[0]))


# Derivatives inside: of traced values by hoad, of plain ones by their formula.


def is_plain(x: Any) -> bool:
    return not is_traced(x) and isinstance(x, (np.ndarray, np.generic, float, complex))


def inner_gradient(x: Any, k: int) -> Any:
    if is_plain(x):
        return np.cos(x) * x * 0.5
    return hoad.grad(lambda y: np.sum(np.sin(y) * x) * 0.5)(x)


def inner_product(x: Any, k: int) -> Any:
    """∇² of Σ sin(y) y, times x, at y = x."""
    if is_plain(x):
        return (2 * np.cos(x) - x * np.sin(x)) * np.sin(x) * 0.25
    driver = (hoad.hvp, hoad.vhp)[k % 2]
    return driver(lambda y: np.sum(np.sin(y) * y))(x, np.sin(x)) * 0.25


def inner_tangent(x: Any, k: int) -> Any:
    if is_plain(x):
        return np.cos(x) * np.tanh(x) + np.sin(x)
    value, tangent = hoad.jvp(np.sin, (x,), (np.tanh(x),))
    return tangent + value


def inner_linear_map(x: Any, k: int) -> Any:
    """A pushforward or pullback of y sin(y) + x, used twice, the second time on what the first gave."""
    if is_plain(x):
        slope = (np.sin(x) + x * np.cos(x)) * 0.5
        return slope * slope * np.cos(x)
    f = lambda y: (y * np.sin(y) + x) * 0.5  # noqa: E731
    if k % 2:
        linear = hoad.linearize(f, x)[1]
    else:
        pullback = hoad.vjp(f, x)[1]
        linear = lambda u: pullback(u)[0]  # noqa: E731
    return linear(linear(np.cos(x)))


def inner_second(x: Any, k: int) -> Any:
    return -np.sin(x) * 0.5 if is_plain(x) else hoad.derivative(lambda y: np.sin(y) * 0.5, 2)(x)


def inner_jacobian(x: Any, k: int) -> Any:
    """The row sums of the Jacobian of y² Σy, of a vector or a number."""
    if np.ndim(x) > 1 or np.size(x) > 6:
        return None
    if is_plain(x):
        rows = 2 * x * np.sum(x) + np.size(x) * x * x
    else:
        jacobian = hoad.jacobian(lambda y: y * y * np.sum(y), mode=("forward", "reverse")[k % 2])(x)
        rows = np.sum(jacobian, axis=-1) if np.ndim(x) else jacobian
    return np.sin(rows * 0.25)


def inner_constant(x: Any, k: int) -> Any:
    """A derivative that owes nothing to x, which is forgotten as soon as it is taken."""
    slope = hoad.grad(lambda y: np.sum(y * np.arange(3.0)) ** 2)(np.ones(3))
    return x * slope[k % 3] * 0.1


POINT = np.array([0.5, -0.25, 1.0])
PUSHFORWARD = hoad.linearize(lambda y: np.sin(y) * np.sum(y), POINT)[1]
MATRIX = hoad.jacobian(lambda y: np.sin(y) * np.sum(y))(POINT)
PROGRAM = hoad.record(lambda y: np.sin(y) * np.sum(y), POINT)


def outer_linear_map(x: Any, k: int) -> Any:
    if np.shape(x) != (3,):
        return None
    return MATRIX @ x if is_plain(x) else PUSHFORWARD(x)


def called(x: Any, k: int) -> Any:
    if np.shape(x) != (3,):
        return None
    return np.sin(x) * np.sum(x) if is_plain(x) else PROGRAM(x)


UNARY: list[Callable[[Any, int], Any]] = [
    lambda x, k: np.sin(x),
    lambda x, k: np.cos(x) * 0.5,
    lambda x, k: np.tanh(x) if k % 2 else np.arctan(np.sin(x) * 0.5),
    lambda x, k: np.exp(np.sin(x)),
    lambda x, k: np.log(2.0 + np.sin(x)),
    lambda x, k: np.sqrt(1.5 + np.cos(x)),
    lambda x, k: -x,
    lambda x, k: np.sin(x) ** (2 + k % 3),
    lambda x, k: (2.0 + np.cos(x)) ** (0.5 * (k % 4) - 1.0),
    lambda x, k: 1.0 / (1.5 + np.sin(x)),
    lambda x, k: np.where(real(x) > 0.2, x * x, np.sin(x)),
    lambda x, k: x * (real(x) > 0.0),
    summed,
    averaged,
    multiplied,
    transposed,
    reshaped,
    sliced,
    item,
    gathered,
    masked,
    widened,
    narrowed,
    spread,
    looped,
    rowwise,
    listed,
    solved,
    inverted,
    determined,
    inner_gradient,
    inner_product,
    inner_tangent,
    inner_linear_map,
    inner_second,
    inner_jacobian,
    inner_constant,
    outer_linear_map,
    called,
]


# ---- operations of two operands -------------------------------------------------------------------------------------


def matrix_product(x: Any, y: Any, k: int) -> Any:
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return None
    inner = np.shape(y)[-2] if np.ndim(y) > 1 else np.shape(y)[0]
    if np.shape(x)[-1] != inner or not fits(np.shape(x)[:-2], np.shape(y)[:-2]):
        return None
    return (x @ y) * 0.5


def joined(x: Any, y: Any, k: int) -> Any:
    if np.ndim(x) == 0 or np.ndim(x) != np.ndim(y):
        return None
    axis = k % np.ndim(x)
    rest = [np.shape(v)[:axis] + np.shape(v)[axis + 1 :] for v in (x, y)]
    return np.concatenate([x, y], axis=axis - (np.ndim(x) if k % 2 else 0)) if rest[0] == rest[1] else None


def stacked(x: Any, y: Any, k: int) -> Any:
    return np.stack([x, y, x], axis=k % (np.ndim(x) + 1)) if np.shape(x) == np.shape(y) else None


def chosen(x: Any, y: Any, k: int) -> Any:
    return np.where(real(x) > real(y), np.sin(x), y) if fits(np.shape(x), np.shape(y)) else None


def broadcast(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any, int], Any]:
    return lambda x, y, k: op(x, y) if fits(np.shape(x), np.shape(y)) else None


BINARY: list[Callable[[Any, Any, int], Any]] = [
    broadcast(lambda x, y: x + y),
    broadcast(lambda x, y: x - y),
    broadcast(lambda x, y: np.sin(x) * y),
    broadcast(lambda x, y: x / (1.5 + np.cos(y))),
    broadcast(lambda x, y: np.multiply(x, y) * 0.25),
    broadcast(lambda x, y: (2.0 + np.sin(x)) ** np.cos(y)),
    lambda x, y, k: np.outer(x, y) * 0.5,
    matrix_product,
    matrix_product,
    joined,
    stacked,
    chosen,
]


def run(steps: list[Step], x: Any) -> Any:
    """The program at x: a number."""
    pool: list[Any] = [x]
    for op, a, b, k in steps:
        left = pool[a % len(pool)]
        if op < len(UNARY):
            made = UNARY[op](left, k)
        else:
            right = CONSTANTS[b % len(CONSTANTS)] if k % 3 == 0 else pool[b % len(pool)]
            if k % 6 == 3:
                left, right = right, left
            made = BINARY[(op - len(UNARY)) % len(BINARY)](left, right, k)
        if made is not None and np.size(made) <= MOST_ITEMS:
            pool.append(made)
    total = 0.0
    for n, y in enumerate(pool[-4:]):
        total = total + np.sum(np.sin(y + 0.3 * n)) * (1.0 + 0.5 * n)
    return total


def steps(most: int = 12) -> st.SearchStrategy[list[Step]]:
    small = st.integers(0, 15)
    step = st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), small, small, st.integers(0, 29))
    return st.lists(step, min_size=1, max_size=most)


ARGUMENTS: list[Any] = [
    0.7,
    np.array(0.7),
    np.array([0.5, -1.0, 1.5]),
    np.array([[0.5, -0.25, 1.0], [0.75, 1.25, -0.5]]),
    np.asfortranarray(np.array([[0.25, 1.5], [-0.5, 0.125]])),
    np.array([0.4, 0.1, -0.3, 0.9, 1.1, -0.6])[::-2],
    np.array([[[0.3], [-0.4]]]),
    np.zeros((0, 3)),
]
