"""Compositions of functions from the tables of what hoad covers: every mode beside the others, and beside differences.

Each step takes a row of a table (`covered.rows`) near the point of the row, where it is smooth, and mixes numbers of an
earlier step into it. A trial is one composition of two to four steps.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from covered.names import ROWS
from covered.rows import Kind, Row
from rules.modes import along, words

import hoad
from hoad import JitWarning

NEAR = 0.05  # how far from the points of the rows
STEPS = (2e-3, 2e-4)  # of differences of order eight: the first loses less by rounding, the second is for a near pole
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}

CHOICE = [
    row
    for row in ROWS
    if row.kind is Kind.DIFFERENTIABLE
    and isinstance(row.x, np.ndarray)
    and row.x.dtype == float
    and 0 < row.x.size < 40
]


def numbers_of(result: Any) -> list[Any]:
    """The floats that a function returns, complex ones in two parts, each in one dimension."""
    if isinstance(result, (tuple, list)):
        return [y for part in result for y in numbers_of(part)]
    if isinstance(result, np.ndarray) and result.dtype == object:  # of traced numbers
        return numbers_of(result.ravel().tolist())
    kind = np.dtype(getattr(result, "dtype", type(result) if type(result) in (float, complex) else object)).kind
    parts = {"f": (lambda y: y,), "c": (np.real, np.imag)}.get(kind, ())
    return [np.reshape(part(result), (-1,)) for part in parts]


class Composition:
    """A function of a few numbers that gives one; `str` names its steps."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.x = rng.uniform(-1.0, 1.0, rng.integers(1, 5))
        self.steps: list[tuple[Row, int, Any]] = []
        sizes = [self.x.size]
        for _ in range(rng.integers(2, 5)):
            row = CHOICE[rng.integers(len(CHOICE))]
            made = numbers_of(row.f(row.x))
            if not made:
                continue
            k = int(rng.integers(max(0, len(sizes) - 2), len(sizes)))
            self.steps.append((row, k, rng.uniform(-1.0, 1.0, (row.x.size, sizes[k]))))
            sizes.append(sum(y.size for y in made))

    def __call__(self, x: Any) -> Any:
        values = [x]
        total = np.sum(x * x)
        for row, k, matrix in self.steps:
            moved = row.x + NEAR * np.reshape(np.sin(matrix @ values[k]), row.x.shape)
            values.append(np.sin(np.concatenate(numbers_of(row.f(moved)))))
            total = total + np.sum(values[-1]) * np.cos(total)
        return total

    def __str__(self) -> str:
        steps = [f"{row.label()} of v{k}" for row, k, _ in self.steps]
        return "\n".join([f"v0 = {self.x!r}", *(f"v{n} = {step}" for n, step in enumerate(steps, 1))])


def differs(name: str, found: Any, wanted: Any, tolerance: float) -> str | None:
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    if found.shape == wanted.shape and np.allclose(found, wanted, rtol=0, atol=tolerance * scale):
        return None
    return f"{name} is {found!r}, not {wanted!r}"


def differs_from_differences(f: Composition, v: Any, slope: Any) -> str | None:
    for h in STEPS:
        quotient = sum(c * (f(f.x + k * h * v) - f(f.x - k * h * v)) for k, c in WEIGHTS.items()) / h
        wrong = differs("the gradient along v", slope, quotient, 1e-7)
        if wrong is None:
            return None
    return wrong


def compared(f: Composition, y: Any, directions: list[Any]) -> str | None:
    """What is wrong with a composition, at its own point and, replayed, at y."""
    x, (v, w) = f.x, directions
    gradient = hoad.grad(f)(x)
    wrong = differs("the traced value", hoad.value_and_grad(f)(x)[0], f(x), 1e-12)
    wrong = wrong or differs_from_differences(f, v, gradient @ v)
    wrong = wrong or differs("the forward derivative", hoad.jvp(f, (x,), (v,))[1], gradient @ v, 1e-12)
    bends = {word: along(f, word, [(v,), (w,)])(x) for word in words(2)}
    for word, bend in bends.items():
        wrong = wrong or differs(f"the second derivative by {word}", bend, bends["rr"], 1e-10)
    series = hoad.derivatives(lambda t: f(x + t * v), 3)(0.0)
    line = [gradient @ v, *(along(f, "r" * n, [(v,)] * n)(x) for n in (2, 3))]
    for n, wanted in enumerate(line, 1):
        wrong = wrong or differs(f"the Taylor mode at order {n}", series[n], wanted, 1e-9)
    jitted = hoad.jit(hoad.value_and_grad(f))
    jitted(x)
    value, replayed = jitted(y)
    wrong = wrong or differs("the replayed value", value, f(y), 1e-12)
    wrong = wrong or differs("the replayed gradient", replayed, hoad.grad(f)(y), 1e-11)
    return wrong or differs("the mapped gradient", hoad.vmap(hoad.grad(f))(np.stack([y, x]))[1], gradient, 1e-11)


@np.errstate(all="ignore")
def trial(rng: np.random.Generator) -> str | None:
    f = Composition(rng)
    y = f.x + rng.uniform(-0.3, 0.3, f.x.shape)
    directions = list(rng.uniform(-1.0, 1.0, (2, f.x.size)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", JitWarning)
        try:
            wrong = compared(f, y, directions)
        except Exception as failure:
            raise RuntimeError(str(f)) from failure
    return wrong and f"{f}\n{wrong}"
