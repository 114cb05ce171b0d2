"""What does a dense Hessian cost, once it is recorded?

Of the vectorised Rosenbrock function, which is sparse, and of logsumexp(A x) + Σ x² sin x, which is not. `out=` is
given apart: there the zeros of a kept array are not filled in again (`keep_zeros`).
"""

from __future__ import annotations

import sys

import beside
import harness
from beside import Table

SIZES = (10, 100, 1000)
TABLES = (
    Table(
        "Hessian of Rosenbrock",
        "vectorised Hessian",
        ("hoad", "CasADi SX", "CasADi MX", "JAX", "asdex", "torch", "NumPy by hand"),
        SIZES,
        tiny=4,
        seconds={10: 0.7e-6, 100: 3e-6},
        reference={"CasADi SX": {10: 0.29e-6}, "CasADi MX": {100: 3.5e-6}},
        ratios={"CasADi MX": 1.0},
    ),
    Table(
        "Hessian of Rosenbrock, out=",
        "vectorised Hessian",
        ("hoad, out=", "CasADi MX"),
        SIZES[2:],
        tiny=4,
        seconds={1000: 15e-6},
    ),
    Table(
        "Hessian of logsumexp(A x) + Σ x² sin x",
        "logsumexp Hessian",
        ("hoad", "CasADi SX", "CasADi MX", "JAX", "pytensor", "torch", "NumPy by hand"),
        SIZES,
        tiny=4,
        seconds={10: 3.5e-6, 100: 70e-6, 1000: 40e-3},
        reference={
            "CasADi SX": {10: 3.9e-6},
            "JAX": {100: 76e-6, 1000: 55e-3},
            "NumPy by hand": {100: 61e-6, 1000: 36e-3},
        },
        largest={"CasADi SX": 10, "CasADi MX": 100, "pytensor": 100},
    ),
)
PEERS = beside.peers(TABLES)
cases = beside.cases_of(TABLES)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
