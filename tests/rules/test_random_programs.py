"""Random programs: all modes agree with each other and with the slow sweeps; Taylor remainders fall as they must."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Constant, adjoint, evaluate, primal, tangent, taylor
from rules.modes import along, words
from rules.programs import BINARY, MIXING, UNARY, RandomProgram, numbers, programs

import hoad

TOLERANCE = 1e-12
ORDERS = (1, 2, 3)


def directions_of(shapes: list[tuple[int, ...]], seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    made = [[rng.uniform(-1.0, 1.0, shape) for shape in shapes] for _ in ORDERS]
    return [tuple(float(v) if v.ndim == 0 else v for v in row) for row in made]


def check_modes(f: Callable[..., Any], xs: tuple[Any, ...], seed: int) -> None:
    """Derivatives of all orders in all modes, relative to the largest derivative up to their order."""
    directions = directions_of([np.shape(x) for x in xs], seed)
    size = abs(f(*xs)) + 1.0
    for order in ORDERS:
        found = {word: along(f, word, directions[:order])(*xs) for word in words(order)}
        for k in range(3):  # other directions, for in one alone a derivative may happen to vanish
            others = directions_of([np.shape(x) for x in xs], seed + 1 + k)
            size = max(size, abs(along(f, "f" * order, others[:order])(*xs)))
        for value in found.values():
            assert abs(value - found["f" * order]) <= TOLERANCE * size, f"order {order}: {found}"


@given(programs(), st.data())
@settings(max_examples=80)
def test_modes_agree_on_numbers(program: RandomProgram, data: st.DataObject) -> None:
    xs = tuple(data.draw(numbers) for _ in range(program.inputs))
    check_modes(program, xs, data.draw(st.integers(0, 99)))


@given(programs((UNARY, BINARY, MIXING)), st.data())
@settings(max_examples=80)
def test_modes_agree_on_arrays(program: RandomProgram, data: st.DataObject) -> None:
    xs = tuple(np.array([data.draw(numbers) for _ in range(3)]) for _ in range(program.inputs))
    check_modes(lambda *args: np.sum(program(*args) * np.array([1.0, -0.5, 0.7])), xs, data.draw(st.integers(0, 99)))


@given(programs((UNARY, BINARY, MIXING)), st.data())
@settings(max_examples=40)
def test_matrices_agree(program: RandomProgram, data: st.DataObject) -> None:
    """Jacobian forward and reverse, Hessian, and the products with them."""
    xs = tuple(np.array([data.draw(numbers) for _ in range(3)]) for _ in range(program.inputs))
    v = np.array([0.3, -1.0, 0.6])

    def f(x: Any) -> Any:
        return program(x, *xs[1:])

    def scalar(x: Any) -> Any:
        return np.sum(np.sin(f(x)))

    jacobian = hoad.jacobian(f, mode="forward")(xs[0])
    size = abs(jacobian).max() + 1.0
    assert abs(hoad.jacobian(f, mode="reverse")(xs[0]) - jacobian).max() <= TOLERANCE * size
    assert abs(hoad.jvp(f, (xs[0],), (v,))[1] - jacobian @ v).max() <= TOLERANCE * size
    assert abs(hoad.vjp(f, xs[0])[1](v)[0] - v @ jacobian).max() <= TOLERANCE * size
    assert abs(hoad.linearize(f, xs[0])[1](v) - jacobian @ v).max() <= TOLERANCE * size
    hessian = hoad.hessian(scalar)(xs[0])
    size = abs(hessian).max() + size**2
    assert abs(hessian - hessian.T).max() <= TOLERANCE * size
    for product in (hoad.hvp(scalar), hoad.vhp(scalar)):
        assert abs(product(xs[0], v) - hessian @ v).max() <= TOLERANCE * size
    assert abs(hoad.jacobian(hoad.grad(scalar), mode="reverse")(xs[0]) - hessian).max() <= TOLERANCE * size


@given(programs((UNARY, BINARY, MIXING), largest=6), st.data())
@settings(max_examples=25)
def test_slow_sweeps_agree(program: RandomProgram, data: st.DataObject) -> None:
    """Reverse over forward over reverse, unsimplified, in plain Python."""
    xs = tuple(np.array([data.draw(numbers) for _ in range(3)]) for _ in range(program.inputs))
    v = [np.array([0.3, -1.0, 0.6])] * len(xs)
    everywhere = tuple(range(len(xs)))
    listing = primal(program, *xs)
    inputs = list(listing.inputs)
    seed = [Constant(np.ones(3))]
    first = adjoint(listing, listing.outputs, seed, inputs)
    second = tangent(listing, first, inputs, [Constant(x) for x in v])
    third = adjoint(listing, second, seed * len(second), inputs)

    def total(*args: Any) -> Any:
        return np.sum(program(*args))

    def along_v(*args: Any) -> Any:
        return hoad.jvp(hoad.grad(total, everywhere) if len(xs) == 1 else flat_gradient, args, tuple(v))[1]

    def flat_gradient(*args: Any) -> Any:
        return np.concatenate(hoad.grad(total, everywhere)(*args))

    def hessian_product(*args: Any) -> Any:
        return np.sum(hoad.jvp(flat_gradient, args, tuple(v))[1])

    wanted = [hoad.grad(total, everywhere)(*xs), hoad.grad(hessian_product, everywhere)(*xs)]
    for slow, fast in zip((first, third), wanted, strict=True):
        values = evaluate(listing, xs, slow)
        for value, want in zip(values, fast, strict=True):
            value = np.zeros(3) if value is None else value
            assert abs(value - want).max() <= TOLERANCE * (abs(want).max() + 10.0)


# ---- Taylor remainders ----------------------------------------------------------------------------------------------


def remainders_fall(phi: Callable[[float], float], coefficients: Any, size: float) -> bool:
    """Whether |φ(h) − Tₙ(h)| falls like hⁿ⁺¹, and not like an earlier power, for every n that there is.

    The ratio to hⁿ⁺¹ tends to the next coefficient where Tₙ is right, and grows like 1/h or faster where it is not.
    Steps end where rounding would be seen.
    """
    noise = 1e-15 * (size + 1.0)
    for n in range(1, len(coefficients)):
        last = 1e-10 ** (1.0 / (n + 1))
        steps = np.geomspace(0.1, last, 8)
        ratios = []
        for h in steps:
            series = sum(c * h**k for k, c in enumerate(coefficients[: n + 1]))
            ratios.append(abs(phi(h) - series) / h ** (n + 1))
        if ratios[-1] > 3.0 * max(ratios[:4]) + 10.0 * noise / last ** (n + 1):
            return False
    return True


def coefficients_of(phi: Callable[[Any], Any], order: int) -> list[float]:
    return [hoad.derivative(phi, n)(0.0) / math.factorial(n) for n in range(order + 1)]


@given(programs(), st.data())
@settings(max_examples=60)
def test_remainders_of_random_programs(program: RandomProgram, data: st.DataObject) -> None:
    xs = [data.draw(numbers) for _ in range(program.inputs)]
    vs = [0.5 * data.draw(numbers) for _ in range(program.inputs)]

    def phi(t: Any) -> Any:
        return program(*[x + t * v for x, v in zip(xs, vs, strict=True)])

    coefficients = coefficients_of(phi, 4)
    size = max(map(abs, coefficients))
    assert remainders_fall(phi, coefficients, size)
    slow = taylor(program, [np.array([x, v]) for x, v in zip(xs, vs, strict=True)], 4)
    assert np.all(abs(slow - coefficients) <= TOLERANCE * (size + 1.0))


def test_remainders_of_a_regression() -> None:
    """A logistic regression with a hidden layer: matrix products, reductions, broadcasting, along a random line."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(6, 3)), rng.integers(0, 2, 6)
    weights = [rng.normal(size=shape) for shape in ((3, 4), (4,), (4,))]
    lines = [0.5 * rng.normal(size=w.shape) for w in weights]

    def loss(t: Any) -> Any:
        w, b, u = [w + t * v for w, v in zip(weights, lines, strict=True)]
        z = np.tanh(x @ w + b) @ u
        return np.mean(np.logaddexp(0.0, z) - y * z) + 0.1 * np.linalg.norm(w) ** 2

    coefficients = coefficients_of(loss, 5)
    assert remainders_fall(loss, coefficients, max(map(abs, coefficients)))


@pytest.mark.parametrize("wrong", range(5))
def test_a_coefficient_wrong_by_one_percent_is_found(wrong: int) -> None:
    """The check above is not an empty one."""
    coefficients = coefficients_of(np.exp, 5)
    assert remainders_fall(math.exp, coefficients, 1.0)
    coefficients[wrong] *= 1.01
    assert not remainders_fall(math.exp, coefficients, 1.0)
