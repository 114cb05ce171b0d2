"""pytensor: a function compiled in its default mode."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytensor
import pytensor.tensor as pt
from problems.problem import Problem

from sides.built import Built

MODULE = SimpleNamespace(
    asarray=pt.as_tensor,
    **{name: getattr(pt, name) for name in ("sum", "exp", "log", "log1p", "sqrt", "sin", "tanh")},
)
DERIVATIVES: dict[str, Any] = {
    "gradient": pytensor.grad,
    "hessian": lambda y, x: pytensor.gradient.hessian(y, x),
}


def build(problem: Problem, n: int) -> Built:
    f = problem.form("pytensor", n)
    x = pt.vector("x", dtype="float64")
    derivative = DERIVATIVES[problem.asked](f(MODULE, x), x)
    function = pytensor.function([x], derivative, trust_input=True)
    return Built(lambda arguments: partial(function, *arguments))
