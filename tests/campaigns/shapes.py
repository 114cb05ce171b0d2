"""Random programs of arrays of several axes: broadcasting, reductions, transposes, views, products; every mode.

Lines are tried on plain arrays as a program is made, and left out where NumPy refuses them or the result is large, so
that any expression can stand in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from campaigns.checks import first_wrong

import hoad

LENGTHS = [1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17]
MOST_ITEMS = 2000

# {a}, {b}: arrays; {c}: a constant; {i}, {j}: axes; {k}: a small whole number. C, D: captured arrays.
LINES = [
    "np.sin({a} + {b})",
    "np.tanh({a} * {b})",
    "{a} / (1.0 + {b} ** 2)",
    "{c} * {a} - {b}",
    "np.where({a} > {b}, {a}, np.cos({b}))",
    "np.maximum({a}, {c} * {b})",
    "np.arctan2({a}, 2.0 + {b} ** 2)",
    "np.sum({a}, axis={i}) * 0.3",
    "np.sum({a}, axis=({i}, {j}), keepdims=True) * 0.2",
    "np.mean({a}, axis={i}, keepdims=True)",
    "np.max({a}, axis={i})",
    "np.prod(np.cos({a}), axis={i})",
    "np.var({a}, axis={i})",
    "np.cumsum({a}, axis={i}) * 0.2",
    "np.sort({a}, axis={i})",
    "np.diff({a}, axis={i})",
    "np.linalg.norm(1.5 + {a}, axis={i})",
    "{a}.T",
    "np.swapaxes({a}, {i}, {j})",
    "np.moveaxis({a}, {i}, {j})",
    "np.expand_dims({a}, {i})",
    "np.squeeze({a})",
    "np.reshape({a}, -1)",
    "np.reshape({a}, (2, -1), order='F')",
    "np.broadcast_to({a}, ({k}, *np.shape({a})))",
    "np.flip({a}, axis={i})",
    "np.roll({a}, {k}, axis={i})",
    "{a}[..., ::-1]",
    "{a}[::2]",
    "{a}[:, None]",
    "{a}[..., :{k}]",
    "{a}[{k} % len({a})]",
    "{a}[np.arange(2 * len({a})) % len({a})]",
    "{a}[..., [0, -1, 0]]",
    "{a}[{a} > {c}]",
    "np.take({a}, [0, -1], axis={i})",
    "np.stack([{a}, np.sin({a})], axis={i})",
    "np.concatenate([{a}, {b}], axis={i})",
    "np.tile({a}, {k})",
    "np.repeat({a}, {k}, axis={i})",
    "np.pad({a}, 1, mode='edge')",
    "np.tanh({a} @ {b})",
    "np.tanh({a} @ np.swapaxes({b}, -1, -2))",
    "np.tanh(np.einsum('...i,...i->...', {a}, {b}))",
    "np.tanh(np.einsum('ij,kj->ik', {a}, {b}))",
    "np.tanh(np.tensordot({a}, {b}, axes=([{i}], [{j}])))",
    "np.tanh(np.outer({a}, {b}[:3]))",
    "np.trace(np.sin({a}), axis1={i}, axis2={j})",
    "np.diagonal({a}, {k} - 2, {i}, {j})",
    "np.triu({a}, {k} - 2)",
    "np.linalg.inv(3.0 * np.eye({a}.shape[-1]) + np.sin({a}))",
    "np.linalg.det(np.eye({a}.shape[-1]) + 0.2 * np.sin({a}))",
    "{a} * C",
    "D - {a}",
    "np.tanh(C @ {a})",
    "filled({a}, {b})",
    "np.stack([np.sin(row) * row[..., :1] for row in {a}])",
    "hoad.vmap(lambda row: np.cumsum(np.sin(row), axis=-1) * 0.2)({a})",
    "hoad.checkpoint(lambda u: np.cos(u) * u)({a})",
    "hoad.grad(lambda u: np.sum(np.sin(u * {b})))({a})",
]
HELPERS = """
def filled(u, v):
    y = np.empty_like(u)
    y[...] = v
    y.T[...] *= 0.5
    y[..., 1:] += u[..., :-1]
    y[0] = np.sin(y[-1])
    return y
"""


def source(rng: np.random.Generator, x: np.ndarray, names: dict[str, Any], lines: list[str] = LINES) -> str:
    """A function as text, of lines that run on plain arrays."""
    exec(HELPERS, names)
    rows, made = ["def f(x):"], {"x": x}
    for _ in range(int(rng.integers(4, 16))):
        a, b = rng.choice(list(made)[-4:], 2)
        i, j = rng.integers(-2, 2, 2)
        constant = f"({rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 1.5):.3f})"
        line = lines[rng.integers(len(lines))].format(a=a, b=b, c=constant, i=i, j=j, k=rng.integers(1, 4))
        try:
            value = eval(line, names | made)
        except (ValueError, IndexError, TypeError, AttributeError, np.linalg.LinAlgError, hoad.HoadError):
            continue
        if 0 < np.size(value) <= MOST_ITEMS and np.ndim(value) <= 5 and np.max(np.abs(value)) < 20:
            rows.append(f"    v{len(rows)} = {line}")
            made[f"v{len(rows) - 1}"] = value
    last = " + ".join(f"np.sum({name} * {0.5 + 0.25 * k})" for k, name in enumerate(list(made)[-3:]))
    return "\n".join([*rows, f"    return {last}"])


def trial(rng: np.random.Generator) -> str | None:
    shape = tuple(int(rng.choice(LENGTHS)) for _ in range(rng.integers(0, 4)))
    if np.prod(shape, dtype=int) > 400:
        shape = shape[:1]
    x = np.asarray(rng.uniform(-1.2, 1.2, shape), order="CF"[rng.integers(2)])
    names: dict[str, Any] = {"np": np, "hoad": hoad, "C": rng.uniform(-1, 1, shape), "D": rng.uniform(-1, 1, (3, 1))}
    with np.errstate(all="ignore"):
        text = source(rng, x, names)
    exec(text, names)
    f: Callable[..., Any] = names["f"]
    wrong = first_wrong(f, x, rng)
    return wrong and f"shape {shape}, strides {x.strides}\n{HELPERS}\n{text}\n{wrong}"


__all__ = ["trial"]
