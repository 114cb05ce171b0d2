"""What share of a solve do exact sparse derivatives take?

Of problems of practice, which `tests/_sparse` holds to known solutions: Newton's method with SciPy's sparse solver for
Bratu's equation, a minimal surface and an elastic square on grids of 300 x 300; Gauss-Newton for a banded fit with
dense rows; IPOPT for an optimal control of 10⁴ unknowns and constraints, and for the optimal power flow of a hundred
networks of 30 buses. Bar: derivatives, with their plans, take at most a fifth of the time. Each solve has a fresh
process; the rest of its time is the solver's and that of the functions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings

import hoad

sys.path.append(str(harness.ROOT / "tests"))

PEERS = ("scipy", "cyipopt")
BAR = 0.2


class Clock:
    """Adds up the seconds of the functions that it is put around."""

    def __init__(self) -> None:
        self.seconds = {"plan": 0.0, "values": 0.0}

    def around(self, f: Callable[..., Any], what: str = "values") -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter()
            found = f(*args, **kwargs)
            self.seconds[what] += perf_counter() - start
            return found

        return timed


# ------------------------------------------------------------------------------- in the fresh process


def newton(f: Callable[[Any], Any], derivative: Any, x: np.ndarray, clock: Clock) -> int:
    """How many steps lead to a root of f."""
    from scipy.sparse.linalg import spsolve

    plan = clock.around(derivative.plan, "plan")(x)
    refill, r = clock.around(plan), f(x)
    for k in range(30):
        step = spsolve(refill(x), r)
        while not np.linalg.norm(f(x - step)) < 2 * np.linalg.norm(r):
            step /= 2
        x = x - step
        r = f(x)
        if abs(step).max() < 1e-10:
            return k + 1
    raise AssertionError("30 steps were not enough")


def bratu(n: int, clock: Clock) -> int:
    from _sparse import problems

    f = partial(problems.bratu, n=n)
    return newton(hoad.jit(f), hoad.sparse_jacobian(f, format="csc"), np.zeros(n * n), clock)


def surface(n: int, clock: Clock) -> int:
    from _sparse import problems

    f = partial(problems.area, n=n)
    return newton(clock.around(hoad.jit(hoad.grad(f))), hoad.sparse_hessian(f, format="csc"), np.zeros(n * n), clock)


def elastic(n: int, clock: Clock) -> int:
    """A square that is held at its boundary and sinks under its weight."""
    from _sparse import problems

    square = problems.Elasticity(n)
    held = np.zeros(2 * len(square.nodes))
    weight = np.tile([0.0, 2.0 / n**2], np.count_nonzero(square.is_inside) // 2)
    f = hoad.adopt(lambda x: square.inner_forces(x, held) + weight)
    return newton(hoad.jit(f), hoad.sparse_jacobian(f, format="csc"), np.zeros(len(weight)), clock)


def fit(n: int, clock: Clock) -> int:
    import scipy.sparse as sp
    from _sparse import problems
    from scipy.sparse.linalg import spsolve

    f = partial(problems.bands_with_dense_rows, n=n)
    solution = problems.solution_of_bands(n)
    x = solution + 0.1 * np.cos(np.arange(n))
    plan, f = clock.around(hoad.sparse_jacobian(f).plan, "plan")(x), hoad.jit(f)
    refill = clock.around(plan)
    for k in range(30):
        j, r = refill(x), f(x)
        one = sp.eye_array(len(r))
        step = spsolve(sp.block_array([[one, j], [j.T, None]], format="csc"), np.append(r, np.zeros(n)))[len(r) :]
        x = x - step
        if abs(step).max() < 1e-10:
            harness.require_equal(x, solution)
            return k + 1
    raise AssertionError("30 steps were not enough")


def ipopt(f: Any, g: Any, start: np.ndarray, bounds: Any, limits: Any, clock: Clock) -> tuple[float, int]:
    """The least value of f, and the number of iterations."""
    from hoad.interop import ipopt

    ends = SimpleNamespace(lb=bounds[0], ub=bounds[1])
    problem = clock.around(ipopt.Problem, "plan")(f, start, g, *limits, bounds=ends)
    for name in ("gradient", "jacobian", "hessian"):
        setattr(problem, name, clock.around(getattr(problem, name)))
    found = problem.solve()
    assert found.success, found.message
    return found.fun, found.nit


def control(n: int, clock: Clock) -> int:
    from _sparse import problems

    steering = problems.Control(n // 5)
    least, count = ipopt(steering.time, steering.defects, steering.start(), steering.bounds(), (0.0, 0.0), clock)
    harness.require_equal(least, steering.least_time(), rtol=1e-2)
    return count


def power(n: int, clock: Clock) -> int:
    from _sparse import power as networks

    network, cost = networks.COSTS["case30"]
    network = network.repeated(n)
    g = network.balances
    least, count = ipopt(network.cost, g, network.start(), network.bounds(), network.limits(), clock)
    harness.require_equal(least, n * cost, rtol=1e-5)
    return count


SOLVES: dict[str, tuple[Callable[[int, Clock], int], int, int]] = {
    "Bratu, Newton": (bratu, 300, 8),
    "minimal surface, Newton": (surface, 300, 8),
    "elasticity, Newton": (elastic, 300, 8),
    "fit with dense rows, Gauss-Newton": (fit, 20_000, 50),
    "optimal control, IPOPT": (control, 10_000, 100),
    "optimal power flow, IPOPT": (power, 100, 2),
}


def child(name: str, n: int) -> dict[str, float]:
    for module in ("scipy.optimize", "scipy.sparse.linalg", "cyipopt", "_sparse.problems", "_sparse.power"):
        harness.peer(module)  # outside of the clock
    clock = Clock()
    start = perf_counter()
    steps = SOLVES[name][0](n, clock)
    return {"whole": perf_counter() - start, **clock.seconds, "steps": steps}


# --------------------------------------------------------------------------------------- in the table


def solve_rows(name: str, settings: Settings) -> list[Row]:
    _, full, tiny = SOLVES[name]
    n = settings.size(full, tiny)
    rounds = max(1, settings.rounds // 3)
    found = [harness.child_json([str(Path(__file__)), "--child", name, str(n)]) for _ in range(rounds)]
    best = min(found, key=lambda one: one["whole"])
    whole, plan, values = (harness.seconds_text(best[key]) for key in ("whole", "plan", "values"))
    note = f"{best['steps']} steps in {whole}; the plan takes {plan}, values {values}"
    share = (best["plan"] + best["values"]) / best["whole"]
    return [harness.limit(f"{name}, n = {n}: share of derivatives", share, "", BAR, note)]


def cases(settings: Settings) -> Iterator[Case]:
    for name in SOLVES:
        yield name, partial(solve_rows, name, settings)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2], int(sys.argv[3]))))
    else:
        sys.exit(harness.main(__doc__, cases, PEERS))
