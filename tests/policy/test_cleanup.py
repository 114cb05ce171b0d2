"""Nothing of a derivative is left behind: not after an exception, not in memory, not in values that leaked."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from policy.memory import LEAST_LEAK, counts_bytes, growth

import hoad

X = np.array([1.0, 2.0, 3.0])
W = np.array([[0.3, -0.7, 0.2], [0.9, 0.1, -0.4], [-0.2, 0.5, 0.8]])


# ---- exceptions -----------------------------------------------------------------------------------------------------


class Planned(Exception):
    pass


def fails(x: Any, depth: int) -> Any:
    if depth == 0:
        _ = x * x
        raise Planned
    return hoad.grad(lambda y: fails(x * y, depth - 1))(x)


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_an_exception_at_any_depth_leaves_the_next_derivative_right(depth: int) -> None:
    for _ in range(3):
        with pytest.raises(Planned):
            hoad.grad(lambda x: fails(x, depth))(2.0)
        assert hoad.grad(lambda x: x * hoad.grad(lambda y: x * y * y)(x))(3.0) == 54.0
        with pytest.raises(hoad.DTypeError):
            hoad.grad(lambda x: hoad.grad(lambda y: y)(3))(2.0)
        assert hoad.derivative(np.sin, 3)(0.0) == -1.0


def test_an_exception_caught_inside_leaves_the_outer_derivative_right() -> None:
    def f(x: Any) -> Any:
        y = x * x
        for _ in range(5):
            with pytest.raises(Planned):
                fails(y, 3)
            with pytest.raises(TypeError):
                hoad.hessian(lambda z: float(np.sum(z * y)))(X)
            y = y + hoad.grad(lambda z: z * y)(1.0) - y
        return x * y

    assert hoad.grad(f)(2.0) == 12.0


class Sweepless(Exception):
    pass


@hoad.primitive
def moody(x: Any) -> Any:
    return 2.0 * x


@hoad.defvjp(moody, per_call=True)
def _moody(g: Any, p: Any, x: Any) -> Any:
    raise Sweepless


def test_an_exception_in_a_rule_leaves_the_next_derivative_right() -> None:
    for _ in range(3):
        with pytest.raises(hoad.RuleError, match="Sweepless"):
            hoad.grad(lambda x: x * moody(x))(2.0)
        with pytest.raises(hoad.RuleError, match="Sweepless"):
            hoad.grad(lambda x: x * hoad.jvp(lambda y: y * moody(x * y), (x,), (1.0,))[1])(2.0)
        assert hoad.grad(lambda x: x * hoad.grad(lambda y: x * y * y)(x))(3.0) == 54.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, RecursionError])
def test_exceptions_of_python_itself_pass_through(error: type[BaseException]) -> None:
    def f(x: Any) -> Any:
        raise error

    with pytest.raises(error):
        hoad.grad(lambda x: x * hoad.grad(lambda y: f(x * y))(x))(2.0)
    assert hoad.grad(np.sin)(0.0) == 1.0


def test_recursion_until_the_stack_ends() -> None:
    def f(x: Any) -> Any:
        return x * f(x)

    with pytest.raises(RecursionError):
        hoad.grad(f)(2.0)
    assert hoad.grad(np.sin)(0.0) == 1.0


def test_recursive_derivatives() -> None:
    """A function that takes its own derivative, down to a depth: f₀ = x³, fₖ₊₁ = x · fₖ′ gives 3ᵏ x³."""

    def f(x: Any, k: int) -> Any:
        return x**3 if k == 0 else x * hoad.grad(lambda y: f(y, k - 1))(x)

    assert hoad.grad(lambda x: f(x, 5))(1.0) == 3.0**6


def test_no_value_is_kept_alive() -> None:
    """Arrays that f made or captured die with the derivative."""
    references: list[weakref.ref[Any]] = []

    def f(x: Any) -> Any:
        captured = np.arange(3.0)
        references.append(weakref.ref(captured))
        return np.sum(np.tanh(captured * x))

    hoad.grad(f)(X)
    hoad.hessian(f)(X)
    hoad.jvp(f, (X,), (X,))
    with pytest.raises(Planned):
        hoad.grad(lambda x: fails(f(x), 2))(X)
    gc.collect()
    assert len(references) == 4
    assert all(reference() is None for reference in references)


def test_a_linear_map_keeps_what_it_needs_and_no_more() -> None:
    captured = np.arange(3.0)
    reference = weakref.ref(captured)
    _, pushforward = hoad.linearize(lambda x, c=captured: np.tanh(c * x), X)
    wanted = np.arange(3.0) / np.cosh(np.arange(3.0) * X) ** 2
    del captured
    np.testing.assert_allclose(pushforward(np.ones(3)), wanted)
    del pushforward
    gc.collect()
    assert reference() is None


# ---- memory ---------------------------------------------------------------------------------------------------------


def fails_quietly(f: Callable[[Any], Any]) -> None:
    try:
        hoad.grad(f)(2.0)
    except (Planned, TypeError):
        pass


TIMES = 2_500  # calls; the least that glibc allocates is 32 bytes, so that one block a call is more than LEAST_LEAK
CALLS: dict[str, Callable[[], Any]] = {
    "grad of a number": lambda: hoad.grad(lambda x: x * x * np.sin(x))(1.3),
    "grad of an array": lambda: hoad.grad(lambda x: np.sum(np.tanh(W @ x) ** 2))(X),
    "grad of grad": lambda: hoad.grad(hoad.grad(lambda x: x * x * np.sin(x)))(1.3),
    "grad, captured anew": lambda: hoad.grad(lambda x: np.sum(np.ones(3) * x))(X),
    "grad with a guard": lambda: hoad.grad(lambda x: x if x > 1 else x * x)(2.0),
    "grad with aux": lambda: hoad.grad(lambda x: (x * x, [x, np.ones(3)]), has_aux=True)(2.0),
    "hessian": lambda: hoad.hessian(lambda x: np.sum(np.tanh(W @ x) ** 2))(X),
    "jacobian": lambda: hoad.jacobian(lambda x: np.tanh(W @ x))(X),
    "jvp": lambda: hoad.jvp(lambda x: np.tanh(W @ x), (X,), (X,)),
    "vjp": lambda: hoad.vjp(lambda x: np.tanh(W @ x), X)[1](X),
    "linearize": lambda: hoad.linearize(lambda x: np.tanh(W @ x), X)[1](X),
    "pullback of a traced value": lambda: hoad.grad(lambda s: np.sum(PULLBACK(s * X)[0]))(2.0),
    "derivative": lambda: hoad.derivative(np.tanh, 4)(0.3),
    "an exception": lambda: fails_quietly(lambda x: fails(x, 0)),
    "an exception, nested": lambda: fails_quietly(lambda x: fails(x, 2)),
    "a refused operation": lambda: fails_quietly(lambda x: float(x)),
    "changing shapes": lambda: hoad.grad(lambda x: np.sum(x**2))(np.ones(1 + TICKS[0] % 300)),
    "changing slices": lambda: hoad.grad(lambda x: np.sum(x[TICKS[0] % 300 :] ** 2))(LONG),
    "a program, recorded anew": lambda: hoad.grad(hoad.record(lambda x: np.sum(x * x), LONG))(LONG),
    "a primitive of the user's": lambda: hoad.grad(lambda x: doubled(x) * x)(2.0),
}
TICKS = [0]  # calls so far
LONG = np.ones(400)
_, PULLBACK = hoad.vjp(lambda x: np.tanh(W @ x), X)


@hoad.primitive(vjp=lambda g, p, x: (2.0 * g,))
def doubled(x: Any) -> Any:
    return 2.0 * x


@counts_bytes
@pytest.mark.parametrize("name", CALLS)
def test_constant_memory(name: str) -> None:
    """Thousands of calls: one that leaves a block of memory shows; a million calls, which are slow, show a rare one."""

    def counted() -> None:
        TICKS[0] += 1
        CALLS[name]()

    assert growth(counted, TIMES, warm=TIMES // 8) < LEAST_LEAK


@counts_bytes
def test_a_leak_would_be_seen() -> None:
    kept: list[Any] = []
    assert growth(lambda: kept.append(np.ones(2)), 1_500) > LEAST_LEAK


@pytest.mark.slow
@counts_bytes
def test_a_million_gradients_in_constant_memory() -> None:
    assert growth(lambda: hoad.grad(lambda x: x * x)(1.3), 500_000) < LEAST_LEAK


def nested_calls(call: Callable[[], Any], times: int) -> int:
    """Bytes that `times` derivatives taken inside another leave while it runs."""
    left: list[int] = []

    def f(x: Any) -> Any:
        y = x * x
        left.append(growth(call, times, warm=TIMES // 8))
        return x * y

    assert hoad.grad(f)(2.0) == 12.0
    return left[0]


NESTED: dict[str, Callable[[], Any]] = {
    "grad of a number": lambda: hoad.grad(lambda y: y * y * np.sin(y))(1.3),
    "grad of an array": lambda: hoad.grad(lambda y: np.sum(W @ y))(X),
    "grad, captured anew": lambda: hoad.grad(lambda y: np.sum(np.ones(3) * y))(X),
    "grad with a guard": lambda: hoad.grad(lambda y: y if y > 1 else y * y)(2.0),
    "grad of grad": lambda: hoad.grad(hoad.grad(lambda y: y**3))(2.0),
    "hessian": lambda: hoad.hessian(lambda y: np.sum(y**3))(X),
    "jvp": lambda: hoad.jvp(lambda y: y * y, (1.3,), (1.0,)),
    "derivative": lambda: hoad.derivative(np.tanh, 3)(0.3),
}


@counts_bytes
@pytest.mark.parametrize("name", NESTED)
def test_constant_memory_inside_a_derivative(name: str) -> None:
    """What owes nothing to the outer derivative is forgotten when it ends; a linear map lives as long as the outer."""
    assert nested_calls(NESTED[name], TIMES) < LEAST_LEAK


@pytest.mark.slow
@counts_bytes
def test_a_million_gradients_inside_a_derivative_in_constant_memory() -> None:
    assert nested_calls(lambda: hoad.grad(lambda y: y * y)(1.3), 1_000_000) < LEAST_LEAK


def test_rewinding_takes_no_longer_beside_many_captured_arrays() -> None:
    """Nested derivatives beside 5000 captured arrays: an end that looked at all of them would take minutes."""

    def f(x: Any) -> Any:
        kept = [np.full(2, float(k)) for k in range(5000)]
        total = sum(np.sum(a * x) for a in kept)
        for _ in range(20_000):
            hoad.grad(lambda y: y * y)(1.0)
        return total

    assert hoad.grad(f)(2.0) == 2 * sum(range(5000))


# ---- leaked values --------------------------------------------------------------------------------------------------

LEAKED: list[Any] = []


def leak(x: Any) -> Any:
    LEAKED[:] = [x, x * 2, x > 1, np.stack([x, x]), np.stack([x, x]) > 1, np.array([x, x])]
    return x


hoad.grad(leak)(2.0)
NUMBER, DOUBLE, TRUTH, VECTOR, TRUTHS, OBJECTS = LEAKED

USES: dict[str, Callable[[], Any]] = {
    "operator": lambda: NUMBER + 1,
    "reflected": lambda: 1 / NUMBER,
    "two": lambda: NUMBER * DOUBLE,
    "negative": lambda: -NUMBER,
    "abs": lambda: abs(NUMBER),
    "not": lambda: ~TRUTH,
    "comparison": lambda: NUMBER < 3,
    "ufunc": lambda: np.sin(NUMBER),
    "ufunc of two": lambda: np.hypot(NUMBER, 1.0),
    "bool": lambda: bool(NUMBER),
    "bool of a boolean": lambda: bool(TRUTH),
    "stack": lambda: np.stack([NUMBER, NUMBER]),
    "where": lambda: np.where(NUMBER > 1, 1.0, 2.0),
    "stop_gradient": lambda: hoad.stop_gradient(NUMBER),
    "array operator": lambda: VECTOR + 1,
    "array beside plain": lambda: np.ones(2) * VECTOR,
    "array negative": lambda: -VECTOR,
    "array sum": lambda: VECTOR.sum(),
    "array item": lambda: VECTOR[0],
    "array slice": lambda: VECTOR[1:],
    "array iteration": lambda: list(VECTOR),
    "array matmul": lambda: VECTOR @ VECTOR,
    "array bool": lambda: bool(VECTOR[:1]),
    "array value": lambda: hoad.value(VECTOR),
    "array of truths": lambda: ~TRUTHS,
    "mask": lambda: np.where(TRUTHS, 1.0, 2.0),
    "object array": lambda: OBJECTS * 2,
    "object array ufunc": lambda: np.exp(OBJECTS),
    "derivative at it": lambda: hoad.grad(lambda x: x * x)(NUMBER),
    "derivative at an array": lambda: hoad.grad(lambda x: np.sum(x * x))(VECTOR),
    "jvp along it": lambda: hoad.jvp(lambda x: x, (1.0,), (NUMBER,)),
    "captured": lambda: hoad.grad(lambda x: x * NUMBER)(1.0),
    "captured array": lambda: hoad.grad(lambda x: np.sum(x * VECTOR))(1.0),
    "returned": lambda: hoad.grad(lambda x: NUMBER)(1.0),
    "returned array": lambda: hoad.jacobian(lambda x: VECTOR)(1.0),
    "returned object array": lambda: hoad.jacobian(lambda x: OBJECTS)(1.0),
    "pullback of it": lambda: PULLBACK(VECTOR[:1]),
    "pullback of numbers": lambda: PULLBACK(np.array([NUMBER, NUMBER, 1.0])),
    "direction": lambda: hoad.hvp(lambda x: x**3)(1.0, NUMBER),
    "nested": lambda: hoad.grad(lambda x: hoad.grad(lambda y: y * NUMBER)(x))(1.0),
    "index": lambda: hoad.grad(lambda x: np.sum(x[TRUTHS]))(np.ones(2)),
    "primitive": lambda: doubled(NUMBER),
    "program": lambda: hoad.record(lambda x: x * x, 1.0)(NUMBER),
    "recorded": lambda: hoad.record(lambda x: x * NUMBER, 1.0),
}


@pytest.mark.parametrize("name", USES)
def test_a_value_of_a_finished_derivative_raises(name: str) -> None:
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned") as caught:
        USES[name]()
    assert "Return it from the function, or take its number with hoad.value(x)" in str(caught.value)
    assert hoad.grad(lambda x: x * hoad.grad(lambda y: x * y * y)(x))(3.0) == 54.0


def test_a_leaked_value_can_be_shown() -> None:
    assert repr(NUMBER) == "Traced(2.0)"
    assert "2.0" in f"{NUMBER}"
    assert repr(VECTOR).startswith("Traced(")
    assert VECTOR.shape == (2,) and NUMBER.dtype == np.float64 and len(VECTOR) == 2


def test_a_value_of_an_inner_derivative_lives_as_long_as_the_outer() -> None:
    """Beyond its derivative an inner variable is an intermediate of the outer one."""
    kept: list[Any] = []

    def f(x: Any) -> Any:
        def inner(y: Any) -> Any:
            kept.append(y * x)
            return y * y

        slope = hoad.grad(inner)(x)
        for _ in range(30):  # would reuse the numbers of nodes that were forgotten
            x = x * 1.0
        return kept[-1] * slope

    assert hoad.grad(f)(2.0) == 24.0  # x² · 2x
    with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
        _ = kept[-1] + 1


def test_an_inner_variable_at_a_plain_number_is_a_constant_of_the_outer() -> None:
    def f(x: Any) -> Any:
        kept: list[Any] = []
        hoad.grad(lambda y: kept.append(y) or y)(1.5)
        for _ in range(30):
            x = x * 1.0
        return kept[0] * x

    assert hoad.grad(f)(2.0) == 1.5


# ---- linear maps that outlive what they were made in ----------------------------------------------------------------


def test_a_linear_map_of_an_inner_derivative_lives_as_long_as_the_outer() -> None:
    kept: list[Callable[[Any], Any]] = []

    def f(x: Any) -> Any:
        def inner(y: Any) -> Any:
            kept.append(hoad.linearize(lambda z: z * y, y)[1])
            return y * y

        slope = hoad.grad(inner)(x)
        return kept[-1](1.0) * slope

    assert hoad.grad(f)(2.0) == 8.0
    with pytest.raises(hoad.TracedValueError, match="after that derivative had ended"):
        kept[-1](1.0)


@pytest.mark.parametrize("make", [hoad.linearize, hoad.vjp], ids=["linearize", "vjp"])
def test_linear_maps_of_constant_functions_inside_a_derivative(make: Callable[..., Any]) -> None:
    """Nothing of f depends on its variable, so nothing keeps its recording; the map gives zeros all the same."""

    def f(x: Any) -> Any:
        for constant in (3.0, np.ones(4), x, x * x, np.stack([x, x, x])):
            _, linear = make(lambda y, c=constant: c, x)
            _, linear_at_number = make(lambda y, c=constant: c, 1.5)
            pushed = [np.stack([x, x, x, x, x]) * np.ones(5) for _ in range(3)]  # would take the freed numbers
            for found in (linear, linear_at_number):
                if make is hoad.vjp:
                    (zero,) = found(np.ones(np.shape(constant)))
                    assert np.shape(zero) == ()
                else:
                    zero = found(1.0)
                    assert np.shape(zero) == np.shape(constant)
                x = x + np.sum(zero) + 0 * np.sum(pushed[0])
        return x * x

    assert hoad.value_and_grad(f)(2.0) == (4.0, 4.0)
