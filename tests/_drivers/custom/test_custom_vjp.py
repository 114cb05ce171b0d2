"""Composites with a rule of their own: every mode and order, rules that are not derivatives, and what is refused."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules.modes import along, pointwise, words
from rules.oracle import partial

import hoad


@hoad.custom_vjp
def log1pexp(x: Any) -> Any:
    """log(1 + eˣ)."""
    return np.log(1 + np.exp(x))


log1pexp.defvjp(lambda g, p, x: (g / (1 + np.exp(-x)),))

POINTS = (-2.5, 0.0, 0.7, 30.0)


# ---- the rule is the derivative -------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_better_rule_in_every_mode(order: int) -> None:
    want = [float(partial(lambda t: mp.log1p(mp.exp(t)), (x,), (order,))) for x in POINTS]
    for word in words(order):
        found = pointwise(log1pexp, word, (0,) * order)
        np.testing.assert_allclose(found(np.array(POINTS)), want, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose([found(x) for x in POINTS], want, rtol=1e-9, atol=1e-15)


def test_the_rule_is_used_where_the_composite_fails() -> None:
    with np.errstate(over="ignore"):
        assert hoad.grad(log1pexp)(1000.0) == 1.0
        assert hoad.jvp(log1pexp, (1000.0,), (3.0,))[1] == 3.0
        assert hoad.derivative(log1pexp, 2)(1000.0) == 0.0


def test_jacobian_and_hessian_lanes() -> None:
    x = np.array([0.3, -1.2, 2.0])
    slope = 1 / (1 + np.exp(-x))
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(log1pexp, mode=mode)(x), np.diag(slope), rtol=1e-14)
    hessian = hoad.hessian(lambda x: np.sum(log1pexp(x)))(x)
    np.testing.assert_allclose(hessian, np.diag(slope * (1 - slope)), rtol=1e-13, atol=1e-17)


def test_record_and_replay() -> None:
    program = hoad.record(lambda x: log1pexp(x) * x, 0.5)
    first = hoad.gradient(program)
    second = hoad.gradient(first)
    for x in (-1.0, 2.0):
        s = 1 / (1 + math.exp(-x))
        assert program.evaluate(x) == pytest.approx(math.log1p(math.exp(x)) * x, rel=1e-14)
        assert first.evaluate(x) == pytest.approx(math.log1p(math.exp(x)) + s * x, rel=1e-14)
        assert second.evaluate(x) == pytest.approx(2 * s + s * (1 - s) * x, rel=1e-13)


def test_a_replay_on_another_branch_is_refused() -> None:
    @hoad.custom_vjp
    def bent(x: float) -> float:
        return x if x > 0 else 0.1 * x

    bent.defvjp(lambda g, p, x: (np.where(x > 0, g, 0.1 * g),))
    assert (hoad.grad(bent)(2.0), hoad.grad(bent)(-2.0)) == (1.0, 0.1)
    program = hoad.record(bent, 2.0)
    assert program.evaluate(3.0) == 3.0
    with pytest.raises(hoad.GuardError, match=r"branch at .*test_custom_vjp\.py"):
        program.evaluate(-3.0)


def test_nested_derivatives() -> None:
    """d/dy of d/dx log(1 + e^(x y)), where the inner derivative is of a function that the outer one runs through."""

    def inner(y: Any) -> Any:
        return hoad.grad(lambda x: log1pexp(x * y))(0.4)

    s = 1 / (1 + math.exp(-0.4 * 1.5))
    assert hoad.grad(inner)(1.5) == pytest.approx(s + 1.5 * s * (1 - s) * 0.4, rel=1e-14)


def test_several_arguments_and_results() -> None:
    @hoad.custom_vjp
    def polar(x: Any, y: Any) -> Any:
        return np.hypot(x, y), np.arctan2(y, x)

    @polar.defvjp
    def rule(g: Any, p: Any, x: Any, y: Any) -> Any:
        (g_r, g_a), (r, _) = g, p
        return g_r * x / r - g_a * y / r**2, g_r * y / r + g_a * x / r**2

    def f(x: Any, y: Any) -> Any:
        r, a = polar(x, y)
        return r**3 * np.sin(2 * a)

    def like(x: Any, y: Any) -> Any:
        return 2 * x * y * np.sqrt(x * x + y * y)

    directions = [(0.3, -0.8), (1.1, 0.4), (-0.2, 0.9)]
    for order in (1, 2, 3):
        want = along(like, "r" * order, directions[:order])(1.2, 0.7)
        for word in words(order):
            assert along(f, word, directions[:order])(1.2, 0.7) == pytest.approx(want, rel=1e-12)
    assert hoad.grad(lambda x: polar(x, 2.0)[1])(1.0) == pytest.approx(-0.4, rel=1e-15)
    assert hoad.grad(lambda x: polar(x, x)[0])(1.0) == pytest.approx(math.sqrt(2), rel=1e-15)


def test_results_in_containers() -> None:
    @hoad.custom_vjp
    def parts(x: Any) -> Any:
        return {"square": x * x, "rest": [x + 1, 3.0]}

    parts.defvjp(lambda g, p, x: (2 * x * g["square"] + g["rest"][0],))

    def f(x: Any) -> Any:
        found = parts(x)
        return found["square"] * found["rest"][0] * found["rest"][1]

    assert hoad.grad(f)(2.0) == 3 * (2 * 2 * 3 + 4)
    assert hoad.jvp(f, (2.0,), (1.0,))[1] == 48.0


def test_parameters_and_keywords() -> None:
    @hoad.custom_vjp
    def power(x: Any, n: int, *, scale: float = 1.0) -> Any:
        return scale * x**n

    @power.defvjp
    def rule(g: Any, p: Any, x: Any, *, n: int, scale: float = 1.0) -> Any:
        return (g * n * scale * x ** (n - 1),)

    assert hoad.grad(lambda x: power(x, 3))(2.0) == 12.0
    assert hoad.grad(lambda x: power(x, n=3, scale=2.0))(2.0) == 24.0
    assert hoad.derivative(lambda x: power(n=4, x=x), 3)(2.0) == 48.0


def test_operands_that_are_not_traced() -> None:
    @hoad.custom_vjp
    def weighted(x: Any, w: Any) -> Any:
        return np.sum(w * x**2)

    weighted.defvjp(lambda g, p, x, w: (2 * g * w * x, g * x**2))
    x, w = np.array([1.0, 2.0]), np.array([3.0, 0.5])
    assert hoad.grad(lambda x: weighted(x, w))(x).tolist() == [6.0, 2.0]
    assert hoad.grad(lambda w: weighted(x, w))(w).tolist() == [1.0, 4.0]
    assert hoad.hessian(weighted)(x, w).tolist() == [[6.0, 0.0], [0.0, 1.0]]
    indices = np.array([1, 0])

    @hoad.custom_vjp
    def taken(x: Any, i: Any) -> Any:
        return x[i]

    taken.defvjp(lambda g, p, x, i: (g[i], None))
    assert hoad.jacobian(lambda x: taken(x, indices))(x).tolist() == [[0.0, 1.0], [1.0, 0.0]]


# ---- rules that are not derivatives ----------------------------------------------------------------------------------


def test_a_straight_through_estimator() -> None:
    """Rounding with the derivative of the identity: what the function is composed of has none."""

    @hoad.custom_vjp
    def rounded(x: Any) -> Any:
        return np.round(x)

    rounded.defvjp(lambda g, p, x: (g,))
    x = np.array([0.3, 1.6])
    assert hoad.grad(lambda x: np.sum(rounded(x) ** 2))(x).tolist() == [0.0, 4.0]
    assert hoad.jvp(rounded, (x,), (np.array([1.0, 2.0]),))[1].tolist() == [1.0, 2.0]
    assert hoad.hessian(lambda x: np.sum(rounded(x) ** 2))(x).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_a_result_that_does_not_depend_on_the_operand() -> None:
    @hoad.custom_vjp
    def one(x: Any) -> Any:
        return 1.0

    one.defvjp(lambda g, p, x: (5 * g,))
    assert hoad.value_and_grad(one)(2.0) == (1.0, 5.0)
    assert hoad.jvp(one, (2.0,), (3.0,)) == (1.0, 15.0)


def test_a_scaled_gradient_in_forward_mode_too() -> None:
    @hoad.custom_vjp
    def damped(x: Any) -> Any:
        return x

    damped.defvjp(lambda g, p, x: (g / 2,))
    assert hoad.grad(lambda x: damped(x) ** 2)(3.0) == 3.0
    assert hoad.jvp(lambda x: damped(x) ** 2, (3.0,), (1.0,)) == (9.0, 3.0)
    assert hoad.derivative(lambda x: damped(x) ** 2, 2)(3.0) == 0.5


def test_clipped_gradients() -> None:
    """A rule that is not linear in g, with bounds that are not symmetric: signs must not pass through it."""

    @hoad.custom_vjp
    def clipped(x: Any) -> Any:
        return x

    clipped.defvjp(lambda g, p, x: (np.clip(g, -1.0, 2.0),), linear=False)
    for slope, want in ((0.5, 0.5), (5.0, 2.0), (-5.0, -1.0)):
        assert hoad.grad(lambda x, slope=slope: slope * clipped(x))(3.0) == want
    assert hoad.grad(lambda x: -(5.0 * clipped(x)))(3.0) == -1.0
    assert hoad.grad(lambda x: 1.0 - clipped(x) ** 2)(3.0) == -1.0
    x = np.array([0.1, 4.0, -7.0])
    assert hoad.grad(lambda x: np.sum(clipped(x) ** 2))(x).tolist() == [0.2, 2.0, -1.0]
    assert hoad.grad(lambda x: -np.sum(clipped(x) ** 2))(x).tolist() == [-0.2, -1.0, 2.0]
    with pytest.raises(hoad.RuleError, match=r"clipped was declared with linear=False.*no transpose.*in reverse"):
        hoad.jvp(clipped, (3.0,), (1.0,))
    clipped.defvjp(lambda g, p, x: (np.clip(g, -1.0, 2.0),))
    with pytest.raises(hoad.RuleError, match="the rule of clipped is not linear in g"):
        hoad.grad(lambda x: 5.0 * clipped(x))(3.0)


def test_a_norm_that_does_not_overflow() -> None:
    @hoad.custom_vjp
    def norm(x: Any) -> Any:
        m = np.max(np.abs(x))
        return m * np.sqrt(np.sum((x / m) ** 2))

    norm.defvjp(lambda g, p, x: (g * (x / p),))
    x = np.array([3e200, 4e200])
    np.testing.assert_allclose(hoad.grad(norm)(x), [0.6, 0.8], rtol=1e-15)
    unit = np.array([0.6, 0.8])
    np.testing.assert_allclose(hoad.hessian(norm)(unit), np.eye(2) - np.outer(unit, unit), rtol=1e-14, atol=1e-16)


# ---- derivatives within rules ---------------------------------------------------------------------------------------


def newton(a: Any, x: Any) -> Any:
    return (x + a / x) / 2


@pytest.mark.parametrize("driver", ["formula", "vjp", "grad"])
def test_an_implicit_fixed_point(driver: str) -> None:
    """√a by Newton's iterations, whose rule knows only that x = N(a, x): x̄ (∂N/∂a) / (1 - ∂N/∂x)."""

    @hoad.custom_vjp
    def root(a: Any) -> Any:
        x = 1.0 + 0 * a
        for _ in range(30):
            x = newton(a, x)
        return x

    @root.defvjp
    def rule(g: Any, x: Any, a: Any) -> Any:
        if driver == "formula":
            return (g / (2 * x),)
        if driver == "vjp":
            by_a, by_x = hoad.vjp(newton, a, x)[1](1.0)
        else:
            by_a, by_x = hoad.grad(newton, argnums=(0, 1))(a, x)
        return (g * by_a / (1 - by_x),)

    for order in (1, 2, 3):
        want = float(partial(mp.sqrt, (2.0,), (order,)))
        for word in words(order):
            assert pointwise(root, word, (0,) * order)(2.0) == pytest.approx(want, rel=1e-12)


def test_a_jacobian_in_a_rule() -> None:
    """The root of a system, by the implicit function theorem: b̄ = J⁻ᵀ x̄, with J by a driver."""
    matrix = np.array([[2.0, 1.0], [0.5, 3.0]])

    def residual(x: Any, b: Any) -> Any:
        return matrix @ x + 0.1 * x**3 - b

    def steps(b: Any) -> Any:
        x = b * 0.0
        for _ in range(20):
            x = x - np.linalg.solve(matrix + np.diag(0.3 * x**2), residual(x, b))
        return x

    root = hoad.custom_vjp(steps)
    root.defvjp(lambda g, x, b: (np.linalg.solve(hoad.jacobian(residual)(x, b).T, g),))
    b, v = np.array([1.0, 2.0]), np.array([0.3, -0.5])
    for order in (1, 2, 3):
        want = along(lambda b: np.sum(steps(b) ** 2), "f" * order, [(v,)] * order)(b)
        for word in words(order):
            assert along(lambda b: np.sum(root(b) ** 2), word, [(v,)] * order)(b) == pytest.approx(want, rel=1e-11)


def test_the_check_of_rules_takes_composites() -> None:
    assert hoad.check.rule(log1pexp).passed
    wrong = hoad.custom_vjp(lambda x: x**2)
    wrong.defvjp(lambda g, p, x: (g * x,))
    assert not hoad.check.rule(wrong, 2.0).passed


def test_a_composite_in_the_rule_of_another() -> None:
    outer = hoad.custom_vjp(lambda x: np.log(1 + np.exp(x)) ** 2)
    outer.defvjp(lambda g, p, x: (2 * g * log1pexp(x) / (1 + np.exp(-x)),))
    for order in (1, 2, 3, 4):
        want = float(partial(lambda t: mp.log1p(mp.exp(t)) ** 2, (0.3,), (order,)))
        for word in words(order):
            assert pointwise(outer, word, (0,) * order)(0.3) == pytest.approx(want, rel=1e-11)


# ---- JAX's pair -----------------------------------------------------------------------------------------------------


def test_forward_and_backward_rule() -> None:
    @hoad.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    def fwd(x: Any, y: Any) -> Any:
        return f(x, y), {"cos": np.cos(x), "sin": np.sin(x), "y": y}

    def bwd(res: Any, g: Any) -> Any:
        return res["cos"] * g * res["y"], res["sin"] * g

    f.defvjp(fwd, bwd)
    directions = [(0.3, -0.8), (1.1, 0.4), (-0.2, 0.9)]
    for order in (1, 2, 3):
        want = along(lambda x, y: np.sin(x) * y, "r" * order, directions[:order])(1.2, 0.7)
        for word in words(order):
            assert along(f, word, directions[:order])(1.2, 0.7) == pytest.approx(want, rel=1e-12)


def test_a_residual_that_is_the_result() -> None:
    """Its derivative is again that of the rule, which is finite where that of the composite is not."""

    @hoad.custom_vjp
    def f(x: Any) -> Any:
        return np.log(1 + np.exp(x))

    def fwd(x: Any) -> Any:
        result = f(x)
        return result, (result,)

    f.defvjp(fwd, lambda res, g: (g * -np.expm1(-res[0]),))
    with np.errstate(over="ignore"):
        assert hoad.grad(f)(1000.0) == 1.0
        assert hoad.derivative(f, 2)(1000.0) == 0.0
    s = 1 / (1 + math.exp(-0.3))
    assert hoad.derivative(f, 2)(0.3) == pytest.approx(s * (1 - s), rel=1e-14)


@pytest.mark.parametrize("argnums", [0.0, False, (0.0,), (0, True), "x", None])
def test_nondiff_argnums_that_are_none(argnums: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match=r"takes nondiff_argnums as an int or a tuple of ints, not .*from 0\."):
        hoad.custom_vjp(np.multiply, nondiff_argnums=argnums)


def test_arguments_that_are_no_operands() -> None:
    def app(f: Any, x: Any) -> Any:
        return f(x)

    applied = hoad.custom_vjp(app, nondiff_argnums=np.int64(0))

    def fwd(f: Any, x: Any) -> Any:
        return f(x), x

    def bwd(f: Any, x: Any, g: Any) -> Any:
        return (2 * g * hoad.grad(f)(x),)

    applied.defvjp(fwd, bwd)
    assert hoad.grad(lambda x: applied(np.sin, x))(0.0) == 2.0
    assert hoad.jvp(lambda x: applied(np.sin, x), (0.0,), (1.0,))[1] == 2.0


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_what_f_uses_from_outside() -> None:
    def outer(c: Any) -> Any:
        f = hoad.custom_vjp(lambda x: c * x)
        f.defvjp(lambda g, p, x: (g,))
        return hoad.grad(f)(2.0) + f(c)

    with pytest.raises(hoad.TracedValueError, match=r"not among its arguments.*Pass it as an argument"):
        hoad.grad(outer)(3.0)

    def stopped(c: Any) -> Any:
        s = hoad.stop_gradient(c)
        f = hoad.custom_vjp(lambda x: s * x)
        f.defvjp(lambda g, p, x: (g * 7.0,))
        return f(c)

    assert hoad.value_and_grad(stopped)(3.0) == (9.0, 7.0)


@pytest.mark.parametrize(
    ("rule", "error", "words_"),
    [
        (lambda g, p, x: (g, g), hoad.RuleError, ["rule of f", "2 adjoints for 1 operand", "None for zero"]),
        (lambda g, p, x: g, hoad.RuleError, ["rule of f", "tuple", "trailing comma"]),
        (lambda g, p, x: (x,), hoad.RuleError, ["rule of f", "not linear in g", "does not contain g"]),
        (lambda g, p, x: (np.stack([g, g]),), hoad.RuleError, ["rule of f", "shape (2,)", "operand 0 of shape ()"]),
        (lambda g, p, x: (g * math.sin(x),), hoad.TracedValueError, ["rule of f", "float()"]),
    ],
)
def test_mistakes_of_a_rule(rule: Any, error: type[Exception], words_: list[str]) -> None:
    @hoad.custom_vjp
    def f(x: Any) -> Any:
        return x * x

    f.defvjp(rule)
    with pytest.raises(error) as raised:
        hoad.grad(f)(1.0)
    for word in words_:
        assert word in str(raised.value)


def test_mistakes_of_the_caller() -> None:
    f = hoad.custom_vjp(np.sin)
    with pytest.raises(hoad.NoRuleError, match=r"sin has no derivative rule.*sin\.defvjp\(rule\)"):
        hoad.grad(f)(1.0)
    assert f(0.0) == 0.0
    with pytest.raises(hoad.ArgumentError, match="custom_vjp takes a function"):
        hoad.custom_vjp(1.0)
    with pytest.raises(hoad.ArgumentError, match="defvjp takes a function"):
        f.defvjp(1.0)
    with pytest.raises(hoad.RuleError, match="names no operand"):
        f.defvjp(lambda g, p: ())

    @hoad.custom_vjp
    def g(x: Any, mode: str) -> Any:
        return x

    g.defvjp(lambda a, p, x, mode: (a, None))
    with pytest.raises(hoad.ArgumentError, match=r"argument 1 of g is str.*behind a \* in the rule"):
        hoad.grad(lambda x: g(x, "up"))(1.0)
    g.defvjp(lambda a, p, x, *, mode: (a,))
    assert hoad.grad(lambda x: g(x, "up"))(1.0) == 1.0
    with pytest.raises(hoad.RuleError, match=r"traced value for a parameter.*Name it among the operands"):
        hoad.grad(lambda x: g(x, x))(1.0)
    g.defvjp(lambda x, mode: x, lambda res, a: (a,))
    with pytest.raises(hoad.ArgumentError, match="nondiff_argnums"):
        hoad.grad(lambda x: g(x, "up"))(1.0)
    h = hoad.custom_vjp(lambda x: ())
    h.defvjp(lambda a, p, x: (a,))
    with pytest.raises(hoad.ShapeError, match="0 results"):
        hoad.grad(lambda x: h(x) or x)(1.0)


def test_a_forward_rule_that_gives_no_pair() -> None:
    f = hoad.custom_vjp(np.sin)
    f.defvjp(lambda x: np.sin(x), lambda res, g: (g,))
    with pytest.raises(hoad.RuleError, match=r"forward rule of sin returned .*, not a pair"):
        hoad.grad(f)(1.0)


def test_defaults_of_parameters_reach_the_rule() -> None:
    @hoad.custom_vjp
    def scaled(x: Any, *, factor: float = 3.0, axis: int = 0) -> Any:
        return np.sum(x, axis=axis) * factor

    scaled.defvjp(lambda g, p, x, *, factor, axis: (np.broadcast_to(np.expand_dims(g, axis) * factor, x.shape),))
    x = np.ones((2, 3))
    assert hoad.grad(lambda x: np.sum(scaled(x)))(x).tolist() == [[3.0] * 3] * 2
    assert hoad.grad(lambda x: np.sum(scaled(x, factor=2.0)))(x).tolist() == [[2.0] * 3] * 2
    assert hoad.grad(lambda x: np.sum(scaled(x, axis=1)))(x).tolist() == [[3.0] * 3] * 2


SCALE = 2.0
READERS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: hoad.grad(f),
    "derivatives": lambda f: lambda x: hoad.derivatives(f, 3)(x)[1],
    "taylor": lambda f: lambda x: hoad.taylor(f, x, 4)[1],
    "checkpoint": lambda f: hoad.grad(hoad.checkpoint(f)),
    "scan": lambda f: hoad.grad(lambda x: hoad.scan(lambda c, _: (f(c), None), x, None, length=1)[0]),
    "vmap": lambda f: lambda x: hoad.vmap(hoad.grad(f))(np.array([x, x]))[1],
    "laplacian": lambda f: lambda x: hoad.directional_derivative(lambda y: f(y[0]), np.ones(1))(np.array([x])),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("name", READERS)
def test_what_a_rule_reads_is_read_each_time(name: str, jitted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with the same operations is not the same program if it has a rule of the user's in it."""

    @hoad.custom_vjp
    def square(x: Any) -> Any:
        return x * x * 1.0

    square.defvjp(lambda g, p, x: (g * SCALE * x,))
    f = READERS[name](square)
    f = hoad.jit(f) if jitted else f
    for scale in (2.0, 5.0, -1.0):
        monkeypatch.setattr(sys.modules[__name__], "SCALE", scale)
        assert f(3.0) == scale * 3.0


def test_a_method_with_a_rule_is_differentiated_as_it_is() -> None:
    """A bound method of an object that is not a function has no code."""

    class Wave:
        @hoad.custom_vjp(nondiff_argnums=(0,))
        def wave(self, x: Any) -> Any:
            return np.sin(2.0 * x)

        @wave.defvjp
        def rule(g: Any, p: Any, x: Any, *, self: Any) -> Any:
            return (g * 2.0 * np.cos(2.0 * x),)

    assert hoad.grad(Wave().wave)(0.0) == 2.0
    assert hoad.jit(hoad.grad(Wave().wave))(0.0) == 2.0
