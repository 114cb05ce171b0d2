"""Programs: recorded once, replayed anywhere, differentiated again and again, never changed."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import same

import hoad
from hoad._program.program import Program
from hoad._program.tape import Constant

X = np.array([0.75, -1.25, 0.5])


def f(x: Any) -> Any:
    return np.sum(np.sin(x) * x**2) + x[0] * x[2]


def gradient(x: np.ndarray) -> np.ndarray:
    return np.cos(x) * x**2 + np.sin(x) * 2 * x + np.array([x[2], 0.0, x[0]])


def hessian(x: np.ndarray) -> np.ndarray:
    diagonal = -np.sin(x) * x**2 + 4 * x * np.cos(x) + 2 * np.sin(x)
    return np.diag(diagonal) + np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_evaluation_elsewhere() -> None:
    program = hoad.record(f, X)
    first = hoad.gradient(program)
    second = hoad.gradient(first, seed="symbolic")
    for x in (X, 2 * X, X[::-1], np.zeros(3)):
        assert program.evaluate(x) == pytest.approx(f(x), rel=1e-15, abs=1e-15)
        np.testing.assert_allclose(first.evaluate(x), gradient(x), rtol=1e-13, atol=1e-14)
        for e in np.eye(3):
            np.testing.assert_allclose(second.evaluate(x, e), hessian(x) @ e, rtol=1e-12, atol=1e-13)
    assert [len(p) for p in (program, first, second)] == [1, 2, 3]


def test_kinds_of_input() -> None:
    program = hoad.gradient(hoad.record(f, X))
    wanted = program.evaluate(X)
    for x in (list(X), X.astype("f4").astype(float), np.asfortranarray(X), X.astype(">f8"), np.repeat(X, 2)[::2]):
        np.testing.assert_allclose(program.evaluate(x), gradient(np.asarray(x, dtype=float)), rtol=1e-12)
    np.testing.assert_array_equal(program.evaluate(X), wanted)
    scalar = hoad.gradient(hoad.record(np.sin, 0.5))
    for x in (0, 0.0, np.float32(0), np.int64(0), np.array(0), True - 1):
        assert scalar.evaluate(x) == 1.0


def test_inputs_that_do_not_fit() -> None:
    program = hoad.record(lambda x, y: np.sum(x) * y, X, 2.0)
    cases: list[tuple[tuple[Any, ...], str]] = [
        ((), "takes 2 inputs, but 0 were given"),
        ((X,), "takes 2 inputs, but 1 was given"),
        ((X, 1.0, 2.0), "takes 2 inputs, but 3 were given"),
        ((X[:2], 1.0), r"recorded with shape \(3,\), but shape \(2,\) was given"),
        ((1.0, 1.0), r"recorded with shape \(3,\), but shape \(\) was given"),
        ((X, X), r"recorded with shape \(\), but shape \(3,\) was given"),
        ((X * 1j, 1.0), "complex128"),
        ((X, "a"), "dtype"),
        ((X, None), "dtype"),
    ]
    for args, message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            program.evaluate(*args)
    assert program.evaluate(X, 2.0) == 0.0


def test_several_arguments_and_results() -> None:
    program = hoad.record(lambda x, y: (x * y, np.sum(y)), 2.0, X)
    value, total = program.evaluate(3.0, X)
    np.testing.assert_array_equal(value, 3 * X)
    assert total == 0.0 and type(total) is float
    adjoint = hoad.gradient(program, seed=(np.ones(3), 2.0))
    d_x, d_y = adjoint.evaluate(3.0, X)
    assert d_x == 0.0
    np.testing.assert_array_equal(d_y, np.full(3, 5.0))
    symbolic = hoad.gradient(program, seed="symbolic")
    d_x, d_y = symbolic.evaluate(3.0, X, 2 * X, 1.0)
    assert d_x == pytest.approx(2 * X @ X)
    np.testing.assert_allclose(d_y, 6 * X + 1)


def test_seeds() -> None:
    program = hoad.record(lambda x: x**2, X)
    with pytest.raises(hoad.ShapeError, match="needs a seed"):
        hoad.gradient(program)
    np.testing.assert_array_equal(hoad.gradient(program, seed=X).evaluate(X), 2 * X * X)
    for seed in (1.0, np.ones(2), np.ones((1, 3)), (X, X)):
        with pytest.raises(hoad.ShapeError, match="seed"):
            hoad.gradient(program, seed=seed)
    with pytest.raises(ValueError, match="symbolic"):
        hoad.gradient(program, seed="numeric")
    number = hoad.record(lambda x: x**2, 3.0)
    assert hoad.gradient(number, seed=2.0).evaluate(3.0) == 12.0
    assert hoad.gradient(number, seed=0.0).evaluate(3.0) == 0.0
    assert hoad.gradient(number, seed="symbolic").evaluate(3.0, 5.0) == 30.0


def test_results_that_are_inputs_or_constants() -> None:
    identity = hoad.record(lambda x: x, X)
    np.testing.assert_array_equal(identity.evaluate(2 * X), 2 * X)
    np.testing.assert_array_equal(hoad.gradient(identity, seed=X).evaluate(X), X)
    constant = hoad.record(lambda x: 3.0, 1.0)
    assert constant.evaluate(7.0) == 3.0
    assert hoad.gradient(constant).evaluate(7.0) == 0.0
    assert hoad.gradient(hoad.gradient(constant)).evaluate(7.0) == 0.0
    array = hoad.record(lambda x: np.arange(3.0), 1.0)
    np.testing.assert_array_equal(array.evaluate(7.0), np.arange(3.0))
    swapped = hoad.record(lambda x, y: (y, x), 1.0, 2.0)
    assert swapped.evaluate(3.0, 4.0) == (4.0, 3.0)
    ignored = hoad.gradient(hoad.record(lambda x, y: np.sum(y), X, X))
    np.testing.assert_array_equal(ignored.evaluate(X, X)[0], np.zeros(3))


def test_what_evaluate_returns_is_the_callers_own() -> None:
    program = hoad.record(lambda x: (x, np.arange(3.0), x * 1), X)
    given = X.copy()
    for result in program.evaluate(given):
        result[:] = 9.0
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(program.evaluate(X)[1], np.arange(3.0))


class Celsius(float):
    """A number of a class of its own, which gives NumPy another value than its own."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return np.array(float(self))


def test_numbers_of_every_class_are_the_same_input() -> None:
    """Those that are placed as they are, and those that NumPy converts, in turn: none is left of the call before."""
    program = hoad.gradient(hoad.record(lambda x, y: x * np.sin(y), 0.5, 0.25))
    held = np.array(2.0)
    for x in (1.5, np.float64(-2.0), held, Celsius(3.0), np.array(4.0, ">f8"), 5, np.float32(0.5), np.array(7), True):
        for y in (0.75, np.array(0.25)):
            assert program.evaluate(x, y) == (np.sin(y), float(x) * np.cos(y))
    assert held == 2.0


@pytest.mark.parametrize("n", [3, 5000], ids=["short", "long"])
def test_a_call_keeps_nothing_of_what_it_was_given_or_gave(n: int) -> None:
    program = hoad.record(lambda x: (x * 2, x[0] * 3), np.ones(n))
    x = np.arange(n, dtype=float)
    doubled, first = program.evaluate(x)
    again = program.evaluate(x + 1)[0]
    np.testing.assert_array_equal(doubled, 2 * x)
    np.testing.assert_array_equal(again, 2 * x + 2)
    assert first == 0.0
    alive = [weakref.ref(x), weakref.ref(doubled)]
    del x, doubled
    assert [array() for array in alive] == [None, None]


@pytest.mark.parametrize("n", [2, 5000], ids=["short", "long"])
def test_a_call_that_fails_leaves_the_next_right(n: int) -> None:
    program = hoad.record(lambda x: x * 2 if x[0] > 0 else x * 3, np.ones(n))
    for _ in range(2):
        np.testing.assert_array_equal(program.evaluate(np.full(n, 2.0)), np.full(n, 4.0))
        with pytest.raises(hoad.GuardError):
            program.evaluate(-np.ones(n))
        with pytest.raises(hoad.ShapeError):
            program.evaluate(np.ones(n + 1))


def test_a_program_that_runs_itself() -> None:
    """A primitive evaluates the program that it is a part of: each call has its own memory."""

    @hoad.primitive(vjp=lambda g, p, x: (g,))
    def countdown(x: Any) -> Any:
        return float(x) if not programs or x <= 0 else x + programs[0].evaluate(x - 1.0)

    programs: list[Program] = []
    programs.append(hoad.record(lambda x: countdown(x) * 1.0, 1.0))
    assert programs[0].evaluate(4.0) == 4 + 3 + 2 + 1


def test_nothing_recorded_is_ever_changed() -> None:
    """Two gradients of one program do not meet; nor do longer programs change those they came from."""
    program = hoad.record(f, X)
    shown = [(n.operation, n.operands) for n in program[0] if not any(isinstance(k, Constant) for k in n.operands)]
    size = program[0].size
    one = hoad.gradient(program)
    other = hoad.gradient(program, seed=2.0)
    third = hoad.gradient(one, seed="symbolic")
    fourth = hoad.gradient(one, seed=X)
    np.testing.assert_allclose(one.evaluate(X), gradient(X))
    np.testing.assert_allclose(other.evaluate(X), 2 * gradient(X))
    np.testing.assert_allclose(third.evaluate(X, X), hessian(X) @ X)
    np.testing.assert_allclose(fourth.evaluate(X), hessian(X) @ X)
    assert (len(program), program[0].size) == (1, size)
    assert [
        (n.operation, n.operands) for n in program[0] if not any(isinstance(k, Constant) for k in n.operands)
    ] == shown
    assert program.evaluate(X) == pytest.approx(f(X))


def test_programs_are_lists() -> None:
    program = hoad.gradient(hoad.gradient(hoad.record(f, X)), seed="symbolic")
    np.testing.assert_allclose(Program(program[:2]).evaluate(X), gradient(X))
    np.testing.assert_allclose(Program(list(program)).evaluate(X, X), hessian(X) @ X)
    assert Program(program[:1]).evaluate(X) == pytest.approx(f(X))
    kept = Program(program[:1])
    del program
    assert kept.evaluate(2 * X) == pytest.approx(f(2 * X))
    np.testing.assert_allclose(hoad.gradient(kept).evaluate(X), gradient(X))
    with pytest.raises(hoad.ShapeError, match="no tapes"):
        Program().evaluate(1.0)


GUARDED: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "if": (lambda x: x * x if x > 1 else -x, 2.0, 0.5),
    "if not": (lambda x: x * x if not x > 1 else -x, 0.5, 2.0),
    "if x": (lambda x: x * x if x else 1.0, 2.0, 0.0),
    "max": (lambda x: max(x, 1.0) * x, 2.0, 0.5),
    "mask": (lambda x: np.sum(x[x > 0]), np.array([1.0, -1.0]), np.array([1.0, 1.0])),
    "array of one": (lambda x: np.sum(x) if x[:1] > 0 else np.sum(x**2), np.array([1.0, -1.0]), np.array([-1.0, 1.0])),
    "loop": (lambda x: newton(x), 2.0, 1e6),
    "sorted": (lambda x: sorted([x[0], x[1]])[0] * x[1], np.array([1.0, 2.0]), np.array([2.0, 1.0])),
    "dead": (lambda x: x if x > 1 else x, 2.0, 0.5),  # noqa: RUF034
    "nested": (lambda x: x * hoad.grad(lambda y: y * y if y > 1 else y)(x), 2.0, 0.5),
}


def newton(x: Any) -> Any:
    y = x
    while abs(y * y - x) > 1e-6 * x:
        y = 0.5 * (y + x / y)
    return y


@pytest.mark.parametrize("name", GUARDED)
def test_guards(name: str) -> None:
    """A replay that would have taken another branch says so, with the line of the branch."""
    g, x, other = GUARDED[name]
    program = hoad.record(g, x)
    first = hoad.gradient(program)
    assert program.evaluate(x) == pytest.approx(g(x))
    np.testing.assert_allclose(first.evaluate(x), hoad.grad(g)(x))
    for p in (program, first):
        with pytest.raises(hoad.GuardError, match=r"branch at .*test_programs\.py:\d+") as caught:
            p.evaluate(other)
        assert "Record the function again" in str(caught.value)
    assert program.evaluate(x) == pytest.approx(g(x))
    assert program[0].guards


def test_programs_as_functions() -> None:
    """On traced values a program is one node, differentiated by its own adjoint, to any order."""
    program = hoad.record(f, X)
    np.testing.assert_allclose(hoad.grad(program)(X), gradient(X), rtol=1e-13)
    np.testing.assert_allclose(hoad.hessian(program)(X), hessian(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(hoad.jvp(program, (X,), (X,))[1], gradient(X) @ X, rtol=1e-13)
    np.testing.assert_allclose(hoad.jacobian(hoad.grad(program), mode="reverse")(X), hessian(X), rtol=1e-12, atol=1e-13)
    third = hoad.jacobian(hoad.hessian(program))(X)
    np.testing.assert_allclose(third, hoad.jacobian(hoad.hessian(f))(X), rtol=1e-11, atol=1e-11)
    composed = lambda x: program(np.sin(x)) * program(x)  # noqa: E731
    plain = lambda x: f(np.sin(x)) * f(x)  # noqa: E731
    np.testing.assert_allclose(hoad.grad(composed)(X), hoad.grad(plain)(X), rtol=1e-12)
    np.testing.assert_allclose(hoad.hessian(composed)(X), hoad.hessian(plain)(X), rtol=1e-11, atol=1e-11)
    assert program(X) == program.evaluate(X)
    with pytest.raises(hoad.ShapeError, match=r"has shape \(3,\), but \(2,\) was given"):
        hoad.grad(lambda x: program(x[:2]))(X)


def test_programs_inside_programs() -> None:
    inner = hoad.record(lambda x, y: np.sum(x * y**2), X, 2.0)
    outer = hoad.record(lambda x: inner(x**2, x[0]) + inner(x, 1.0), X)
    plain = lambda x: np.sum(x**2 * x[0] ** 2) + np.sum(x)  # noqa: E731
    assert [n.operation for n in outer[0]].count("call") == 2
    for x in (X, 2 * X):
        assert outer.evaluate(x) == pytest.approx(plain(x), rel=1e-14)
        np.testing.assert_allclose(hoad.gradient(outer).evaluate(x), hoad.grad(plain)(x), rtol=1e-13)
        second = hoad.gradient(hoad.gradient(outer), seed="symbolic")
        np.testing.assert_allclose(second.evaluate(x, X), hoad.hvp(plain)(x, X), rtol=1e-12, atol=1e-13)


def test_guards_of_inner_programs_hold() -> None:
    inner = hoad.record(lambda x: x * x if x > 1 else -x, 2.0)
    outer = hoad.record(lambda x: inner(x) * 2, 3.0)
    assert outer.evaluate(4.0) == 32.0
    with pytest.raises(hoad.GuardError):
        outer.evaluate(0.5)
    with pytest.raises(hoad.GuardError):
        hoad.grad(inner)(0.5)


def test_record_inside_a_derivative_is_its_own() -> None:
    def g(x: Any) -> Any:
        program = hoad.gradient(hoad.record(lambda y: y**3, 1.0))
        return x * program.evaluate(2.0) + program(x)

    assert hoad.grad(g)(3.0) == 12.0 + 18.0
    with pytest.raises(hoad.TracedValueError, match="must be plain"):
        hoad.grad(lambda x: hoad.record(np.sin, x).evaluate(1.0))(1.0)
    with pytest.raises(hoad.TracedValueError, match="two recordings"):
        hoad.grad(lambda x: hoad.record(lambda y: y * x, 1.0).evaluate(1.0))(1.0)


def test_programs_replay_in_many_threads_at_once() -> None:
    program = hoad.gradient(hoad.gradient(hoad.record(f, X)), seed="symbolic")
    points = [np.cos(np.arange(3) + k) for k in range(400)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda x: program.evaluate(x, X), points))
    finally:
        sys.setswitchinterval(before)
    for x, product in zip(points, found, strict=True):
        np.testing.assert_allclose(product, hessian(x) @ X, rtol=1e-11, atol=1e-12)


def test_gradients_of_one_program_in_many_threads_at_once() -> None:
    program = hoad.record(f, X)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: hoad.gradient(program, seed=float(k)).evaluate(X), range(64)))
    for k, product in enumerate(found):
        np.testing.assert_allclose(product, k * gradient(X), rtol=1e-13)


def test_nodes_tell_what_they_are() -> None:
    program = hoad.record(lambda x, y: x * y + np.sin(x), 2.0, 3.0)
    rows = list(program[0])
    assert [row.number for row in rows] == list(range(1, 6))
    assert [row.operation for row in rows] == ["input", "input", "multiply", "sin", "add"]
    assert [row.parents for row in rows] == [(), (), (1, 2), (1,), (3, 4)]
    assert [row.result for row in rows[:3]] == [2.0, 3.0, 6.0]
    assert program[0].inputs == (1, 2) and program[0].outputs == (5,)
    constant = hoad.record(lambda x: x * 2.5 + X, 2.0)[0].nodes
    assert constant[1].operands[1] == Constant(2.5)
    assert same(constant[2].operands[1].value if isinstance(constant[2].operands[1], Constant) else None, X)
    adjoint = hoad.gradient(program)[1]
    assert all(row.number > 5 for row in adjoint)
    assert {row.adjoint_of for row in adjoint} - {None} <= {1, 2, 3, 4, 5}
    assert [row.result for row in adjoint][-1] in (3.0 + np.cos(2.0), 2.0)


def test_values_of_adjoint_nodes_at_the_recorded_point() -> None:
    program = hoad.gradient(hoad.record(f, X))
    results = {row.number: row.result for row in program[1]}
    (output,) = program[1].outputs
    np.testing.assert_allclose(results[output], gradient(X), rtol=1e-13)
    symbolic = hoad.gradient(program, seed="symbolic")
    assert symbolic[2].nodes[0].operation == "input" and symbolic[2].nodes[0].result is None


def test_sizes_in_bytes() -> None:
    program = hoad.record(lambda x: sum(x * float(k) for k in range(1000)), 1.0)
    assert 0 < program[0].nbytes < 1000 * 200
    assert repr(program).startswith("Program([<Tape: primal")
    assert len(str(hoad.gradient(program))) > 0


class Refused(Exception):
    pass


@hoad.primitive(vjp=lambda g, p, x: (g * np.cos(x),))
def choosy(x: Any) -> Any:
    """A function that refuses negative numbers."""
    if np.any(np.asarray(x) < 0):
        raise Refused(str(x))
    return np.sin(x)


@hoad.primitive(vjp=lambda g, p, x: (choosy_slope(x) * g,), linear=())
def choosy_twice(x: Any) -> Any:
    return x * x


@hoad.primitive(vjp=lambda g, p, x: (2.0 * g,))
def choosy_slope(x: Any) -> Any:
    if np.any(np.asarray(x) < 0):
        raise Refused(str(x))
    return 2.0 * x


@pytest.mark.parametrize("x", [0.5, np.array([0.5, 0.25])], ids=["number", "array"])
def test_exceptions_of_primitives_pass_through(x: Any) -> None:
    """A function of the user's that raises while values are computed, recorded or replayed, is heard."""
    program = hoad.record(lambda x: np.sum(choosy(x)) * 2, x)
    first = hoad.gradient(hoad.record(lambda x: np.sum(choosy_twice(x)), x))
    for _ in range(3):
        with pytest.raises(Refused):
            program.evaluate(-x)
        with pytest.raises(Refused):
            hoad.grad(lambda x: np.sum(choosy(x)))(-x)
        with pytest.raises(Refused):
            first.evaluate(-x)
        with pytest.raises(Refused):  # raised by the sweep's own values
            hoad.grad(lambda x: np.sum(choosy_twice(x)))(-x)
        with pytest.raises(Refused):
            hoad.jacobian(choosy_twice, mode="forward")(-x)
        with pytest.raises(Refused):
            hoad.vjp(choosy_twice, -x)[1](np.ones(np.shape(x)))
        np.testing.assert_allclose(program.evaluate(x), 2 * np.sum(np.sin(x)))
        np.testing.assert_allclose(first.evaluate(x), 2 * np.asarray(x))
        np.testing.assert_allclose(hoad.grad(lambda x: np.sum(choosy_twice(x)))(x), 2 * np.asarray(x))


@hoad.primitive(vjp=lambda g, p, x: (g,))
def fickle(x: Any) -> Any:
    """Its result has another shape at other values, which no program can be fixed to."""
    return np.ones(3) if np.all(np.asarray(x) == 1.0) else np.ones(2)


def test_primitives_that_change_their_shape_are_refused() -> None:
    with pytest.raises((ValueError, hoad.HoadError), match="shape"):
        hoad.jacobian(lambda x: fickle(x))(np.full(3, 2.0))
