"""What does a program cost where compiled code calls it?

SciPy's `quad` integrates the derivative of a function over many periods, by `Address.low_level_callable` and by
`Program.evaluate`. Bar: 3 times faster, and the right integral.
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

PEERS = ("scipy",)
BAR = 3.0
RNG = np.random.default_rng(4)


def wave(x: Any) -> Any:
    return np.sin(x * x) * np.exp(-0.1 * x)


def perturbed(x: Any) -> Any:
    return np.tanh(np.cos(3.0 * x) * x) / (1.0 + x)


def compare(name: str, f: Callable[[Any], Any], settings: Settings) -> list[Row]:
    harness.peer("scipy")
    from scipy.integrate import quad

    end = settings.size(12, 1)
    program = hoad.gradient(hoad.record(f, 1.0))
    compiled = program.address().low_level_callable()

    def fresh() -> tuple[float]:
        return (float(RNG.uniform(0.0, 0.5)),)

    def integral(g: Any, start: float) -> float:
        return quad(g, start, start + end, limit=1000)[0]

    harness.require_equal(integral(compiled, 0.2), f(end + 0.2) - f(0.2))
    own, peer = harness.interleave(
        [
            Side("Address", partial(integral, compiled), fresh),
            Side("evaluate", partial(integral, program.evaluate), fresh),
        ],
        settings,
    )
    return [harness.faster(f"quad of the derivative of {name}", own, peer, at_least=None if settings.tiny else BAR)]


def cases(settings: Settings) -> Iterator[Case]:
    for name, f in (("a wave", wave), ("tanh, cos (perturbed)", perturbed)):
        yield f"programs from C: {name}", partial(compare, name, f, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
