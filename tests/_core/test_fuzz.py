"""Random array programs: every mode agrees with every other, and with complex steps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from _core.programs import ARGUMENTS, BINARY, CONSTANTS, UNARY, Step, run, steps
from _numpy.agreement import by_complex_steps, by_differences
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad

EXAMPLES = 150
arguments = st.sampled_from(range(len(ARGUMENTS)))


def check_first(program: list[Step], k: int) -> None:
    x = ARGUMENTS[k]

    def f(x: object) -> object:
        return run(program, x)

    plain = f(np.float64(x) if isinstance(x, float) else x)
    value, gradient = hoad.value_and_grad(f)(x)
    assert value == pytest.approx(plain, rel=1e-12, abs=1e-12)
    assert np.shape(gradient) == np.shape(x)
    wanted = by_complex_steps(f, x)
    scale = 1e-11 * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=scale)
    np.testing.assert_allclose(hoad.jacobian(f, mode="forward")(x), gradient, rtol=0, atol=scale)
    v = np.cos(np.arange(np.size(x), dtype=float)).reshape(np.shape(x))
    tangent = hoad.jvp(f, (x,), (v,))[1]
    assert tangent == pytest.approx(np.sum(gradient * v), rel=1e-11, abs=scale)
    _, pullback = hoad.vjp(f, x)
    np.testing.assert_allclose(pullback(2.0)[0], 2 * np.asarray(gradient), rtol=0, atol=2 * scale)


def check_second(program: list[Step], k: int) -> None:
    x = ARGUMENTS[k]

    def f(x: object) -> object:
        return run(program, x)

    n = np.size(x)
    hessian = np.reshape(hoad.hessian(f)(x), (n, n))
    scale = 1e-10 * max(1.0, float(np.max(np.abs(hessian), initial=0.0)))
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=scale)
    v = np.cos(np.arange(n, dtype=float)).reshape(np.shape(x))
    for driver in (hoad.hvp, hoad.vhp):
        np.testing.assert_allclose(np.ravel(driver(f)(x, v)), hessian @ np.ravel(v), rtol=0, atol=scale)
    nested = hoad.jacobian(hoad.grad(f), mode="reverse")(x)
    np.testing.assert_allclose(np.reshape(nested, (n, n)), hessian, rtol=0, atol=scale)
    nested = hoad.jacobian(hoad.jacobian(f, mode="forward"), mode="forward")(x)
    np.testing.assert_allclose(np.reshape(nested, (n, n)), hessian, rtol=0, atol=scale)


@given(steps(), arguments)
@settings(max_examples=EXAMPLES)
def test_first_derivatives(program: list[Step], k: int) -> None:
    check_first(program, k)


@given(steps(8), arguments)
@settings(max_examples=EXAMPLES)
def test_second_derivatives(program: list[Step], k: int) -> None:
    check_second(program, k)


@given(steps(6), st.sampled_from([0, 2]))
@settings(max_examples=EXAMPLES // 3)
def test_third_derivatives(program: list[Step], k: int) -> None:
    """Along a line: three nested forward sweeps, three nested gradients, and mixtures."""
    x = ARGUMENTS[k]
    v = np.cos(np.arange(np.size(x), dtype=float)).reshape(np.shape(x))

    def along(t: object) -> object:
        return run(program, x + t * v)

    wanted = hoad.derivative(along, 3)(0.0)
    scale = max(1.0, abs(wanted))
    assert hoad.grad(hoad.grad(hoad.grad(along)))(0.0) == pytest.approx(wanted, rel=1e-9, abs=1e-10 * scale)
    assert hoad.hessian(hoad.grad(along))(0.0) == pytest.approx(wanted, rel=1e-9, abs=1e-10 * scale)
    mixed = hoad.jvp(hoad.hessian(along), (0.0,), (1.0,))[1]
    assert mixed == pytest.approx(wanted, rel=1e-9, abs=1e-10 * scale)


@given(steps(), arguments)
@settings(max_examples=EXAMPLES)
def test_programs_replay_at_other_points(program: list[Step], k: int) -> None:
    """A recorded gradient, replayed elsewhere, is the gradient there; where a branch turns, it says so."""
    x = ARGUMENTS[k]

    def f(x: object) -> object:
        return run(program, x)

    recorded = hoad.gradient(hoad.record(f, x))
    for y in (x, 0.9 * x + 0.05):
        try:
            found = recorded.evaluate(y)
        except hoad.GuardError:
            continue
        wanted = hoad.grad(f)(y)
        scale = 1e-11 * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=scale)


def test_every_operation_is_reached() -> None:
    """The fuzzing is of something: each operation alone makes a program that depends on x, for some argument."""
    for op in range(len(UNARY) + len(BINARY)):
        made = 0
        for x in ARGUMENTS:
            for k in range(30):
                if op < len(UNARY):
                    made += UNARY[op](x if not isinstance(x, float) else np.float64(x), k) is not None
                else:
                    made += BINARY[op - len(UNARY)](x, CONSTANTS[k % len(CONSTANTS)], k) is not None
        assert made > 0, op


@pytest.mark.parametrize("op", range(len(UNARY) + len(BINARY)))
def test_each_operation_alone(op: int) -> None:
    """With three parameters; where an operation takes no notice of them, once."""
    for k, x in enumerate(ARGUMENTS):
        seen = set()
        for parameter in range(0, 30, 11):
            program = [(0, 0, 0, 0), (op, 1, parameter, parameter), (2, 2, 0, 1)]
            tape = pickle.dumps(hoad.record(lambda x, program=program: run(program, x), x))
            if tape not in seen:
                seen.add(tape)
                check_first(program, k)
                check_second(program, k)


def test_the_oracle_knows_a_wrong_derivative() -> None:
    """Complex steps and differences agree with each other where neither is hoad."""
    program = [(3, 0, 0, 0), (17, 1, 0, 1), (30, 2, 1, 2)]
    x = ARGUMENTS[2]
    f = lambda x: run(program, x)  # noqa: E731
    exact = by_complex_steps(f, x)
    np.testing.assert_allclose(exact, by_differences(f, x), rtol=1e-8)
    assert np.all(np.abs(exact) > 1e-3)
