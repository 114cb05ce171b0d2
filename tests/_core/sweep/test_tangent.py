"""Tangent tapes: hoad.tangent beside hoad.gradient, in any order, against closed forms and mpmath."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mpmath
import numpy as np
import pytest
from _core.programs import ARGUMENTS, Step, run, steps
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad
from hoad._program.tape import Constant
from hoad.errors import ArgumentError, DTypeError, GuardError, ShapeError

TRANSFORMS = {"gradient": hoad.gradient, "tangent": hoad.tangent}
MIXTURES = [names for n in (1, 2, 3) for names in itertools.product(TRANSFORMS, repeat=n)]

# ---- one variable: every mixture of n transforms gives the n-th derivative -------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exp(sin x) / (1 + x²)": (
        lambda x: np.exp(np.sin(x)) / (1 + x**2),
        lambda x: mpmath.exp(mpmath.sin(x)) / (1 + x**2),
    ),
    "x^x": (lambda x: x**x, lambda x: x**x),
    "tanh(x) log(1 + x)": (
        lambda x: np.tanh(x) * np.log(1 + x),
        lambda x: mpmath.tanh(x) * mpmath.log(1 + x),
    ),
}


@pytest.mark.parametrize("simplify", [True, False], ids=["simplified", "whole"])
@pytest.mark.parametrize("names", MIXTURES, ids="-".join)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_one_variable(name: str, names: tuple[str, ...], simplify: bool) -> None:
    f, exact = FUNCTIONS[name]
    program = hoad.record(f, 0.7)
    for transform in names:
        program = TRANSFORMS[transform](program, simplify=simplify)
    assert [tape.kind for tape in program] == ["primal", *({"gradient": "adjoint"}.get(n, n) for n in names)]
    for x in (0.7, 1.9):
        with mpmath.workdps(40):
            wanted = mpmath.diff(exact, mpmath.mpf(x), len(names))
        assert program.evaluate(x) == pytest.approx(float(wanted), rel=1e-13)


# ---- several variables: directional derivatives ----------------------------------------------------------------------


def rational(x: Any, y: Any) -> Any:
    return x**3 * y / (1 + y**2) + np.exp(x * y)


def exact_rational(x: Any, y: Any) -> Any:
    return x**3 * y / (1 + y**2) + mpmath.exp(x * y)


def directional(at: tuple[float, float], directions: list[tuple[float, float]]) -> float:
    """The derivative along each direction in turn, in 40 digits."""

    def moved(*t: Any) -> Any:
        x, y = (a + sum(s * d[k] for s, d in zip(t, directions, strict=True)) for k, a in enumerate(at))
        return exact_rational(x, y)

    with mpmath.workdps(40):
        return float(mpmath.diff(moved, (0,) * len(directions), (1,) * len(directions)))


DIRECTIONS = [(1.0, -0.5), (0.25, 2.0), (-1.5, 0.75)]


@pytest.mark.parametrize("names", MIXTURES, ids="-".join)
@pytest.mark.parametrize("seeds", ["numbers", "symbolic"])
def test_derivatives_along_directions(names: tuple[str, ...], seeds: str) -> None:
    """A tangent takes a direction; of a gradient, the product with one is taken at the end, or by the next seed."""
    at = (0.6, -1.1)
    program, given, last = hoad.record(rational, *at), list[float](), None
    width = 1  # of what the last tape gives
    for transform, direction in zip(names, DIRECTIONS, strict=False):
        if transform == "tangent":
            program = hoad.tangent(program, "symbolic" if seeds == "symbolic" else direction)
            given += direction if seeds == "symbolic" else ()
        else:
            seed = 1.0 if last is None else last
            program = hoad.gradient(program, "symbolic" if seeds == "symbolic" else seed)
            given += np.ravel(seed).tolist() if seeds == "symbolic" else []
            width, last = 2, direction
    found = program.evaluate(*at, *given)
    assert np.shape(found) == (() if width == 1 else (2,))
    value = found if last is None else np.dot(found, last)
    assert value == pytest.approx(directional(at, DIRECTIONS[: len(names)]), rel=1e-12)


def test_inputs_come_in_the_order_of_their_tapes() -> None:
    program = hoad.record(lambda x, a: a * x**2, 2.0, np.array([1.0, 3.0]))
    program = hoad.gradient(hoad.tangent(program, "symbolic"), "symbolic")
    assert [aval.shape for aval in program.input_types] == [(), (2,), (), (2,), (2,)]
    x, a, dx, da, g = 2.0, np.array([1.0, 3.0]), 0.5, np.array([2.0, -1.0]), np.array([1.0, 10.0])
    by_x, by_a = program.evaluate(x, a, dx, da, g)
    # g · d(a x²) = g · (da x² + 2 a x dx)
    assert by_x == pytest.approx(g @ (2 * da * x + 2 * a * dx), rel=1e-15)
    np.testing.assert_allclose(by_a, g * 2 * x * dx, rtol=1e-15)


# ---- arrays ----------------------------------------------------------------------------------------------------------

A = np.array([[2.0, 0.5, -1.0], [0.25, 3.0, 1.0], [1.5, -0.5, 2.5]])
U = np.array([[0.5, -1.0, 2.0], [1.0, 0.25, -0.75], [-0.5, 1.5, 1.0]])
V = np.array([[1.0, 0.0, -0.5], [0.5, -1.5, 0.25], [2.0, 1.0, 0.5]])


def test_the_inverse_of_a_matrix() -> None:
    """d A⁻¹ = −A⁻¹ U A⁻¹, and along V then: A⁻¹ V A⁻¹ U A⁻¹ + A⁻¹ U A⁻¹ V A⁻¹."""
    inverse = np.linalg.inv(A)
    first = hoad.tangent(hoad.record(np.linalg.inv, A), "symbolic")
    np.testing.assert_allclose(first.evaluate(A, U), -inverse @ U @ inverse, rtol=1e-12)
    second = hoad.tangent(first, "symbolic")
    wanted = inverse @ V @ inverse @ U @ inverse + inverse @ U @ inverse @ V @ inverse
    np.testing.assert_allclose(second.evaluate(A, U, V), wanted, rtol=1e-12, atol=1e-13)
    third = hoad.gradient(second, V)  # of the sum V · that
    back = hoad.tangent(hoad.record(lambda a: np.sum(V * second(a, U, V)), A), "symbolic")
    assert back.evaluate(A, U) == pytest.approx(np.sum(U * third.evaluate(A, U, V)), rel=1e-12)


def test_the_logarithm_of_a_determinant() -> None:
    """By reverse A⁻ᵀ, then forward −A⁻ᵀ Uᵀ A⁻ᵀ; the other way round the same, along U."""
    logdet = hoad.record(lambda a: np.log(np.linalg.det(a)), A)
    transposed = np.linalg.inv(A).T
    forward_over_reverse = hoad.tangent(hoad.gradient(logdet), U)
    reverse_over_forward = hoad.gradient(hoad.tangent(logdet, U))
    for program in (forward_over_reverse, reverse_over_forward):
        np.testing.assert_allclose(program.evaluate(A), -transposed @ U.T @ transposed, rtol=1e-12, atol=1e-14)
    cubic = hoad.tangent(forward_over_reverse, V).evaluate(A)
    t = transposed
    np.testing.assert_allclose(cubic, t @ V.T @ t @ U.T @ t + t @ U.T @ t @ V.T @ t, rtol=1e-12, atol=1e-13)


def test_items_slices_and_scalars_of_arrays() -> None:
    x, u = np.array([0.5, -1.5, 2.0]), np.array([1.0, 2.0, -0.5])
    program = hoad.record(lambda x: np.stack([x[0] * x[1], np.sum(x[1:] ** 2), np.sin(x[2])]), x)
    jacobian = np.array([[x[1], x[0], 0], [0, 2 * x[1], 2 * x[2]], [0, 0, np.cos(x[2])]])
    np.testing.assert_allclose(hoad.tangent(program, u).evaluate(x), jacobian @ u, rtol=1e-15)
    twice = hoad.tangent(hoad.tangent(program, u), u)
    np.testing.assert_allclose(twice.evaluate(x), [2 * u[0] * u[1], 2 * u[1] ** 2 + 2 * u[2] ** 2, -np.sin(2) / 4])
    kinds = [tape.kind for tape in hoad.gradient(twice, np.ones(3))]
    assert kinds == ["primal", "tangent", "tangent", "adjoint"]


def test_several_results_of_one_operation() -> None:
    symmetric = (A + A.T) / 2
    program = hoad.record(lambda a: np.linalg.eigh(a)[0], symmetric)
    direction = (U + U.T) / 2
    _, vectors = np.linalg.eigh(symmetric)
    wanted = np.diag(vectors.T @ direction @ vectors)
    for simplify in (True, False):
        found = hoad.tangent(program, direction, simplify=simplify)
        np.testing.assert_allclose(found.evaluate(symmetric), wanted, rtol=1e-12)
        assert str(found)


def test_single_precision_stays() -> None:
    x = np.array([0.5, 1.5], dtype=np.float32)
    program = hoad.tangent(hoad.record(lambda x: np.sin(x) * x, x), np.array([1.0, 2.0]))
    found = program.evaluate(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, (np.sin(x) + x * np.cos(x)) * [1, 2], rtol=1e-6)


def test_masked_infinities_are_strong_zeros() -> None:
    """What `where` leaves out adds nothing, at any order and in any order of modes."""
    x = np.array([-1.0, 0.0, 4.0])
    program = hoad.record(lambda x: np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0)), x)
    ones = np.ones(3)
    assert hoad.tangent(program, ones).evaluate(x) == 0.25
    assert hoad.tangent(hoad.tangent(program, ones), ones).evaluate(x) == -1 / 32
    for mixed in (hoad.tangent(hoad.gradient(program), ones), hoad.gradient(hoad.tangent(program, ones))):
        np.testing.assert_array_equal(mixed.evaluate(x), [0, 0, -1 / 32])


def test_what_has_no_derivative() -> None:
    """Booleans, integers, constants and what was stopped have tangent zero."""
    program = hoad.record(lambda x: (x > 1, np.argmax(x * np.ones(2)), 3.0, hoad.stop_gradient(x) * x, x), 2.0)
    found = hoad.tangent(program).evaluate(2.0)
    assert found == (0.0, 0.0, 0.0, 2.0, 1.0)
    assert all(type(value) is float for value in found)
    assert hoad.tangent(hoad.tangent(program)).evaluate(2.0) == (0.0, 0.0, 0.0, 0.0, 0.0)
    assert hoad.tangent(hoad.record(lambda: 3.0)).evaluate() == 0.0


def test_guards_hold() -> None:
    program = hoad.tangent(hoad.record(lambda x: x**2 if x > 0 else -x, 2.0))
    assert program.evaluate(3.0) == 6.0
    with pytest.raises(GuardError):
        program.evaluate(-1.0)


# ---- other modes -----------------------------------------------------------------------------------------------------


@given(steps(), st.sampled_from(range(len(ARGUMENTS))))
@settings(max_examples=80)
def test_random_programs(program: list[Step], k: int) -> None:
    """Tangent, gradient and both orders of the two, beside the drivers."""
    x = ARGUMENTS[k]
    v = np.cos(np.arange(np.size(x), dtype=float)).reshape(np.shape(x))
    v = float(v) if isinstance(x, float) else v

    def f(x: Any) -> Any:
        return run(program, x)

    recorded = hoad.record(f, x)
    product = hoad.hvp(f)(x, v)
    scale = 1e-10 * max(1.0, float(np.max(np.abs(product), initial=0.0)))
    tangent = hoad.tangent(recorded, v).evaluate(x)
    assert tangent == pytest.approx(np.sum(np.asarray(hoad.grad(f)(x)) * v), rel=1e-11, abs=scale)
    for mixed in (hoad.tangent(hoad.gradient(recorded), v), hoad.gradient(hoad.tangent(recorded, v))):
        np.testing.assert_allclose(mixed.evaluate(x), product, rtol=0, atol=scale)
    twice = hoad.tangent(hoad.tangent(recorded, v), v).evaluate(x)
    assert twice == pytest.approx(np.sum(np.asarray(product) * v), rel=1e-11, abs=scale * max(1, np.size(x)))


def test_adjoints_and_tangents_are_dual() -> None:
    """ȳ · ẏ = x̄ · ẋ."""
    x, x_dot, y_bar = np.array([0.3, -0.7, 1.1]), np.array([1.0, -2.0, 0.5]), np.array([0.25, 4.0])
    program = hoad.record(lambda x: np.stack([np.sin(x[0] * x[1]), x[2] ** 2 * np.exp(x[0])]), x)
    y_dot, x_bar = hoad.tangent(program, x_dot).evaluate(x), hoad.gradient(program, y_bar).evaluate(x)
    assert y_bar @ y_dot == pytest.approx(x_bar @ x_dot, rel=1e-14)


def test_in_a_derivative_that_is_being_taken() -> None:
    """A program with a tangent tape is a function: it can be called on traced values, or recorded in another."""
    program = hoad.tangent(hoad.record(lambda x: np.sin(x) * x, 0.5))  # sin x + x cos x
    assert hoad.grad(program)(0.5) == pytest.approx(2 * np.cos(0.5) - 0.5 * np.sin(0.5), rel=1e-15)
    outer = hoad.tangent(hoad.record(lambda x: program(x) * x, 0.5))
    wanted = np.sin(0.5) + 2 * 0.5 * np.cos(0.5) + 0.5 * np.cos(0.5) - 0.25 * np.sin(0.5)
    assert outer.evaluate(0.5) == pytest.approx(wanted, rel=1e-14)
    assert outer[0].nodes[1].operation == "call"


def test_the_sensitivity_of_a_tangent() -> None:
    """How ẏ moves with x: the second derivative; with any node of the primal tape besides."""
    program = hoad.tangent(hoad.record(lambda x: np.exp(x * x), 0.5))
    e = np.exp(0.25)
    assert program.sensitivity(1) == pytest.approx((2 + 4 * 0.25) * e, rel=1e-14)
    assert program.sensitivities()[1] == pytest.approx((2 + 4 * 0.25) * e, rel=1e-14)


# ---- to be read ------------------------------------------------------------------------------------------------------


def test_every_node_beside_its_tangent() -> None:
    """With simplify=False every node has a tangent of its own, and it is Σ v̇ⱼ ∂vᵢ/∂vⱼ over the parents."""
    a, b = 0.7, 1.3
    program = hoad.record(lambda x, y: x * y + np.exp(x * y) - np.sin(y), a, b)
    primal, tangents = hoad.tangent(program, (1.0, -2.0), simplify=False)
    assert [(n.operation, n.parents) for n in primal.nodes[2:]] == [
        *(("multiply", (1, 2)), ("multiply", (1, 2)), ("exp", (4,)), ("add", (3, 5)), ("sin", (2,))),
        ("subtract", (6, 7)),
    ]
    product = b - 2 * a
    wanted = [1.0, -2.0, product, product, product * np.exp(a * b), product * (1 + np.exp(a * b)), -2 * np.cos(b)]
    wanted.append(wanted[5] - wanted[6])
    noted = [node for node in tangents.nodes if node.tangent_of is not None]
    assert [node.tangent_of for node in noted] == list(range(1, 9))
    np.testing.assert_allclose([node.result for node in noted], wanted, rtol=1e-14)
    assert all(node.swept == node.tangent_of and node.adjoint_of is node.part is None for node in noted)
    assert tangents.outputs == (noted[-1].number,)


def test_notes_of_simplified_tapes_are_true() -> None:
    """Where a node is said to be the tangent of another, it is."""
    x, u = np.array([0.4, 1.2, -0.3]), np.array([1.0, -1.0, 2.0])
    f = lambda x: np.sum(np.sin(x) * x[::-1] + x[0] * np.exp(x)) / (1 + x[1] ** 2)  # noqa: E731
    for before in (hoad.record(f, x), hoad.gradient(hoad.record(f, x))):
        whole, short = hoad.tangent(before, u, simplify=False), hoad.tangent(before, u)
        wanted = {node.tangent_of: node.result for node in whole[-1].nodes if node.tangent_of}
        noted = [node for node in short[-1].nodes if node.tangent_of]
        assert len(short[-1]) < len(whole[-1]) and len(noted) > 3
        for node in noted:
            np.testing.assert_allclose(node.result, wanted[node.tangent_of], rtol=1e-13)
        of_all = {node.number for tape in before for node in tape.nodes}
        assert set(wanted) <= of_all and len(wanted) > 0.8 * len(of_all)


def test_tables_and_records() -> None:
    program = hoad.tangent(hoad.record(lambda x: np.sin(x) * x, 0.5), 2.0, simplify=False)
    text = str(program)
    assert "Tape 2 (tangent): " in text and "d@k: the tangent of @k" in text and "∇" not in text
    (row,) = [record for record in program.records() if record["tangent"] == "d@2"]
    assert (row["tangent_of"], row["swept"], row["adjoint"], row["kind"]) == (2, 2, None, "tangent")
    assert row["value"] == pytest.approx(2 * np.cos(0.5), rel=1e-15)
    mixed = hoad.gradient(program, simplify=False)
    assert {record["adjoint"] for record in mixed.records()} >= {"∇@1", f"∇@{row['node']}"}
    for form in ("markdown", "html"):
        assert "tangent" in program.table(form) and "d@2 = " in program.table(form)
    assert 'label="d@2\\n@' in program.to_dot()


def test_the_nodes_that_a_tape_refers_to() -> None:
    """`Tape.parents`: of earlier tapes, those that its nodes or outputs use."""
    program = hoad.record(lambda x, y: 4 * x * y + np.sin(4 * y) * (3 * x), 2.0, 0.5)
    assert program[0].parents == ()
    whole = hoad.gradient(program, simplify=False)
    assert whole[1].parents == (2, 3, 5, 6, 7)  # what the rules of * and sin use
    assert hoad.tangent(program, (1.0, None), simplify=False)[1].parents == (2, 6)
    linear = hoad.gradient(hoad.record(lambda x: x + x, 1.0))
    assert linear[1].parents == ()
    product = hoad.gradient(hoad.record(lambda x, y: x * y, 2.0, 3.0))
    assert product[1].parents == (1, 2) and product[1].size == 0  # its outputs are nodes of the primal


# ---- programs --------------------------------------------------------------------------------------------------------


def test_nothing_recorded_is_ever_changed() -> None:
    program = hoad.record(rational, 0.6, -1.1)
    before = str(program)
    made = [hoad.tangent(program, seed) for seed in ((1.0, 0.0), (0.0, 1.0), "symbolic", (1.0, None))]
    assert [len(p) for p in (program, *made)] == [1, 2, 2, 2, 2]
    assert str(program) == before and all(p[0] is program[0] for p in made)
    first, second = (p.evaluate(0.6, -1.1) for p in made[:2])
    assert made[2].evaluate(0.6, -1.1, 2.0, -3.0) == pytest.approx(2 * first - 3 * second, rel=1e-14)
    assert made[3].evaluate(0.6, -1.1) == pytest.approx(first, rel=1e-14)
    assert made[3][1].size < made[0][1].size  # a zero that folds


def test_unvalued_programs() -> None:
    x, y = hoad.symbols("x y")
    program = hoad.tangent((np.sin(x * y) + x).to_program(x, y), "symbolic")
    assert program.evaluate(2.0, 0.5, 1.0, 0.0) == pytest.approx(0.5 * np.cos(1) + 1, rel=1e-15)
    assert all(node.result is None for node in program[1].nodes)


def test_copies_and_pickles() -> None:
    program = hoad.gradient(hoad.tangent(hoad.record(np.sin, 0.5)))
    for other in (program.copy(), pickle.loads(pickle.dumps(program))):
        assert other.evaluate(0.5) == pytest.approx(-np.sin(0.5), rel=1e-15)
        assert [tape.kind for tape in other] == ["primal", "tangent", "adjoint"]
        assert hoad.tangent(other).evaluate(0.5) == pytest.approx(-np.cos(0.5), rel=1e-15)


def test_tangents_of_one_program_in_many_threads_at_once() -> None:
    program = hoad.record(rational, 0.6, -1.1)
    directions = [(float(k), 1.0 - k) for k in range(12)]

    def work(direction: tuple[float, float]) -> float:
        value: float = hoad.gradient(hoad.tangent(program, direction)).evaluate(0.6, -1.1)[0]
        return value

    alone = [work(direction) for direction in directions]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, directions)) == alone


def test_a_failure_leaves_nothing_behind() -> None:
    @hoad.primitive
    def opaque(x: Any) -> Any:
        return x * x

    program = hoad.record(lambda x: opaque(x) * x, 2.0)
    size = program[0].nbytes
    with pytest.raises(hoad.NoRuleError, match="opaque has no derivative rule"):
        hoad.tangent(program)
    assert program[0].nbytes == size
    hoad.defvjp(opaque, lambda g, p, x: (2 * g * x,))
    assert hoad.tangent(program).evaluate(2.0) == 12.0


def test_long_programs() -> None:
    def long(x: Any) -> Any:
        for _ in range(50_000):
            x = np.sin(x)
        return x

    program = hoad.record(long, 0.5)
    wanted, x = 1.0, 0.5
    for _ in range(50_000):
        wanted, x = wanted * np.cos(x), np.sin(x)
    assert hoad.tangent(program).evaluate(0.5) == pytest.approx(wanted, rel=1e-10)


def test_what_is_refused() -> None:
    program = hoad.record(rational, 0.6, -1.1)
    with pytest.raises(ArgumentError, match=r"tangent takes a Program, but was given function.*hoad\.jvp"):
        hoad.tangent(rational)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"tangent needs a seed where the function takes more than one number.*\(\)"):
        hoad.tangent(program)
    with pytest.raises(ShapeError, match=r"tangent was given 1 seed for 2 inputs\. Give a tuple, one for each"):
        hoad.tangent(program, 1.0)
    with pytest.raises(ArgumentError, match="tangent takes a number, an array or 'symbolic' as seed, not 'numeric'"):
        hoad.tangent(program, "numeric")
    with pytest.raises(ShapeError, match=r"the seed of input 1 must have shape \(\), but has shape \(2,\)"):
        hoad.tangent(program, (1.0, np.ones(2)))
    with pytest.raises(DTypeError, match="the seed of input 0 must be a float or an array of floats, but is complex"):
        hoad.tangent(program, (1j, 1.0))
    vector = hoad.record(lambda x: x**2, np.ones(3))
    with pytest.raises(ShapeError, match=r"its inputs have shape \(3,\)"):
        hoad.tangent(vector)
    assert isinstance(hoad.tangent(vector, np.ones(3))[1].outputs[0], (int, Constant))


def test_none_in_a_seed_does_not_count() -> None:
    """In both directions, it is a zero that folds."""
    program = hoad.record(lambda x, y: (x * y, np.log(x)), 2.0, 3.0)
    assert hoad.gradient(program, (2.0, None)).evaluate(2.0, 3.0) == (6.0, 4.0)
    assert hoad.gradient(program, (None, 2.0)).evaluate(2.0, 3.0) == (1.0, 0.0)
    assert hoad.gradient(program, (2.0, None)).evaluate(0.0, 3.0) == (6.0, 0.0)
    assert np.isnan(hoad.gradient(program, (2.0, 0.0)).evaluate(0.0, 3.0)[0])
    assert hoad.tangent(program, (None, 1.0)).evaluate(2.0, 3.0) == (2.0, 0.0)
    assert hoad.tangent(program, (None, None)).evaluate(2.0, 3.0) == (0.0, 0.0)
