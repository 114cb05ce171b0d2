"""sparsejac: a sparse Jacobian in JAX, of the gradient, for a pattern that is given: a band of three."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import sparsejac
from jax.experimental.sparse import BCOO
from problems.problem import Problem

from sides.built import Built
from sides.of_jax import compiled


def build(problem: Problem, n: int) -> Built:
    f = problem.form("JAX", n)
    places = np.arange(n)[:, None] + np.arange(-1, 2)
    inside = (places >= 0) & (places < n)
    indices = np.stack([np.nonzero(inside)[0], places[inside]], axis=1)
    pattern = BCOO((jnp.ones(len(indices)), jnp.asarray(indices)), shape=(n, n))
    hessian = sparsejac.jacfwd(jax.grad(lambda x: f(jnp, x)), pattern)
    return compiled(lambda x: hessian(x).data)
