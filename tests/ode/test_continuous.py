"""The continuous adjoint against closed forms, and against variational equations at 30 digits."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from policy.memory import traced

import hoad
from hoad.ode import odeint

TIGHT = {"rtol": 1e-11, "atol": 1e-11, "adjoint": "continuous"}


def first_derivatives(f: Callable[[Any], Any], x: float) -> dict[str, Any]:
    """f' by every mode."""
    return {
        "grad": hoad.grad(f)(x),
        "jvp": hoad.jvp(f, (x,), (1.0,))[1],
        "vjp": hoad.vjp(f, x)[1](1.0)[0],
        "linearize": hoad.linearize(f, x)[1](1.0),
        "program": hoad.gradient(hoad.record(f, x)).evaluate(x),
        "tangent": hoad.tangent(hoad.record(f, x)).evaluate(x),
    }


def second_derivatives(f: Callable[[Any], Any], x: float) -> dict[str, Any]:
    """f'' by every pair of modes."""

    def forward(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: hoad.jvp(g, (x,), (1.0,))[1]

    return {
        "reverse over reverse": hoad.grad(hoad.grad(f))(x),
        "forward over reverse": forward(hoad.grad(f))(x),
        "reverse over forward": hoad.grad(forward(f))(x),
        "forward over forward": forward(forward(f))(x),
        "hessian": hoad.hessian(f)(x),
        "hvp": hoad.hvp(f)(x, 1.0),
        "programs": hoad.gradient(hoad.gradient(hoad.record(f, x))).evaluate(x),
    }


def logistic(r: Any) -> Any:
    return odeint(lambda y, t, r: r * y * (1 - y), 0.1, [0.0, 1.0, 3.0], (r,), **TIGHT)[-1]


def exact_logistic(r: Any) -> Any:
    return 1 / (1 + 9 * mp.exp(-3 * r))


def oscillator(w: Any) -> Any:
    """Position and speed of y'' = -w² y, w not an argument but of the function around."""
    found = odeint(lambda y, t: {"x": y["v"], "v": -(w**2) * y["x"]}, {"x": 1.0, "v": 0.0}, [0.0, 2.0, 5.0], **TIGHT)
    return found["x"][-1] + found["v"][1]


def exact_oscillator(w: Any) -> Any:
    return mp.cos(5 * w) - w * mp.sin(2 * w)


def ended(end: Any) -> Any:
    """y' = -t y² from a start that moves with the end, with a time between them."""
    return odeint(lambda y, t: -t * y * y, 2.0, np.stack([end / 4, end / 2, end]), **TIGHT)[1:] @ np.array([2.0, 1.0])


def exact_ended(end: Any) -> Any:
    y = lambda t: 1 / (mp.mpf(0.5) + (t**2 - (end / 4) ** 2) / 2)  # noqa: E731
    return 2 * y(end / 2) + y(end)


CASES = [(logistic, exact_logistic, 0.7), (oscillator, exact_oscillator, 1.3), (ended, exact_ended, 1.8)]


@pytest.mark.parametrize(("f", "exact", "x"), CASES, ids=lambda f: getattr(f, "__name__", ""))
def test_every_mode(f: Any, exact: Any, x: float) -> None:
    with mp.workdps(40):
        value, first, second = (float(mp.diff(exact, mp.mpf(x), order)) for order in range(3))
    assert f(x) == pytest.approx(value, rel=1e-9)
    for mode, found in first_derivatives(f, x).items():
        assert found == pytest.approx(first, rel=1e-9), mode
    for mode, found in second_derivatives(f, x).items():
        assert found == pytest.approx(second, rel=2e-9), mode


@pytest.mark.parametrize(("f", "exact", "x"), CASES, ids=lambda f: getattr(f, "__name__", ""))
def test_third_derivatives(f: Any, exact: Any, x: float) -> None:
    with mp.workdps(40):
        expected = float(mp.diff(exact, mp.mpf(x), 3))
    assert hoad.derivative(f, 3)(x) == pytest.approx(expected, rel=1e-8)


# ---- several unknowns and parameters --------------------------------------------------------------------------------

A = np.array([[-0.3, 1.1, 0.2], [-0.9, 0.1, 0.4], [0.3, -0.2, -0.7]])
START = np.array([1.0, -0.5, 0.25])


def expm(*blocks: Any) -> Any:
    """exp of a block matrix by mpmath."""
    with mp.workdps(40):
        found = mp.expm(mp.matrix(np.block([list(row) for row in blocks]).tolist()))
        return np.array(found.tolist(), dtype=float)


def linear(y0: Any, matrix: Any) -> Any:
    return odeint(lambda y, t, matrix: matrix @ y, y0, [0.0, 0.5, 2.0], (matrix,), **TIGHT)[-1]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_linear_systems(mode: str) -> None:
    by_y0, by_matrix = hoad.jacobian(linear, argnums=(0, 1), mode=mode)(START, A)
    np.testing.assert_allclose(by_y0, expm([2 * A]), atol=1e-9)
    zero = np.zeros((3, 3))
    for i, j in np.ndindex(3, 3):
        unit = np.zeros((3, 3))
        unit[i, j] = 1.0
        by_entry = expm([2 * A, 2 * unit], [zero, 2 * A])[:3, 3:]  # Van Loan (1978)
        np.testing.assert_allclose(by_matrix[:, i, j], by_entry @ START, atol=1e-9)


def test_second_derivatives_of_linear_systems() -> None:
    v, w = np.array([[0.2, -0.4, 1.0], [0.3, 0.1, -0.6], [0.7, 0.0, -0.1]]), np.array([1.0, 2.0, -1.0])
    zero = np.zeros((3, 3))
    twice = expm([2 * A, 2 * v, zero], [zero, 2 * A, 2 * v], [zero, zero, 2 * A])[:3, 6:]
    along = lambda s: w @ linear(START, A + s * v)  # noqa: E731
    assert hoad.hessian(along)(0.0) == pytest.approx(2 * w @ twice @ START, rel=1e-9)
    product = hoad.hvp(lambda matrix: w @ linear(START, matrix))(A, v)
    assert np.sum(product * v) == pytest.approx(2 * w @ twice @ START, rel=1e-9)


@functools.cache
def lotka_volterra(times: tuple[float, ...], y0: tuple[float, ...], a: float, b: float) -> list[Any]:
    """y, its derivatives by a, b, y0, and its second derivative by a: mpmath's Taylor solver at 30 digits."""
    a, b = mp.mpf(a), mp.mpf(b)

    def slopes(t: Any, z: Any) -> list[Any]:
        x, y = z[0], z[1]
        found = [a * x - b * x * y, x * y / 2 - y]
        jacobian = [[a - b * y, -b * x], [y / 2, x / 2 - 1]]
        for k, own in enumerate([(x, 0), (-x * y, 0), (0, 0), (0, 0)]):
            u, v = z[2 + 2 * k], z[3 + 2 * k]
            found += [row[0] * u + row[1] * v + extra for row, extra in zip(jacobian, own, strict=True)]
        u, v, uu, vv = z[2], z[3], z[10], z[11]
        found.append(jacobian[0][0] * uu + jacobian[0][1] * vv - 2 * b * u * v + 2 * u)
        found.append(jacobian[1][0] * uu + jacobian[1][1] * vv + u * v)
        return found

    start = [*y0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]
    with mp.workdps(30):
        solution = mp.odefun(slopes, 0, [mp.mpf(x) for x in start])
        return [np.array([float(x) for x in solution(t)]) for t in times]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_lotka_and_volterra(mode: str) -> None:
    times = (0.0, 0.5, 1.5)

    def populations(a: Any, b: Any, y0: Any) -> Any:
        def slopes(y: Any, t: Any, a: Any, b: Any) -> Any:
            return np.stack([a * y[0] - b * y[0] * y[1], 0.5 * y[0] * y[1] - y[1]])

        return odeint(slopes, y0, times, (a, b), **TIGHT)

    point = (1.1, 0.4, np.array([1.0, 2.0]))
    exact = np.array(lotka_volterra(times, (1.0, 2.0), 1.1, 0.4))
    by_a, by_b, by_y0 = hoad.jacobian(populations, argnums=(0, 1, 2), mode=mode)(*point)
    np.testing.assert_allclose(populations(*point), exact[:, :2], atol=1e-9)
    np.testing.assert_allclose(by_a, exact[:, 2:4], atol=1e-9)
    np.testing.assert_allclose(by_b, exact[:, 4:6], atol=1e-9)
    np.testing.assert_allclose(by_y0, np.stack([exact[:, 6:8], exact[:, 8:10]], axis=-1), atol=1e-9)
    twice = hoad.hessian(lambda a: np.sum(populations(a, *point[1:])[-1]))(1.1)
    assert twice == pytest.approx(np.sum(exact[-1, 10:]), abs=1e-8)


def test_containers_and_captured_arrays() -> None:
    """y' = -r y + c t in a nested container, r of an argument, c of the function around: closed form."""
    t = 1.5

    def f(start: Any, rates: Any, c: Any) -> Any:
        def slopes(y: Any, t: Any, rates: Any) -> Any:
            return {"a": (-rates["slow"] * y["a"][0] + c * t,), "b": -rates["fast"] * y["b"]}

        found = odeint(slopes, start, [0.0, 0.5, t], (rates,), **TIGHT)
        return np.sum(found["a"][0][-1]) + found["b"][-1]

    start, rates, c = {"a": (np.array([1.0, 2.0]),), "b": 2.0}, {"slow": 0.3, "fast": 2.0, "name": "x"}, np.ones(2)
    by_start, by_rates, by_c = hoad.grad(f, argnums=(0, 1, 2))(start, rates, c)
    np.testing.assert_allclose(by_start["a"][0], np.exp(-0.3 * t), rtol=1e-9)
    assert by_start["b"] == pytest.approx(np.exp(-2 * t), rel=1e-9)
    assert by_rates["fast"] == pytest.approx(-t * 2.0 * np.exp(-2 * t), rel=1e-9)
    forced = lambda r: t / r - 1 / r**2 + mp.exp(-r * t) / r**2  # noqa: E731  ∫ exp(-r (t-s)) s ds
    np.testing.assert_allclose(by_c, float(forced(mp.mpf(0.3))), rtol=1e-9)
    total = lambda r: 3 * mp.exp(-r * t) + 2 * forced(r)  # noqa: E731
    assert by_rates["slow"] == pytest.approx(float(mp.diff(total, mp.mpf(0.3))), rel=1e-9)
    assert by_rates["name"] is None


# ---- what it is for -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["dopri5", "bosh3"])
def test_both_derivatives_come_together_as_the_tolerance_falls(method: str) -> None:
    def error(tolerance: float, adjoint: str) -> tuple[float, float]:
        def f(r: Any) -> Any:
            options = {"rtol": tolerance, "atol": tolerance, "method": method, "adjoint": adjoint}
            return odeint(lambda y, t: r * y * np.cos(t), 1.0, [0.0, 6.0], **options)[-1]

        exact = np.exp(0.9 * np.sin(6.0))
        return abs(hoad.grad(f)(0.9) - np.sin(6.0) * exact), abs(hoad.hessian(f)(0.9) - np.sin(6.0) ** 2 * exact)

    low, high = 1e-4, 1e-8
    for adjoint in ("discrete", "continuous"):
        for coarse, fine in zip(error(low, adjoint), error(high, adjoint), strict=True):
            order = np.log(coarse / fine) / np.log(low / high)
            assert 0.6 < order < 1.4, (adjoint, coarse, fine)  # errors are as large as the tolerance


def test_the_adjoint_has_tolerances_of_its_own() -> None:
    def error(**options: float) -> float:
        f = lambda r: odeint(lambda y, t: r * y * np.cos(t), 1.0, [0.0, 6.0], **TIGHT, **options)[-1]  # noqa: E731
        return abs(hoad.grad(f)(0.9) - np.sin(6.0) * np.exp(0.9 * np.sin(6.0)))

    assert error() < 1e-9
    assert 1e-7 < error(adjoint_rtol=1e-4, adjoint_atol=1e-4) < 1e-2


def test_a_small_cotangent_is_no_error() -> None:
    """Tolerances are relative to what the adjoint starts from: a gradient is linear in it."""
    exact = float(mp.diff(exact_logistic, mp.mpf(0.7)))
    for size in (1e-30, 1e30):
        assert hoad.grad(lambda r: size * logistic(r))(0.7) == pytest.approx(size * exact, rel=1e-9)
    assert hoad.grad(lambda r: 0.0 * logistic(r))(0.7) == 0.0
    assert np.isnan(hoad.vjp(logistic, 0.7)[1](np.nan)[0])


@pytest.mark.parametrize("rate", [50.0, 300.0])
def test_stiff_equations(rate: float) -> None:
    """y' = -rate (y - k² cos t), whose solutions run apart exp(rate t)-fold backwards."""

    def f(k: Any) -> Any:
        found = odeint(
            lambda y, t: -rate * (y - k**2 * np.cos(t)), 0.0, [0.0, 0.5], rtol=1e-7, atol=1e-7, adjoint="continuous"
        )
        return found[-1]

    t = 0.5
    unit = rate * (rate * np.cos(t) + np.sin(t) - rate * np.exp(-rate * t)) / (rate**2 + 1)
    for mode, found in first_derivatives(f, 1.5).items():
        assert found == pytest.approx(3.0 * unit, rel=1e-5), mode
    if rate < 100:
        assert hoad.hessian(f)(1.5) == pytest.approx(2.0 * unit, rel=1e-5)


def test_a_stiff_nonlinear_equation_at_second_order() -> None:
    """y' = -r (y³ - k²): the equilibrium k^(2/3), reached long before the end."""
    f = lambda k: odeint(  # noqa: E731
        lambda y, t: -30.0 * (y**3 - k**2), 0.5, [0.0, 1.0], rtol=1e-7, atol=1e-7, adjoint="continuous"
    )[-1]
    assert f(1.2) == pytest.approx(1.2 ** (2 / 3), rel=1e-6)
    assert hoad.grad(f)(1.2) == pytest.approx(2 / 3 * 1.2 ** (-1 / 3), rel=1e-6)
    assert hoad.hessian(f)(1.2) == pytest.approx(-2 / 9 * 1.2 ** (-4 / 3), rel=1e-6)


def test_memory_does_not_grow_with_the_steps() -> None:
    found = []

    def peak(tolerance: float) -> int:
        def f(y0: Any) -> Any:
            options = {"rtol": tolerance, "atol": tolerance, "method": "bosh3", "adjoint": "continuous"}
            return np.sum(odeint(lambda y, t: -y * np.cos(t), y0, [0.0, 4.0], **options)[-1] ** 2)

        y0 = np.linspace(0.5, 1.0, 4000)
        return traced(lambda: found.append(hoad.grad(f)(y0)))[1]

    few, many = peak(1e-3), peak(1e-8)  # some 20 and 900 steps of 32 kB each
    np.testing.assert_allclose(found[1], 2 * np.linspace(0.5, 1.0, 4000) * np.exp(-2 * np.sin(4.0)), rtol=1e-6)
    assert many < 1.5 * few


def test_a_replay_chooses_its_steps_anew() -> None:
    program = hoad.record(logistic, 0.7)
    for r in (0.7, 3.0):
        assert program.evaluate(r) == pytest.approx(float(exact_logistic(r)), rel=1e-9)
        with mp.workdps(30):
            first, second = (float(mp.diff(exact_logistic, mp.mpf(r), k)) for k in (1, 2))
        assert hoad.gradient(program).evaluate(r) == pytest.approx(first, rel=1e-8)
        assert hoad.gradient(hoad.gradient(program)).evaluate(r) == pytest.approx(second, rel=1e-8)
    kept = pickle.loads(pickle.dumps(hoad.gradient(program)))
    assert kept.evaluate(1.1) == hoad.gradient(program).evaluate(1.1)


def test_falling_times_a_single_time_and_times_that_repeat() -> None:
    f = lambda r, t: odeint(lambda y, t: -r * y, np.array([1.0, 2.0]), t, **TIGHT)  # noqa: E731
    np.testing.assert_allclose(hoad.jacobian(f)(0.5, [0.0, -1.0])[-1], np.exp(0.5) * np.array([1.0, 2.0]), rtol=1e-9)
    np.testing.assert_array_equal(hoad.jacobian(f)(0.5, [0.3]), np.zeros((1, 2)))
    twice = hoad.jacobian(f)(0.5, [0.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(twice[2:], -np.exp(-0.5) * np.array([[1.0, 2.0]] * 2), rtol=1e-9)
    np.testing.assert_array_equal(twice[:2], 0.0)
    assert odeint(lambda y, t: y, {}, [0.0, 1.0], adjoint="continuous") == {}


def test_inside_a_loop_and_around_one() -> None:
    """Four flows of y' = -r y² of a quarter each, in a fori_loop; and an rhs that holds a loop."""

    def looped(r: Any) -> Any:
        step = lambda i, y: odeint(lambda y, t: -r * y * y, y, [0.0, 0.25], **TIGHT)[-1]  # noqa: E731
        return hoad.fori_loop(0, 4, step, 1.0)

    assert hoad.grad(looped)(0.8) == pytest.approx(-1 / 1.8**2, rel=1e-9)
    assert hoad.hessian(looped)(0.8) == pytest.approx(2 / 1.8**3, rel=1e-9)

    def powers(r: Any) -> Any:
        rhs = lambda y, t: -r * hoad.fori_loop(0, 2, lambda i, p: p * y, 1.0)  # noqa: E731
        return odeint(rhs, 1.0, [0.0, 1.0], **TIGHT)[-1]

    assert hoad.grad(powers)(0.8) == pytest.approx(-1 / 1.8**2, rel=1e-9)
    assert hoad.hessian(powers)(0.8) == pytest.approx(2 / 1.8**3, rel=1e-9)


# ---- errors ---------------------------------------------------------------------------------------------------------

WRONG = [
    ({"adjoint": "backward"}, r"takes adjoint='discrete' or 'continuous', not 'backward'"),
    ({"adjoint_rtol": 1e-3}, "adjoint_rtol and adjoint_atol with adjoint='continuous' only.*Leave them out"),
    ({"adjoint": "continuous", "steps": 5}, "chooses its steps, within tolerances. Leave steps out"),
    ({"adjoint": "continuous", "steps": 5, "method": "rk4"}, "chooses its steps.*or take adjoint='discrete'"),
    ({"adjoint": "continuous", "method": "rk4"}, "takes equal steps"),
    ({"adjoint": "continuous", "max_steps": 3}, r"raise rtol and atol, or max_steps \(now 3\)"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_errors_say_what_to_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=message):
        odeint(lambda y, t: -y, 1.0, [0.0, 5.0], **options)


def test_a_branch_that_a_later_step_leaves_is_an_error() -> None:
    def f(r: Any) -> Any:
        return odeint(lambda y, t: -r * y if t < 1.0 else -2 * r * y, 1.0, [0.0, 2.0], adjoint="continuous")[-1]

    with pytest.raises(hoad.GuardError, match="branch"):
        hoad.grad(f)(0.5)


def test_both_adjoints_take_arrays_of_traced_numbers() -> None:
    """Van der Pol's equation, written as np.array([...])."""

    def end(p: Any, **options: Any) -> Any:
        rhs = lambda y, t: np.array([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]])  # noqa: E731
        start = np.array([p[1], 0.0])
        return np.sum(hoad.ode.odeint(rhs, start, [0.0, 1.0, 3.0], rtol=1e-11, atol=1e-11, **options) ** 2)

    p = np.array([1.5, 2.0])
    continuous = lambda p: end(p, adjoint="continuous")  # noqa: E731
    np.testing.assert_allclose(continuous(p), end(p), rtol=1e-12)
    np.testing.assert_allclose(hoad.grad(continuous)(p), hoad.grad(end)(p), rtol=1e-7)
    np.testing.assert_allclose(hoad.hessian(continuous)(p), hoad.hessian(end)(p), rtol=1e-5)
