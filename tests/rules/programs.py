"""Random programs: DAGs of smooth operations whose values stay of moderate size, for hypothesis to draw and shrink."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hoad._core.kernels import ufuncs

Function = Callable[..., Any]

UNARY: dict[str, Function] = {
    "sin(x)": np.sin,
    "cos(x)": np.cos,
    "tanh(x)": np.tanh,
    "arctan(x)": np.arctan,
    "arcsinh(x)": np.arcsinh,
    "sech_squared(x)": ufuncs.sech_squared,
    "logistic(x)": ufuncs.logistic,
    "-x": lambda x: -x,
    "x - 0.5": lambda x: x - 0.5,
    "sin(x)**2": lambda x: np.sin(x) ** 2,
    "tanh(x)**3": lambda x: np.tanh(x) ** 3,
    "exp(sin(x))": lambda x: np.exp(np.sin(x)),
    "exp2(tanh(x))": lambda x: np.exp2(np.tanh(x)),
    "expm1(tanh(x))": lambda x: np.expm1(np.tanh(x)),
    "log(2 + sin(x))": lambda x: np.log(2.0 + np.sin(x)),
    "log1p(x²)": lambda x: np.log1p(np.square(x)),
    "sqrt(1 + x²)": lambda x: np.sqrt(1.0 + x * x),
    "cbrt(2 + cos(x))": lambda x: np.cbrt(2.0 + np.cos(x)),
    "(1 + x²)**-0.5": lambda x: (1.0 + x * x) ** -0.5,
    "1 / (2 + x²)": lambda x: np.reciprocal(2.0 + x**2),
    "arcsin(0.7 sin(x))": lambda x: np.arcsin(0.7 * np.sin(x)),
    "arccos(0.7 tanh(x))": lambda x: np.arccos(0.7 * np.tanh(x)),
    "arctanh(0.6 cos(x))": lambda x: np.arctanh(0.6 * np.cos(x)),
    "arccosh(2 + x²)": lambda x: np.arccosh(2.0 + x * x),
    "tan(0.5 sin(x))": lambda x: np.tan(0.5 * np.sin(x)),
    "sinh(sin(x))": lambda x: np.sinh(np.sin(x)),
}

BINARY: dict[str, Function] = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x sin(y)": lambda x, y: x * np.sin(y),
    "tanh(x) tanh(y)": lambda x, y: np.tanh(x) * np.tanh(y),
    "x / (1 + y²)": lambda x, y: x / (1.0 + y * y),
    "hypot(1 + x², y)": lambda x, y: np.hypot(1.0 + x * x, y),
    "arctan2(x, 2 + sin(y))": lambda x, y: np.arctan2(x, 2.0 + np.sin(y)),
    "logaddexp(x, y)": np.logaddexp,
    "(2 + sin(x))**tanh(y)": lambda x, y: (2.0 + np.sin(x)) ** np.tanh(y),
}

# On vectors of three: operations that mix elements.
MATRIX = np.array([[0.5, -0.3, 0.2], [0.1, 0.4, -0.6], [-0.2, 0.3, 0.3]])
MIXING: dict[str, Function] = {
    "x[::-1]": lambda x: x[::-1],
    "x[[2, 0, 0]]": lambda x: x[[2, 0, 0]],
    "concatenate(x[1:], x[:1])": lambda x: np.concatenate([x[1:], x[:1]]),
    "x - mean(x)": lambda x: x - np.mean(x),
    "A @ x": lambda x: MATRIX @ x,
    "x @ A": lambda x: x @ MATRIX,
    "x sum(x[:2]) / 3": lambda x: x * np.sum(x[:2]) / 3.0,
    "sin(x) prod(cos(x))": lambda x: np.sin(x) * np.prod(np.cos(x)),
    "outer(sin(x), x).sum(0)": lambda x: np.outer(np.sin(x), x).sum(axis=0),
    "solve(I + A, x)": lambda x: np.linalg.solve(2 * np.eye(3) + MATRIX, x),
    "stack(x[1], x[0], x[2])": lambda x: np.stack([x[1], x[0], x[2]]),
    "x / norm(1 + x²)": lambda x: x / np.linalg.norm(1.0 + x * x),
}


@dataclass(frozen=True)
class Node:
    operation: str
    operands: tuple[int, ...]


@dataclass(frozen=True)
class RandomProgram:
    """Nodes on inputs and earlier nodes; the result is the sum of the last two."""

    inputs: int
    nodes: tuple[Node, ...]

    def __call__(self, *xs: Any) -> Any:
        values = list(xs)
        for node in self.nodes:
            f = UNARY.get(node.operation) or BINARY.get(node.operation) or MIXING[node.operation]
            values.append(f(*[values[k] for k in node.operands]))
        return values[-1] + values[-2] if len(values) > 1 else values[-1]


@st.composite
def programs(draw: Any, operations: Sequence[dict[str, Function]] = (UNARY, BINARY), largest: int = 9) -> RandomProgram:
    inputs = draw(st.integers(1, 3))
    names = [(name, 2 if table is BINARY else 1) for table in operations for name in table]
    nodes = []
    for k in range(draw(st.integers(1, largest))):
        name, arity = draw(st.sampled_from(names))
        # Recent nodes are drawn more often, so that programs are deep as well as wide.
        back = st.integers(1, inputs + k)
        places = tuple(max(inputs + k - draw(back), 0) for _ in range(arity))
        nodes.append(Node(name, places))
    return RandomProgram(inputs, tuple(nodes))


numbers = st.integers(-200, 200).map(lambda n: n / 100.0)
