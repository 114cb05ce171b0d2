"""How long does a reverse sweep take for each node that it emits?

Tapes of 1e5 scalar nodes of two shapes, a serial chain with transcendentals and a wide irregular random
graph, swept with simplification and common subexpressions.
Bar: at most 30 ns a node emitted. CasADi's symbolic gradient of the same graph stands beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side, Timing

import hoad

PEERS = ("casadi",)
BAR_NS = 30.0
INPUTS = 64
RNG = np.random.default_rng(6)

Graph = Callable[[Any, Any], Any]
Operation = tuple[int, Callable[[Any, Any, Any], Any]]

# Operations with the number of nodes they record; each keeps values of [-1, 1] there, so nothing overflows.
MAIN_MIX: tuple[Operation, ...] = (
    (2, lambda m, a, b: 0.5 * (a + b)),
    (2, lambda m, a, b: 0.5 * (a - b)),
    (1, lambda m, a, b: a * b),
    (2, lambda m, a, b: a / (2.0 + b)),
    (1, lambda m, a, b: m.sin(a)),
    (2, lambda m, a, b: m.exp(a - 1.0)),
)
PERTURBED_MIX: tuple[Operation, ...] = (
    (3, lambda m, a, b: 0.3 * a + 0.6 * b),
    (2, lambda m, a, b: a - a * b * b),
    (1, lambda m, a, b: m.cos(b)),
    (2, lambda m, a, b: m.tanh(1.7 * a)),
    (3, lambda m, a, b: m.sqrt(1.5 + a) - 1.0),
    (3, lambda m, a, b: (a - b) / (2.5 + b)),
)


def main_chain(x: Any, m: Any, n: int) -> Any:
    s = x[0]
    for i in range(n // 6):
        s = m.sin(s) * 0.9 + m.exp(-s) * x[i % INPUTS]
    return s


def perturbed_chain(x: Any, m: Any, n: int) -> Any:
    s = x[0]
    for i in range(n // 7):
        s = m.tanh(1.3 * s) / (1.2 + x[i % INPUTS]) - 0.2 * m.cos(s)
    return s


def chain(f: Callable[[Any, Any, int], Any], n: int) -> Graph:
    return lambda x, m: f(x, m, n)


def random_graph(mix: tuple[Operation, ...], n: int, seed: int) -> Graph:
    """About n nodes; operands come from anywhere before them: wide levels, irregular access."""
    rng = np.random.default_rng(seed)
    plan: list[tuple[Callable[[Any, Any, Any], Any], int, int]] = []
    while n > 0:
        size, operation = mix[rng.integers(len(mix))]
        i, j = rng.integers(INPUTS + len(plan), size=2).tolist()
        plan.append((operation, i, j))
        n -= size

    def graph(x: Any, m: Any) -> Any:
        values = [x[k] for k in range(INPUTS)]
        for operation, i, j in plan:
            values.append(operation(m, values[i], values[j]))
        return sum_unused(values, plan)

    return graph


def sum_unused(values: list[Any], plan: list[tuple[Any, int, int]]) -> Any:
    """The sum of what nothing else uses, so that every node reaches the output."""
    used = {i for _, i, _ in plan} | {j for _, _, j in plan}
    total = 0.0
    for k in range(INPUTS, len(values)):
        if k not in used:
            total = total + values[k]
    return total


def casadi_side(graph: Graph) -> tuple[Side, int]:
    """CasADi's gradient, expression to expression, and the nodes that it adds to the graph."""
    ca = harness.peer("casadi")
    x = ca.SX.sym("x", INPUTS)
    y = graph(x, ca)
    before = ca.Function("f", [x], [y]).n_nodes()
    emitted = ca.Function("g", [x], [y, ca.gradient(y, x)]).n_nodes() - before
    return Side("CasADi", lambda: ca.gradient(y, x), lambda: (), most=1), emitted


def check(graph: Graph) -> None:
    """The sweep against CasADi's gradient, at one point."""
    ca = harness.peer("casadi")
    x = ca.SX.sym("x", INPUTS)
    point = fresh_point()
    want = np.array(ca.Function("g", [x], [ca.gradient(graph(x, ca), x)])(point)).ravel()
    found = hoad.gradient(hoad.record(lambda v: graph(v, np), point)).evaluate(point)
    harness.require_equal(found[0] if isinstance(found, tuple) else found, want)


def fresh_point() -> Any:
    return RNG.uniform(0.1, 0.9, INPUTS)


def compare(name: str, make: Callable[[], Graph], settings: Settings) -> list[Row]:
    graph = make()
    check(graph)

    def fresh() -> tuple[Any]:
        """A program recorded at a new point: a sweep has nothing to remember."""
        return (hoad.record(lambda v: graph(v, np), fresh_point()),)

    program = hoad.gradient(fresh()[0])
    recorded, emitted = int(program[0].size), int(program[-1].size)
    other, other_emitted = casadi_side(graph)
    mine, theirs = harness.interleave([Side("hoad", hoad.gradient, fresh, most=4), other], settings)
    note = f"{recorded} nodes recorded, {emitted} emitted ({other_emitted} by CasADi)"
    return rows(name, mine.per(emitted), theirs.per(other_emitted), note)


def rows(name: str, mine: Timing, theirs: Timing, note: str) -> list[Row]:
    question = f"sweep of a {name}, per node emitted"
    return [
        harness.limit(question, mine.median * 1e9, "ns", BAR_NS, note),
        harness.faster(question, mine, theirs),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    n = settings.size(100_000, 300)
    table: list[tuple[str, Callable[[], Graph]]] = [
        ("serial chain", lambda: chain(main_chain, n)),
        ("serial chain (perturbed)", lambda: chain(perturbed_chain, n)),
        ("random graph", lambda: random_graph(MAIN_MIX, n, 10)),
        ("random graph (perturbed)", lambda: random_graph(PERTURBED_MIX, n, 11)),
    ]
    for name, make in table:
        yield f"sweep of a {name}", partial(compare, name, make, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
