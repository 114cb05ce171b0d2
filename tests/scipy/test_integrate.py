"""Integrals and differential equations: values as SciPy's, derivatives as in closed form, in every mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

si = pytest.importorskip("scipy.integrate")

from _numpy.agreement import assert_same  # noqa: E402
from _scipy.orders import assert_orders  # noqa: E402

import hoad  # noqa: E402
from hoad._scipy.quadrature import kronrod  # noqa: E402
from hoad.errors import GuardError, NoRuleError  # noqa: E402
from hoad.scipy import integrate  # noqa: E402

T = np.linspace(0.0, 1.0, 9)
INF = math.inf
# What is called, its function of p, and the integral.
QUAD: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "around": (lambda p: integrate.quad(lambda x: np.exp(-p * x), 0.0, 1.0)[0], lambda p: (1 - mp.exp(-p)) / p),
    "args": (lambda p: integrate.quad(lambda x, p: x**p, 0.0, 1.0, args=(p,))[0], lambda p: 1 / (p + 1)),
    "limits": (lambda p: integrate.quad(np.cos, p, p * p)[0], lambda p: mp.sin(p * p) - mp.sin(p)),
    "limits reversed": (lambda p: integrate.quad(np.cos, p, 0.0)[0], lambda p: -mp.sin(p)),
    "an end that is infinite": (
        lambda p: integrate.quad(lambda x: np.exp(-p * x), p, INF)[0],
        lambda p: mp.exp(-p * p) / p,
    ),
    "the other end": (lambda p: integrate.quad(lambda x: np.exp(p * x), -INF, p)[0], lambda p: mp.exp(p * p) / p),
    "all numbers": (
        lambda p: integrate.quad(lambda x: np.exp(-p * x * x), -INF, INF)[0],
        lambda p: mp.sqrt(mp.pi / p),
    ),
    "break points": (
        lambda p: integrate.quad(lambda x: abs(x - 0.3) * p**2, 0.0, 1.0, points=[0.3])[0],
        lambda p: p**2 * mp.mpf("0.29"),
    ),
    "many intervals": (
        lambda p: integrate.quad(lambda x: np.cos(20.0 * p * x), 0.0, 2.0, epsabs=1e-12)[0],
        lambda p: mp.sin(40 * p) / (20 * p),
    ),
    "a root at an end": (lambda p: integrate.quad(lambda x: p * np.sqrt(x), 0.0, p)[0], lambda p: 2 * p**2.5 / 3),
    "two variables": (
        lambda p: integrate.dblquad(lambda y, x: p * x * y, 0.0, 1.0, 0.0, lambda x: x * p)[0],
        lambda p: p**3 / 8,
    ),
    "nquad": (
        lambda p: integrate.nquad(lambda x, y: np.exp(p * x) * y, [[0.0, 1.0], [0.0, p]])[0],
        lambda p: (mp.exp(p) - 1) * p / 2,
    ),
}


@pytest.mark.parametrize("name", QUAD)
def test_quad(name: str) -> None:
    f, reference = QUAD[name]
    is_rough = name in ("many intervals", "a root at an end", "args")  # or has no series at 0
    assert_orders(f, reference, 1.5, 1.75, 1e-6 if is_rough else 1e-9)


SINGULAR: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "a pole of order 1/2": (lambda p: integrate.quad(lambda x: x**p, 0.0, 1.0)[0], lambda p: 1 / (p + 1), -0.5),
    "a pole of order 4/5": (lambda p: integrate.quad(lambda x: x**p, 0.0, 1.0)[0], lambda p: 1 / (p + 1), -0.8),
    "a logarithm": (lambda p: integrate.quad(lambda x: np.log(x) * p**2, 0.0, 1.0)[0], lambda p: -(p**2), 0.5),
    "the other end": (lambda p: integrate.quad(lambda x: (1.0 - x) ** p, 0.0, 1.0)[0], lambda p: 1 / (p + 1), -0.25),
    "both ends": (
        lambda p: integrate.quad(lambda x: (x * (1.0 - x)) ** p, 0.0, 1.0)[0],
        lambda p: mp.beta(p + 1, p + 1),
        -0.25,
    ),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_ends(name: str) -> None:
    """To which QUADPACK extrapolates: the sums over its intervals gave -3.92 for -4, and -16.5 for -25."""
    f, reference, p = SINGULAR[name]
    wanted = [float(c * mp.factorial(k)) for k, c in enumerate(mp.taylor(reference, mp.mpf(p), 2))]
    np.testing.assert_allclose(hoad.derivatives(f, 2)(p), wanted, rtol=1e-7)
    np.testing.assert_allclose(hoad.jit(hoad.grad(f))(p), wanted[1], rtol=1e-7)


# Smooth in x at this p, where QUADPACK takes one interval, but not in the neighbourhood.
SMOOTH_HERE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "a power": (lambda p: integrate.quad(lambda x: x**p, 0.0, 1.0)[0], lambda p: 1 / (p + 1), 0.0),
    "the next": (lambda p: integrate.quad(lambda x: x**p, 0.0, 1.0)[0], lambda p: 1 / (p + 1), 1.0),
    "at the other end": (lambda p: integrate.quad(lambda x: (2.0 - x) ** p, 1.0, 2.0)[0], lambda p: 1 / (p + 1), 0.0),
    "as an argument": (lambda p: integrate.quad(lambda x, p: x**p, 0, 1, args=(p,))[0], lambda p: 1 / (p + 1), 0.0),
    "reversed": (lambda p: integrate.quad(lambda x: x**p, 1.0, 0.0)[0], lambda p: -1 / (p + 1), 0.0),
    "with its limit": (
        lambda p: integrate.quad(lambda x: x ** (p - 1.0), 0.0, p)[0],
        lambda p: p**p / p,
        1.0,
    ),
    "both ends": (
        lambda p: integrate.quad(lambda x: (x * (1.0 - x)) ** p, 0.0, 1.0)[0],
        lambda p: mp.beta(p + 1, p + 1),
        0.0,
    ),
    "an infinite range": (
        lambda p: integrate.quad(lambda x: np.exp(-x) * x**p, 0.0, INF)[0],
        lambda p: mp.gamma(p + 1),
        0.0,
    ),
    "a slow tail": (
        lambda p: integrate.quad(lambda x: (1.0 + x) ** (-1.0 - p), 0.0, INF)[0],
        lambda p: 1 / p,
        1.0,
    ),
}


@pytest.mark.parametrize("name", SMOOTH_HERE)
def test_derivatives_that_are_singular_at_an_end(name: str) -> None:
    f, reference, p = SMOOTH_HERE[name]
    with mp.workdps(40):
        wanted = [float(c * mp.factorial(k)) for k, c in enumerate(mp.taylor(reference, mp.mpf(p), 4))]
    np.testing.assert_allclose(hoad.derivatives(f, 4)(p), wanted, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(hoad.jit(hoad.grad(f))(p), wanted[1], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(hoad.grad(hoad.grad(f))(p), wanted[2], rtol=1e-10)


@pytest.mark.slow
def test_such_derivatives_in_two_variables() -> None:

    def f(p: Any) -> Any:
        return integrate.dblquad(lambda y, x: (x * y) ** p, 0.0, 1.0, 0.0, 1.0)[0]

    assert hoad.grad(f)(0.0) == pytest.approx(-2.0, rel=1e-11)


def test_a_derivative_that_is_singular_inside_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"derivative is singular inside of the range.*places as ends"):
        hoad.grad(lambda p: integrate.quad(lambda x: abs(x - 0.3) ** p, 0.0, 1.0)[0])(0.0)


def test_a_kink_at_a_break_point_may_move() -> None:

    def f(p: Any) -> Any:
        return integrate.quad(lambda x: np.maximum(x, p), 0.0, 1.0, points=[0.4])[0]

    assert hoad.grad(f)(0.4) == pytest.approx(0.4, rel=1e-14)


MOVING: dict[str, Callable[[Any], Any]] = {
    "absolute": lambda p: integrate.quad(lambda x: np.abs(x - p), 0.0, 1.0, points=[0.4])[0],
    "maximum": lambda p: integrate.quad(lambda x: np.maximum(x, p), 0.0, 1.0, points=[0.4])[0],
    "where": lambda p: integrate.quad(lambda x: np.where(x > p, x - p, p - x), 0.0, 1.0, points=[0.4])[0],
    "branch": lambda p: integrate.quad(lambda x: x - p if x > p else p - x, 0.0, 1.0, points=[0.4])[0],
    "beside a constant": lambda p: integrate.quad(lambda x: np.abs(x - p) + 100.0, 0.0, 1.0, points=[0.4])[0],
}


@pytest.mark.parametrize("f", MOVING.values(), ids=MOVING)
def test_second_derivatives_by_the_place_of_a_kink_are_refused(f: Callable[[Any], Any]) -> None:
    slope = 0.4 if f is MOVING["maximum"] else -0.2
    assert hoad.grad(f)(0.4) == pytest.approx(slope, rel=1e-13)
    for second in (hoad.hessian(f), hoad.derivative(f, 2), lambda p: hoad.derivatives(f, 2)(p)):
        with pytest.raises(NoRuleError, match=r"^Split the integral.*kink that moves.*first derivatives alone"):
            second(0.4)


DISTANCES: dict[str, Callable[[Any], Any]] = {  # |u| in other words
    "hypot": lambda u: np.hypot(u, 0.0),
    "root": lambda u: np.sqrt(u**2),
    "power": lambda u: (u**2) ** 0.5,
    "norm": lambda u: np.linalg.norm(np.stack([u])),
    "heaviside": lambda u: (2.0 * np.heaviside(u, 0.5) - 1.0) * u,
    "max": lambda u: np.max(np.stack([u, -u])),
    "checkpoint": hoad.checkpoint(np.abs),
}


@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES)
def test_kinks_of_any_operation_are_found(distance: Callable[[Any], Any]) -> None:

    def f(p: Any) -> Any:
        return integrate.quad(lambda x: distance(x - p), 0.0, 1.0, points=[0.4])[0]

    assert hoad.grad(f)(0.4) == pytest.approx(-0.2, rel=1e-13)
    with pytest.raises(NoRuleError, match="kink that moves"):
        hoad.derivative(f, 2)(0.4)


def test_second_derivatives_of_an_option_are_refused() -> None:

    def value(s: Any) -> Any:
        def paid(z: Any) -> Any:
            return np.exp(-z * z / 2.0) * np.maximum(s * np.exp(0.2 * z - 0.02) - 1.0, 0.0)

        return integrate.quad(paid, -np.inf, np.inf)[0]

    for s in (0.8, 1.1):
        with pytest.raises(NoRuleError, match="kink that moves"):
            hoad.hessian(value)(s)


@pytest.mark.parametrize(
    ("f", "second"),
    [
        (lambda p: integrate.quad(lambda x: np.abs(x - 0.4) * p**2, 0.0, 1.0, points=[0.4])[0], 0.52),
        (lambda p: integrate.quad(lambda x: np.maximum(p * x, 1e-300) ** 2, 0.0, 1.0)[0], 2.0 / 3.0),
        (
            lambda p: integrate.quad(lambda x: abs(p + 1j * x), 0.0, 3.0)[0],
            math.asinh(7.5) - 3.0 / math.hypot(0.4, 3.0),
        ),
        (lambda p: integrate.quad(lambda x: np.sqrt(p * x), 0.0, 1.0)[0], -(0.4**-1.5) / 6.0),
        (lambda p: integrate.quad(lambda x: np.hypot(x, p), 0.0, 1.0)[0], math.asinh(2.5) - 1.0 / math.hypot(1.0, 0.4)),
        (lambda p: integrate.quad(lambda x: hoad.checkpoint(lambda x, p: x**2 * p**3)(x, p), 0.0, 1.0)[0], 0.8),
        (lambda p: sum(integrate.quad(lambda x: np.abs(x - p), *ends)[0] for ends in ((0.0, p), (p, 1.0))), 2.0),
        (lambda p: integrate.quad(lambda x: np.abs(x - 0.2), 0.0, p, points=[0.2])[0], 1.0),
        (lambda p: integrate.quad(lambda x: np.abs(x - 0.2), p, 0.0, points=[0.2])[0], -1.0),
        (lambda p: integrate.quad(lambda x: np.exp(-p * x) * np.maximum(x, 0.3), 0.0, 1.0, points=[0.3])[0], None),
    ],
)
def test_kinks_that_do_not_move_have_second_derivatives(f: Callable[[Any], Any], second: float | None) -> None:
    if second is None:  # each part is smooth
        second = si.quad(lambda x: x * x * math.exp(-0.4 * x) * max(x, 0.3), 0.0, 1.0, points=[0.3], epsabs=1e-14)[0]
    assert hoad.derivative(f, 2)(0.4) == pytest.approx(second, rel=1e-12)


FIXED: dict[str, Callable[[Any], Any]] = {  # a kink or a jump at 0.5, which QUADPACK is not told of
    "kink": lambda t: abs(t - 0.5),
    "kink of two parts": lambda t: np.exp(-t) * np.maximum(t, 0.5),
    "jump": lambda t: np.where(t > 0.5, t, 0.0),
    "branch": lambda t: t if t > 0.5 else 0.0,
}


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("s", [1.0, 1.3, 2.7])
def test_limits_beyond_a_fixed_kink_have_all_derivatives(name: str, s: float) -> None:
    """Of ∫₀ˢ f they are f(s), f'(s), ...; of an integral from s, with the other sign."""
    f = FIXED[name]
    for n in (1, 2, 3):
        wanted = hoad.derivative(f, n - 1)(s) if n > 1 else float(f(s))
        for sign, g in (
            (1.0, lambda s: integrate.quad(f, 0.0, s)[0]),
            (-1.0, lambda s: integrate.quad(f, s, 0.0)[0]),
            (-1.0, lambda s: integrate.quad(lambda t: f(1.0 - t), 1.0 - s, 1.0)[0] * -1.0),
        ):
            assert hoad.derivative(g, n)(s) == pytest.approx(sign * wanted, rel=1e-12, abs=1e-12)


def test_a_replay_beyond_a_fixed_kink_says_where_it_cannot_go() -> None:
    g = hoad.jit(hoad.value_and_grad(lambda s: integrate.quad(lambda t: abs(t - 0.5), 0.0, s)[0]))
    for s in (1.3, 1.4, 0.9, 0.6, 0.3, 1.3):
        value, slope = g(s)
        assert slope == pytest.approx(abs(s - 0.5), rel=1e-6)
        assert value == pytest.approx(0.125 + 0.5 * (s - 0.5) * abs(s - 0.5), rel=1e-6)


def test_a_branch_between_constants_is_not_a_constant() -> None:
    with pytest.raises(NoRuleError):
        hoad.grad(lambda p: integrate.quad(lambda x: 1.0 if x < p else 0.0, 0.0, 1.0)[0])(0.3)


def test_a_singular_place_inside_is_refused() -> None:
    with pytest.raises(NoRuleError, match="singular places as ends"):
        hoad.grad(lambda p: integrate.quad(lambda x: abs(x - 0.3) ** p, 0.0, 1.0)[0])(-0.5)


@pytest.mark.parametrize("name", QUAD)
def test_values_are_scipys(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = QUAD[name][0]
    plain, traced = f(1.5), hoad.value_and_grad(f)(1.5)[0]
    monkeypatch.setitem(globals(), "integrate", si)
    assert plain == f(1.5)
    assert traced == pytest.approx(plain, rel=1e-14)


def test_nodes_and_weights() -> None:
    for n in (7, 10):
        x, w, of_gauss = map(np.array, kronrod(n))
        for k in range(3 * n + 1):
            assert np.sum(w * x**k) == pytest.approx(0.0 if k % 2 else 2 / (k + 1), abs=1e-14)
        assert np.sum(of_gauss * x ** (2 * n - 2)) == pytest.approx(2 / (2 * n - 1), abs=1e-14)
    assert max(kronrod(10)[0]) == pytest.approx(0.995657163025808080735527280689003, abs=1e-15)


def test_what_else_quad_returns() -> None:
    plain = si.quad(np.cos, 0.0, 1.5, full_output=1)
    found: Any = []
    hoad.grad(lambda p: found.append(integrate.quad(np.cos, 0.0, p, full_output=1)) or p)(1.5)
    assert found[0][1] == plain[1]
    assert found[0][2]["neval"] == 21


def test_an_integral_over_nothing() -> None:
    assert hoad.grad(lambda p: integrate.quad(np.cos, 1.0, p)[0])(1.0) == pytest.approx(math.cos(1.0))


def test_intervals_are_guarded() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(lambda x: np.cos(p * x), 0.0, 1.0)[0]

    program = hoad.record(f, 1.0)
    assert program.evaluate(2.0) == pytest.approx(math.sin(2.0) / 2.0)
    with pytest.raises(GuardError):
        program.evaluate(90.0)
    jitted = hoad.jit(f)
    assert [jitted(p) for p in (1.0, 90.0, 2.0)] == pytest.approx([math.sin(p) / p for p in (1.0, 90.0, 2.0)])


def test_branches_of_the_function() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(lambda x: p * x if x < 0.5 else p * p, 0.0, 1.0, points=[0.5])[0]

    assert hoad.grad(f)(2.0) == pytest.approx(0.125 + 2.0)


def test_warnings_are_scipys() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(lambda x: p / x, 0.0, 1.0)[0]

    for call in (f, hoad.grad(f)):
        with pytest.warns(si.IntegrationWarning):
            call(1.0)


@pytest.mark.parametrize("options", [{"weight": "cos", "wvar": 2.0}, {"complex_func": True}])
def test_what_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(NoRuleError, match="weight= or complex_func="):
        hoad.grad(lambda p: np.real(integrate.quad(lambda x: p * x, 0.0, 1.0, **options)[0]))(1.0)


# ---- rules for samples ----------------------------------------------------------------------------------------------

SAMPLES: dict[str, Callable[[Any], Any]] = {
    "simpson": lambda y: integrate.simpson(y, x=T),
    "simpson, even": lambda y: integrate.simpson(y[:8], dx=0.1),
    "trapezoid": lambda y: integrate.trapezoid(y, T),
    "cumulative_trapezoid": lambda y: integrate.cumulative_trapezoid(y, T, initial=0),
    "cumulative_simpson": lambda y: integrate.cumulative_simpson(y, x=T),
    "romb": lambda y: integrate.romb(y, dx=0.125),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_rules_for_samples(name: str) -> None:
    """They are linear in the samples, so that the derivative is what SciPy gives for the direction."""
    f, y = SAMPLES[name], np.exp(T)
    d = np.cos(9.0 * T)
    value, slope = hoad.jvp(f, (y,), (d,))
    np.testing.assert_allclose(value, f(y), rtol=1e-14)
    np.testing.assert_allclose(slope, f(d), rtol=1e-12, atol=1e-15)
    jitted = hoad.jit(hoad.grad(lambda y: np.sum(f(y) * f(d))))
    for point in (y, d):
        np.testing.assert_allclose(jitted(point) @ d, np.sum(f(d) ** 2), rtol=1e-12)
    assert_same(f(y), f(y.copy()))


def test_fixed_quad() -> None:
    assert_orders(
        lambda p: integrate.fixed_quad(lambda x: np.exp(-p * x), 0.0, p, n=12)[0],
        lambda p: (1 - mp.exp(-p * p)) / p,
        1.5,
        1.75,
    )
    assert integrate.fixed_quad(np.cos, 0.0, 1.0) == si.fixed_quad(np.cos, 0.0, 1.0)


def test_by_the_points() -> None:
    """Of samples of x² the integral over [0, p]."""

    def f(p: Any) -> Any:
        return integrate.simpson((p * T) ** 2, x=p * T)

    assert_orders(f, lambda p: p**3 / 3, 1.5, 1.75)


# ---- differential equations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["RK45", "DOP853", "RK23"])
def test_solve_ivp(method: str) -> None:
    """Steps are chosen on values, and so guarded."""
    tolerance = {"rtol": 1e-5, "atol": 1e-7} if method == "RK23" else {"rtol": 1e-9, "atol": 1e-11}

    def f(p: Any) -> Any:
        return integrate.solve_ivp(lambda t, y: [-p * y[0]], (0.0, 1.0), [p], method=method, **tolerance).y[0, -1]

    rtol = 1e-3 if method == "RK23" else 1e-6
    for order, wanted in enumerate(mp.taylor(lambda p: p * mp.exp(-p), 1.5, 2)):
        found = hoad.derivatives(f, 2)(1.5)[order] / math.factorial(order)
        assert found == pytest.approx(float(wanted), rel=rtol, abs=rtol)
    jitted = hoad.jit(hoad.grad(f))
    for p in (1.5, 3.0, 1.5):
        assert jitted(p) == pytest.approx((1.0 - p) * math.exp(-p), rel=rtol, abs=rtol)
    assert f(1.5) == si.solve_ivp(lambda t, y: [-1.5 * y[0]], (0.0, 1.0), [1.5], method=method, **tolerance).y[0, -1]


@pytest.mark.parametrize("method", ["LSODA", "Radau"])
def test_compiled_methods_say_what_to_take(method: str) -> None:
    for _ in range(2):
        with pytest.raises((NoRuleError, hoad.TracedValueError), match=r"hoad\.ode\.odeint"):
            hoad.grad(hoad.adopt(lambda p: si.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), [1.0], method).y[0, -1]))(1.0)
    plain = hoad.adopt(lambda: si.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], method).y[0, -1])
    assert plain() == si.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], method).y[0, -1]


# ---- odeint ---------------------------------------------------------------------------------------------------------

TIMES = [0.0, 0.5, 1.0]


def around(p: Any) -> Any:
    return si.odeint(lambda y, t: -p * y, 1.0, TIMES)[-1, 0]


def by_args(p: Any) -> Any:
    return si.odeint(lambda t, y, a, b: [a * y[0] * b], [1.0], TIMES, (-1.0, p), tfirst=True, rtol=[1e-9])[-1, 0]


def by_start(p: Any) -> Any:
    y, info = si.odeint(lambda y, t: [-y[0], math.sin(t)], [p, 0.0], TIMES, full_output=True)
    return y[-1, 0] if info["message"] == "Integration successful." else math.nan


def by_time(p: Any) -> Any:
    return si.odeint(lambda y, t: -y, 1.0, [0.0, p])[-1, 0]


def by_jacobian(p: Any) -> Any:
    return si.odeint(lambda y, t: -p * y, [1.0], TIMES, Dfun=lambda y, t: [[-p]])[-1, 0]


@pytest.mark.parametrize("f", [around, by_args, by_start, by_time, by_jacobian])
def test_odeint_in_adopted_code(f: Callable[[Any], Any]) -> None:
    """exp(-p), or p/e by where it starts: in every mode, and ODEPACK's own numbers where nothing is traced."""
    p, adopted = 0.7, hoad.adopt(f)
    slopes = (math.exp(-1.0), 0.0) if f is by_start else (-math.exp(-p), math.exp(-p))
    assert adopted(p) == f(p)
    assert hoad.grad(adopted)(p) == pytest.approx(slopes[0], rel=1e-6)
    assert hoad.jit(hoad.grad(adopted))(p) == pytest.approx(slopes[0], rel=1e-6)
    assert hoad.jvp(adopted, (p,), (1.0,))[1] == pytest.approx(slopes[0], rel=1e-6)
    assert hoad.grad(hoad.grad(adopted))(p) == pytest.approx(slopes[1], rel=1e-6, abs=1e-12)


def test_odeint_of_plain_values_in_a_recording_is_that_of_odepack() -> None:
    decay = si.odeint(lambda y, t: -y, 1.0, TIMES, Dfun=lambda y, t: [[-1.0]])[-1, 0]

    def f(p: Any) -> Any:
        return p * si.odeint(lambda y, t: -y, 1.0, TIMES, Dfun=lambda y, t: [[-1.0]])[-1, 0]

    assert hoad.value_and_grad(hoad.adopt(f))(2.0) == (2.0 * decay, decay)


def test_odeint_raises_where_two_solutions_differ() -> None:
    """As where the tolerances are too large for either to be right."""

    def f(p: Any, tolerance: float) -> Any:
        options = {"rtol": tolerance, "atol": tolerance}
        return si.odeint(lambda y, t: [y[1], -p * y[0]], [1.0, 0.0], [0.0, 20.0], **options)[-1, 0]

    assert hoad.grad(hoad.adopt(f))(1.0, 1e-9) == pytest.approx(-10.0 * math.sin(20.0), rel=1e-5)
    with pytest.raises(NoRuleError, match=r"odeint gives another solution than hoad\.ode\.odeint, .* apart"):
        hoad.grad(hoad.adopt(f))(1.0, 3e-2)


def test_odeint_says_what_to_take_where_nothing_is_adopted() -> None:
    with pytest.raises(hoad.TracedValueError, match=r"hoad\.ode\.odeint"):
        hoad.grad(around)(1.0)
