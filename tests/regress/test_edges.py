"""Edges between parts: rules that branch on values, dtypes that are inferred, zeros with a sign, lists of tapes."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import hoad

# ---- rules that branch on values ------------------------------------------------------------------------------------


@hoad.primitive
def cube(x: Any) -> Any:
    return x * x * x


hoad.defvjp(cube, lambda g, p, x: (g * (3 * x * x),), per_call=True)


@hoad.primitive(linear=(0,))
def bent(a: Any, y: Any) -> Any:
    return a * 2.0 if y > 0 else a * 3.0


hoad.defvjp(bent, lambda g, p, a, y: (g * 2.0 if y > 0 else g * 3.0, None), per_call=True)


@hoad.primitive
def outer(x: Any) -> Any:
    return 2.0 * x if x > 0 else 3.0 * x


hoad.defvjp(outer, lambda g, p, x: (bent(g * 1.5, x * 1.0) / 1.5,), per_call=True)


@hoad.primitive(linear=(0,))
def doubled(x: Any) -> Any:
    return 2.0 * x


hoad.defvjp(doubled, lambda g, p, x: (doubled(g),), per_call=True)


def test_a_rule_that_branches_works_forward_on_arrays() -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(hoad.jvp(cube, (x,), (np.ones(2),))[1], 3 * x**2)
    np.testing.assert_allclose(hoad.hessian(lambda x: np.sum(cube(x)))(x), np.diag(6 * x))
    np.testing.assert_array_equal(hoad.jacobian(doubled, mode="forward")(x), 2 * np.eye(2))


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_branch_inside_a_rule_of_a_rule_is_taken_on_the_value(x: float) -> None:
    wanted = 2.0 if x > 0 else 3.0
    assert hoad.grad(outer)(x) == wanted
    assert hoad.jvp(outer, (x,), (1.0,))[1] == wanted


def test_a_rule_that_applies_its_own_primitive_to_g() -> None:
    assert hoad.jvp(doubled, (3.0,), (1.0,)) == (6.0, 2.0)
    assert hoad.hessian(lambda x: doubled(x) * x)(2.0) == 4.0


def test_guards_of_a_derivative_belong_to_its_tape() -> None:
    program = hoad.record(lambda x: cube(x) * 1.0, 2.0)

    @hoad.primitive
    def square(x: Any) -> Any:
        return x * x

    hoad.defvjp(square, lambda g, p, x: (2.0 * x * g if x else g * 3.0,), per_call=True)
    program = hoad.record(lambda x: square(x) * 1.0, 2.0)
    swept = hoad.gradient(program)
    assert program.evaluate(0.0) == 0.0
    assert program[0].guards == [] and len(swept[1].guards) == 1
    with pytest.raises(hoad.GuardError):
        swept.evaluate(0.0)


# ---- what is inferred from a call on ones ---------------------------------------------------------------------------


def test_a_whole_python_number_is_a_float() -> None:
    @hoad.primitive(vjp=lambda g, p, x: (-g * (p > 0),))
    def hinge(x: Any) -> Any:
        return max(0, 1 - x)

    assert hoad.value_and_grad(lambda x: hinge(x) * x)(0.3) == (pytest.approx(0.21), pytest.approx(0.4))


def test_a_dtype_that_changes_is_refused() -> None:
    @hoad.primitive(vjp=lambda g, p, x: (g,))
    def ragged(x: Any) -> Any:
        return np.array([1, 2]) if x == 1 else np.array([1.5, 2.0])

    with pytest.raises(TypeError, match=r"gave float64 where int64 was inferred.*same dtype"):
        hoad.grad(lambda x: ragged(x)[0] * x)(0.3)


# ---- symbolic zeros and strong zeros --------------------------------------------------------------------------------


def test_many_parts_of_an_adjoint_that_is_zero() -> None:
    @hoad.primitive(nout=2)
    def two(x: Any) -> Any:
        return np.sum(x), x * 1.0

    hoad.defvjp(two, lambda g, p, x: (g[0] * np.ones_like(x) + np.concatenate([g[1][i : i + 1] for i in range(20)]),))
    np.testing.assert_array_equal(hoad.grad(lambda x: two(x)[0])(np.arange(20.0)), np.ones(20))


def test_a_product_with_a_constant_is_not_strong() -> None:
    program = hoad.record(lambda x: np.log(x**3), 1.0)
    with np.errstate(all="ignore"):
        found = [hoad.gradient(program, simplify=s).evaluate(0.0) for s in (True, False)]
        assert all(map(math.isnan, found))
        powers = np.array([3.0, 2.0])
        assert np.isnan(hoad.grad(lambda x: np.sum(np.log(x**powers)))(np.zeros(2))).all()


# ---- zeros with a sign ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [lambda x: 1 / np.sum(np.stack([x, x])), lambda x: np.sum(1 / np.stack([x, x]))])
def test_the_sign_of_zero_is_numpys(f: Any) -> None:
    with np.errstate(all="ignore"):
        assert hoad.value_and_grad(f)(-0.0)[0] == f(np.float64(-0.0))


def test_a_captured_view_that_changes_by_the_sign_of_zero() -> None:
    signs = np.zeros((3, 2))[:, 0]

    def f(x: Any) -> Any:
        y = np.copysign(x, signs)
        signs[:] = -0.0
        z = np.copysign(x, signs)
        signs[:] = 0.0
        return np.sum(y) + np.sum(z)

    value, gradient = hoad.value_and_grad(f)(np.ones(3))
    assert value == 0.0 and not gradient.any()


# ---- rules that are replaced ----------------------------------------------------------------------------------------


def test_a_new_rule_reaches_programs_that_were_differentiated() -> None:
    @hoad.primitive(vjp=lambda g, p, x: (g * 2.0,))
    def one(x: Any) -> Any:
        return x * 1.0

    program = hoad.record(lambda x: one(x) * x, 1.0)
    caller = hoad.record(lambda x: program(x) * 2, 1.0)
    swept = hoad.gradient(caller)
    assert (hoad.grad(program)(3.0), hoad.grad(caller)(3.0)) == (9.0, 18.0)
    hoad.defvjp(one, lambda g, p, x: (g * 1.0,))
    assert (hoad.grad(program)(3.0), hoad.grad(caller)(3.0)) == (6.0, 12.0)
    assert swept.evaluate(3.0) == 18.0  # a tape is never changed
    assert "Tape 2 (adjoint)" in str(swept)


# ---- lists of tapes -------------------------------------------------------------------------------------------------


def mixed() -> list[Any]:
    a = hoad.record(lambda x, y, z: x * y * z, 1.0, 2.0, 3.0)
    b = hoad.record(np.sin, 1.0)
    c = hoad.gradient(b)
    return [hoad.Program([b[0], a[0]]), hoad.Program([a[0], b[0]]), hoad.Program([c[1], c[0]])]


@pytest.mark.parametrize("use", [str, pickle.dumps, hoad.gradient, lambda p: p.evaluate(1.0, 2.0, 3.0, 4.0)])
def test_tapes_that_do_not_belong_together_are_refused(use: Any) -> None:
    for program in mixed():
        with pytest.raises(hoad.ShapeError, match=r"is not one that its last tape was derived from.*slice"):
            use(program)


def test_copies_hold_the_same_tapes() -> None:
    program = hoad.gradient(hoad.record(lambda x: x**3, 2.0))
    for twin in (copy.copy(program), copy.deepcopy(program), program.copy(), program[:]):
        assert twin is not program and list(map(id, twin)) == list(map(id, program))
        assert twin.evaluate(3.0) == 27.0


def test_a_program_with_a_truth_value_beside_a_number() -> None:
    program = hoad.record(lambda x: (x > 1, x * x * x), 1.0)
    assert hoad.hessian(lambda x: program(x)[1] * x)(2.0) == 48.0


# ---- tables that move -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [lambda x: x[1:], lambda x: x[[1, 2]]], ids=["slice", "gathered"])
def test_slices_whose_adjoints_are_negative(part: Any) -> None:
    """Their signs are put in while the pieces of an array are gathered, and so are nodes."""
    n = 3000

    def f(x: Any) -> Any:
        total = 0.0
        for i in range(n):
            total = total - np.sum(part(x)) * (i + 0.5)
        return total

    wanted = np.zeros(3)
    wanted[1:] = -(n**2) / 2
    np.testing.assert_allclose(hoad.grad(f)(np.ones(3)), wanted, rtol=1e-14)


def test_a_slice_of_a_program_without_its_inputs() -> None:
    program = hoad.gradient(hoad.gradient(hoad.record(lambda x: np.sum(x**3), np.ones(2))), seed="symbolic")
    assert "adjoint" in str(program[1:])
    third = hoad.gradient(program, seed=np.ones(2))
    for use in (lambda p: p.evaluate(), lambda p: hoad.gradient(p, seed=np.ones(2)), pickle.dumps):
        with pytest.raises(hoad.ShapeError, match=r"lacks tape 1, .* Keep it in the list"):
            use(program[1:])
        with pytest.raises(hoad.ShapeError, match="lacks tape 3"):
            use(hoad.Program([*third[:2], third[3]]))


def test_the_place_of_an_item_is_not_taken_for_a_register() -> None:
    n = 1_000_000
    x = np.full(n, 2.0)
    x[-1] = 3.0
    for f, value in ((lambda x: x[n - 1] * x[0], 6.0), (lambda x: x[n - 1] * x[0] + np.sum(x[:3] * x[3:6]), 18.0)):
        program = hoad.record(f, x)
        assert program(x) == program.evaluate(x) == value
        assert hoad.jit(f)(x) == value
