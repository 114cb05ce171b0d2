"""torch: `torch.compile` of the derivative by torch.func, in float64, without what it keeps on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # processes whose time is then counted

import numpy as np
import torch
from problems.problem import Function, Problem
from torch.fx.experimental.proxy_tensor import make_fx

from sides.built import Built

torch.set_num_threads(1)

MODULE = SimpleNamespace(
    asarray=torch.as_tensor,
    max=lambda a, axis, keepdims: torch.amax(a, dim=axis, keepdim=keepdims),
    **{name: getattr(torch, name) for name in ("sum", "exp", "log", "log1p", "sqrt", "sin", "tanh", "einsum")},
)


def product(f: Function) -> Function:
    return lambda x, v: torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


def derivatives(f: Function, order: int) -> Function:
    """One gradient within another."""
    nested = [f]
    for _ in range(order):
        nested.append(torch.func.grad(nested[-1]))
    return lambda x: torch.stack([g(x) for g in nested])


DERIVATIVES: dict[str, Callable[[Function], Function]] = {
    "gradient": torch.func.grad,
    "hessian": torch.func.hessian,
    "hvp": product,
    "gradients": lambda f: torch.func.vmap(torch.func.grad(f)),
    "derivatives 10": partial(derivatives, order=10),
}


def build(problem: Problem, n: int) -> Built:
    f = problem.form("torch", n)
    derivative = DERIVATIVES[problem.asked](lambda x: f(MODULE, x))
    # Traced by hand first: the compiler's own tracing does not see NumPy's arrays as constants.
    example = tuple(map(torch.from_numpy, problem.point(np.random.default_rng(0), n)))
    compiled = torch.compile(make_fx(derivative)(*example))

    def prepare(arguments: tuple[Any, ...]) -> Callable[[], Any]:
        return partial(compiled, *map(torch.from_numpy, arguments))

    return Built(prepare)
