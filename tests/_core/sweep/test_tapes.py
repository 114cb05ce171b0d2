"""What sweeps emit, as tapes show it: exact in IEEE arithmetic, nothing computed twice, nothing kept in vain."""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._program.program import Program
from hoad._program.tape import Constant, Tape


def operations(tape: Tape) -> Counter[str]:
    return Counter(node.operation for node in tape)


def gradient_of(f: Callable[..., Any], *args: Any, **options: Any) -> Program:
    return hoad.gradient(hoad.record(f, *args), **options)


# ---- IEEE -----------------------------------------------------------------------------------------------------------


def test_a_constant_zero_is_never_folded() -> None:
    """0.0 · y is nan where y is infinite, in the value and in every derivative."""
    program = gradient_of(lambda x, y: 0.0 * x * y, 1.0, 1.0)
    with np.errstate(invalid="ignore"):
        d_x, d_y = program.evaluate(1.0, math.inf)
        assert math.isnan(d_x) and d_y == 0.0
        d_x, d_y = program.evaluate(math.inf, 1.0)
        assert d_x == 0.0 and math.isnan(d_y)
        assert math.isnan(Program(program[:1]).evaluate(1.0, math.inf))
        assert math.isnan(hoad.grad(lambda x: 0.0 * x * math.inf)(1.0))
        assert math.isnan(hoad.grad(lambda x: x * (0.0 * math.inf))(1.0))
        assert math.isnan(hoad.jvp(lambda x: 0.0 * x * math.inf, (1.0,), (1.0,))[1])
        found = hoad.grad(lambda x: np.sum(0.0 * x * np.array([math.inf, 1.0])))(np.ones(2))
    assert math.isnan(found[0]) and found[1] == 0.0


def test_every_driver_keeps_an_ordinary_zero() -> None:
    """Where nothing is masked, no zero is strong: all drivers agree on 0 · inf."""
    f = lambda x: x * math.inf * 0.0  # noqa: E731
    g = lambda x: x * 0.0 * math.inf  # noqa: E731
    with np.errstate(invalid="ignore"):
        for h in (f, g):
            found = [
                hoad.grad(h)(1.0),
                hoad.jacobian(h, mode="forward")(1.0),
                hoad.jacobian(h, mode="reverse")(1.0),
                hoad.jvp(h, (1.0,), (1.0,))[1],
                hoad.vjp(h, 1.0)[1](1.0)[0],
                hoad.linearize(h, 1.0)[1](1.0),
                hoad.derivative(h)(1.0),
                hoad.gradient(hoad.record(h, 1.0)).evaluate(1.0),
            ]
            assert all(math.isnan(v) for v in found), found


def test_zero_seeds_and_directions_are_numbers() -> None:
    """A cotangent or direction that happens to be 0.0 is not the symbolic zero: 0 · inf stays nan."""
    with np.errstate(all="ignore"):
        assert hoad.vjp(np.sqrt, 0.0)[1](1.0)[0] == math.inf
        assert hoad.jvp(np.sqrt, (0.0,), (1.0,))[1] == math.inf
        assert hoad.grad(np.sqrt)(0.0) == math.inf
        assert hoad.grad(lambda x: 3.0)(math.inf) == 0.0


def test_signs_of_zeros() -> None:
    negative = [
        hoad.grad(lambda x: -0.0 * x)(1.0),
        hoad.grad(lambda x: x * -0.0)(1.0),
        hoad.jvp(lambda x: -x, (1.0,), (0.0,))[1],
        hoad.grad(lambda x: x / -math.inf)(1.0),
    ]
    assert all(v == 0.0 and math.copysign(1.0, v) == -1.0 for v in negative)
    assert math.copysign(1.0, hoad.grad(lambda x: 0.0 * x)(1.0)) == 1.0


def test_products_are_not_reordered() -> None:
    """(1e200 · x) · 1e200 overflows, x · (1e200 · 1e200) too, but (1e200 · x) · 1e-200 does not."""
    with np.errstate(over="ignore"):
        assert hoad.grad(lambda x: 1e200 * x * 1e200)(1.0) == math.inf
    assert hoad.grad(lambda x: 1e200 * x * 1e-200)(1.0) == 1e200 * 1e-200
    assert hoad.grad(lambda x: x * 1e-200 * 1e-200 * 1e300)(1.0) == 1e300 * 1e-200 * 1e-200
    x = np.array([0.1, 0.3])
    found = hoad.grad(lambda x: np.sum(x * 0.1 * 3.0 * 7.0))(x)
    np.testing.assert_array_equal(found, np.full(2, 7.0 * 3.0 * 0.1))


def test_sums_are_not_reordered() -> None:
    terms = [1e16, 1.0, -1e16, 1.0]
    found = hoad.grad(lambda x: sum(t * x for t in terms))(1.0)
    one_by_one = [functools.reduce(operator.add, order) for order in (terms, terms[::-1])]  # sum() compensates
    assert found in one_by_one


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_masked_infinities_are_strong_zeros(mode: str) -> None:
    """An adjoint or tangent that a choice masks out absorbs an infinite factor, at every order."""
    f = lambda x: np.where(x > 0, np.sqrt(np.abs(x)), 0.0)  # noqa: E731
    x = np.array([0.0, 1.0, 4.0])
    jacobian = hoad.jacobian(f, mode=mode)(x)
    np.testing.assert_array_equal(jacobian, np.diag([0.0, 0.5, 0.25]))
    second = hoad.jacobian(hoad.jacobian(f, mode=mode), mode=mode)(x)
    np.testing.assert_array_equal(second[0], np.zeros((3, 3)))
    assert second[1, 1, 1] == -0.25
    for order in range(1, 5):
        assert hoad.derivative(lambda x: np.where(x > 0, np.log(x), 0.0), order)(0.0) == 0.0
        assert hoad.derivative(lambda x: np.maximum(np.sqrt(x), 1.0), order)(0.0) == 0.0
    unused = lambda x: (np.sqrt(x) * np.array([0.0, 1.0, 1.0]))[1:]  # noqa: E731
    assert np.all(np.isfinite(hoad.jacobian(unused, mode=mode)(x)))


# ---- simplification -------------------------------------------------------------------------------------------------


def test_products_with_one_vanish() -> None:
    tape = gradient_of(lambda x, y: x * y, 2.0, 3.0)[1]
    assert tape.size == 0
    assert tape.outputs == (2, 1)  # y and x themselves
    tape = gradient_of(lambda x: 1.0 * x, 2.0)[1]
    assert tape.outputs == (Constant(1.0),)
    tape = gradient_of(lambda x, y: x / y, 2.0, 4.0)[1]
    assert operations(tape)["multiply"] <= 1


def test_the_adjoint_of_a_sum_needs_no_node() -> None:
    """A number that is spread over an array is an operand like a number; what is left are the derivatives summed."""
    x = np.array([0.5, -1.0, 2.0])
    program = hoad.gradient(hoad.record(lambda x: np.sum(np.sin(x)), x))
    assert [node.operation for node in program[1]] == ["cos"]
    np.testing.assert_array_equal(program.evaluate(x), np.cos(x))
    for f in (np.sum, np.mean, lambda x: np.sum(x[None, :]), lambda x: np.sum(x.astype(np.float32))):
        scale = 1 / 3 if f is np.mean else 1.0
        np.testing.assert_allclose(hoad.gradient(hoad.record(f, x)).evaluate(x), np.full(3, scale), rtol=1e-15)


def test_constants_are_folded() -> None:
    program = gradient_of(lambda x: x * 2.0 * 3.0 * 4.0, 1.0)
    assert program[1].outputs == (Constant(24.0),) and program[1].size == 0
    assert operations(program[0])["multiply"] == 3  # recorded primals are left as they were written
    assert gradient_of(lambda x: np.float64(3) * x + 7, 1.0)[1].outputs == (Constant(3.0),)


def test_double_signs_cancel() -> None:
    tape = gradient_of(lambda x, y: -(-(-x)) * y, 1.0, 2.0)[1]
    assert operations(tape)["negative"] <= 2
    tape = gradient_of(lambda x, y: (x - y) * -1.0, 1.0, 2.0)[1]
    assert tape.outputs == (Constant(-1.0), Constant(1.0))


def test_what_was_computed_is_found_again() -> None:
    for f, name in ((np.exp, "exp"), (np.sqrt, "sqrt"), (lambda x: np.exp(x) * np.exp(x), "exp")):
        for x in (0.7, np.array([0.7, 0.2])):
            tape = gradient_of(lambda x, f=f: np.sum(f(x)), x)[1]
            assert operations(tape)[name] == 0, (name, x)
    tape = gradient_of(lambda x: np.sin(x) * np.cos(x), 0.7)[1]
    assert operations(tape)["sin"] == operations(tape)["cos"] == 0
    tape = gradient_of(lambda x: np.sin(x) + np.sin(x) + np.sin(x), 0.7)[1]
    assert operations(tape)["cos"] == 1
    tape = gradient_of(lambda x: np.tanh(x) ** 2, 0.7)[1]
    assert sum(operations(tape).values()) <= 6


def test_commuted_products_are_one() -> None:
    """∂/∂z of z (xy) + z (yx) needs one product: y·x is found to be x·y."""
    tape = gradient_of(lambda x, y: np.sin(x * y) + np.sin(y * x), 0.3, 0.4)[1]
    assert operations(tape)["cos"] <= 2


def test_dead_nodes_are_dropped() -> None:
    """Adjoints of what is not asked for, and values no output needs, are not on the tape."""
    program = gradient_of(lambda x, y: np.exp(np.sin(y)) * x, 1.0, 2.0)
    alive = set()
    stack = [k for k in program[1].outputs if isinstance(k, int)]
    while stack:
        k = stack.pop()
        if k not in alive:
            alive.add(k)
            stack.extend(next((node.parents for tape in program for node in tape if node.number == k), ()))
    assert all(node.number in alive for node in program[1])
    assert hoad.gradient(hoad.record(lambda x: hoad.stop_gradient(np.exp(x)) * x, 1.0))[1].size == 0


def test_unsimplified_tapes_keep_everything() -> None:
    f = lambda x, y: x * y * 1.0 + x  # noqa: E731
    short, long = gradient_of(f, 2.0, 3.0), gradient_of(f, 2.0, 3.0, simplify=False)
    assert long[1].size > short[1].size
    assert long.evaluate(5.0, 7.0) == short.evaluate(5.0, 7.0) == (8.0, 5.0)
    assert {node.adjoint_of for node in long[1]} >= {1, 2}


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
@pytest.mark.parametrize("again", [(1, 0, 2), (1, 2, 0), (2, 0, 1)])
def test_what_is_transposed_twice(axes: tuple[int, ...], again: tuple[int, ...]) -> None:
    """The rule takes a cotangent through both, so that only the pairs that undo each other vanish from a sweep."""
    x = np.random.default_rng(1).normal(size=(2, 2, 2))
    weights = np.arange(8.0).reshape(2, 2, 2)

    def f(x: Any) -> Any:
        return np.sum(weights * np.transpose(np.transpose(x**3, axes), again))

    placed = weights.transpose(np.argsort(again)).transpose(np.argsort(axes))
    np.testing.assert_allclose(hoad.grad(f)(x), 3 * x**2 * placed, rtol=1e-15)
    np.testing.assert_allclose(hoad.hvp(f)(x, placed), 6 * x * placed**2, rtol=1e-15)


def test_the_adjoint_of_the_adjoint_of_a_product_transposes_nothing_again() -> None:
    a = np.random.default_rng(2).normal(size=(3, 4))
    for seed, transposes in ((np.arange(1.0, 5.0), [0, 0, 0]), (np.arange(8.0).reshape(4, 2), [0, 1, 0])):
        program = gradient_of(lambda x: np.sum((a @ x) ** 3), np.ones(seed.shape))
        again = hoad.gradient(program, seed)
        assert [operations(tape)["transpose"] for tape in again] == transposes


def test_growth_of_nested_sweeps_stays_small() -> None:
    """Forward over forward grows like k³, not 2ᵏ: the seventh derivative stays under 10 000 nodes."""
    f = lambda x: np.exp(np.sin(x)) * np.tanh(x) / (1 + x * x)  # noqa: E731
    sizes = []

    nested = f
    for _ in range(7):
        nested = hoad.derivative(nested)

    def count(x: Any) -> Any:
        from hoad._core.trace.traced import node_of

        before = node_of(x * 1.0)
        y = nested(x)
        sizes.append(node_of(y) - before)
        return y

    hoad.grad(count)(0.8)
    assert 100 < sizes[0] < 10_000


def test_repeated_gradients_of_a_polynomial_end() -> None:
    """x³ differentiated four times is 0, and the tapes shrink."""
    program = hoad.record(lambda x: x * x * x, 2.0)
    for wanted in (12.0, 12.0, 6.0, 0.0, 0.0):
        program = hoad.gradient(program)
        assert program.evaluate(2.0) == wanted
    assert [tape.size for tape in program[-2:]] == [0, 0]


def test_many_nodes_beyond_the_table_of_common_subexpressions() -> None:
    """The table forgets on long tapes; results stay right."""
    n = 30_000
    a = np.cos(np.arange(n))

    def f(x: Any) -> Any:
        total = 0.0
        for k in range(n):
            total = total + np.sin(x[k % 100] * a[k]) * x[(k * 7) % 100]
        return total

    x = np.linspace(0.1, 1.0, 100)
    first, second = np.arange(n) % 100, (np.arange(n) * 7) % 100
    wanted = np.zeros(100)
    np.add.at(wanted, first, np.cos(x[first] * a) * a * x[second])
    np.add.at(wanted, second, np.sin(x[first] * a))
    np.testing.assert_allclose(hoad.grad(f)(x), wanted, rtol=1e-10)


# ---- depth and width ------------------------------------------------------------------------------------------------


def chain(n: int) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        s = x
        for _ in range(n):
            s = s * 0.999999 + 1e-6
        return s

    return f


def test_a_chain_of_a_million_operations() -> None:
    """No recursion over nodes anywhere: recording, sweeps, replay, freeing."""
    n = 500_000
    f = chain(n)
    wanted = 0.999999**n
    assert hoad.grad(f)(0.5) == pytest.approx(wanted, rel=1e-9)
    _, tangent = hoad.jvp(f, (0.5,), (2.0,))
    assert tangent == pytest.approx(2 * wanted, rel=1e-9)
    program = hoad.record(f, 0.5)
    assert program[0].size == 2 * n + 1
    assert program.evaluate(0.25) == pytest.approx(f(0.25), rel=1e-12)
    gradient = hoad.gradient(program)
    assert gradient.evaluate(0.25) == pytest.approx(wanted, rel=1e-9)
    del program, gradient


@pytest.mark.slow
def test_a_chain_of_ten_million_operations() -> None:
    n = 5_000_000
    assert hoad.grad(chain(n))(0.5) == pytest.approx(0.999999**n, rel=1e-8)


def test_long_chains_in_nested_derivatives() -> None:
    f = lambda x: chain(20_000)(np.sin(x))  # noqa: E731
    scale = 0.999999**20_000
    assert hoad.grad(hoad.grad(f))(0.5) == pytest.approx(-scale * np.sin(0.5), rel=1e-9)
    assert hoad.derivative(f, 3)(0.5) == pytest.approx(-scale * np.cos(0.5), rel=1e-9)
    assert hoad.hessian(f)(0.5) == pytest.approx(-scale * np.sin(0.5), rel=1e-9)


def test_long_chains_of_arrays() -> None:
    def f(x: Any) -> Any:
        for _ in range(5_000):
            x = x * 0.999 + 0.001
        return np.sum(x)

    np.testing.assert_allclose(hoad.grad(f)(np.ones(3)), np.full(3, 0.999**5_000), rtol=1e-9)


def test_deep_expressions_of_linear_algebra() -> None:
    a = np.array([[0.9, 0.2], [-0.1, 0.8]])

    def f(x: Any) -> Any:
        for _ in range(500):
            x = a @ x
        return np.sum(x)

    wanted = np.ones(2) @ np.linalg.matrix_power(a, 500)
    np.testing.assert_allclose(hoad.grad(f)(np.ones(2)), wanted, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 100, 1000])
def test_operations_with_any_number_of_operands(n: int) -> None:
    """Tables of fixed length on the stack end at 16, 24, 32 and 64 operands."""
    x = np.linspace(0.5, 1.5, n)
    joined = lambda x: np.sum(np.concatenate([x[k : k + 1] ** 2 for k in range(n)]) * x)  # noqa: E731
    packed = lambda x: np.sum(np.stack([x[k] ** 2 for k in range(n)]) * x)  # noqa: E731
    plain = lambda x: np.sum(np.concatenate([np.ones(1), *[x[k : k + 1] for k in range(n)], np.ones(1)]) ** 3) - 2  # noqa: E731
    for f in (joined, packed, plain):
        np.testing.assert_allclose(hoad.grad(f)(x), 3 * x**2, rtol=1e-13)
        np.testing.assert_allclose(hoad.jvp(f, (x,), (np.ones(n),))[1], np.sum(3 * x**2), rtol=1e-12)
        assert hoad.hvp(f)(x, np.ones(n)) == pytest.approx(6 * x, rel=1e-12)
        assert hoad.gradient(hoad.record(f, x)).evaluate(2 * x) == pytest.approx(12 * x**2, rel=1e-12)
    one = lambda x: np.sum(np.concatenate([np.full(1, 2.0)] * (n - 1) + [x[:1]]) ** 2)  # noqa: E731
    np.testing.assert_allclose(hoad.grad(one)(x), np.where(np.arange(n) == 0, 2 * x, 0.0))


@hoad.primitive
def weighted(*values: float) -> float:
    return sum((k + 1) * v for k, v in enumerate(values))


@hoad.defvjp(weighted)
def _weighted(g: Any, p: Any, *values: Any) -> Any:
    return tuple((k + 1) * g for k in range(len(values)))


@pytest.mark.parametrize("n", [1, 2, 16, 17, 40, 64, 65, 200])
def test_users_primitives_with_any_number_of_operands(n: int) -> None:
    f = lambda x: weighted(*[x[k] ** 2 for k in range(n)])  # noqa: E731
    x = np.linspace(0.5, 1.5, n)
    weights = np.arange(1.0, n + 1)
    np.testing.assert_allclose(hoad.grad(f)(x), 2 * weights * x, rtol=1e-13)
    np.testing.assert_allclose(hoad.hessian(f)(x), np.diag(2 * weights), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(hoad.jvp(f, (x,), (x,))[1], np.sum(2 * weights * x * x), rtol=1e-12)


@hoad.primitive(nout=3)
def parts(x: Any) -> tuple[Any, Any, Any]:
    return 2.0 * x, np.sin(x), np.asarray(x) ** 2


hoad.defvjp(parts, lambda g, p, x: (2.0 * g[0] + g[1] * np.cos(x) + g[2] * (2.0 * x),))


def test_primitives_with_several_results() -> None:
    for x in (0.7, np.array([0.7, 0.2])):
        f = lambda x: np.sum(parts(x)[0] * parts(x)[2]) + np.sum(parts(x)[1])  # noqa: E731
        np.testing.assert_allclose(hoad.grad(f)(x), 6 * np.asarray(x) ** 2 + np.cos(x), rtol=1e-14)
        only = lambda x: np.sum(parts(x)[2])  # noqa: E731
        np.testing.assert_allclose(hoad.grad(only)(x), 2 * np.asarray(x), rtol=1e-14)
        np.testing.assert_allclose(hoad.jvp(only, (x,), (x,))[1], 2 * np.sum(np.asarray(x) ** 2), rtol=1e-14)
        second = np.diag(np.atleast_1d(12 * np.asarray(x) - np.sin(x)))
        np.testing.assert_allclose(hoad.hessian(f)(x), second.reshape(np.shape(x) * 2), rtol=1e-13, atol=1e-14)
        program = hoad.gradient(hoad.record(only, x))
        np.testing.assert_allclose(program.evaluate(x), 2 * np.asarray(x), rtol=1e-14)


# ---- rewinding ------------------------------------------------------------------------------------------------------


def nodes_left_by(call: Callable[[Any], Any]) -> int:
    """How many nodes a derivative taken inside another leaves behind."""
    from hoad._core.trace.traced import node_of

    left: list[int] = []

    def f(x: Any) -> Any:
        call(x)
        before = node_of(x * 1.0)
        call(x)
        left.append(node_of(x * 1.0) - before - 1)
        return x

    hoad.grad(f)(2.0)
    return left[0]


def test_derivatives_that_owe_nothing_are_forgotten() -> None:
    independent: list[Callable[[Any], Any]] = [
        lambda x: hoad.grad(lambda y: y * np.sin(y))(1.0),
        lambda x: hoad.value_and_grad(lambda y: np.sum(y * y))(np.ones(3)),
        lambda x: hoad.jvp(lambda y: y * y, (1.0,), (2.0,)),
        lambda x: hoad.hessian(lambda y: np.sum(y**3))(np.ones(3)),
        lambda x: hoad.derivative(np.tanh, 3)(0.5),
        lambda x: hoad.grad(hoad.grad(lambda y: y**3))(2.0),
        lambda x: hoad.grad(lambda y: y if y > 0 else -y)(2.0),
    ]
    for call in independent:
        assert nodes_left_by(call) == 0


def test_derivatives_that_are_used_are_kept() -> None:
    kept: list[Any] = []
    assert nodes_left_by(lambda x: kept.append(hoad.grad(lambda y: x * y * y)(1.0))) > 0
    assert nodes_left_by(lambda x: kept.append(hoad.grad(lambda y: kept.append(y * y) or y)(1.0))) > 0


def test_values_before_and_after_a_rewound_derivative_are_right() -> None:
    """Numbers of forgotten nodes, constants and captured arrays are given anew; nothing mixes."""
    captured = np.array([3.0, 4.0])

    def f(x: Any) -> Any:
        total = x * 0.0
        for k in range(20):
            before = x * (k + 0.5)
            slope = hoad.grad(lambda y, k=k: np.sum(y * captured * (k + 0.25)))(np.ones(2))
            after = np.sum(captured * x) * 0.125 + before * slope[1]
            captured[1] += 1.0
            total = total + after
        return total

    wanted, second = 0.0, 4.0
    for k in range(20):
        wanted += (3.0 + second) * 0.125 + (k + 0.5) * second * (k + 0.25)
        second += 1.0
    assert hoad.grad(f)(2.0) == pytest.approx(wanted, rel=1e-14)
