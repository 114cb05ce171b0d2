"""What do derivatives of models of statistics and learning cost, beside those that were built for them?

A perceptron of 6 337 parameters (gradient and product with the Hessian), a logistic regression (gradient and Hessian),
a mixture of Gaussians. Bars: JAX's time; nine tenths of it for the mixture.
"""

from __future__ import annotations

import sys

import beside
import harness
from beside import Table


def table(question: str, problem: str, peers: tuple[str, ...], n: int, ratio: float) -> Table:
    return Table(question, problem, ("hoad", *peers), (n,), tiny=7, ratios={"JAX": ratio})


TABLES = (
    table("gradient of a perceptron", "perceptron gradient", ("JAX", "autograd", "pytensor", "torch"), 256, 1.0),
    table("Hessian of a perceptron, times v", "perceptron product", ("JAX", "torch"), 256, 1.0),
    table("gradient of a regression", "logistic gradient", ("JAX", "pytensor", "torch", "NumPy by hand"), 1000, 1.0),
    table("Hessian of a regression", "logistic Hessian", ("JAX", "pytensor", "torch", "NumPy by hand"), 1000, 1.0),
    table("gradient of a mixture", "mixture gradient", ("JAX", "torch"), 1000, 0.9),
)
PEERS = beside.peers(TABLES)
cases = beside.cases_of(TABLES)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
