"""hoad: the derivative recorded once and replayed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from problems.problem import Function, Problem

import hoad
from sides.built import Arguments, Built


def build(problem: Problem, n: int, out: bool = False) -> Built:
    f = problem.form("hoad", n)
    replay = replayed(DERIVATIVES[problem.asked](lambda x: f(np, x)))
    return Built(_into_kept_array(replay) if out else lambda arguments: partial(replay, *arguments))


def _into_kept_array(replay: Function) -> Callable[[Arguments], Callable[[], Any]]:
    """One array takes all results; the first call makes it."""
    kept: list[np.ndarray] = []

    def prepare(arguments: Arguments) -> Callable[[], Any]:
        if not kept:
            kept.append(np.asarray(replay(*arguments)))
        return partial(replay, *arguments, out=kept[0])

    return prepare


def entries(f: Function) -> Function:
    """The upper triangle of the Hessian at each point."""

    def triangle(x: Any) -> Any:
        return hoad.hessian(f)(x)[np.triu_indices(len(x))]

    return hoad.vmap(triangle)


DERIVATIVES: dict[str, Callable[[Function], Function]] = {
    "value": lambda f: f,
    "gradient": hoad.grad,
    "hessian": hoad.hessian,
    "hvp": hoad.hvp,
    "entries": entries,
}


# ------------------------------------------------------------------------------------------ until there is hoad.jit


class _Replayed:
    """A function recorded at its first call, for arguments of the same shapes and branches from then on."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.evaluate: Function | None = None

    def __call__(self, *arguments: np.ndarray, out: np.ndarray | None = None) -> Any:
        if self.evaluate is None:
            self.evaluate = hoad.record(self.function, *arguments).evaluate
        value = self.evaluate(*arguments)
        if out is None:
            return value
        out[...] = value
        return out


replayed: Callable[[Function], Function] = getattr(hoad, "jit", _Replayed)
