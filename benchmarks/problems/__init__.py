"""The mathematics of the tables, once for all sides: a function of arrays, and what is asked of it.

A function is called as `f(m, x, ...)`, where m is a module of elementary functions by NumPy's names: NumPy itself,
`jax.numpy`, or what a side has in their place. Where one text does not serve all, `forms` has another for a side.
"""

from __future__ import annotations

from problems import batched, derivatives, hessians, irregular, models, ode, rosenbrock, sparse, tensors
from problems.problem import Problem

PROBLEMS: dict[str, Problem] = {
    name: problem
    for room in (rosenbrock, irregular, ode, hessians, models, batched, tensors, derivatives, sparse)
    for name, problem in room.PROBLEMS.items()
}
