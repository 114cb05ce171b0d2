"""What do derivative tensors of order 3 to 6 cost, and a Laplacian that needs no Hessian?

Of logsumexp(A x) + Σ x³ in 20, 10, 6 and 4 variables, beside JAX's nested `jacfwd` over its Hessian; of a perceptron
with 100 inputs, beside the trace of JAX's Hessian and a forward Laplacian written by hand in JAX.
"""

from __future__ import annotations

import sys

import beside
import harness
from beside import Table

SIZES = {3: 20, 4: 10, 5: 6, 6: 4}
TABLES = (
    *(
        Table(f"tensor of order {k}", f"tensor {k}", ("hoad", "JAX"), (n,), tiny=3, ratios={"JAX": 1.5})
        for k, n in SIZES.items()
    ),
    Table(
        "Laplacian of a perceptron",
        "perceptron Laplacian",
        ("hoad", "JAX", "JAX by hand", "NumPy by hand"),
        (100,),
        tiny=3,
        ratios={"JAX by hand": 1.2},
    ),
)
PEERS = beside.peers(TABLES)
cases = beside.cases_of(TABLES)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
