"""Arrays that f captures are seen as they were when they were used, whatever is written to them later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([1.0, 2.0, 3.0])


def test_a_buffer_that_f_uses_again() -> None:
    """One work array, filled and multiplied with in turn: every product keeps what was in it."""
    buffer = np.zeros(3)

    def f(x: Any) -> Any:
        total = 0.0
        for k in range(1, 4):
            buffer[:] = k
            total = total + np.sum(buffer * x**k)
        return total

    np.testing.assert_allclose(hoad.grad(f)(X), 1 + 4 * X + 9 * X**2)
    np.testing.assert_allclose(hoad.hessian(f)(X), np.diag(4 + 18 * X))


def test_a_buffer_changed_by_one_item() -> None:
    buffer = np.ones(3)

    def f(x: Any) -> Any:
        first = np.sum(buffer * x)
        buffer[2] = 5.0
        second = np.sum(buffer * x * x)
        buffer[2] = 1.0
        return first + second

    np.testing.assert_allclose(hoad.grad(f)(X), 1 + np.array([1.0, 1.0, 5.0]) * 2 * X)


def test_a_buffer_set_back_to_what_it_was() -> None:
    buffer = np.ones(3)
    seen: list[Any] = []

    def f(x: Any) -> Any:
        total = np.sum(buffer * x)
        buffer[:] = 7.0
        seen.append(hoad.value(np.sum(buffer * x)))
        buffer[:] = 1.0
        return total + np.sum(buffer * x)

    np.testing.assert_array_equal(hoad.grad(f)(X), [2.0, 2.0, 2.0])
    assert seen == [42.0]


CHANGES: dict[str, Callable[[np.ndarray], Any]] = {
    "item": lambda a: a.__setitem__(0, 9.0),
    "all": lambda a: a.fill(9.0),
    "in place": lambda a: np.multiply(a, 9.0, out=a),
    "sorted": lambda a: a[::-1].sort(),
    "shape": lambda a: setattr(a, "shape", a.shape[::-1]) if a.ndim > 1 else a.fill(8.0),
    "nan": lambda a: a.fill(np.nan),
}


NOT_POSSIBLE = {
    ("int", "nan"),
    ("int", "in place"),
    ("0-d", "item"),
    ("0-d", "sorted"),
    ("0-d", "shape"),
    ("view", "shape"),
    ("Fortran", "shape"),
}


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["vector", "matrix", "Fortran", "view", "int", "float32", "0-d"])
def test_changes_after_use(kind: str, change: str) -> None:
    captured: Any = {
        "vector": np.array([2.0, 3.0, 4.0]),
        "matrix": np.arange(1.0, 7.0).reshape(2, 3),
        "Fortran": np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3)),
        "view": np.arange(1.0, 13.0).reshape(4, 3)[::2],
        "int": np.array([2, 3, 4]),
        "float32": np.array([2, 3, 4], dtype=np.float32),
        "0-d": np.array(2.0),
    }[kind]
    if (kind, change) in NOT_POSSIBLE:
        pytest.skip("NumPy cannot do that")
    before = captured.copy()

    def f(x: Any) -> Any:
        y = np.sum(captured * x**2)
        CHANGES[change](captured)
        return y

    value, gradient = hoad.value_and_grad(f)(X)
    assert value == np.sum(before * X**2)
    np.testing.assert_allclose(
        gradient, np.sum(np.broadcast_to(before * 2 * X, np.shape(before * X)).reshape(-1, 3), axis=0)
    )


def test_the_argument_itself_may_be_written_to() -> None:
    """f's caller, or f by a name of its own, writes to the array that is differentiated at."""
    argument = X.copy()

    def f(x: Any) -> Any:
        y = np.sum(x**3)
        argument[:] = 0.0
        return y + np.sum(x)

    value, gradient = hoad.value_and_grad(f)(argument)
    assert value == 36.0 + 6.0
    np.testing.assert_array_equal(gradient, 3 * X**2 + 1)
    np.testing.assert_array_equal(argument, 0.0)


def test_results_are_the_callers_own() -> None:
    """Writing to what a driver returned changes neither the argument, nor a captured array, nor a later result."""
    argument, captured = X.copy(), np.ones(3)
    slope = hoad.grad(lambda x: np.sum(captured * x))
    first = slope(argument)
    first[:] = 9.0
    np.testing.assert_array_equal(slope(argument), captured)
    np.testing.assert_array_equal(captured, 1.0)

    value, pullback = hoad.vjp(lambda x: x, argument)
    value[:] = 9.0
    np.testing.assert_array_equal(argument, X)
    cotangent = np.ones(3)
    pullback(cotangent)[0][:] = 9.0
    np.testing.assert_array_equal(cotangent, 1.0)
    value, tangent = hoad.jvp(lambda x: x, (argument,), (cotangent,))
    tangent[:] = value[:] = 9.0
    np.testing.assert_array_equal(cotangent, 1.0)
    constant = np.ones(3)
    value, _ = hoad.jvp(lambda x: constant, (argument,), (cotangent,))
    value[:] = 9.0
    np.testing.assert_array_equal(constant, 1.0)
    _, (first, second) = hoad.value_and_grad(lambda x, y: np.sum(x + y), argnums=(0, 1))(argument, argument)
    first[:] = 9.0
    np.testing.assert_array_equal(second, 1.0)
    (zeros, _), value = hoad.grad(lambda x, y: 3.0, argnums=(0, 1))(argument, argument), None
    zeros[:] = 9.0
    np.testing.assert_array_equal(hoad.grad(lambda x: 3.0)(argument), 0.0)


def test_a_linear_map_sees_captured_arrays_as_they_were() -> None:
    captured = np.array([2.0, 3.0, 4.0])
    argument = X.copy()
    _, pullback = hoad.vjp(lambda x: captured * x**2, argument)
    _, pushforward = hoad.linearize(lambda x: captured * x**2, argument)
    captured[:] = 0.0
    argument[:] = 0.0
    wanted = np.array([2.0, 3.0, 4.0]) * 2 * X
    np.testing.assert_array_equal(pullback(np.ones(3))[0], wanted)
    np.testing.assert_array_equal(pushforward(np.ones(3)), wanted)
    np.testing.assert_array_equal(hoad.grad(lambda s: np.sum(pushforward(s * np.ones(3))))(1.0), wanted.sum())


def test_indices_and_masks_are_seen_as_they_were() -> None:
    index, mask = np.array([0, 1]), np.array([True, False, True])

    def f(x: Any) -> Any:
        first, second, third = np.sum(x[index] ** 2), np.sum(x[mask] ** 3), np.sum(np.where(mask, x, 0.0))
        index[:] = 2
        mask[:] = False
        return first + second + third

    np.testing.assert_array_equal(hoad.grad(f)(X), [2 + 3 + 1, 4, 27 + 1])


def test_directions_and_seeds_are_seen_as_they_were() -> None:
    direction = np.ones(3)

    def f(x: Any) -> Any:
        tangent = hoad.jvp(lambda y: y**2, (x,), (direction,))[1]
        direction[:] = 0.0
        return np.sum(tangent)

    np.testing.assert_array_equal(hoad.grad(f)(X), [2.0, 2.0, 2.0])


def test_many_uses_of_one_array_are_one_constant() -> None:
    """A loop that uses one array a thousand times records it once, by its bytes."""
    captured = np.ones(1000)
    program = hoad.record(lambda x: sum(np.sum(captured * x) for _ in range(1000)), np.ones(1000))
    constants = {id(k.value) for node in program[0] for k in node.operands if not isinstance(k, int)}
    assert program[0].size > 1000
    assert len([1 for node in program[0] if node.operation == "multiply"]) == 1000
    assert len(constants) <= 1001


def test_subclasses_and_nan_bytes() -> None:
    """An array with nan is known again by its bytes; a masked or a matrix array counts as its data."""
    captured = np.array([1.0, np.nan, 3.0])

    def f(x: Any) -> Any:
        return np.sum(np.where(np.isnan(captured), 0.0, captured * x)) + (captured * x)[2]

    np.testing.assert_array_equal(hoad.grad(f)(X), [1.0, 0.0, 6.0])
