"""asdex: Hessians in JAX from a coloring of their sparsity, filled in."""

from __future__ import annotations

import asdex
import jax.numpy as jnp
import numpy as np
from problems.problem import Problem

from sides.built import Built
from sides.of_jax import compiled


def build(problem: Problem, n: int) -> Built:
    f = problem.form("JAX", n)
    (x,) = problem.point(np.random.default_rng(0), n)
    if problem.asked == "sparse hessian":
        hessian = asdex.hessian(lambda x: f(jnp, x), jnp.asarray(x))
        return compiled(lambda x: hessian(x).data)  # row by row
    return compiled(asdex.hessian(lambda x: f(jnp, x), jnp.asarray(x), output_format="dense"))
