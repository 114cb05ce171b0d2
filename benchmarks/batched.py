"""What do the Hessians of a formula cost at many points?

A formula of Black and Scholes in six variables at 100 000 points, the 21 distinct entries into a given array, on one
thread. Bar: 1.7 ms.
"""

from __future__ import annotations

import sys

import beside
import harness
from beside import Table

TABLES = (
    Table(
        "Hessians of a price at n points",
        "Black-Scholes",
        ("hoad, out=", "heyoka", "CasADi with C", "JAX"),
        sizes=(100_000,),
        tiny=20,
        seconds={100_000: 1.7e-3},
        reference={
            "heyoka": {100_000: 1.7e-3},
            "CasADi with C": {100_000: 13.6e-3},
            "JAX": {100_000: 32e-3},
        },
    ),
)
PEERS = beside.peers(TABLES)
cases = beside.cases_of(TABLES)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
