"""heyoka: formulas compiled by LLVM, over one point or, in SIMD lanes, over many."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import heyoka
import numpy as np
from problems.problem import Problem

from sides.built import Arguments, Built

MODULE = SimpleNamespace(**{name: getattr(heyoka, name) for name in ("exp", "log", "sqrt", "sin", "tanh")})


def build(problem: Problem, n: int) -> Built:
    (example,) = problem.point(np.random.default_rng(0), n)
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
