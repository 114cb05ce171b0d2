"""Implicit functions against closed forms at 40 digits, in every mode, to the fourth order."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from implicit.problems import CIRCLE, PROBLEMS, RIDGE, Problem, conjugate_gradients, line, solved_pair

import hoad
from hoad import implicit

pytestmark = pytest.mark.filterwarnings("ignore:The iteration is not making good progress")

TOLERANCE = {0: 1e-13, 1: 1e-12, 2: 1e-11, 3: 1e-10, 4: 1e-9}


def exact(problem: Problem, order: int) -> float:
    with mp.workdps(60):
        return float(mp.diff(lambda a: mp.re(problem.exact(a)), mp.mpf(problem.point), order))


def test_there_are_twenty_problems() -> None:
    assert len({problem.name for problem in PROBLEMS}) >= 20


@pytest.mark.parametrize("order", TOLERANCE)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_derivatives_of_every_order(problem: Problem, order: int) -> None:
    f = problem.solution
    found = hoad.derivative(f, order)(problem.point) if order else f(problem.point)
    assert found == pytest.approx(exact(problem, order), rel=TOLERANCE[order])


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_every_mode(problem: Problem) -> None:
    f, a = problem.solution, problem.point
    first, second = exact(problem, 1), exact(problem, 2)
    assert hoad.grad(f)(a) == pytest.approx(first, rel=1e-12)
    assert hoad.jvp(f, (a,), (2.0,))[1] == pytest.approx(2 * first, rel=1e-12)
    assert hoad.linearize(f, a)[1](2.0) == pytest.approx(2 * first, rel=1e-12)
    assert hoad.hessian(f)(a) == pytest.approx(second, rel=1e-11)
    assert hoad.hvp(f)(a, 2.0) == pytest.approx(2 * second, rel=1e-11)
    assert hoad.jvp(lambda x: hoad.jvp(f, (x,), (1.0,))[1], (a,), (1.0,))[1] == pytest.approx(second, rel=1e-11)
    assert hoad.grad(lambda x: hoad.jvp(f, (x,), (1.0,))[1])(a) == pytest.approx(second, rel=1e-11)


def test_a_program_runs_the_solver_again() -> None:
    f = lambda a: CIRCLE(a)[0]  # noqa: E731
    program = hoad.gradient(hoad.record(f, 1.9))
    assert program.evaluate(3.0) == pytest.approx(2**-0.5, rel=1e-12)
    assert hoad.record(f, 1.9).evaluate(3.0) == pytest.approx(3 / 2**0.5, rel=1e-12)


def test_the_solver_runs_once_on_plain_numbers() -> None:
    seen: list[Any] = []

    def solver(a: Any, b: Any) -> Any:
        seen.append((a, b))
        return np.sqrt(a + np.sum(b["b"]))

    x = implicit.root(lambda x, a, b: x**2 - a - np.sum(b["b"]), solver)
    gradients = hoad.grad(x, argnums=(0, 1))(2.0, {"b": np.array([1.0, 2.0]), "name": "kept"})
    assert gradients[0] == pytest.approx(0.5 / 5**0.5)
    np.testing.assert_allclose(gradients[1]["b"], 0.5 / 5**0.5)
    assert len(seen) == 1
    assert type(seen[0][0]) is float
    assert type(seen[0][1]["b"]) is np.ndarray
    assert seen[0][1]["name"] == "kept"


def test_hessian_of_several_parameters() -> None:
    x = implicit.root(lambda x, v: x**3 - v[0] * v[1], lambda v: np.cbrt(v[0] * v[1]))
    v = np.array([2.0, 3.0])
    p = 6 ** (1 / 3)
    expected = p / 9 * np.array([[-2 / v[0] ** 2, 1 / (v[0] * v[1])], [1 / (v[0] * v[1]), -2 / v[1] ** 2]])
    np.testing.assert_allclose(hoad.hessian(x)(v), expected, rtol=1e-12)


def test_third_derivatives_of_several_parameters() -> None:
    """x = (v w)^(1/3), v a number and w in a dict: ∂³x/∂v²∂w = -2/27 v^(-5/3) w^(-2/3), in any order of sweeps."""
    x = implicit.root(lambda x, v, p: x**3 - v * p["w"], lambda v, p: np.cbrt(v * p["w"]))
    v, w = 2.0, {"w": 3.0}
    expected = -2 / 27 * 2.0 ** (-5 / 3) * 3.0 ** (-2 / 3)
    by_v = hoad.grad(hoad.grad(lambda v, p: hoad.grad(x, 1)(v, p)["w"]))(v, w)
    by_w = hoad.grad(hoad.grad(hoad.grad(x)), 1)(v, w)["w"]
    forward = hoad.jvp(lambda w: hoad.hessian(x)(v, {"w": w}), (3.0,), (1.0,))[1]
    np.testing.assert_allclose([by_v, by_w, forward], expected, rtol=1e-11)


def test_arguments_of_traced_scalars() -> None:
    """An object array of traced scalars is an argument like any array."""
    x = implicit.root(lambda x, v: x**3 - v[0] * v[1], lambda v: np.cbrt(v[0] * v[1]))
    gradient = hoad.grad(lambda u: x(np.array([u[0], u[0] * u[1]])))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(gradient, 12 ** (1 / 3) / 3 * np.array([2 / 2.0, 1 / 3.0]), rtol=1e-12)


def test_jacobian_of_a_minimum() -> None:
    np.testing.assert_allclose(hoad.jacobian(RIDGE)(0.5), -np.array([1.0, 2.0]) / 1.5**2, rtol=1e-12)


def test_the_matrix_is_never_formed() -> None:
    applied = []

    def counted(u: Any, k: Any) -> Any:
        applied.append(np.shape(u))
        return line(u, k)

    heat = implicit.linear_solve(counted, conjugate_gradients)
    b = np.zeros(500)
    b[0] = 1.0
    k = 0.5
    matrix = np.stack([line(e, k) for e in np.eye(500)])
    laplacian = (matrix - np.eye(500)) / k
    y = np.linalg.solve(matrix, b)
    found = hoad.grad(lambda k: np.sum(heat(b, k) ** 2))(k)
    assert found == pytest.approx(-2 * y @ np.linalg.solve(matrix, laplacian @ y), rel=1e-10)
    gradient = hoad.grad(lambda b: np.sum(heat(b, k) ** 2))(b)
    np.testing.assert_allclose(gradient, 2 * np.linalg.solve(matrix, y), rtol=1e-9, atol=1e-14)
    assert len(applied) == 2  # recorded once a call, never column by column


def test_transposed_solver() -> None:
    calls = []
    matrix = np.array([[2.0, 1.0], [0.0, 3.0]])

    def forward(matvec: Any, b: Any) -> Any:
        calls.append("A")
        return np.linalg.solve(matrix, b)

    def backward(matvec: Any, b: Any) -> Any:
        calls.append("AT")
        np.testing.assert_allclose(matvec(np.array([1.0, 1.0])), matrix.T @ np.ones(2))
        return np.linalg.solve(matrix.T, b)

    y = implicit.linear_solve(lambda y: matrix @ y, forward, transposed=backward)
    gradient = hoad.grad(lambda b: np.sum(y(b) ** 2))(np.array([1.0, 2.0]))
    expected = 2 * np.linalg.solve(matrix.T, np.linalg.solve(matrix, np.array([1.0, 2.0])))
    np.testing.assert_allclose(gradient, expected, rtol=1e-13)
    assert calls == ["A", "AT"]


# ---- errors ---------------------------------------------------------------------------------------------------------


def captured_by_the_residual(a: Any) -> Any:
    return implicit.root(lambda x: x * x - a, lambda: 1.0)()


def captured_by_the_solver(a: Any) -> Any:
    return implicit.root(lambda x, b: x * x - b, lambda b: a * 1.0)(a)


def captured_by_the_matrix(a: Any) -> Any:
    return implicit.linear_solve(lambda y: a * y, lambda matvec, b: b)(np.ones(2))[0]


WRONG = [
    (captured_by_the_residual, hoad.TracedValueError, "residual.*Pass everything that it depends on as an argument"),
    (captured_by_the_solver, hoad.TracedValueError, "solver.*as arguments"),
    (captured_by_the_matrix, hoad.TracedValueError, "matvec.*Pass everything that it depends on as an argument"),
    (implicit.root(lambda x, a: np.stack([x, a]), lambda a: 1.0), hoad.ShapeError, r"as many equations.*\(2,\)"),
    (implicit.root(lambda x, a: {"x": x["x"]}, lambda a: {"x": 1.0, "y": 2.0}), hoad.ShapeError, "as many equations"),
    (implicit.root(lambda x, a: x * 0.0 * a, lambda a: 1.0), np.linalg.LinAlgError, "Singular"),
    (implicit.root(lambda x, a: x - a, lambda a: "root"), hoad.DTypeError, "must be made of floats, but holds str"),
    (
        lambda a: implicit.linear_solve(lambda y: a * y[:1], lambda m, b: b)(np.ones(2)),
        hoad.HoadError,
        "as an argument",
    ),
    (
        lambda a: implicit.linear_solve(lambda y, k: k * y[:1], lambda m, b: b)(np.ones(2), a),
        hoad.ShapeError,
        r"\(1,\)",
    ),
    (
        lambda a: implicit.linear_solve(lambda y, k: k * y, lambda m, b: b[:1])(np.ones(2), a)[0],
        hoad.ShapeError,
        r"return shape \(2,\), but returned shape \(1,\)",
    ),
]


@pytest.mark.parametrize(("f", "error", "message"), WRONG, ids=range(len(WRONG)))
def test_errors_say_what_to_do(f: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        hoad.grad(lambda a: np.sum(f(a)))(2.0)


@pytest.mark.parametrize("make", [implicit.root, implicit.fixed_point, implicit.argmin, implicit.linear_solve])
def test_functions_are_asked_for(make: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match="takes a function"):
        make(3.0, solved_pair)
    with pytest.raises(hoad.ArgumentError, match="takes a function"):
        make(solved_pair, 3.0)
