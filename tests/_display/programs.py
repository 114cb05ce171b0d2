"""Programs of every kind, for what shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hoad
from hoad._program.program import Program


def by_hand(x: Any, y: Any) -> Any:
    """z = 4xy + 3x sin 4y, on three lines."""
    a = 4 * x * y
    b = np.sin(4 * y)
    return a + b * (3 * x)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def chain(x: Any, length: int = 300) -> Any:
    for _ in range(length):
        s = np.sin(x)
        x = s * x
    return x


def branching(x: Any) -> Any:
    if x > 1:
        return x * x
    return -x


def factors(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(q) + np.sum(r), r


def calls(x: Any) -> Any:
    return hoad.record(by_hand, 1.0, 2.0)(x, x) * x


def doubly(x: Any) -> Any:
    """A program that calls one that calls another, each at its own point."""
    inner = hoad.record(by_hand, 1.0, 2.0)
    middle = hoad.record(lambda y: inner(y, 2 * y) * y, 1.0)
    return middle(x) + middle(3 * x)


def model(theta: Any, *x: Any) -> Any:
    """Containers in and out."""
    return {"cost": theta["a"] * x[0] + theta["b"][0] ** 2 * x[1], "size": theta["a"] * x[1]}


HOSTILE = '</script><b onclick="x">|`&amp;\\N'


def hostile(x: Any) -> Any:
    """An operation whose name is markup everywhere."""

    def nothing(x: Any) -> Any:
        return x * 1

    nothing.__name__ = HOSTILE
    return hoad.primitive(vjp=lambda g, p, x: (g,))(nothing)(x) * x


PROGRAMS: dict[str, Callable[[], Program]] = {
    "hand": lambda: hoad.gradient(hoad.record(by_hand, 2.0, 3.0)),
    "hand, unsimplified": lambda: hoad.gradient(hoad.record(by_hand, 2.0, 3.0), simplify=False),
    "hand, twice": lambda: hoad.gradient(hoad.gradient(hoad.record(by_hand, 2.0, 3.0)), seed="symbolic"),
    "arrays": lambda: hoad.gradient(hoad.record(rosenbrock, np.linspace(0, 1, 5)), simplify=False),
    "large arrays": lambda: hoad.gradient(hoad.record(rosenbrock, np.linspace(0, 1, 5000))),
    "single precision": lambda: hoad.gradient(hoad.record(rosenbrock, np.linspace(0, 1, 5, dtype=np.float32))),
    "many inputs": lambda: hoad.gradient(hoad.record(lambda *x: sum(x) ** 2, *np.arange(20.0))),
    "long": lambda: hoad.gradient(hoad.record(chain, 0.5)),
    "linear": lambda: hoad.gradient(hoad.record(lambda x: 3 * x, 1.0)),
    "several outputs": lambda: hoad.record(lambda x, y: (x * y, y, 3.0), 1.0, 2.0),
    "several results": lambda: hoad.gradient(hoad.record(factors, np.eye(3) + 0.1), seed="symbolic"),
    "calls": lambda: hoad.gradient(hoad.record(calls, 0.5)),
    "calls of calls": lambda: hoad.record(doubly, 0.5),
    "guards": lambda: hoad.gradient(hoad.record(branching, 2.0)),
    "not finite": lambda: hoad.gradient(hoad.record(lambda x: np.log(x) / x, 0.0)),
    "hostile": lambda: hoad.gradient(hoad.record(hostile, 1.0)),
    "tangent": lambda: hoad.tangent(hoad.record(by_hand, 2.0, 3.0), (1.0, 0.5), simplify=False),
    "tangent of a gradient": lambda: hoad.tangent(hoad.gradient(hoad.record(by_hand, 2.0, 3.0)), "symbolic"),
    "containers": lambda: hoad.gradient(hoad.record(model, {"a": 2.0, "b": [3.0]}, 0.5, 1.5), "symbolic"),
    "hostile names": lambda: hoad.gradient(hoad.record(lambda x: x[HOSTILE] * x["y\n"], {HOSTILE: 1.0, "y\n": 2.0})),
    "adjoint alone": lambda: hoad.gradient(hoad.record(by_hand, 2.0, 3.0))[1:],
}
