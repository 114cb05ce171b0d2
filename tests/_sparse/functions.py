"""Functions of twelve variables, of every family of operations, whose Jacobians and Hessians are sparse or dense."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import hoad
import hoad.scipy.sparse

N = 12
_rng = np.random.default_rng(7)
DENSE = _rng.normal(size=(N, N))
SPARSE = scipy.sparse.random_array((N, N), density=0.2, rng=_rng, format="csr")
EDGES = _rng.integers(0, N, (20, 2))
POINTS = [_rng.normal(size=N) for _ in range(2)]


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def by_numbers(x: Any) -> Any:
    total = 0.0
    for a, b in itertools.pairwise(x):
        total = total + 100 * (b - a**2) ** 2 + (1 - a) ** 2
    return total


def minimal_surface(x: Any) -> Any:
    u = np.pad(x.reshape(3, 4), 1)
    return np.sum(np.sqrt(1 + (u[1:, :-1] - u[:-1, :-1]) ** 2 + (u[:-1, 1:] - u[:-1, :-1]) ** 2))


def bratu(x: Any) -> Any:
    u = np.pad(x.reshape(3, 4), 1)
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] + np.exp(x.reshape(3, 4))


@hoad.adopt
def scattered(x: Any) -> Any:
    forces = np.zeros(N)
    np.add.at(forces, EDGES[:, 0], x[EDGES[:, 1]] ** 2)
    return forces


def assigned(x: Any) -> Any:
    y = x * 1.0
    y[2:5] = x[2:5] ** 2
    y[5] = x[6] * x[7]
    return y


# Arrays of operations that move numbers, scale them and add them up, whose entries are computed by blocks.
IN_BLOCKS: dict[str, Callable[[Any], Any]] = {
    "rosenbrock": rosenbrock,
    "minimal surface": minimal_surface,
    "bratu": bratu,
    "bratu twice": lambda x: bratu(np.tanh(bratu(x).ravel())),
    "separable": lambda x: np.sum(np.sin(x) * np.exp(-(x**2))),
    "linear": lambda x: np.sum(3 * x),
    "constant": lambda x: np.sign(x[:3]),
    "arrow": lambda x: x[0] * np.sum(x[1:] ** 2),
    "rolled": lambda x: np.sum(np.roll(x, 1) * x**2 * np.roll(x, -1)),
    "where": lambda x: np.where(x > 0, x**2 * np.roll(x, 2), np.sin(x)),
    "maximum": lambda x: np.maximum(x, np.roll(x, 1) ** 2) * x,
    "clip": lambda x: np.clip(x, -0.5, 0.5) ** 2 * np.roll(x, 1),
    "absolute": lambda x: np.abs(x) ** 3,
    "sparse matrix": lambda x: SPARSE @ np.sin(SPARSE @ x),
    "sparse matrix of columns": lambda x: SPARSE[:, :4] @ np.sin(x.reshape(4, 3)),
    "dense matrix": lambda x: np.tanh(DENSE @ x),
    "zeros of a matrix": lambda x: np.sin(np.tril(DENSE)[:4] @ x),
    "matrix from the right": lambda x: np.sin(x.reshape(3, 4) @ DENSE[:4, :5]),
    "matrices": lambda x: x.reshape(3, 4) @ x.reshape(4, 3),
    "stacks of matrices": lambda x: x.reshape(2, 2, 3) @ x[:6].reshape(3, 2),
    "vector from the left": lambda x: x[:3] @ x.reshape(3, 4),
    "inner product": lambda x: np.dot(x[:6], x[6:] ** 2) * x[0],
    "einsum": lambda x: np.einsum("ij,jk->ik", DENSE[:3, :4], x.reshape(4, 3)) ** 2,
    "running sum": lambda x: np.cumsum(x) ** 3,
    "running sums of columns": lambda x: np.cumsum(x.reshape(3, 4) ** 2, axis=0),
    "running product": np.cumprod,
    "product": np.prod,
    "norm": lambda x: np.sqrt(np.sum(x**2)),
    "logsumexp": lambda x: np.log(np.sum(np.exp(x))),
    "sums of columns": lambda x: np.sum(x.reshape(3, 4) ** 2, axis=0) ** 2,
    "less the mean": lambda x: (x.reshape(3, 4) - np.mean(x.reshape(3, 4), axis=1, keepdims=True)) ** 2,
    "gathered": lambda x: np.exp(x[EDGES[:, 0]] - x[EDGES[:, 1]]) * x[EDGES[:, 0]],
    "scattered": scattered,
    "scattered twice": lambda x: scattered(scattered(x)),
    "masked": lambda x: x[x > 0] ** 3,
    "differences": lambda x: np.diff(x, 2) ** 4,
    "joined": lambda x: np.concatenate([x[:3] ** 2, x[5:] * x[4:-1]]),
    "stacked": lambda x: np.stack([x[1:] * x[:-1], x[1:] ** 2], axis=1),
    "outer": lambda x: np.outer(x[:3], x[3:6]) ** 2,
    "transposed": lambda x: (x.reshape(3, 4).T * np.arange(12.0).reshape(4, 3)) ** 2,
    "backwards": lambda x: x[::-1] * x[::2][::-1].repeat(2),
    "broadcast": lambda x: x[:3, None] * x[None, 8:] ** 2 + x[0],
    "diagonal of broadcast": lambda x: np.diagonal(np.broadcast_to(x.reshape(3, 4), (4, 3, 4)), -1, 0, 2) ** 2,
    "repeated": lambda x: np.repeat(x[:4], 3) * np.tile(x[4:8], 3),
    "interpolated": lambda x: np.interp(x, np.linspace(-3, 3, 7), np.arange(7.0) ** 2) * x,
    "convolved": lambda x: np.convolve(x, [1.0, 2.0, 1.0]) ** 2,
    "trapezoid": lambda x: np.trapezoid(x**2),
    "assigned": assigned,
    "taken": lambda x: np.take(x, [3, 1, 1]) ** 2 * x[0],
    "one item": lambda x: x[3] ** 2 * x[4],
    "times a truth value": lambda x: (x[:3] ** 2) * ((x[3] > -9) * x[4]) + (x[5] > -9) * x[6:9] ** 2,
    "jitted": lambda x: hoad.jit(lambda y: y**3 * np.roll(y, 1))(x),
    "by numbers": by_numbers,
}

# What is swept in directions.
IN_LANES: dict[str, Callable[[Any], Any]] = {
    "sorted": lambda x: np.sort(x) ** 2,
    "largest": lambda x: x[np.argmax(x)] ** 2 * x,
    "solution": lambda x: np.linalg.solve(x[:9].reshape(3, 3) + 3 * np.eye(3), x[9:]),
    "spectrum": lambda x: np.abs(np.fft.fft(x)) ** 2,
    "float32": lambda x: x.astype(np.float32) ** 2 * np.roll(x, 1),
    "scanned": lambda x: hoad.scan(lambda c, u: (c * np.sin(u), c * u), 1.0, x)[1],
    "mapped": lambda x: hoad.vmap(lambda u: u[0] * u[1] ** 2)(x.reshape(6, 2)),
    "long, by numbers": lambda x: sum(by_numbers(x * (1 + 0.1 * k)) for k in range(8)),
}

FUNCTIONS = IN_BLOCKS | IN_LANES


def scalar(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A number of what f gives, in which every entry counts apart."""

    def weighted(x: Any) -> Any:
        y = f(x)
        return np.sum(y * np.linspace(1, 2, np.size(y)).reshape(np.shape(y)))

    return weighted
