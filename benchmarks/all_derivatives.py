"""What do all derivatives to order n cost, of a function of one number?

f(x) = exp(sin x) tanh x / (1 + x²), jitted, called with a float, into a given array, for n = 10, 20, 50; then to order
10 at 10⁵ points at once. Before that, the error beside mpmath with 60 digits. Bars: 1.0, 1.7 and 4 µs, 8 ms; 1e-11.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import beside
import harness
import numpy as np
from beside import Table
from harness import Case, Row, Settings
from problems import PROBLEMS
from problems.derivatives import ORDERS

import hoad

SECONDS = {10: 1.0e-6, 20: 1.7e-6, 50: 4e-6}
ERROR_BAR = 1e-11
POINTS = (-1.9, -1.1, -0.3, 0.2, 0.7, 1.6)
# JAX's jet at order 10 alone: at 20 it compiles for some ten seconds.
SIDES = {k: ("hoad, out=", "heyoka", *(("JAX",) if k == 10 else ()), "ADOL-C", "C by hand") for k in ORDERS}
TABLES = (
    *(
        Table(f"all derivatives to order {k}", f"derivatives {k}", SIDES[k], (1,), tiny=1, seconds={1: SECONDS[k]})
        for k in ORDERS
    ),
    Table(
        "all derivatives to order 10 at n points",
        "derivatives 10",
        (*SIDES[10], "NumPy by hand"),
        (100_000,),
        tiny=20,
        seconds={100_000: 8e-3},
    ),
)
PEERS = ("mpmath", *beside.peers(TABLES))


def accuracy(name: str) -> list[Row]:
    """The largest relative error of a derivative, over the points and all orders."""
    mpmath = harness.peer("mpmath")
    problem = PROBLEMS[name]
    f, order = problem.function(1), problem.order or 0
    derivatives = hoad.jit(hoad.derivatives(partial(f, np), order))
    worst = 0.0
    for x in POINTS:
        with mpmath.workdps(60):
            exact = mpmath.taylor(partial(f, mpmath.mp), mpmath.mpf(x), order)
            found = [mpmath.mpf(float(d)) / mpmath.factorial(k) for k, d in enumerate(derivatives(x))]
            worst = max(worst, *(float(abs(a - b) / abs(b)) for a, b in zip(found, exact, strict=True)))
    note = f"worst of {len(POINTS)} points and all orders"
    return [harness.limit(f"{name}, relative error", worst, "", ERROR_BAR, note)]


def cases(settings: Settings) -> Iterator[Case]:
    for k in [ORDERS[0]] if settings.tiny else ORDERS:
        for suffix in ("", beside.PERTURBED):
            yield f"derivatives {k}{suffix}, relative error", partial(accuracy, f"derivatives {k}{suffix}")
    yield from beside.cases_of(TABLES)(settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
