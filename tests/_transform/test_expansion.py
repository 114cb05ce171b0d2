"""A Taylor expansion is a node like others: differentiated, replayed, batched, compared with nested tangents."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules.programs import BINARY, MIXING, UNARY, RandomProgram, numbers, programs

import hoad
from hoad import derivatives
from hoad._transform.expansion import Expansion, arithmetic_of, expand

N = 5
XS = np.array([0.1, 0.2, -0.4])
WEIGHTS = np.arange(1.0, N + 2)

Function = Callable[..., Any]


def nested(f: Function, n: int) -> Function:
    """All derivatives to order n, by a tangent of a tangent of ..."""

    def slope(g: Function) -> Function:
        return lambda x: hoad.jvp(g, (x,), (np.ones(np.shape(x)) if np.ndim(x) else 1.0,))[1]

    def all_of_them(x: Any) -> Any:
        found, g = [], f
        for _ in range(n + 1):
            found.append(g(x))
            g = slope(g)
        return np.stack(found)

    return all_of_them


def agree(got: Any, want: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


FUNCTIONS: dict[str, Function] = {
    "exp": np.exp,
    "log(2 + x²)": lambda x: np.log(2 + x * x),
    "exp(sin x) / (1 + x²)": lambda x: np.exp(np.sin(x)) / (1 + x * x),
    "(1.5 + x)**2.5": lambda x: (1.5 + x) ** 2.5,
    "(2 + x)**(1 + x)": lambda x: (2 + x) ** (1 + x),
    "tanh": np.tanh,
    "|x|": abs,
    "arctan2(sin x, 2 + x)": lambda x: np.arctan2(np.sin(x), 2 + x),
}
functions = pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in FUNCTIONS.items()])

# ---- drivers over expansions ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::hoad.errors.JitWarning")  # whether it is replayed is not asked here
@functions
@pytest.mark.parametrize(
    "driver",
    [
        pytest.param(hoad.grad, id="grad"),
        pytest.param(hoad.hessian, id="hessian"),
        pytest.param(hoad.jit, id="jit"),
        pytest.param(lambda g: hoad.jit(hoad.grad(g)), id="jit of grad"),
        pytest.param(lambda g: hoad.grad(hoad.jit(g)), id="grad of jit"),
        pytest.param(lambda g: hoad.derivative(g, 3), id="derivative"),
        pytest.param(lambda g: derivatives(g, 3), id="derivatives"),
        pytest.param(lambda g: hoad.grad(lambda x: np.sum(derivatives(g, 2)(x))), id="grad of derivatives"),
    ],
)
def test_of_a_number(f: Function, driver: Function) -> None:
    got = driver(lambda x: np.sum(WEIGHTS * derivatives(f, N)(x)))(0.3)
    agree(got, driver(lambda x: np.sum(WEIGHTS * nested(f, N)(x)))(0.3))


@functions
@pytest.mark.parametrize(
    "driver",
    [
        pytest.param(lambda g: hoad.jacobian(g, mode="forward"), id="forward"),
        pytest.param(lambda g: hoad.jacobian(g, mode="reverse"), id="reverse"),
        pytest.param(lambda g: lambda x: hoad.jvp(g, (x,), (x,))[1], id="jvp"),
        pytest.param(lambda g: lambda x: hoad.vjp(g, x)[1](np.ones((N + 1, 3)))[0], id="vjp"),
        pytest.param(lambda g: hoad.hessian(lambda x: np.sum(np.sin(g(x)))), id="hessian"),
        pytest.param(lambda g: hoad.jit(hoad.hessian(lambda x: np.sum(np.sin(g(x))))), id="jit of hessian"),
    ],
)
def test_of_an_array(f: Function, driver: Function) -> None:
    agree(driver(derivatives(f, N))(XS), driver(nested(f, N))(XS))


@functions
def test_vmap(f: Function) -> None:
    points = XS + 0.5
    agree(hoad.vmap(derivatives(f, N))(points), np.stack([nested(f, N)(x) for x in points]))
    agree(
        hoad.vmap(derivatives(f, N))(np.outer([1.0, 2.0], points)),
        np.stack([nested(f, N)(x) for x in np.outer([1.0, 2.0], points)]),
    )
    agree(
        hoad.vmap(hoad.grad(lambda x: np.sum(derivatives(f, N)(x))))(points),
        np.stack([hoad.grad(lambda x: np.sum(nested(f, N)(x)))(x) for x in points]),
    )


# ---- what is around -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [hoad.grad, hoad.hessian, lambda g: hoad.jit(hoad.hessian(g))])
def test_captured_traced_values(driver: Function) -> None:
    def total(by: Function) -> Function:
        return lambda y: np.sum(by(lambda x: np.exp(y[0] * x) * np.sin(x + y[1]), N)(y[2]) * WEIGHTS)

    y = np.array([0.3, 0.5, 0.7])
    agree(driver(total(derivatives))(y), driver(total(nested))(y))


def test_captured_traced_array() -> None:
    def of(by: Function) -> Function:
        return lambda y: by(lambda x: np.sum(np.exp(y * x) * np.tanh(y)), N)(0.3)

    agree(hoad.jacobian(of(derivatives))(XS), hoad.jacobian(of(nested))(XS))
    many = np.outer(XS, XS)
    agree(hoad.vmap(hoad.jacobian(of(derivatives)))(many), np.stack([hoad.jacobian(of(nested))(y) for y in many]))


def test_captured_array_that_changes() -> None:
    a = np.ones(3)
    f = hoad.jit(lambda x: derivatives(lambda x: np.sum(a * np.sin(x)), 3)(x))
    g = hoad.jit(hoad.grad(lambda x: np.sum(derivatives(lambda x: np.sum(a * np.sin(x)), 3)(x))))
    program = hoad.record(lambda x: derivatives(lambda x: np.sum(a * np.sin(x)), 3)(x), 0.3)
    sines = np.array([math.sin(0.3), math.cos(0.3), -math.sin(0.3), -math.cos(0.3), math.sin(0.3)])
    for scale in (3.0, 6.0):
        agree(f(0.3), scale * sines[:4])
        agree(g(0.3), scale * np.sum(sines[1:]))
        agree(program.evaluate(0.3), 3.0 * sines[:4])
        a *= 2.0


# ---- control flow ---------------------------------------------------------------------------------------------------


def branching(x: Any) -> Any:
    if x > 0:
        return np.sin(x)
    return np.exp(x)


def test_branches() -> None:
    fast = hoad.jit(lambda x: derivatives(branching, N)(x))
    for x in (0.3, -0.3, 0.5, -1.0):
        agree(derivatives(branching, N)(x), nested(branching, N)(x))
        agree(fast(x), nested(branching, N)(x))
    program = hoad.record(lambda x: np.sum(derivatives(branching, N)(x)), 0.3)
    agree(program.evaluate(0.5), np.sum(nested(branching, N)(0.5)))
    with pytest.raises(hoad.GuardError, match="test_expansion"):
        program.evaluate(-0.5)
    with pytest.raises(hoad.GuardError):
        hoad.gradient(program).evaluate(-0.5)


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(lambda x: np.exp(1j * x).imag, id="complex numbers"),
        pytest.param(lambda x: hoad.fori_loop(0, 3, lambda i, v: np.sin(v) + x, x), id="loop"),
        pytest.param(lambda x: np.linalg.det(np.stack([np.stack([x, x * x]), np.stack([0 * x, 1 + 0 * x])])), id="det"),
    ],
)
def test_branches_beside_what_has_steps_of_its_own(before: Function) -> None:
    def f(x: Any) -> Any:
        return branching(before(x))

    fast = hoad.jit(lambda x: derivatives(f, 3)(x))
    for x in (0.3, -0.3, 0.5, -1.0):
        agree(fast(x), nested(f, 3)(x))
    program = hoad.record(lambda x: derivatives(f, 3)(x), 0.3)
    with pytest.raises(hoad.GuardError):
        program.evaluate(-0.5)


def test_branches_of_lanes() -> None:
    agree(hoad.vmap(derivatives(branching, N))(XS), np.stack([nested(branching, N)(x) for x in XS]))
    xs = np.array([0.5, -0.5, 2.0])
    quarters = np.array(
        [[f(x) for f in (np.sin, np.cos, lambda x: -np.sin(x))] if x > 0 else [np.exp(x)] * 3 for x in xs]
    )
    agree(hoad.vmap(derivatives(branching, 2))(xs), quarters)
    found = hoad.vmap(lambda x: hoad.taylor(lambda x: branching(x[0]) * x[1], [x, 2.0], 2, [1.0, 0.0]))(xs)
    agree(np.moveaxis(found.coefficients, 0, 1) * [1, 1, 2], 2.0 * quarters)
    ninth = [np.cos(x) if x > 0 else np.exp(x) for x in xs]
    agree(hoad.vmap(hoad.derivative(branching, 9))(xs), ninth)
    agree(hoad.jit(hoad.vmap(hoad.grad(hoad.derivative(branching, 8))))(xs), ninth)


INNER: dict[str, Function] = {
    "fori_loop": lambda x: hoad.fori_loop(0, 5, lambda i, v: np.sin(v) + x * i, x),
    "while_loop": lambda x: hoad.while_loop(lambda v: v < 10.0, lambda v: v * (1.5 + x), x + 1),
    "scan": lambda x: hoad.scan(lambda c, y: (np.sin(c) * y + x, c), x, np.arange(1.0, 4.0))[0],
    "checkpoint": lambda x: hoad.checkpoint(lambda x: np.sin(x) * np.exp(x))(x),
    "jit": lambda x: hoad.jit(lambda x: np.sin(x) * np.exp(x))(x),
    "grad": lambda x: hoad.grad(lambda x: np.sin(x) * np.exp(x))(x),
    "integers": lambda x: np.sum(x ** np.int64(3) * np.arange(3) + x / (1 + np.arange(3)) + np.sin(x + np.arange(3))),
    "arithmetic of integers": lambda x: x * x * -(np.argmax(np.stack([x, 2 * x])) * 3 - 5),
    "comparison of integers": lambda x: np.where(np.argmax(np.stack([2 * x, x])) - 2 < -1, x * x, x),
    "argmax": lambda x: np.stack([x, x * x, np.sin(x)])[np.argmax(np.stack([x, x * x, np.sin(x)]))],
    "sort": lambda x: np.sort(np.stack([x, x * x, np.sin(x)]))[1],
    "booleans": lambda x: np.where(np.isnan(x) | (x > 5), 0.0, x * x) * (x > 0),
    "modf": lambda x: np.modf(x)[0] ** 2,
    "complex numbers": lambda x: np.exp(1j * x).real,
}


@pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in INNER.items()])
def test_inside(f: Function) -> None:
    agree(derivatives(f, N)(0.3), nested(f, N)(0.3))
    agree(hoad.grad(lambda x: np.sum(derivatives(f, 3)(x)))(0.3), hoad.grad(lambda x: np.sum(nested(f, 3)(x)))(0.3))


def test_in_a_loop() -> None:
    def third(v: Any) -> Any:
        return derivatives(np.tanh, 3)(v)[3]

    def third_nested(v: Any) -> Any:
        return nested(np.tanh, 3)(v)[3]

    def unrolled(x: Any) -> Any:
        return third_nested(third_nested(third_nested(x)))

    agree(hoad.fori_loop(0, 3, lambda i, v: third(v), 0.3), unrolled(0.3))
    agree(hoad.grad(lambda x: hoad.fori_loop(0, 3, lambda i, v: third(v), x))(0.3), hoad.grad(unrolled)(0.3))
    checkpointed = hoad.checkpoint(lambda x: np.sum(derivatives(np.tanh, 3)(x)))
    agree(hoad.hessian(checkpointed)(XS), hoad.hessian(lambda x: np.sum(nested(np.tanh, 3)(x)))(XS))


# ---- what is given and returned -------------------------------------------------------------------------------------


def test_containers_and_constants() -> None:
    found = derivatives(lambda x: {"a": x, "b": (x * x, 3.0), "c": np.ones(2)}, 2)(0.3)
    agree(found["a"], [0.3, 1.0, 0.0])
    agree(found["b"][0], [0.09, 0.6, 2.0])
    agree(found["b"][1], [3.0, 0.0, 0.0])
    agree(found["c"], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    agree(derivatives(lambda x: x, 2)(XS), [XS, np.ones(3), np.zeros(3)])
    agree(derivatives(lambda x: 2.0, 2)(0.3), [2.0, 0.0, 0.0])


def test_constant_number_of_a_matrix() -> None:
    agree(derivatives(lambda x: 1.0, 1)(np.ones((2, 3))), [np.ones((2, 3)), np.zeros((2, 3))])


def test_dtypes() -> None:
    with pytest.raises(hoad.DTypeError):
        derivatives(np.sin, 2)(3)
    with pytest.raises(hoad.DTypeError):
        derivatives(np.abs, 2)(1.0 + 2.0j)
    single = derivatives(np.sin, 3)(np.array([0.3], np.float32))
    np.testing.assert_allclose(single[:, 0], [math.sin(0.3), math.cos(0.3), -math.sin(0.3), -math.cos(0.3)], rtol=1e-6)


@pytest.mark.parametrize("degree", [0, 1, 2, 100])
def test_degrees(degree: int) -> None:
    orders = np.arange(degree + 1)
    agree(derivatives(np.exp, degree)(0.3), np.full(degree + 1, math.exp(0.3)), 1e-12)
    agree(derivatives(np.sin, degree)(XS), np.sin(XS + orders[:, None] * math.pi / 2))


@pytest.mark.parametrize("degree", [0, 2])
def test_curves_of_a_higher_degree(degree: int) -> None:
    curve = np.full((9, 3), 0.1)
    want = expand(lambda x: np.sum(np.exp(np.sin(x[::-1]))), [XS], [curve], 9)
    agree(expand(lambda x: np.sum(np.exp(np.sin(x[::-1]))), [XS], [curve], degree), want[: degree + 1])


def test_large_functions() -> None:
    def f(x: Any) -> Any:
        y = x
        for i in range(10_000):
            y = y * 0.999 + x * np.sin(y) * 1e-3 if i % 3 == 0 else y + 1e-4 * x
        return y

    agree(derivatives(f, 3)(0.3), nested(f, 3)(0.3))
    program = Expansion(f, [0.3], [np.ones(1)], 3).program
    arithmetic = arithmetic_of(program, [2] * len(program.inputs), 3)
    assert arithmetic.closure.size < 2 * len(program._last)  # what is spelled out again is found


def test_threads_and_pickles() -> None:
    f = FUNCTIONS["exp(sin x) / (1 + x²)"]
    points = 0.1 * np.arange(20.0)
    want = [nested(f, N)(x) for x in points]
    program = hoad.record(lambda x: derivatives(f, N)(x), 0.3)
    with ThreadPoolExecutor(4) as pool:
        agree(list(pool.map(derivatives(f, N), points.tolist())), want)
        agree(list(pool.map(program.evaluate, points.tolist())), want)
    gradient = hoad.gradient(hoad.record(lambda x: np.sum(derivatives(f, N)(x)), 0.3))
    agree(pickle.loads(pickle.dumps(program)).evaluate(0.5), program.evaluate(0.5), 0)
    agree(pickle.loads(pickle.dumps(gradient)).evaluate(0.5), gradient.evaluate(0.5), 0)


# ---- singular points ------------------------------------------------------------------------------------------------

SINGULAR: dict[str, tuple[Function, float]] = {
    "|x|": (abs, 0.0),
    "|x| x": (lambda x: abs(x) * x, 0.0),
    "x**0": (lambda x: x**0, 0.0),
    "x**3": (lambda x: x**3, 0.0),
    "masked sqrt": (lambda x: np.where(x > 0, np.sqrt(x), x), 0.0),
    "maximum beside sqrt": (lambda x: np.maximum(1 + x, np.sqrt(x)), 0.0),
    "ties of maximum": (lambda x: np.maximum(x * x, x), 1.0),
    "norm": (lambda x: np.linalg.norm(np.stack([x, x * x])), 0.0),
    "hypot": (lambda x: np.hypot(x, x * x), 0.0),
    "x**[2, 3]": (lambda x: x ** np.array([2.0, 3.0]), 0.0),
    "x**[1, 2, 3]": (lambda x: x ** np.arange(1, 4), 0.0),
    "x**-400": (lambda x: x**-400, 10.0),
}


@pytest.mark.parametrize(("f", "x"), SINGULAR.values(), ids=SINGULAR.keys())
def test_singular_points(f: Function, x: float) -> None:
    agree(derivatives(f, N)(x), nested(f, N)(x))


def test_ties_of_max() -> None:
    def f(x: Any) -> Any:
        return np.max(np.stack([x * x, x, np.sin(x - 1) + 1]))

    agree(derivatives(f, N)(1.0), nested(f, N)(1.0))
    masked = nested(lambda x: np.max(np.stack([1 + x, np.sqrt(x)])), N)(0.0)
    agree(derivatives(lambda x: np.max(np.stack([1 + x, np.sqrt(x)])), N)(0.0), masked)


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("f", [np.sin, np.exp, np.tanh, np.arctan, lambda x: 1 / x])
def test_values_that_are_not_finite(f: Function, x: float) -> None:
    with np.errstate(all="ignore"):
        agree(derivatives(f, 3)(x), nested(f, 3)(x))


def test_square_at_infinity() -> None:
    agree(derivatives(lambda x: x * x, 3)(math.inf), nested(lambda x: x * x, 3)(math.inf))


# ---- random programs ------------------------------------------------------------------------------------------------

KNOWN = frozenset(
    {
        "A @ x",
        "x @ A",
        "solve(I + A, x)",
        "hypot(1 + x², y)",
        "arctan2(x, 2 + sin(y))",
        "logaddexp(x, y)",
        "(2 + sin(x))**tanh(y)",
    }
)


def check(program: RandomProgram, xs: list[Any], vs: list[Any], order: int = 6) -> None:
    def along(t: Any) -> Any:
        return program(*[x + t * v for x, v in zip(xs, vs, strict=True)])

    want = np.asarray(nested(along, order)(0.0))
    want = want / np.reshape([math.factorial(k) for k in range(order + 1)], (-1, *[1] * (want.ndim - 1)))
    got = expand(program, xs, [np.asarray(v)[None] for v in vs], order)
    size = np.maximum.accumulate(abs(want).reshape(order + 1, -1).max(axis=1)) + 1.0
    error = abs(got - want).reshape(order + 1, -1).max(axis=1)
    assert np.all(error <= 1e-10 * size), f"{got}\nnot\n{want}"
    lanes = expand(program, xs, [np.stack([v, np.multiply(-1.0, v)])[None] for v in vs], order, 2)
    assert np.all(abs(lanes[:, 0] - got).reshape(order + 1, -1).max(axis=1) <= 1e-11 * size)
    signs = np.reshape((-1.0) ** np.arange(order + 1), (-1, *[1] * (got.ndim - 1)))
    assert np.all(abs(lanes[:, 1] - signs * got).reshape(order + 1, -1).max(axis=1) <= 1e-11 * size)


def is_right(program: RandomProgram) -> bool:
    """Whether a program has no operation of those that are known to fail below."""
    return KNOWN.isdisjoint(node.operation for node in program.nodes)


@given(programs((UNARY, BINARY)).filter(is_right), st.data())
@settings(max_examples=100)
def test_random_programs_on_numbers(program: RandomProgram, data: st.DataObject) -> None:
    xs = [data.draw(numbers) for _ in range(program.inputs)]
    check(program, xs, [0.5 * data.draw(numbers) for _ in xs])


@given(programs((UNARY, BINARY, MIXING), largest=6).filter(is_right), st.data())
@settings(max_examples=100)
def test_random_programs_on_arrays(program: RandomProgram, data: st.DataObject) -> None:
    xs = [np.array([data.draw(numbers) for _ in range(3)]) for _ in range(program.inputs)]
    check(program, xs, [np.array([0.5 * data.draw(numbers) for _ in range(3)]) for _ in xs])


@pytest.mark.parametrize("f", [np.hypot, np.arctan2, np.logaddexp, lambda x, y: (2 + x) ** y])
def test_operations_on_two_series(f: Function) -> None:
    def g(x: Any) -> Any:
        return f(np.sin(x), np.exp(x))

    assert Expansion(g, [0.3], [np.ones(1)], 8).callee._native() is not None
    agree(derivatives(g, 6)(0.3), nested(g, 6)(0.3))


@pytest.mark.parametrize("name", ["A @ x", "x @ A"])
def test_constant_matrices(name: str) -> None:
    agree(expand(MIXING[name], [XS], [np.ones((1, 3))], 2)[1], MIXING[name](np.ones(3)))


def test_equations_with_a_constant_matrix() -> None:
    solve = MIXING["solve(I + A, x)"]
    agree(expand(solve, [XS], [np.ones((1, 3))], 2)[1], solve(np.ones(3)))
