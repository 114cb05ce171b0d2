"""What does a first derivative of a Python loop cost? `grad` of s = s * b + c: trace, sweep, evaluate.

Bar: at least 100 times faster than `autograd.grad`, for 1000 and for 10 000 operations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side
from trace_chain import chain, perturbed, with_size

import hoad

PEERS = ("autograd",)
BAR = 100.0
RNG = np.random.default_rng(2)


def fresh() -> tuple[float]:
    return (float(RNG.uniform(0.5, 1.5)),)


def compare(name: str, f: Callable[..., Any], n: int, settings: Settings) -> list[Row]:
    autograd = harness.peer("autograd")
    traced, boxed = with_size(f, n), with_size(f, n)
    ours, theirs = hoad.grad(traced), autograd.grad(boxed)
    arguments = fresh()
    harness.require_equal(ours(*arguments), theirs(*arguments))
    harness.require_traced_anew(hoad.grad, traced, arguments)
    mine, other = harness.interleave([Side("hoad", ours, fresh), Side("autograd", theirs, fresh)], settings)
    return [harness.faster(f"grad of {name}, {n} operations", mine, other, at_least=BAR)]


def cases(settings: Settings) -> Iterator[Case]:
    for n in (settings.size(1000, 20), settings.size(10_000, 60)):
        for name, f in (("s*b + c", chain), ("s/b + c/s (perturbed)", perturbed)):
            yield f"grad of {name}, {n}", partial(compare, name, f, n, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
