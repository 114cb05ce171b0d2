"""What does a Hessian of a Python loop cost when it is traced anew at every call?

The chained Rosenbrock function in 100 variables, written as a loop over its terms.
Bar: at least 100 times faster than `autograd.hessian`. JAX, compiled beforehand, stands beside it: it replays
what the others trace.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side

import hoad

PEERS = ("autograd", "jax")
BAR = 100.0
RNG = np.random.default_rng(3)


def rosenbrock(x: Any, m: Any) -> Any:
    s = 0.0
    for i in range(len(x) - 1):
        s = s + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return s


def perturbed(x: Any, m: Any) -> Any:
    """The same coupling with other operations and constants."""
    s = 0.0
    for i in range(len(x) - 1):
        s = s + m.exp(0.3 * m.sin(x[i] * x[i + 1])) + 7 * (x[i] - 0.4 * x[i + 1]) ** 4
    return s


def bind(f: Callable[..., Any], m: Any) -> Callable[[Any], Any]:
    """f of x alone, with the functions of module m and a code object of its own."""
    own = harness.own_code(f)  # type: ignore[arg-type]
    return lambda x: own(x, m)


def compare(name: str, f: Callable[..., Any], settings: Settings) -> list[Row]:
    n = settings.size(100, 5)
    autograd, jax = harness.peer("autograd"), harness.peer("jax")
    traced = bind(f, np)
    ours = hoad.hessian(traced)
    theirs = autograd.hessian(bind(f, harness.peer("autograd.numpy")))
    compiled = jax.jit(jax.hessian(bind(f, harness.peer("jax.numpy"))))

    def fresh() -> tuple[Any]:
        return (RNG.uniform(-1.5, 1.5, n),)

    arguments = fresh()
    harness.require_equal(ours(*arguments), theirs(*arguments))
    harness.require_equal(compiled(*arguments), theirs(*arguments))
    harness.require_traced_anew(hoad.hessian, traced, arguments)
    sides = [
        Side("hoad", ours, fresh),
        Side("autograd", theirs, fresh),
        Side("jax.jit", lambda x: compiled(x).block_until_ready(), lambda: (jax.numpy.asarray(fresh()[0]),)),
    ]
    mine, first, second = harness.interleave(sides, settings)
    question = f"hessian of a loop, {name}, {n} variables"
    return [
        harness.faster(question, mine, first, at_least=BAR),
        harness.faster(question, mine, second, note="jax.jit replays what it compiled before"),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    for name, f in (("Rosenbrock", rosenbrock), ("exp, sin, quartic (perturbed)", perturbed)):
        yield f"hessian of {name}", partial(compare, name, f, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
