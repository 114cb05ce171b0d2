"""What to write instead: the advice of an error is code that runs, gives the same, and is differentiated."""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import hoad
from hoad._core.base.where import name_of
from hoad._core.trace.errors import ADVICE
from hoad._core.trace.traced import FUNCTIONS, METHODS
from hoad._numpy.advice import CONSTANT, TRANSFORMS
from hoad._ops.primitives import known_primitive

X = np.array([1.5, -0.5, 2.25])
GIVEN = {
    "x": X, "y": np.array([0.25, 3.0, -1.25]), "a": np.array([[2.0, 0.5, 0.25], [0.5, 3.0, -1.0], [0.0, 1.0, 1.5]]),
    "c": np.array([True, False, True]), "k": np.array([2, 0, 2]), "n": 2, "i": 1,
}  # fmt: skip


def evaluated(expression: str, **values: Any) -> Any:
    return eval(compile(expression, __file__, "eval"), {"np": np, "scipy": scipy, "hoad": hoad, **GIVEN, **values})


def test_transforms_of_scipy_are_those_of_numpy() -> None:
    fft = pytest.importorskip("scipy.fft")
    x = np.arange(12.0).reshape(3, 4) ** 1.5
    for name in TRANSFORMS:
        np.testing.assert_allclose(getattr(np.fft, name)(x), getattr(fft, name)(x), rtol=1e-12, atol=1e-10)
        with pytest.raises(hoad.TracedValueError, match=rf"^Use np\.fft\.{name} \(.*scipy\.fft\.{name} of a"):
            hoad.jacobian(lambda x, name=name: np.real(getattr(fft, name)(x)))(x)


def test_one_item_in_axes_is_no_scalar() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    f = lambda x: (x - 1.0) ** 2  # noqa: E731
    with pytest.raises(
        hoad.ShapeError, match=r"f\(x\) has shape \(1,\)\. Return its one item, f\(x\)\[0\], or np\.sum"
    ):
        optimize.minimize(f, 0.0, jac=hoad.grad(f))
    g = lambda x: np.sum(f(x))  # noqa: E731
    assert optimize.minimize(g, 0.0, jac=hoad.grad(g)).x == pytest.approx(1.0)
    with pytest.raises(hoad.ShapeError, match=r"shape \(2,\)\. Use jacobian"):
        hoad.grad(f)(np.zeros(2))
    with pytest.raises(hoad.ShapeError, match=r"shape \(1, 1\)\. Return its one item, f\(x\)\[0, 0\]"):
        hoad.value_and_grad(f)(np.zeros((1, 1)))


@pytest.mark.parametrize("name", CONSTANT)
def test_what_no_derivative_passes_is_given_plain_numbers(name: str) -> None:
    function = getattr(np, name)
    assert function not in FUNCTIONS
    rest = {"searchsorted": (1.0,), "digitize": ([0.0, 1.0],), "isin": ([1.5],)}.get(name, ())
    rest = rest or ((X,) if name in ("isclose", "allclose", "array_equal", "array_equiv") else ())
    with pytest.raises(hoad.NoRuleError, match=r"\(test_advice\.py:\d+\)\. Give it hoad\.value\(x\) in place of x"):
        hoad.grad(lambda x: np.sum(function(x, *rest)))(X)

    def f(x: Any) -> Any:
        function(hoad.value(x), *rest)
        return np.sum(x)

    np.testing.assert_array_equal(hoad.grad(f)(X), np.ones(3))


@pytest.mark.parametrize("name", ["argmax", "cumsum", "std", "take", "tolist", "fill", "strides", "flags"])
def test_methods_without_a_rule(name: str) -> None:
    if name in METHODS:
        pytest.skip("recorded by now")
    with pytest.raises(hoad.NoMethodError, match=rf"ndarray\.{name} has no rule .*\(test_advice\.py:\d+\)") as caught:
        hoad.grad(lambda x: getattr(x, name))(X)
    assert isinstance(caught.value, AttributeError) and isinstance(caught.value, hoad.NoRuleError)
    assert "hoad.value(x)" in str(caught.value)
    assert ADVICE.get(f"np.{name}", "") in str(caught.value)
    with pytest.raises(hoad.TracedValueError, match=r"test_advice\.py:\d+"):
        hoad.grad(lambda x: x[0] * hasattr(x, name))(X)


def test_functions_go_by_the_names_users_know() -> None:
    known = {np.sin: "np.sin", np.linalg.svd: "np.linalg.svd", np.fft.fft: "np.fft.fft", np.median: "np.median"}
    for function, name in known.items():
        assert name_of(function) == name


# ---- functions outside NumPy's dispatch -----------------------------------------------------------------------------


def test_functions_of_scipy_are_named_with_the_users_line() -> None:
    special = pytest.importorskip("scipy.special")
    stats = pytest.importorskip("scipy.stats")
    interpolate = pytest.importorskip("scipy.interpolate")
    ufuncs = [f for f in vars(special).values() if isinstance(f, np.ufunc) and f.nout == 1]
    function = next(f for f in ufuncs if known_primitive(f) is None)  # other tests give some a rule, for good
    says = rf"^scipy\.special\.{function.__name__} has no .*\(test_advice\.py:\d+\).*vjp\(scipy\."
    with pytest.raises(hoad.NoRuleError, match=says):
        hoad.grad(lambda x: function(*[1.0] * (function.nin - 1), x))(2.0)
    for f, name in (
        (lambda x: special.logsumexp(x), "special.logsumexp"),
        (lambda x: np.sum(stats.norm.fit(x)), "stats.norm.fit"),
        (lambda x: interpolate.CubicSpline(np.arange(3.0), x)(0.5), "interpolate.CubicSpline"),
        (lambda x: stats.norm.pdf(x[0]), "stats.norm.pdf"),
        (lambda x: special.logsumexp(np.array([x[0], 1.0])), "special.logsumexp"),
        (lambda x: special.polygamma(1, x[0]), "special.polygamma"),
        (lambda x: special.comb(x[0], 2), "special.comb"),
        (lambda x: special.spherical_jn(2, x[0]), "special.spherical_jn"),
        (lambda x: stats.norm.logpdf(x[0], 0.0, 1.0), "stats.norm.logpdf"),
        (lambda x: special.factorial(x[0]), "special.factorial"),
    ):
        if name == "special.factorial" and np.lib.NumpyVersion(scipy.__version__) < "1.15.0":
            continue  # this SciPy refuses what is no number of Python's itself
        package, shown = name.split(".")[0], re.escape(name)
        advice = rf"Use hoad\.scipy\.({shown}|{package} in place of scipy\.{package})"
        with pytest.raises(
            hoad.TracedValueError,
            match=rf"^{advice} \(test_advice\.py:\d+\): scipy\.{shown} of a traced value (cannot be|would cut)",
        ):
            hoad.grad(f)(X)


def test_advice_on_scipy_is_for_functions_that_are_there() -> None:
    for name in ADVICE:
        package, _, function = name.rpartition(".")
        if function == "**":
            assert importlib.import_module(f"hoad.{package}") is not None
        elif package == "scipy.sparse.*":
            assert hasattr(pytest.importorskip("scipy.sparse").csr_array, function)
        elif package.startswith("scipy."):
            assert callable(getattr(pytest.importorskip(package), function))


SOLVERS: list[tuple[str, str, Callable[[Any, Any], Any]]] = [
    ("optimize.newton", r"hoad\.implicit\.root", lambda s, p: s.optimize.newton(lambda x: x * x - p, 1.0)),
    ("optimize.newton", r"hoad\.implicit\.root", lambda s, p: s.optimize.newton(lambda x: x * x - 2.0, p)),
    ("optimize.brentq", r"hoad\.implicit\.root", lambda s, p: s.optimize.brentq(lambda x: x * x - p, 0.0, 9.0)),
    ("optimize.fsolve", r"hoad\.implicit\.root", lambda s, p: s.optimize.fsolve(lambda x: x * x - p, 1.0)[0]),
    (
        "optimize.minimize",
        r"hoad\.implicit\.argmin",
        lambda s, p: s.optimize.minimize(lambda x: np.sum((x - p) ** 2), [0.0]).x[0],
    ),
    *(
        (
            f"optimize.{name}",
            r"hoad\.implicit\.argmin",
            lambda s, p, call=call: call(s.optimize, lambda x: np.exp(x) - p * x),
        )
        for name, call in (
            ("minimize_scalar", lambda optimize, f: optimize.minimize_scalar(f, method="golden").x),
            ("golden", lambda optimize, f: optimize.golden(f)),
            ("brent", lambda optimize, f: optimize.brent(f)),
            ("fminbound", lambda optimize, f: optimize.fminbound(f, 0.0, 3.0)),
            ("bracket", lambda optimize, f: optimize.bracket(f)[0]),
        )
    ),
    ("integrate.quad", r"hoad\.scipy\.integrate\.quad", lambda s, p: s.integrate.quad(lambda x: x * p, 0.0, 1.0)[0]),
    (
        "integrate.solve_ivp",
        r"hoad\.ode\.odeint",
        lambda s, p: s.integrate.solve_ivp(lambda t, y: -p * y, (0, 1), [1.0]).y[0, 1],
    ),
    (
        "linalg.solve",
        r"hoad\.scipy\.linalg\.solve",
        lambda s, p: s.linalg.solve(np.array([[p, 1.0], [1.0, 3.0]]), np.ones(2))[0],
    ),
    ("linalg.det", r"hoad\.scipy\.linalg\.det", lambda s, p: s.linalg.det(np.array([[p, 1.0], [1.0, 3.0]]))),
]


@pytest.mark.filterwarnings("ignore:Calling linalg:DeprecationWarning")  # with arrays of objects, SciPy 1.18
@pytest.mark.parametrize(("name", "advice", "call"), SOLVERS)
def test_solvers_of_scipy_point_to_what_is_differentiated(
    name: str, advice: str, call: Callable[[Any, Any], Any]
) -> None:
    for part in ("optimize", "integrate", "linalg"):
        importlib.import_module(f"scipy.{part}")
    if name == "linalg.det" and np.lib.NumpyVersion(scipy.__version__) < "1.16.0":
        pytest.skip("this SciPy refuses arrays of objects itself")
    with pytest.raises(
        hoad.TracedValueError, match=rf"{advice}.* \(test_advice\.py:\d+\): scipy\.{name} of a traced value "
    ):
        hoad.grad(lambda p: call(scipy, p))(2.0)


def test_jit_replays_a_solver_that_it_can_record() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    f = hoad.jit(lambda p: optimize.golden(lambda x: np.exp(x) - p * x))
    for p in (2.0, 3.0, 2.0):
        assert f(p) == pytest.approx(math.log(p), rel=1e-7)


def test_what_is_advised_for_solvers_is_differentiated() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    root = hoad.implicit.root(lambda x, p: x * x - p, lambda p: optimize.brentq(lambda x: x * x - p, 0.0, 9.0))
    assert hoad.grad(root)(2.0) == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-10)
    least = hoad.implicit.argmin(
        lambda x, p: np.sum((x - p**2) ** 2), lambda p: optimize.minimize(lambda x: np.sum((x - p**2) ** 2), [0.0]).x
    )
    assert hoad.jacobian(least)(3.0) == pytest.approx(6.0, rel=1e-6)
    x, w = np.polynomial.legendre.leggauss(20)
    assert hoad.grad(lambda p: np.sum(w * np.exp(p * x)))(1.0) == pytest.approx(2.0 / math.e, rel=1e-13)


def test_errors_of_functions_that_scipy_calls_are_left_alone() -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def inside(x: Any) -> Any:
        return hoad.grad(lambda y: np.sort(float(y)))(x)

    with pytest.raises(hoad.TracedValueError, match=r"^Leave float\(\) out: write y "):
        hoad.grad(lambda p: p * optimize.brentq(inside, 0.0, 1.0))(2.0)


def test_object_arrays_where_numpy_has_no_loop_for_them() -> None:
    def swept(x: Any) -> Any:
        a = np.array([[x, 1.0], [2.0, x]])
        return np.linalg.det(a)

    says = r"test_advice\.py:\d+: np\.array\(\[\[x, 1\.0\], \[2\.0, x\]\], like=x\) \(test_advice\.py:\d+\): "
    for driver in (hoad.grad, lambda f: hoad.derivative(f, 6), lambda f: hoad.derivatives(f, 2), hoad.vmap):
        for f in (lambda x: np.linalg.det(np.array([[x, 1.0], [2.0, x]])), swept):
            with pytest.raises(hoad.TracedValueError, match=says):
                driver(f)(np.array([3.0]) if driver is hoad.vmap else 3.0)
    with pytest.raises(hoad.TracedValueError, match=says):
        hoad.ode.taylor_integrate(lambda t, x: np.linalg.det(np.array([[x, 1.0], [2.0, x]])), 1.0, [0.0, 0.1])
    assert hoad.grad(lambda x: np.linalg.det(np.array([[x, 1.0], [2.0, x]], like=x)))(3.0) == pytest.approx(6.0)
    with pytest.raises(hoad.TracedValueError, match=r"like=x.*\(test_advice\.py:\d+\): "):
        hoad.grad(lambda x: np.sum(np.isnan(np.array([x[0], x[1]]))))(X)


def test_errors_of_the_users_own_are_left_alone() -> None:
    def f(x: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$") as caught:
        hoad.grad(f)(1.0)
    assert not isinstance(caught.value, hoad.HoadError)


# ---- rules ----------------------------------------------------------------------------------------------------------


def test_a_driver_inside_a_rule() -> None:
    @hoad.primitive
    def cube(x: Any) -> Any:
        return x**3

    hoad.defvjp(cube, lambda g, p, x: (g * hoad.grad(lambda y: y**3)(x),))
    assert [hoad.derivative(cube, k)(2.0) for k in (1, 2, 3, 4)] == [12.0, 12.0, 6.0, 0.0]
    assert hoad.grad(hoad.grad(cube))(2.0) == 12.0


def test_a_rule_that_uses_a_traced_value_from_outside() -> None:
    def f(c: Any) -> Any:
        cube = hoad.primitive(lambda x: x**3)
        hoad.defvjp(cube, lambda g, p, x: (g * c * x**2,))
        return hoad.grad(cube)(2.0)

    with pytest.raises(hoad.TracedValueError, match=r"\(test_advice\.py:\d+\).*traced values from outside") as caught:
        hoad.grad(f)(3.0)
    assert "Make the value an operand" in str(caught.value)


def test_a_primitive_of_numbers_given_an_array() -> None:
    sine = hoad.primitive(lambda x: math.sin(x))
    hoad.defvjp(sine, lambda g, p, x: (g * np.cos(x),))
    assert hoad.grad(sine)(0.0) == 1.0
    with pytest.raises(hoad.RuleError, match=r"an array of shape \(3,\).*TypeError.*np\.vectorize"):
        hoad.grad(lambda x: np.sum(sine(x)))(X)
    vectorized = hoad.primitive(np.vectorize(math.sin))
    hoad.defvjp(vectorized, lambda g, p, x: (g * np.cos(x),))
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(vectorized(x)))(X), np.cos(X))


def test_primitives_of_callables_without_a_name() -> None:
    power = hoad.primitive(functools.partial(lambda n, x: x**n, 3))
    hoad.defvjp(power, lambda g, p, x: (g * 3 * x**2,))
    assert hoad.derivative(power, 2)(2.0) == 12.0
    for wrong in (3.0, None, "sin"):
        with pytest.raises(hoad.ArgumentError, match=r"^primitive takes a function, but was given"):
            hoad.primitive(wrong) if wrong is not None else hoad.primitive(vjp=None)(wrong)  # type: ignore[call-overload]


# ---- booleans ---------------------------------------------------------------------------------------------------

ASKED: list[tuple[str, Callable[[Any], Any]]] = [
    ("all", lambda x: np.all(x > 0)),
    ("any", lambda x: np.any(x > 0)),
    ("all, axis", lambda x: np.all(x > 0, axis=1)),
    ("any, axis, keepdims", lambda x: np.any(x > 0, axis=0, keepdims=True)),
    ("methods", lambda x: (x > 5).any() | (x > -5).all()),
    ("of numbers", lambda x: np.all(x)),
    ("all of nothing", lambda x: np.all(x[:0] > 0)),
    ("any of nothing", lambda x: np.any(x[:0] > 0, axis=0)),
    ("reductions", lambda x: np.logical_and.reduce(x > 0) | np.logical_or.reduce(x > 2, axis=1)[: x.shape[1]].any()),
    ("of a number", lambda x: np.all(x[0, 0] > 0)),
]


@pytest.mark.parametrize(("name", "f"), ASKED, ids=[row[0] for row in ASKED])
def test_all_and_any(name: str, f: Callable[[Any], Any]) -> None:
    for a in (GIVEN["a"], -GIVEN["a"], np.abs(GIVEN["a"]) + 1, np.zeros((2, 2))):
        found: list[Any] = []

        def g(x: Any, found: list[Any] = found) -> Any:
            found.append(hoad.value(f(x)))
            return np.sum(x * 1.0) + 0 * np.sum(f(x))

        np.testing.assert_array_equal(hoad.grad(g)(a), np.ones(a.shape))
        wanted = f(a)
        assert np.shape(found[0]) == np.shape(wanted) and np.array_equal(found[0], wanted)


def test_a_branch_on_all_is_guarded() -> None:
    program = hoad.record(lambda x: np.sum(x) if np.all(x > 0) else x[0], np.abs(X))
    assert program.evaluate(2 * np.abs(X)) == 2 * np.sum(np.abs(X))
    with pytest.raises(hoad.GuardError):
        program.evaluate(X)


# ---- casts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [object, str, "S3", "M8[s]", [("a", "f8")]])
def test_casts_to_what_holds_no_numbers(dtype: Any) -> None:
    with pytest.raises(hoad.DTypeError, match=r"astype of float64 gives .*\(test_advice\.py:\d+\).*hoad\.value\(x\)"):
        hoad.grad(lambda x: np.sum(x.astype(dtype)))(X)


def test_traced_values_are_not_made_by_hand() -> None:
    for x in (1.0, X):
        with pytest.raises(hoad.TracedValueError, match=r"\(test_advice\.py:\d+\): .* not by its class"):
            hoad.grad(lambda x: type(x)(2.0))(x)


# ---- shapes ---------------------------------------------------------------------------------------------------------

MISFITS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x + np.ones(4), r"np\.add cannot broadcast the shapes \(3,\) and \(4,\) together"),
    (lambda x: x @ np.ones(4), r"matmul of shapes \(3,\) and \(4,\) .*: 3 columns .* but there are 4"),
    (lambda x: x[:, None] @ np.ones((3, 1)), r"\(3, 1\) and \(3, 1\) .*: 1 column on the left .* but there are 3"),
    (lambda x: np.linalg.inv(x[:, None]), r"np\.linalg\.inv needs square matrices, but found shape \(3, 1\)"),
    (lambda x: np.linalg.solve(x[:1, None], x), "do not fit .*; the right side needs 1 row"),
    (lambda x: np.reshape(x, (2, 2)), "cannot reshape"),
    (lambda x: np.concatenate([x, np.ones((2, 2))]), "cannot concatenate shapes"),
    (lambda x: np.stack([x, np.ones(4)]), "cannot stack shapes"),
]


@pytest.mark.parametrize(("f", "fact"), MISFITS, ids=[str(k) for k in range(len(MISFITS))])
def test_shapes_that_do_not_fit_are_told_with_the_users_line(f: Callable[[Any], Any], fact: str) -> None:
    with pytest.raises(hoad.ShapeError, match=fact) as caught:
        hoad.grad(lambda x: np.sum(f(x)))(X)
    assert re.search(r"\(test_advice\.py:\d+\)", str(caught.value))
