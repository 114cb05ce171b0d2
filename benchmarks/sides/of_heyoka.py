"""heyoka: formulas compiled by LLVM, over one point or, in SIMD lanes, over many; its series, for all derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, factorial
from types import SimpleNamespace
from typing import Any

import heyoka
import numpy as np
from problems.problem import Problem

from sides.built import Arguments, Built

FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tanh", "cosh")
MODULE = SimpleNamespace(**{name: getattr(heyoka, name) for name in FUNCTIONS})


def build(problem: Problem, n: int) -> Built:
    (example,) = problem.point(np.random.default_rng(0), n)
    if problem.order is not None:
        return at_points(problem, n, problem.order) if example.ndim else at_a_point(problem, problem.order)
    variables = heyoka.make_vars(*(f"x{i:04}" for i in range(example.shape[-1])))
    value = problem.form("heyoka", n)(MODULE, variables)
    order = {"gradient": 1, "entries": 2}[problem.asked]
    tensors = heyoka.diff_tensors([value], diff_args=variables, diff_order=order)
    function = heyoka.cfunc([entry for _, entry in tensors.get_derivatives(order, 0)], variables)
    # Points are columns, and one more is none to a single point.
    out = np.zeros((len(tensors.get_derivatives(order, 0)), *example.shape[:-1]))

    def prepare(arguments: Arguments) -> Callable[[], Any]:
        return partial(function, np.ascontiguousarray(arguments[0].T), outputs=out)

    return Built(prepare, np.transpose)


def at_points(problem: Problem, n: int, order: int) -> Built:
    """One formula for each derivative, with what they share."""
    x = heyoka.make_vars("x")
    tensors = heyoka.diff_tensors([problem.form("heyoka", n)(MODULE, x)], diff_args=[x], diff_order=order)
    function = heyoka.cfunc([entry for k in range(order + 1) for _, entry in tensors.get_derivatives(k, 0)], [x])
    out = np.zeros((order + 1, n))
    return Built(lambda arguments: partial(function, arguments[0].reshape(1, n), outputs=out))


def at_a_point(problem: Problem, order: int) -> Built:
    """The series of y' = f(x), x' = 1: no step is taken, and the tolerance is that at which it has this order."""
    x, y = heyoka.make_vars("x", "y")
    system = [(x, heyoka.expression(1.0)), (y, problem.form("heyoka", 1)(MODULE, x))]
    integrator = heyoka.taylor_adaptive(system, [0.0, 0.0], tol=exp(-2 * order))
    state, step, series = integrator.state, integrator.step, integrator.tc
    factorials = np.array([float(factorial(k + 1)) for k in range(order + 1)])

    def call(at: float) -> np.ndarray:
        state[0] = at
        step(max_delta_t=0.0, write_tc=True)
        return series

    return Built(lambda arguments: partial(call, arguments[0].item()), lambda found: found[1, 1:] * factorials)
