"""Which items depend on which: against nan, which NumPy carries to all that depends on it, and against construction.

A nan put into one item of an input spoils what depends on it, but for operations that let no nan through: here none are
used. Where structure and nan differ (0 times nan is nan, as it should be) nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad
from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.record.recording import lowered
from hoad._ops.dependence import links

A = np.arange(1.0, 13.0).reshape(3, 4) / 7
B = np.arange(1.0, 9.0).reshape(4, 2) / 5
S = np.arange(1.0, 19.0).reshape(2, 3, 3) / 9 + 4 * np.eye(3)
PLACES = np.array([[2, 0], [1, 1]])


def spoiled(f: Callable[..., Any], *args: Any) -> list[Any]:
    """For each argument, of shape (shape of f(x), its shape), which items of f(x) become nan with which item of it."""
    tables = []
    for k, x in enumerate(args):
        columns = []
        for i in range(np.size(x)):
            flat = np.array(x, float).ravel()
            flat[i] = math.nan
            changed = flat.reshape(np.shape(x))
            with np.errstate(all="ignore"):
                columns.append(np.isnan(f(*args[:k], changed if np.ndim(x) else float(changed), *args[k + 1 :])))
        shape = np.shape(columns[0]) + np.shape(x)
        tables.append(np.stack(columns, axis=-1).reshape(shape))
    return tables


FOLLOWED = [  # item by item
    (lambda x, y: x + y * x, (A, A)),
    (lambda x, y: x + y, (A, A[:, :1])),
    (lambda x, y: x * y, (A, 2.0)),
    (lambda x: x[1:, ::2], (A,)),
    (lambda x: x[PLACES, 1], (A,)),
    (lambda x: x[::-1].T, (A,)),
    (lambda x: np.reshape(x, (2, 6)), (A,)),
    (lambda x, y: np.concatenate([x, y * 2, x], axis=1), (A, A[:, :2])),
    (lambda x, y: np.stack([x[0], y[1]]), (A, A)),
    (lambda x: np.sum(x, axis=0), (A,)),
    (lambda x: np.sum(x, axis=1, keepdims=True), (A,)),
    (lambda x: np.sum(x), (A,)),
    (lambda x: np.max(x, axis=-1), (A,)),
    (lambda x: np.mean(x[1:], axis=0), (A,)),
    (lambda x: np.cumsum(x), (A[0],)),
    (lambda x: np.cumsum(x, axis=0), (A,)),
    (lambda x: np.cumsum(x, axis=1)[:, 1:], (A,)),
    (lambda x: np.broadcast_to(x, (2, 3, 4)), (A,)),
    (lambda x: np.diagonal(np.broadcast_to(x, (4, 3, 4)), -1, 0, 2), (A,)),
    (lambda x, y: x @ y, (A, B)),
    (lambda x, y: x @ y, (A, B[:, 0])),
    (lambda x, y: x @ y, (A[0], B)),
    (lambda x, y: x @ y, (A[0], A[1])),
    (lambda x, y: x @ y, (S, S[0])),
    (lambda x, y: np.matmul(x, y), (S, S[:, :, 0][:, :, None])),
    (lambda x, y: np.linalg.solve(S[0], y) + 0 * x, (np.ones((3, 2)), np.ones((3, 2)))),
    (lambda x: np.diff(x), (A[0],)),
    (lambda x: np.outer(x[0], x[1]), (A,)),
    (lambda x: np.roll(x, 1, axis=1), (A,)),
    (lambda x: np.where(np.array([[True], [False], [True]]), x, 2.0), (A,)),
    (lambda x: x.astype(np.float32) * 2, (A,)),
    (lambda x: np.tile(np.repeat(x[0], 2), 2), (A,)),
    (lambda x: np.array([x[0, 0] * x[1, 1], x[2, 0]], like=x), (A,)),
]


@pytest.mark.parametrize(("f", "args"), FOLLOWED)
def test_items_are_followed(f, args):
    found = hoad.explain(f, *args)
    for x, expected in zip(found.inputs, spoiled(f, *args), strict=True):
        assert np.array_equal(found.depends[found.outputs[0].name, x.name], expected), x


# What lets a nan pass from every item that it depends on; others may absorb one (0 of a strong zero, a mask).
CLEAR = ("add", "multiply", "subtract", "negative", "assemble", "getitem", "gather", "transpose", "reshape", "item")
CLEAR += ("sum", "matmul", "concatenate", "broadcast_to", "cumsum", "cos", "sin")


@pytest.mark.parametrize(("f", "args"), FOLLOWED)
def test_every_node_of_derivatives(f, args):
    program = hoad.record(lambda *args: np.sum(np.sin(f(*args))), *args)
    program = hoad.tangent(hoad.gradient(program), tuple(np.ones(np.shape(x)) for x in args))
    program[2].rows(0, 1)
    program[1].rows(0, 1)
    graph = program[2]._graph
    for i in range(len(args), program[2]._end):
        primitive, operands, params, aval, *_ = node_row(graph, i)
        nodes = sorted({k for k in operands if k >= 0})
        run = lowered(graph, [i], nodes, 0).run
        for node in nodes:
            value = node_row(graph, node)[4]
            if np.asarray(value).dtype.kind != "f":
                continue
            tables = []
            for item in range(np.size(value)):
                spoilt = np.array(value)
                spoilt.flat[item] = math.nan
                given_values = [spoilt if k == node else node_row(graph, k)[4] for k in nodes]
                tables.append(np.ravel(np.isnan(run(given_values)[0])))
            expected = np.stack(tables, axis=-1)
            avals = operand_avals(graph, operands)
            values = [node_row(graph, k)[4] if k >= 0 else const_value(graph, k) for k in operands]
            found = np.zeros(expected.shape, bool)
            for k, operand in enumerate(operands):
                if operand == node:
                    tie = links(primitive, params, avals, aval, k, values)
                    found |= tie.forward(np.eye(np.size(value), dtype=np.uint8)).astype(bool)
                    back = [tie.back(row) for row in np.eye(aval.size, dtype=bool)]
                    assert np.array_equal(np.array(back), tie.forward(np.eye(np.size(value), dtype=np.uint8)) > 0)
            assert np.all(found >= expected), primitive.name
            if primitive.name in CLEAR:
                assert np.array_equal(found, expected), primitive.name


TAKEN_WHOLE = [  # nothing is left out
    (lambda x: np.linalg.inv(x), (S,)),
    (lambda x: np.linalg.det(x), (S,)),
    (lambda x, y: np.linalg.solve(x, y), (S, np.ones((2, 3, 2)))),
    (lambda x: np.sort(x, axis=0), (A,)),
    (lambda x, y: np.convolve(x, y, mode="valid"), (A[0], A[1, :2])),
    (lambda x: np.prod(x, axis=1), (A,)),
]


@pytest.mark.parametrize(("f", "args"), TAKEN_WHOLE)
def test_nothing_is_left_out(f, args):
    found = hoad.explain(f, *args)
    for x, expected in zip(found.inputs, spoiled(f, *args), strict=True):
        assert np.all(found.depends[found.outputs[0].name, x.name] >= expected)


def test_assignment():
    def f(x, y):
        z = np.zeros(5, like=x)
        z[1:3] = x[:2]
        z[3] = y
        z[PLACES[0]] += x[2]
        return z

    found = hoad.explain(f, np.ones(3), 2.0)
    expected = np.zeros((5, 3), bool)
    expected[[1, 2, 2, 0], [0, 1, 2, 2]] = True
    assert np.array_equal(found.depends["f", "x"], expected)
    assert found.depends["f", "y"].tolist() == [False, False, False, True, False]


# ---- random programs, whose dependence is known by construction ------------------------------------------------------

N = 4
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "shift", "sum", "item", "join", "running", "turn", "matrix"]),
        st.integers(0, 50),
        st.integers(0, 50),
    ),
    min_size=1,
    max_size=12,
)
M = np.tril(np.ones((N, N)))


def applied(steps: Any, x: Any, y: Any) -> Any:
    """A program of vectors of length N; each step makes one more of those before."""
    made = [x, y]
    for name, i, j in steps:
        a, b = made[i % len(made)], made[j % len(made)]
        made.append(
            {
                "add": lambda a=a, b=b: np.sin(a) + b,
                "shift": lambda a=a, b=b: np.roll(a, 1) * 1.0,
                "sum": lambda a=a, b=b: b + np.sum(a),
                "item": lambda a=a, b=b, j=j: b * a[j % N],
                "join": lambda a=a, b=b: np.concatenate([a[:2], b[2:]]),
                "running": lambda a=a, b=b: np.cumsum(a),
                "turn": lambda a=a, b=b: a[::-1] / 2,
                "matrix": lambda a=a, b=b: np.sum(np.reshape(a, (2, 2)) * np.reshape(b, (2, 2)), axis=0)[[0, 1, 1, 0]],
            }[name]()
        )
    return made[-1]


def constructed(steps: Any) -> Any:
    """For every item of the last vector, the items of (x, y) it depends on: (N, 2N)."""
    made = [np.eye(N, 2 * N, dtype=bool), np.eye(N, 2 * N, N, dtype=bool)]
    for name, i, j in steps:
        a, b = made[i % len(made)], made[j % len(made)]
        square = (a | b).reshape(2, 2, 2 * N).any(axis=0)
        made.append(
            {
                "add": a | b,
                "shift": np.roll(a, 1, axis=0),
                "sum": b | a.any(axis=0),
                "item": b | a[j % N],
                "join": np.concatenate([a[:2], b[2:]]),
                "running": np.logical_or.accumulate(a, axis=0),
                "turn": a[::-1],
                "matrix": square[[0, 1, 1, 0]],
            }[name]
        )
    return made[-1]


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_random_programs(steps):
    x, y = np.linspace(0.1, 0.4, N), np.linspace(0.5, 0.9, N)
    found = hoad.explain(lambda x, y: applied(steps, x, y), x, y)
    expected = constructed(steps)
    assert np.array_equal(found.depends["f", "x"], expected[:, :N])
    assert np.array_equal(found.depends["f", "y"], expected[:, N:])
    both = spoiled(lambda x, y: applied(steps, x, y), x, y)
    assert np.array_equal(np.concatenate(both, axis=1), expected)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_nothing_is_missed_in_calls_and_loops(steps):
    x, y = np.linspace(0.1, 0.4, N), np.linspace(0.5, 0.9, N)
    program = hoad.record(lambda x, y: applied(steps, x, y), x, y)

    def looped(x, y):
        def step(c, row):
            return applied(steps, c, row), c[0]

        return hoad.scan(step, x, np.stack([y, y]))[0]

    once, twice = hoad.explain(lambda x, y: program(x, y), x, y), hoad.explain(looped, x, y)
    expected = constructed(steps)
    assert np.array_equal(once.depends["f", "x"], expected[:, :N])
    assert np.array_equal(once.depends["f", "y"], expected[:, N:])
    into, rows = expected[:, :N].astype(int), expected[:, N:].astype(int)
    assert np.all(twice.depends["looped", "x"] >= (into @ into > 0))
    assert np.all(twice.depends["looped", "y"] >= (into @ rows + rows > 0))
