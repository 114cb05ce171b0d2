"""autograd, which traces at every call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import autograd
import autograd.numpy as anp
from problems.problem import Function, Problem

from sides.built import Built


def gradients(f: Function) -> Function:
    """Of all points by one sweep: no point enters into the value at another."""
    return autograd.grad(lambda x: anp.sum(f(x.T)))


def derivatives(f: Function, order: int) -> Function:
    """One gradient within another."""
    nested = [f]
    for _ in range(order):
        nested.append(autograd.grad(nested[-1]))
    return lambda x: [g(x) for g in nested]


DERIVATIVES: dict[str, Callable[[Function], Any]] = {
    "gradient": autograd.grad,
    "hessian": autograd.hessian,
    "hvp": autograd.hessian_vector_product,
    "gradients": gradients,
    "derivatives 10": partial(derivatives, order=10),
}


def build(problem: Problem, n: int) -> Built:
    f = problem.form("autograd", n)
    derivative = DERIVATIVES[problem.asked](lambda x: f(anp, x))
    return Built(lambda arguments: partial(derivative, *arguments))
