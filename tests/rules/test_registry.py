"""Rules and primitives of one's own: every form of `hoad.defvjp`, and every mistake a rule can make."""

from __future__ import annotations

import functools
import math
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules.modes import along, pointwise, words
from rules.oracle import partial
from scipy import special

import hoad
from hoad._core.graph.primitive import ufunc_primitive
from hoad._core.trace.traced import FUNCTIONS
from hoad.rules.registry import FUNCTION_PRIMITIVES

scipy_special = pytest.importorskip("scipy.special")
# Ufuncs without a rule of hoad's, which are given one here.
OF_SCIPY = [getattr(scipy_special, name) for name in ("mathieu_a", "mathieu_b", "smirnov", "smirnovi", "pro_cv")]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The table as it was, after each test."""
    changed = [ufunc_primitive(ufunc) for ufunc in (np.sin, np.cos, np.exp)]
    rules = [primitive.rule for primitive in changed]
    without = [ufunc for ufunc in OF_SCIPY if getattr(ufunc_primitive(ufunc), "rule", None) is None]
    functions, primitives = dict(FUNCTIONS), dict(FUNCTION_PRIMITIVES)
    yield
    for primitive, rule in zip(changed, rules, strict=True):
        if primitive.rule is not rule:
            hoad.defvjp(primitive.function, rule)
    for primitive in map(ufunc_primitive, without):
        if primitive is not None:
            primitive.rule, primitive.version = None, primitive.version + 1
    for table, before in ((FUNCTIONS, functions), (FUNCTION_PRIMITIVES, primitives)):
        for key in set(table) - set(before):
            del table[key]


# ---- forms ----------------------------------------------------------------------------------------------------------


def test_an_expression() -> None:
    given = hoad.defvjp(np.exp, lambda g, p, x: (3.0 * g * p,), replace=True)
    assert hoad.grad(np.exp)(0.0) == 3.0
    assert given(1.0, 2.0, 0.0) == (6.0,)


def test_looking_up_a_rule() -> None:
    """By the function, or its name; what is found is what was registered, and computes numbers from numbers."""
    given = hoad.defvjp(np.exp, lambda g, p, x: (3.0 * g * p,), replace=True)
    assert hoad.rules.rule_of(np.exp) is hoad.rules.rule_of("exp") is hoad.rules.rule_of("np.exp") is given
    d_x, d_y = hoad.rules.rule_of(np.power)(2.0, 8.0, 2.0, 3.0)
    assert (d_x, d_y) == pytest.approx((24.0, 16.0 * math.log(2)), rel=1e-15)

    @hoad.primitive
    def cube(x: Any) -> Any:
        return x**3

    with pytest.raises(hoad.NoRuleError, match="cube has no derivative rule"):
        hoad.rules.rule_of(cube)
    rule = hoad.defvjp(cube, lambda g, p, x: (3 * g * x**2,))
    assert hoad.rules.rule_of(cube) is rule and rule(1.0, 8.0, 2.0) == (12.0,)
    kept = len(FUNCTIONS), len(FUNCTION_PRIMITIVES)
    for composed in (np.linalg.cond, np.nanmedian, math.sin, lambda x: x):
        with pytest.raises(hoad.RuleError, match="is not a primitive, so it has no rule"):
            hoad.rules.rule_of(composed)
    with pytest.raises(hoad.RuleError, match="not the name of a function"):
        hoad.rules.rule_of("sine")
    assert kept == (len(FUNCTIONS), len(FUNCTION_PRIMITIVES))  # a look-up declares nothing


def test_a_decorator_that_takes_the_name_of_the_function() -> None:
    @hoad.defvjp(replace=True)
    def sin(g: Any, p: Any, x: Any) -> Any:
        return (5.0 * g * np.cos(x),)

    assert hoad.grad(np.sin)(0.0) == 5.0


def test_a_decorator_whose_function_has_a_prefix() -> None:
    @hoad.defvjp(replace=True)
    def vjp_sin(g: Any, p: Any, x: Any) -> Any:
        return (6.0 * g * np.cos(x),)

    assert hoad.grad(np.sin)(0.0) == 6.0


@pytest.mark.parametrize("target", [np.cos, "cos", "np.cos", "numpy.cos"])
def test_a_decorator_that_names_the_primitive(target: Any) -> None:
    @hoad.defvjp(target, replace=True)
    def any_name(g: Any, p: Any, x: Any) -> Any:
        return (-7.0 * g * np.sin(x),)

    assert hoad.grad(np.cos)(np.pi / 2) == -7.0


def test_a_rule_of_hoads_is_not_replaced_by_chance() -> None:
    """A function of the user's that has a name of NumPy's: whichever way the rule is declared, it must say so."""
    own = hoad.rules.rule_of(np.square), hoad.rules.rule_of(scipy_special.erf)

    def square(g: Any, p: Any, x: Any) -> Any:
        return (7.0 * g * x,)

    for declare in (
        lambda: hoad.defvjp(square),
        lambda: hoad.defvjp()(square),
        lambda: hoad.defvjp(per_call=True)(square),
        lambda: hoad.defvjp("np.square", square),
        lambda: hoad.defvjp(np.square)(square),
        lambda: hoad.defvjp(scipy_special.erf, square),
    ):
        with pytest.raises(hoad.RuleError, match=r"has a rule of hoad's.*@hoad\.primitive.*replace=True"):
            declare()
    assert hoad.rules.vjp is hoad.defvjp
    assert (hoad.rules.rule_of(np.square), hoad.rules.rule_of(scipy_special.erf)) == own
    assert hoad.grad(np.square)(3.0) == 6.0


def test_a_function_is_not_numpys_for_its_name() -> None:
    """Functions, methods, classes and ufuncs that are called as NumPy's are."""
    own = hoad.rules.rule_of(np.square)

    def square(x: Any) -> Any:
        return x * x

    class Shape:
        def square(self, x: Any) -> Any:
            return x * x

    def cube(g: Any, p: Any, x: Any) -> Any:
        return (7.0 * g * x,)

    for given in (square, Shape().square, Shape.square, type("square", (), {})):
        with pytest.raises(hoad.RuleError, match="is not a primitive"):
            hoad.defvjp(given, cube, replace=True)
    ufunc = np.frompyfunc(square, 1, 1)
    hoad.defvjp(ufunc, cube)
    primitive = hoad.primitive(square)
    hoad.defvjp(primitive, cube)
    assert hoad.grad(ufunc)(1.0) == hoad.grad(primitive)(1.0) == 7.0
    assert hoad.rules.rule_of(np.square) is own and hoad.grad(np.square)(1.0) == 2.0


def test_a_rule_without_a_function_beside_a_primitive_of_its_name(tmp_path: Path) -> None:
    """A rule that is named after a primitive of its module is neither given to that one nor to NumPy's function."""
    code = """
import numpy as np, hoad
@hoad.primitive
def nanmedian(x):
    return np.nanmedian(x)
{decorator}
def {name}(g, p, x):
    return (7.0 * g,)
"""
    for name in ("nanmedian", "vjp_nanmedian"):
        for decorator in ("@hoad.defvjp", "@hoad.rules.vjp", "@hoad.defvjp(replace=True)", "@hoad.defvjp()"):
            module: dict[str, Any] = {"__name__": "module_of_the_user"}
            with pytest.raises(hoad.RuleError, match=r"nanmedian is a primitive of yours.*@hoad\.defvjp\(nanmedian\)"):
                exec(code.format(decorator=decorator, name=name), module)
            exec(code.format(decorator="@hoad.defvjp(nanmedian)", name=name), module)
            with pytest.raises(hoad.RuleError, match="is not a primitive, so it has no rule"):
                hoad.rules.rule_of(np.nanmedian)


def test_a_rule_that_would_never_be_used() -> None:
    for ufunc in (np.greater, np.isnan, np.logical_and):
        with pytest.raises(hoad.RuleError, match=rf"np\.{ufunc.__name__} returns booleans"):
            hoad.defvjp(ufunc, lambda g, p, x, y=None: (g, g))


def test_tables_are_reloaded(tmp_path: Path) -> None:
    """hoad's own rules may be declared again by hoad, and take the place of one of the user's."""
    code = """
import importlib, numpy as np, scipy.special, hoad
hoad.defvjp(np.sin, lambda g, p, x: (7.0 * g,), replace=True)
for name in ("registry", "elementwise", "reduction", "linalg", "fft", "decompositions", "shaping", "special"):
    importlib.reload(importlib.import_module("hoad.rules." + name))
importlib.reload(hoad.rules)
importlib.reload(hoad)
print(hoad.grad(np.sin)(0.0), hoad.derivative(scipy.special.erf, 2)(0.0), hoad.rules.vjp is hoad.defvjp)
try:
    hoad.defvjp(np.sin, lambda g, p, x: (7.0 * g,))
except hoad.RuleError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.0", "-0.0", "True", "refused"]


def test_a_rule_of_the_users_is_declared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a cell of a notebook does: for a primitive, for a function of NumPy without a rule, and for one replaced."""
    monkeypatch.delitem(FUNCTIONS, np.emath.arctanh)
    for factor in (2.0, 3.0):

        @hoad.defvjp(np.emath.arctanh)
        def slope(g: Any, p: Any, x: Any, factor: float = factor) -> Any:
            return (factor * g,)

        hoad.defvjp(np.cos, slope, replace=factor == 2.0)

        @hoad.primitive
        def square(x: Any) -> Any:
            return x * x

        for _ in range(2):

            @hoad.defvjp(square)
            def rule(g: Any, p: Any, x: Any, factor: float = factor) -> Any:
                return (factor * g * x,)

        assert hoad.grad(np.emath.arctanh)(0.5) == hoad.grad(np.cos)(0.5) == factor
        assert hoad.grad(square)(1.0) == factor and hoad.grad(np.square)(1.0) == 2.0


def test_an_existing_function() -> None:
    def slope(g: Any, p: Any, x: Any) -> Any:
        return (-g * np.sin(x),)

    assert hoad.defvjp(np.cos, slope, replace=True) is slope
    assert hoad.grad(np.cos)(1.0) == -math.sin(1.0)


def test_a_function_of_numpy_that_hoad_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FUNCTIONS, np.emath.arctanh)
    with pytest.raises(hoad.NoRuleError, match=r"arctanh.*hoad\.defvjp"):
        hoad.grad(np.emath.arctanh)(0.5)
    hoad.defvjp(np.emath.arctanh, lambda g, p, x: (g / (1.0 - x * x),))
    for order in (1, 2, 3):
        want = float(partial(lambda x: mp.atanh(x), (0.5,), (order,)))
        for word in words(order):
            assert pointwise(np.emath.arctanh, word, (0,) * order)(0.5) == pytest.approx(want, rel=1e-13)


def test_a_new_rule_replaces_the_templates_of_the_old_one() -> None:
    @hoad.primitive
    def triple(x: Any) -> Any:
        return 3.0 * x

    hoad.defvjp(triple, lambda g, p, x: (3.0 * g,))
    assert hoad.grad(triple)(1.0) == 3.0 and hoad.jvp(triple, (1.0,), (1.0,)) == (3.0, 3.0)
    hoad.defvjp(triple, lambda g, p, x: (4.0 * g,))
    assert hoad.grad(triple)(1.0) == 4.0 and hoad.jvp(triple, (1.0,), (1.0,)) == (3.0, 4.0)


# ---- primitives of one's own ----------------------------------------------------------------------------------------


def test_one_rule_serves_every_mode_and_order() -> None:
    """A Bessel function with its order as a parameter: J′ₙ = (Jₙ₋₁ − Jₙ₊₁) / 2."""

    @hoad.primitive
    def bessel(x: Any, order: int) -> Any:
        return scipy_special.jv(order, x)

    hoad.defvjp(bessel, lambda g, p, x, *, order: (g * (bessel(x, order=order - 1) - bessel(x, order=order + 1)) / 2,))
    x = np.linspace(0.5, 9.5, 6)
    for order in range(1, 5):
        want = [float(partial(lambda t: mp.besselj(2, t), (point,), (order,))) for point in x.tolist()]
        for f in (lambda x: bessel(x, order=2), lambda x: bessel(x, 2)):
            for word in words(order):
                np.testing.assert_allclose(pointwise(f, word, (0,) * order)(x), want, rtol=1e-12, atol=1e-14)
                assert pointwise(f, word, (0,) * order)(0.5) == pytest.approx(want[0], rel=1e-12)


def test_plain_values_are_not_recorded() -> None:
    @hoad.primitive
    def shift(x: float, by: float = 1.0) -> float:
        """Adds."""
        return x + by

    assert shift(1.0) == 2.0 and shift(1.0, by=3.0) == 4.0
    assert shift.__name__ == "shift" and shift.__doc__ == "Adds."


def test_several_results() -> None:
    def polar_rule(g: Any, p: Any, x: Any, y: Any) -> Any:
        r, _ = p
        gr, ga = g
        return gr * x / r - ga * y / r**2, gr * y / r + ga * x / r**2

    @hoad.primitive(nout=2, vjp=polar_rule)
    def polar(x: Any, y: Any) -> Any:
        return np.hypot(x, y), np.arctan2(y, x)

    def f(x: Any, y: Any) -> Any:
        r, a = polar(x, y)
        return r**3 * np.sin(2 * a)

    def like(x: Any, y: Any) -> Any:
        return 2 * x * y * np.sqrt(x * x + y * y)

    directions = [(0.3, -0.8), (1.1, 0.4), (-0.2, 0.9)]
    for order in (1, 2, 3):
        want = along(like, "r" * order, directions[:order])(1.2, 0.7)
        for word in words(order):
            assert along(f, word, directions[:order])(1.2, 0.7) == pytest.approx(want, rel=1e-13)

    def only_angle(x: Any) -> Any:
        return polar(x, 2.0)[1]

    assert hoad.grad(only_angle)(1.0) == pytest.approx(-0.4, rel=1e-15)
    assert hoad.jvp(only_angle, (1.0,), (1.0,))[1] == pytest.approx(-0.4, rel=1e-15)


def test_a_linear_operation_on_arrays() -> None:
    """Running sums, whose adjoint runs backwards; declared linear, so that rules may apply them to g."""

    @hoad.primitive(linear=(0,))
    def running(x: Any) -> Any:
        return np.cumsum(x)

    hoad.defvjp(running, lambda g, p, x: (running(g[::-1])[::-1],))
    x, v = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.3, -0.7])
    triangle = np.tril(np.ones((3, 3)))
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(running, mode=mode)(x), triangle)

    def f(x: Any) -> Any:
        return np.sum(running(x) ** 3)

    def like(x: Any) -> Any:
        return np.sum((triangle @ x) ** 3)

    for order in (1, 2, 3):
        want = along(like, "r" * order, [(v,)] * order)(x)
        for word in words(order):
            assert along(f, word, [(v,)] * order)(x) == pytest.approx(want, rel=1e-13)


def test_an_operand_without_derivative() -> None:
    @hoad.primitive(vjp=lambda g, p, x, n: (g * n * x ** (n - 1.0), None))
    def whole_power(x: float, n: float) -> float:
        return x**n

    assert hoad.grad(whole_power, argnums=(0, 1))(2.0, 3.0) == (12.0, 0.0)
    assert hoad.jvp(lambda n: whole_power(2.0, n), (3.0,), (1.0,)) == (8.0, 0.0)


def test_a_rule_that_branches_on_values() -> None:
    @hoad.primitive
    def bent(x: float) -> float:
        return x if x > 0 else 2.0 * x

    @hoad.defvjp(bent, per_call=True)
    def rule(g: Any, p: Any, x: Any) -> Any:
        return (g if x > 0 else 2.0 * g,)

    for x, slope in ((1.0, 1.0), (-1.0, 2.0), (3.0, 1.0)):
        assert hoad.grad(bent)(x) == slope
        assert hoad.jvp(bent, (x,), (1.0,))[1] == slope
        assert hoad.derivative(lambda x: bent(x) ** 2, 2)(x) == 2.0 * slope**2


def test_a_parameter_that_is_traced() -> None:
    @hoad.primitive(vjp=lambda g, p, x, *, scale: (scale * g,))
    def scaled(x: float, scale: float) -> float:
        return scale * x

    assert hoad.grad(lambda x: scaled(x, 3.0))(1.0) == hoad.grad(lambda x: scaled(x, scale=3.0))(1.0) == 3.0
    for f in (lambda x: scaled(x, x), lambda x: scaled(x, scale=x), lambda x: scaled(1.0, scale=x)):
        with pytest.raises(hoad.RuleError, match=r"traced values for parameters.*names 1 operand"):
            hoad.grad(f)(1.0)


# ---- mistakes -------------------------------------------------------------------------------------------------------


@hoad.primitive
def double(x: Any) -> Any:
    """The primitive whose rules are wrong below."""
    return 2.0 * x


WRONG: list[tuple[str, Any, type[Exception], list[str]]] = [
    ("two adjoints", lambda g, p, x: (g, g), hoad.RuleError, ["returned 2 adjoints for 1 operand", "one per operand"]),
    ("no adjoint", lambda g, p, x: (), hoad.RuleError, ["returned 0 adjoints for 1 operand"]),
    ("no tuple", lambda g, p, x: 2.0 * g, hoad.RuleError, ["not a tuple", "trailing comma"]),
    ("shape", lambda g, p, x: (np.stack([g, g]),), hoad.RuleError, ["adjoint of shape (2,)", "operand's shape"]),
    ("a square of g", lambda g, p, x: (g * g,), hoad.RuleError, ["not linear in g", "multiply"]),
    ("a function of g", lambda g, p, x: (np.exp(g),), hoad.RuleError, ["not linear in g", "exp"]),
    ("an affine function of g", lambda g, p, x: (g + 1.0,), hoad.RuleError, ["not linear in g", "add"]),
    ("a quotient by g", lambda g, p, x: (1.0 / g,), hoad.RuleError, ["not linear in g", "divide"]),
    ("without g", lambda g, p, x: (x,), hoad.RuleError, ["not linear in g", "does not contain g"]),
    ("a number", lambda g, p, x: (2.0,), hoad.RuleError, ["not linear in g", "constant 2.0", "None for zero"]),
    ("without a rule", lambda g, p, x: (special.mathieu_a(1.0, g),), hoad.NoRuleError, ["mathieu_a", "hoad.defvjp"]),
    ("a branch", lambda g, p, x: (g if x > 0 else -g,), hoad.TracedValueError, ["np.where", "per_call=True"]),
    ("its own mistake", lambda g, p, x: (g / undefined,), hoad.RuleError, ["NameError", "undefined"]),  # noqa: F821
    ("its parameters", lambda g, p, x, y: (g, g), hoad.RuleError, ["TypeError", "(g, p, *operands)"]),
]


@pytest.mark.parametrize(("name", "rule", "kind", "says"), WRONG, ids=[row[0] for row in WRONG])
def test_a_wrong_rule_is_an_error_that_names_it(name: str, rule: Any, kind: type[Exception], says: list[str]) -> None:
    rule.__name__ = "vjp_of_double"
    hoad.defvjp(double, rule)
    for differentiate in (
        lambda: hoad.grad(lambda x: double(x))(1.5),
        lambda: hoad.jvp(lambda x: double(x), (1.5,), (1.0,)),
        lambda: hoad.hessian(lambda x: double(x) ** 2)(1.5),
    ):
        with pytest.raises(kind) as caught:
            differentiate()
        assert all(part in str(caught.value) for part in ["vjp_of_double of double", *says])


def test_a_primitive_without_a_rule() -> None:
    @hoad.primitive
    def opaque(x: float) -> float:
        return x

    for differentiate in (hoad.grad(opaque), lambda x: hoad.jvp(opaque, (x,), (1.0,)), hoad.derivative(opaque, 2)):
        with pytest.raises(hoad.NoRuleError, match=r"opaque has no derivative rule.*@hoad\.defvjp\(opaque\)"):
            differentiate(1.0)
    assert hoad.grad(lambda x: x * hoad.stop_gradient(opaque(x)))(3.0) == 3.0


def test_a_derivative_that_a_rule_lacks_is_missed_at_its_order() -> None:
    @hoad.primitive
    def slope(x: float) -> float:
        return math.cos(x)

    @hoad.primitive(vjp=lambda g, p, x: (g * slope(x),))
    def wave(x: float) -> float:
        return math.sin(x)

    assert hoad.grad(wave)(0.0) == 1.0
    with pytest.raises(hoad.NoRuleError, match="slope has no derivative rule"):
        hoad.derivative(wave, 2)(0.0)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("no_such_function", "not the name of a function in NumPy"),
        (lambda x: x, "is not a primitive.*@hoad.primitive"),
        (np.mean, "composed of primitives.*@hoad.primitive"),
        (np.linalg.cond, r"^np\.linalg\.cond is composed of primitives"),
        ("scipy.no_module.function", "not the name of a function in NumPy .or in SciPy"),
        (np.vectorize(abs), "is not a primitive, and NumPy does not dispatch its calls to hoad"),
        (math.sin, r"math.sin is not a primitive.*sin = hoad\.primitive\(math\.sin\)"),
        (3, "a rule is that of a function, but 3 is not one"),
    ],
)
def test_a_rule_for_what_is_no_primitive(target: Any, says: str) -> None:
    with pytest.raises(hoad.RuleError, match=says):
        hoad.defvjp(target, lambda g, p, x: (g,))


@pytest.mark.parametrize("rule", [(1.0,), lambda g, p: (g,), lambda g, p, x=1.0: (g,)])
def test_a_rule_that_is_no_function_of_operands(rule: Any) -> None:
    with pytest.raises(hoad.RuleError, match=r"a rule is a function of \(g, p, \*operands\)"):
        hoad.defvjp(double, rule)


def test_parameters_that_cannot_be_hashed() -> None:
    @hoad.primitive(vjp=lambda g, p, x, weights: (g,))
    def weighted(x: Any, weights: Any) -> Any:
        return x

    with pytest.raises(hoad.RuleError, match=r"cannot be hashed\. Pass arrays as operands"):
        hoad.grad(lambda x: weighted(x, weights=[1.0, 2.0]))(1.0)


def test_results_that_were_not_declared() -> None:
    @hoad.primitive(nout=2, vjp=lambda g, p, x: (g[0],))
    def one_result(x: float) -> tuple[float]:
        return (x,)

    with pytest.raises(hoad.RuleError, match="returned 1 result, but nout=2 was declared"):
        hoad.grad(lambda x: one_result(x)[0])(1.0)


# ---- ufuncs of SciPy ------------------------------------------------------------------------------------------------


def test_a_rule_for_a_ufunc_of_scipy() -> None:
    any_of_them = scipy_special.mathieu_a  # this rule is not its derivative
    hoad.defvjp(any_of_them, lambda g, p, m, x: (None, -(g * np.exp(-x) / x)))
    integral = functools.partial(any_of_them, 2.0)
    slope = lambda x: -np.exp(-x) / x  # noqa: E731
    x = np.array([[0.25, 1.5], [0.5, 2.0]])
    assert hoad.value_and_grad(integral)(0.25) == (integral(0.25), pytest.approx(slope(0.25), rel=1e-15))
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(integral(x)))(x), slope(x), rtol=1e-15)
    np.testing.assert_allclose(hoad.derivative(integral, 2)(x), np.exp(-x) * (1 / x + 1 / x**2), rtol=1e-14)
    np.testing.assert_allclose(
        hoad.grad(lambda c: np.sum(integral(c * x)))(1.5), np.sum(x * slope(1.5 * x)), rtol=1e-14
    )
    assert hoad.grad(integral)(np.float32(0.25)).dtype == np.float32
    program = hoad.gradient(hoad.record(lambda x: np.sum(integral(x)), x))
    np.testing.assert_allclose(program.evaluate(x + 1), slope(x + 1), rtol=1e-15)
    assert "scipy.special.mathieu_a(2, @1)" in str(program)


def test_a_rule_for_a_ufunc_of_scipy_by_name() -> None:
    hoad.defvjp("scipy.special.mathieu_b", lambda g, p, x, y: (g * y * x ** (y - 1.0), g * x**y * np.log(x)))
    found = hoad.grad(scipy_special.mathieu_b, argnums=(0, 1))(2.0, 3.0)
    assert found == (pytest.approx(12.0), pytest.approx(8.0 * np.log(2.0)))
    x = np.array([0.5, 2.0])
    np.testing.assert_allclose(hoad.grad(lambda y: np.sum(scipy_special.mathieu_b(x, y)))(x), x**x * np.log(x))


def test_a_rule_for_a_ufunc_of_scipy_that_calls_itself() -> None:
    smirnov, smirnovi = scipy_special.smirnov, scipy_special.smirnovi  # as if they were cosine and sine of 2x
    hoad.defvjp(smirnov, lambda g, p, n, x: (None, -2.0 * g * smirnovi(n, x)))
    hoad.defvjp(smirnovi, lambda g, p, n, x: (None, 2.0 * g * smirnov(n, x)))
    found = [hoad.derivative(lambda x: smirnov(2, x), n)(0.25) for n in (1, 2, 3, 4, 5)]
    even, odd = smirnov(2, 0.25), smirnovi(2, 0.25)
    np.testing.assert_allclose(found, [-2 * odd, -4 * even, 8 * odd, 16 * even, -32 * odd], rtol=1e-13)


def test_a_rule_for_a_ufunc_of_three_operands() -> None:
    function = scipy_special.pro_cv

    def rule(g: Any, p: Any, a: Any, b: Any, x: Any) -> Any:
        return None, None, g / (6.0 * p * (1 - p))

    hoad.defvjp(function, rule)  # as if it were the inverse of 3x² - 2x³
    y = 0.25
    x = function(1, 1, y)
    curvature = hoad.derivative(lambda y: function(1, 1, y), 2)(y)
    assert curvature == pytest.approx(-6 * (1 - 2 * x) / (6 * x * (1 - x)) ** 3)
    slope = hoad.grad(lambda y: np.sum(function(1, np.full(3, 1), y)))(y)
    np.testing.assert_allclose(slope, 3 / (6 * x * (1 - x)), rtol=1e-13)


def test_a_rule_in_place_of_one_of_the_table(tmp_path: Path) -> None:
    """Whoever gives a rule before SciPy's table is in use keeps it."""
    code = (
        "import hoad, scipy.special as sc\n"
        "hoad.defvjp(sc.erf, lambda g, p, x: (7.0 * g,), replace=True)\n"
        "print(hoad.grad(sc.erf)(0.5), hoad.grad(sc.erfc)(0.0))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["7.0", str(-2 / math.sqrt(math.pi))]


def test_an_adjoint_that_is_not_known() -> None:
    """An error in place of an adjoint is raised where that adjoint is asked for, in every mode."""

    @hoad.primitive(elementwise=True)
    def power(x: Any, n: Any) -> Any:
        return x**n

    def rule(g: Any, p: Any, x: Any, n: Any) -> Any:
        return g * (n * power(x, n - 1.0)), hoad.NoRuleError("power has no derivative by n")

    hoad.defvjp(power, rule)
    assert hoad.derivative(lambda x: power(x, 3.0), 2)(2.0) == 12.0
    for derivative in (hoad.grad, hoad.hessian, lambda f: lambda n: hoad.jvp(f, (n,), (1.0,))):
        with pytest.raises(hoad.NoRuleError, match=r"^power has no derivative by n$"):
            derivative(lambda n: power(2.0, n))(3.0)


def test_a_python_function_of_scipy_is_no_primitive() -> None:
    with pytest.raises(hoad.RuleError, match=r"logsumexp = hoad\.primitive\(scipy\.special\.logsumexp\)"):
        hoad.defvjp(scipy_special.logsumexp, lambda g, p, x: (g * np.exp(x - p),))
    logsumexp = hoad.primitive(scipy_special.logsumexp)
    hoad.defvjp(logsumexp, lambda g, p, x: (g * np.exp(x - p),))
    x = np.array([0.5, 1.0])
    np.testing.assert_allclose(hoad.grad(logsumexp)(x), np.exp(x - scipy_special.logsumexp(x)), rtol=1e-15)


# ---- primitives called wrongly --------------------------------------------------------------------------------------


def test_arguments_that_a_primitive_does_not_take() -> None:
    @hoad.primitive
    def scaled(x: Any, y: Any, power: int = 1, *, shift: float = 0.0) -> Any:
        return x * y**power + shift

    hoad.defvjp(scaled, lambda g, p, x, y, *, power=1, shift=0.0: (g * y**power, g * x * power * y ** (power - 1)))
    assert hoad.grad(lambda x: scaled(x, 3.0, 2))(1.0) == 9.0
    assert hoad.grad(lambda x: scaled(x, 3.0, 2, shift=1.0))(1.0) == 9.0
    for call in (
        lambda x: scaled(x, 3.0, 2, 4),
        lambda x: scaled(x, 3.0, 2, power=2),
        lambda x: scaled(x, 3.0, 2, 4, shift=1.0),
    ):
        for f in (call, lambda x: hoad.grad(call)(x)):
            with pytest.raises(TypeError, match=r"too many positional|multiple values|positional arguments"):
                f(1.0)

    @hoad.primitive
    def added(*xs: Any) -> Any:
        return sum(xs)

    hoad.defvjp(added, lambda g, p, x, y: (g, g))
    assert hoad.grad(lambda x: added(x, x))(1.0) == 2.0
    with pytest.raises(hoad.RuleError, match=r"given 3 arguments \(test_registry\.py:\d+\), but its rule names 2"):
        hoad.grad(lambda x: added(x, x, x))(1.0)


def test_shapes_that_hang_on_values() -> None:
    counted = hoad.primitive(lambda x: np.ones(int(x)))
    with pytest.raises(hoad.RuleError, match=r"gave shape \(3,\), but \(1,\) .* may not let the shape depend"):
        hoad.record(counted, 3.0)


def test_declarations_of_another_kind() -> None:
    for options in ({"nout": 0}, {"nout": "a"}, {"linear": 0}):
        with pytest.raises(hoad.ArgumentError, match="primitive takes nout as a number of results and linear"):
            hoad.primitive(**options)(math.sin)  # type: ignore[call-overload]


@pytest.mark.parametrize("function", [math.erf, np.sin, scipy_special.gammaln], ids=repr)
def test_primitives_of_functions_of_others(function: Any) -> None:
    """They work, and programs of them are not pickled: their name stands for the function, not for the primitive."""
    made = hoad.primitive(function)
    hoad.defvjp(made, lambda g, p, x: (2 * g,))
    assert hoad.grad(made)(0.5) == 2.0
    with pytest.raises(pickle.PicklingError, match="cannot be pickled"):
        pickle.dumps(hoad.record(made, 0.5))
