"""What does replaying a scalar program without any regularity cost?

100 000 random operations, a tenth of them transcendental. Bar: a fifth of CasADi's time.
"""

from __future__ import annotations

import sys

import beside
import harness
from beside import Table

TABLES = (
    Table(
        "irregular scalar program",
        "irregular",
        ("hoad", "CasADi SX"),
        sizes=(100_000,),
        tiny=100,
        ratios={"CasADi SX": 0.2},
    ),
    Table(
        "its gradient",
        "irregular gradient",
        ("hoad", "CasADi SX"),
        sizes=(100_000,),
        tiny=100,
    ),
)
PEERS = beside.peers(TABLES)
cases = beside.cases_of(TABLES)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
