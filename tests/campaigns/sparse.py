"""Sparse derivatives of random programs beside dense ones: patterns, every format, plans, and inside of gradients.

A program is a composition of the functions in `tests/_sparse/functions.py`, or one of the campaigns of arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from _sparse.functions import FUNCTIONS, N
from campaigns import arrays, shapes

import hoad

TOLERANCE = 1e-9
SIZES = [1, 2, 3, 5, 8, 12, 17, 33]
# Entries of a dense Hessian whose gradient is taken.
MOST_NESTED = 400
# Numbers in x up to which derivatives of order 3 are compared.
MOST_OF_ORDER_3 = 12
# Values of functions that are computed in float32, and those that are not defined everywhere.
LEFT_OUT = ("float32", "masked")

# What moves numbers about, in ways that `shapes` does not have, or is left to lanes.
MOVES = [
    "{a}[::-1] * {k}",
    "{a}[..., ::-2] ** 2",
    "{a}[[0, 0, -1]] * {a}[[-1, 0, 0]]",
    "{a}[..., [[0, -1], [-1, 0]]]",
    "{a}[np.ix_([0, -1], [-1, 0, -1])]",
    "np.broadcast_to({a}, (2, *np.shape({a}))).reshape(-1) * {c}",
    "np.broadcast_to({a}, (3, *np.shape({a}))).T ** 2",
    "np.diagonal(np.broadcast_to({a}, (3, *np.shape({a}))), {k} - 2, 0, {i}) ** 2",
    "np.lib.stride_tricks.sliding_window_view({a}, 2, axis={i}) ** 2",
    "np.concatenate([np.ravel({a}) ** 2, np.ones(2), np.arange(2), np.ravel({b})[:1]])",
    "np.hstack([np.ravel({a})[0], np.ravel({b})])",
    "np.sum({a} ** 2, axis=())",
    "np.sum({a} * {b}, axis=({i}, {j}))",
    "np.cumsum({a} ** 2, axis={i})[..., ::-1] * 0.2",
    "np.cumprod({a}, axis={i})",
    "np.add.reduceat({a} ** 2, [0, 1, 0], axis={i})",
    "np.rot90({a}, {k}) ** 2",
    "np.diag(np.ravel({a})[:4]) @ np.ravel({b})[:4]",
    "np.kron(np.ravel({a})[:3], np.ravel({b})[:3])",
    "np.convolve(np.ravel({a})[:7], np.ravel({b})[:{k}])",
    "np.tanh({a} @ {b})",
    "np.tanh(np.ravel({a})[:{k}] @ {b})",
    "np.tanh({a} @ np.swapaxes({b}, -1, -2))",
    "np.tanh(np.tril(C2) @ {a})",
    "np.real({a} * np.exp(1j * {b}))",
    "np.abs(1.5 + {a} + 1j * {b})",
    "np.abs(np.fft.rfft({a}))",
    "{a} * np.floor(2 * {b}).astype(int)",
    "{a} * ({b} > {c}) * {b}",
    "{a} * np.sum({b} > 0)",
    "np.where({a} > {c}, np.sqrt(np.where({a} > {c}, {a} - {c}, 1.0)), 0.0)",
    "np.select([{a} > 0.5, {a} > {c}], [{a} ** 2, {b}], 0.5)",
    "np.interp({a}, [-1.0, 0.2, 1.0], [0.0, 2.0, 1.0]) * {b}",
    "np.median({a}, axis={i})",
    "added({a}, {b})",
    "put({a})",
    "masked({a}, {c})",
    "shifted({a})",
    "np.sin({a} + {b})",
    "{a} * {b}",
]
HELPERS = """
def added(u, v):
    y = np.zeros(5, like=u)
    np.add.at(y, [0, 0, 3, 4, 3], np.resize(np.ravel(u) ** 2, 5))
    y[[1, 1, 2]] = np.resize(np.ravel(v), 3)
    return y

def put(u):
    y = 1.0 * np.atleast_1d(u)
    np.put(y, [0, -1, 0], np.resize(np.ravel(u) ** 2, 3))
    return y

def masked(u, c):
    y = 2.0 * u
    y[u > c] = u[u > c] ** 3
    np.putmask(y, u < -c, u ** 2)
    return y

def shifted(u):
    y = 1.0 * np.atleast_1d(u)
    y[..., 1:] = y[..., :-1] * u[..., 1:]
    y[...] += y[::-1]
    return y
"""

Function = Callable[[Any], Any]


def composition(rng: np.random.Generator) -> tuple[Function, str]:
    """Steps of N numbers each, that of a table in what two of the last steps gave; the items of the last ones."""
    names = [name for name in FUNCTIONS if name not in LEFT_OUT]
    steps = []
    for _ in range(rng.integers(1, 4)):
        i, j = rng.integers(1, 4, 2)
        steps.append((str(rng.choice(names)), int(i), int(j), str(rng.choice(["+", "*", "where"]))))

    def f(x: Any) -> Any:
        made = [x]
        for name, i, j, how in steps:
            one, other = made[-min(i, len(made))], made[-min(j, len(made))]
            y = np.ravel(FUNCTIONS[name](one))
            made.append(combined(how, np.sin(y[np.arange(N) % len(y)]), other))
        return np.concatenate(made[-2:])

    return f, f"composition {steps}"


def combined(how: str, one: Any, other: Any) -> Any:
    if how == "where":
        return np.where(one > 0.3, one, other**2)
    return one + other if how == "+" else one * other


def program_of(module: Any, rng: np.random.Generator) -> tuple[Function, np.ndarray, str]:
    """A program of another campaign, of which the arrays are returned that are summed up there."""
    names: dict[str, Any] = {"np": np, "hoad": hoad}
    if module is arrays:
        n = int(rng.choice(SIZES))
        x = rng.uniform(-1.2, 1.2, n)
        text = arrays.source(rng)
        names |= {"n": n, "W": rng.uniform(-1, 1, n), "M": rng.uniform(-1, 1, (7, 7))}
        names |= {"I": rng.integers(0, n, n), "J": rng.permutation(n)}
    else:
        shape = tuple(int(rng.choice(shapes.LENGTHS[:7])) for _ in range(rng.integers(0, 4)))
        x = np.asarray(rng.uniform(-1.2, 1.2, shape), order="CF"[rng.integers(2)])
        names |= {"C": rng.uniform(-1, 1, shape), "D": rng.uniform(-1, 1, (3, 1)), "C2": rng.uniform(-1, 1, (3, 3))}
        lines = MOVES if rng.random() < 0.5 else shapes.LINES
        exec(HELPERS, names)
        with np.errstate(all="ignore"):
            text = HELPERS + shapes.HELPERS + shapes.source(rng, x, names, lines)
    body, _, sums = text.rpartition("return ")
    arrays_of = sums.replace("np.sum(", "np.ravel(").replace(") + np.ravel(", "), np.ravel(")
    text = f"{body}return np.concatenate([{arrays_of}])"
    exec(text, names)
    return names["f"], x, f"x = {x!r}\n{text}"


def differs(what: str, found: Any, wanted: Any) -> str | None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return f"{what} has shape {found.shape}, not {wanted.shape}"
    error = np.abs(found - wanted)
    if np.all((error <= TOLERANCE * (1 + np.max(np.abs(wanted), initial=0.0))) | (found == wanted)):
        return None
    k = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    return f"{what} has {found[k]!r} at {k}, not {wanted[k]!r}"


def first_wrong(f: Function, x: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> str | None:
    dense = dense_jacobian(f, x)
    weights = rng.uniform(-1, 1, len(dense))
    scalar = lambda x: np.sum(weights * f(x))  # noqa: E731
    bends = np.reshape(hoad.hessian(scalar)(x), (x.size, x.size))
    wrong = of_matrix("Jacobian", hoad.sparse_jacobian, hoad.jacobian_pattern, f, x, dense)
    wrong = wrong or of_matrix("Hessian", hoad.sparse_hessian, hoad.hessian_pattern, scalar, x, bends)
    wrong = wrong or triangles(scalar, x, bends)
    try:
        other_jacobian, other_bends = dense_jacobian(f, other), np.reshape(hoad.hessian(scalar)(other), bends.shape)
    except (ValueError, IndexError):
        other = x
    else:
        if other_jacobian.shape == dense.shape:
            wrong = wrong or refilled("Jacobian", hoad.sparse_jacobian, f, x, other, other_jacobian)
            wrong = wrong or refilled("Hessian", hoad.sparse_hessian, scalar, x, other, other_bends)
    return wrong or nested(f, scalar, x) or thirds(scalar, x, rng.uniform(-1, 1, x.shape))


def dense_jacobian(f: Function, x: np.ndarray) -> Any:
    return np.reshape(hoad.jacobian(f)(x), (np.size(f(x)), x.size))


def of_matrix(what: str, driver: Any, pattern: Any, f: Function, x: np.ndarray, dense: Any) -> str | None:
    wrong = None
    for form in ("csr", "csc", "coo"):
        wrong = wrong or differs(f"{what} as {form}", driver(f, format=form)(x).toarray(), dense)
    found = driver(f, format="triplets")(x)
    full = np.zeros(found.shape)
    full[found.rows, found.columns] = found.values
    wrong = wrong or differs(f"{what} as triplets", full, dense)
    whole, local = (pattern(f, scope=scope)(x).toarray() for scope in ("global", "local"))
    if np.any((dense != 0) & ~local):
        return f"{what}: the local pattern lacks {np.argwhere((dense != 0) & ~local)[:3].tolist()}"
    if np.any(local & ~whole):
        return f"{what}: the pattern lacks {np.argwhere(local & ~whole)[:3].tolist()} of the local one"
    return wrong


def triangles(f: Function, x: np.ndarray, dense: Any) -> str | None:
    lower = hoad.sparse_hessian(f, triangle="lower")(x).toarray()
    upper = hoad.sparse_hessian(f, triangle="upper")(x).toarray()
    both = hoad.sparse_hessian(f)(x).toarray()
    if not np.array_equal(both, both.T, equal_nan=True):
        return "the Hessian is not symmetric"
    return differs("the lower triangle", lower, np.tril(dense)) or differs("the upper one", upper, lower.T)


def refilled(what: str, driver: Any, f: Function, x: np.ndarray, other: np.ndarray, dense: Any) -> str | None:
    plan = driver(f).plan(x)
    try:
        values = plan.values(other)
    except hoad.GuardError:
        return None
    full = np.zeros(plan.shape)
    full[plan.rows, plan.columns] = values
    wrong = differs(f"{what} by its plan", full, dense)
    wrong = wrong or differs(f"{what} by its plan into out", plan.values(other, out=np.empty(plan.nnz)), values)
    return wrong or differs(f"{what} jitted", hoad.jit(driver(f))(other).toarray(), dense)


def nested(f: Function, scalar: Function, x: np.ndarray) -> str | None:
    sparse = hoad.sparse_jacobian(f, format="triplets")
    found = hoad.grad(lambda x: np.sum(sparse(x).values ** 2))(x)
    wanted = hoad.grad(lambda x: np.sum(hoad.jacobian(f)(x) ** 2))(x)
    wrong = differs("the gradient of the sparse Jacobian", found, wanted)
    if x.size**2 > MOST_NESTED:
        return wrong
    bends = hoad.sparse_hessian(scalar, format="triplets")
    found = hoad.grad(lambda x: np.sum(bends(x).values ** 2))(x)
    wanted = hoad.grad(lambda x: np.sum(hoad.hessian(scalar)(x) ** 2))(x)
    return wrong or differs("the gradient of the sparse Hessian", found, wanted)


def thirds(scalar: Function, x: np.ndarray, v: np.ndarray) -> str | None:
    """Derivatives of order 3, and their products with a direction."""
    if not 0 < x.size <= MOST_OF_ORDER_3:
        return None
    dense = np.reshape(hoad.jacobian(hoad.hessian(scalar))(x), (x.size,) * 3)
    wrong = differs("the tensor of order 3", hoad.sparse_derivative_tensor(scalar, 3)(x).toarray(), dense)
    along = hoad.sparse_hessian_derivative(scalar)(x, v).toarray()
    return wrong or differs("the derivative of the Hessian", along, dense @ np.ravel(v))


def trial(rng: np.random.Generator) -> str | None:
    kind = rng.integers(4)
    if kind == 0:
        f, text = composition(rng)
        x = rng.normal(size=N)
    else:
        f, x, text = program_of((arrays, shapes, shapes)[kind - 1], rng)
    wrong = first_wrong(f, x, rng.uniform(-1.2, 1.2, x.shape), rng)
    return wrong and f"{text}\n{wrong}"


__all__ = ["trial"]
