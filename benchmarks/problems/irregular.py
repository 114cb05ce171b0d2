"""A scalar program without any regularity: random operations on random operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from problems.problem import Function, Problem

INPUTS = 1000
BOUND = 4.0
SAMPLE = 64
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}

Step = tuple[str, int, int]


@cache
def random_steps(n: int, binary: str, unary: tuple[str, ...], share: float, seed: int) -> list[Step]:
    """n operations, a `share` of them unary; nothing is computed in vain.

    Each operation takes one operand that none has taken yet, and any other. What would leave the bounds at one of a
    few points is not taken, so that values stay small at all others too.
    """
    rng = np.random.default_rng(seed)
    values = list(rng.uniform(-1.0, 1.0, (INPUTS, SAMPLE)))
    unused = list(range(INPUTS))
    steps: list[Step] = []
    for lot, slot, pick, operation in rng.uniform(size=(3 * n + 100, 4)).tolist():
        if len(steps) == n:
            break
        lone = lot < share
        names = unary if lone else binary
        name, slot, other = names[int(operation * len(names))], int(slot * INPUTS), int(pick * len(values))
        a, b = values[unused[slot]], values[other]
        if name == "/" and np.abs(b).min() < 0.5:
            continue
        value = getattr(np, name)(a) if lone else BINARY[name](a, b)
        if np.abs(value).max() > BOUND:
            continue
        steps.append((name, unused[slot], other))
        unused[slot] = len(values)
        values.append(value)
    return steps


def tape(binary: str, unary: tuple[str, ...], share: float, seed: int) -> Callable[[int], Function]:
    def of_size(n: int) -> Function:
        steps = random_steps(n, binary, unary, share, seed)

        def f(m: Any, x: Any) -> Any:
            v = [x[i] for i in range(INPUTS)]
            for name, a, b in steps:
                v.append(BINARY[name](v[a], v[b]) if name in BINARY else getattr(m, name)(v[a]))
            taken = {step[1] for step in steps}
            s = 0.0
            for i in range(len(v)):
                if i not in taken:
                    s = s + v[i]
            return s

        return f

    return of_size


MIX = ("+-*", ("sin", "exp"), 0.1, 11)
PERTURBED = ("+-*/", ("cos", "tanh"), 0.2, 23)


def uniform_inputs(rng: np.random.Generator, n: int) -> tuple[np.ndarray]:
    return (rng.uniform(-1.0, 1.0, INPUTS),)


def problem(asked: str, mix: tuple[str, tuple[str, ...], float, int]) -> Problem:
    return Problem(asked, tape(*mix), uniform_inputs)


PROBLEMS = {
    "irregular": problem("value", MIX),
    "irregular, perturbed": problem("value", PERTURBED),
    "irregular gradient": problem("gradient", MIX),
    "irregular gradient, perturbed": problem("gradient", PERTURBED),
}
