"""Programs in pickles: the same values, derivatives and guards on the other side."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.3, 0.7, 1.1])


@hoad.primitive(vjp=lambda g, p, x: (3.0 * g * x * x,))
def cube(x: Any) -> Any:
    return x**3


def mixed(x: Any) -> Any:
    """Items, slices, a captured array, a user's primitive, several results and a branch."""
    sign, logarithm = np.linalg.slogdet(np.outer(x, x) + np.diag([1.0, 2.0, 3.0]))
    total = np.sum(cube(x) * np.sin(x[::-1])) + x[0] * x[1] + sign * logarithm
    return total if x[2] > 0 else -total


def there_and_back(program: hoad.Program) -> hoad.Program:
    return pickle.loads(pickle.dumps(program))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_values_and_derivatives(order: int) -> None:
    program = hoad.record(mixed, X)
    for _ in range(order):
        program = hoad.gradient(program, None if program.results[0].shape == () else "symbolic")
    other = there_and_back(program)
    inputs = [1.5 * X, *[X] * (order - 1)]
    np.testing.assert_array_equal(other.evaluate(*inputs), program.evaluate(*inputs))
    assert [tape.size for tape in other] == [tape.size for tape in program]
    with pytest.raises(hoad.GuardError, match="Record the function again"):
        other.evaluate(-X, *inputs[1:])


def test_what_arrives_can_be_swept_and_read() -> None:
    other = hoad.gradient(there_and_back(hoad.record(mixed, X)))
    np.testing.assert_allclose(other.evaluate(X), hoad.grad(mixed)(X), rtol=1e-14)
    nodes = other[0].nodes
    assert [node.operation for node in nodes] == [node.operation for node in hoad.record(mixed, X)[0].nodes]
    assert nodes[other[0].outputs[0] - 1].result == pytest.approx(mixed(X), rel=1e-14)


def test_calls_of_programs() -> None:
    inner = hoad.record(mixed, X)
    other = there_and_back(hoad.record(lambda x: 2.0 * inner(x * x), X))
    assert other.evaluate(X) == pytest.approx(2.0 * mixed(X * X), rel=1e-14)


def test_a_primitive_that_cannot_be_found_by_name() -> None:
    @hoad.primitive(vjp=lambda g, p, x: (g,))
    def local(x: Any) -> Any:
        return x

    with pytest.raises(pickle.PicklingError, match=r"local.*cannot be pickled.*top of a module"):
        pickle.dumps(hoad.record(local, 1.0))


def test_a_primitive_whose_rule_has_changed() -> None:
    data = pickle.dumps(hoad.record(cube, 1.0))
    hoad.rules.vjp(cube, lambda g, p, x: (3.0 * g * x * x,))
    with pytest.raises(pickle.UnpicklingError, match=r"cube.*rules.*Record the program again"):
        pickle.loads(data)
