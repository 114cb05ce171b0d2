"""JAX: `jax.jit` of the derivative in float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.jet import jet
from problems.problem import Function, Problem

from sides.built import Built


def product(f: Function) -> Function:
    """Forward over reverse."""
    return lambda x, v: jax.jvp(jax.grad(f), (x,), (v,))[1]


def entries(f: Function) -> Function:
    return jax.vmap(lambda x: jax.hessian(f)(x)[jnp.triu_indices(len(x))])


def tensor(f: Function, order: int) -> Function:
    """Forward over forward over ... over reverse."""
    f = jax.hessian(f)
    for _ in range(order - 2):
        f = jax.jacfwd(f)
    return f


def derivatives(f: Function, order: int) -> Function:
    """By Taylor mode, whose output series holds derivatives."""

    def taylor(x: Any) -> Any:
        one, zero = jnp.ones_like(x), jnp.zeros_like(x)
        value, series = jet(f, (x,), ([one] + [zero] * (order - 1),))
        return jnp.stack([value, *series])

    return taylor


DERIVATIVES: dict[str, Callable[[Function], Function]] = {
    "value": lambda f: f,
    "gradient": jax.grad,
    "hessian": jax.hessian,
    "hvp": product,
    "entries": entries,
    "gradients": lambda f: jax.vmap(jax.grad(f)),
    "laplacian": lambda f: lambda x: jnp.trace(jax.hessian(f)(x)),
    **{f"tensor {k}": partial(tensor, order=k) for k in range(3, 7)},
    "derivatives 10": partial(derivatives, order=10),
}


def build(problem: Problem, n: int, by_hand: bool = False) -> Built:
    if by_hand:
        written = problem.form("JAX by hand", n)
        return compiled(lambda x: written(jnp, x))
    f = problem.form("JAX", n)
    return compiled(DERIVATIVES[problem.asked](lambda x: f(jnp, x)))


def compiled(derivative: Function) -> Built:
    """It returns before it has computed: a call is over when the result is there."""
    fast = jax.jit(derivative)

    def call(*arguments: jax.Array) -> Any:
        return fast(*arguments).block_until_ready()

    def prepare(arguments: tuple[np.ndarray, ...]) -> Callable[[], Any]:
        return partial(call, *(jnp.array(argument).block_until_ready() for argument in arguments))

    return Built(prepare)
