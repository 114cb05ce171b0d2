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
    if problem.asked == "sparse hessian":
        (example,) = problem.point(np.random.default_rng(0), n)
        return _refilled(DERIVATIVES[problem.asked](lambda x: f(np, x)).plan(example), out)
    replay = hoad.jit(DERIVATIVES[problem.asked](lambda x: f(np, x)), keep_zeros=out)
    return Built(_into_kept_array(replay) if out else lambda arguments: partial(replay, *_numbers(arguments)))


def _refilled(plan: Any, out: bool) -> Built:
    kept = np.empty(plan.nnz) if out else None
    return Built(lambda arguments: partial(plan.values, *arguments, out=kept))


def _numbers(arguments: Arguments) -> list[Any]:
    """Arrays without axes as floats."""
    return [x if x.ndim else x.item() for x in arguments]


def _into_kept_array(replay: Function) -> Callable[[Arguments], Callable[[], Any]]:
    """One array takes all results; the first call makes it."""
    kept: list[np.ndarray] = []

    def prepare(arguments: Arguments) -> Callable[[], Any]:
        given = _numbers(arguments)
        if not kept:
            kept.append(np.asarray(replay(*given)))
        return partial(replay, *given, out=kept[0])

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
    "sparse hessian": hoad.sparse_hessian,
    "hvp": hoad.hvp,
    "entries": entries,
    "gradients": lambda f: hoad.vmap(hoad.grad(f)),
    "laplacian": hoad.laplacian,
    **{f"tensor {k}": partial(hoad.derivative_tensor, k=k) for k in range(3, 7)},
    **{f"derivatives {k}": partial(hoad.derivatives, n=k) for k in (10, 20, 50)},
}
