"""autograd, which traces at every call."""

from __future__ import annotations

from functools import partial

import autograd
import autograd.numpy as anp
from problems.problem import Problem

from sides.built import Built

DERIVATIVES = {
    "gradient": autograd.grad,
    "hessian": autograd.hessian,
    "hvp": autograd.hessian_vector_product,
}


def build(problem: Problem, n: int) -> Built:
    f = problem.form("autograd", n)
    derivative = DERIVATIVES[problem.asked](lambda x: f(anp, x))
    return Built(lambda arguments: partial(derivative, *arguments))
