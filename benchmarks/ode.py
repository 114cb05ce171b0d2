"""What does the gradient of a differential equation's solution cost, in its parameters and start?

1000 Runge-Kutta steps of Lotka and Volterra's equations, written as a Python loop of numbers. Bar: 120 µs.
"""

from __future__ import annotations

import sys

import beside
import harness
from beside import Table

TABLES = (
    Table(
        "gradient of Runge-Kutta steps",
        "Lotka-Volterra",
        ("hoad", "CasADi SX", "JAX", "heyoka, unrolled", "ADOL-C", "C by hand"),
        sizes=(1000,),
        tiny=3,
        seconds={1000: 120e-6},
        reference={
            "CasADi SX": {1000: 178e-6},
            "JAX": {1000: 1820e-6},
            "heyoka, unrolled": {1000: 35e-6},
            "ADOL-C": {1000: 194e-6},
            "C by hand": {1000: 26e-6},
        },
    ),
)
PEERS = beside.peers(TABLES)
cases = beside.cases_of(TABLES)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
