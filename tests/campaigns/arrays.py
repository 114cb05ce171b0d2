"""Random programs of arrays, of sizes around the widths of kernels: values beside NumPy, every mode beside every other.

A program is the text of a function of one array (and a matrix that it captures), so that what is found wrong can be run
as it stands. Its derivatives are compared with Richardson differences of plain NumPy along a random direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from campaigns.checks import first_wrong

import hoad

SIZES = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257, 1023, 1024, 1025, 2047, 2049]

# Expressions in arrays of one shape, {a} and {b}; {c}: a constant; {k}: a small whole number; n: the size. Bounded.
ELEMENTWISE = [
    "np.sin({a})",
    "np.cos({c} * {a} + {b})",
    "np.tanh({a} * {b})",
    "np.exp(-({a} ** 2))",
    "np.sqrt(1.0 + {a} ** 2)",
    "np.log1p({a} * {a})",
    "np.arctan2({a}, 2.0 + {b} ** 2)",
    "{a} / (1.0 + {b} ** 2)",
    "{a} ** 2 * {c} - {b}",
    "0.3 * {a} * {b}",
    "{c} - {a}",
    "np.where({a} > {c}, {a} * {c}, np.sin({b}))",
    "np.maximum({a}, {b}) * {c}",
    "np.abs({a} - {c})",
    "np.clip({a}, -0.8, {c} ** 2 + 0.5)",
    "(2.0 + np.sin({a})) ** np.tanh({b})",
    "{a} * W",
    "np.hypot({a}, 1.0 + W)",
    "np.logaddexp({a}, {b})",
    "np.expm1(np.tanh({a}))",
    "np.square({a}) * 0.3",
    "{a} * (W > 0)",
]
MIXING = [
    "{a}[::-1]",
    "np.roll({a}, {k})",
    "np.cumsum({a}) / n",
    "np.sort({a})",
    "np.flip({a}) * {b}",
    "np.concatenate([{a}[n // 2 :], {b}[: n // 2]])",
    "np.where(np.arange(n) % {k} == 0, {a}, {b})",
    "{a}[I]",
    "{a} * np.mean({b})",
    "{a} - np.max({b})",
    "{a} / np.linalg.norm(2.0 + {b})",
    "np.pad({a}[1:], (0, 1)) - {a}",
    "np.append(np.diff({a}), 0.5)",
    "{a} + np.sin({b}[0]) * {a}[-1]",
    "np.outer({a}[:3], {b}).sum(axis=0)",
    "(np.tanh({a}[:7]) @ M[: min(n, 7)]) [np.arange(n) % 7]",
    "np.linalg.solve(M + 9.0 * np.eye(7), {a}[np.arange(7) % n])[np.arange(n) % 7]",
    "np.convolve({a}, [0.5, {c}, -0.25])[:n]",
    "np.einsum('i,j->i', {a}, {b}) / n",
    "np.tensordot({a}, {b}, 1) / n * {a}",
    "np.broadcast_to({a}[:1] * {c}, n) + {b}",
    "np.reshape({a}, (1, n)).T[:, 0] * {c}",
    "written({a}, {b})",
    "looped({a}, {b})",
    "scanned({a}, {b})",
    "hoad.checkpoint(lambda u: np.sin(u) * {c})({a})",
    "hoad.vmap(lambda u: u * np.cos(u))({a})",
    "hoad.grad(lambda u: np.sum(np.sin(u) * {b}))({a})",
    "hoad.jvp(lambda u: np.tanh(u) * u, ({a},), ({b},))[1]",
    "hoad.jit(lambda u: np.sin(u) * W)({a})",
    "np.take({a}, J) * {b}",
    "np.prod(np.cos({a}[:4])) * {b}",
    "branched({a}, {b})",
]
HELPERS = """
def written(u, v):
    y = np.zeros(n, like=u)
    y[...] = u
    y[::2] *= 0.5
    y[: n // 2] += v[n // 2 : n // 2 + n // 2] * 0.25
    y.reshape(-1)[-1] = np.sin(u[0])
    return y

def looped(u, v):
    total = u[0]
    for i in range(min(n, 20)):
        total = np.sin(total + v[i]) * 0.5 + u[i]
    return u * total

def scanned(u, v):
    last, steps = hoad.scan(lambda c, row: (np.tanh(c + row[0]), c * row[1]), u[0], np.stack([u, v], axis=1))
    return steps + last

def branched(u, v):
    return np.sin(u) if np.sum(u) > u[0] * n else np.cos(v) * u
"""


def source(rng: np.random.Generator) -> str:
    """A function as text, mostly of elementwise operations."""
    rows, names = ["def f(x):"], ["x"]
    for k in range(int(rng.integers(1, 10))):
        table = MIXING if rng.random() < 0.35 else ELEMENTWISE
        a, b = rng.choice(names[-4:], 2)
        line = table[rng.integers(len(table))]
        constant = f"({rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 1.5):.3f})"
        rows.append(f"    v{k} = " + line.format(a=a, b=b, c=constant, k=rng.integers(1, 5)))
        names.append(f"v{k}")
    weights = rng.choice(["", " * np.cos(np.arange(n))", " * W"])
    return HELPERS + "\n".join([*rows, f"    return np.sum(({names[-1]} + 0.5 * {names[-2]}){weights})"])


def compiled(text: str, n: int, rng: np.random.Generator) -> Callable[..., Any]:
    names: dict[str, Any] = {"np": np, "n": n, "W": rng.uniform(-1, 1, n), "M": rng.uniform(-1, 1, (7, 7))}
    names |= {"I": rng.integers(0, n, n), "J": rng.permutation(n)}
    names["hoad"] = hoad
    exec(text, names)
    return names["f"]  # type: ignore[no-any-return]


def strided(x: np.ndarray, kind: int) -> np.ndarray:
    """The same numbers laid out in another way."""
    if kind == 0:
        return x
    wide = np.zeros((x.size, 3))
    wide[:, 1] = x
    return wide[:, 1] if kind == 1 else x[::-1].copy()[::-1]


def trial(rng: np.random.Generator) -> str | None:
    n = int(rng.choice(SIZES)) if rng.random() < 0.9 else int(rng.integers(1, 3000))
    text = source(rng)
    f = compiled(text, n, rng)
    x = strided(rng.uniform(-1.2, 1.2, n), int(rng.integers(3)))
    wrong = first_wrong(f, x, rng)
    return wrong and f"n = {n}\n{text}\n{wrong}"


__all__ = ["trial"]
