"""The Taylor integrator: values and derivatives against closed forms, mpmath and what is conserved."""

from __future__ import annotations

import importlib
import subprocess
import sys
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.integrate

import hoad
from hoad.errors import ArgumentError, DTypeError, ShapeError, TracedValueError
from hoad.ode import taylor_integrate, taylor_solution

EPSILON = np.finfo(float).eps


def swing(t, y):
    return np.array([y[1], -y[0]])


def van_der_pol(t, y):
    return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])


def kepler(t, y):
    cube = (y[0] ** 2 + y[1] ** 2) ** -1.5
    return np.array([y[2], y[3], -y[0] * cube, -y[1] * cube])


def perihelion(e):
    """Where an orbit of axis 1 and period 2π is nearest."""
    return np.array([1 - e, 0.0, 0.0, np.sqrt((1 + e) / (1 - e))])


def symplectic(n):
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])


# ---- values ---------------------------------------------------------------------------------------------------------


def test_the_exponential_is_right_to_rounding():
    t = np.linspace(0.0, 5.0, 13)
    assert np.abs(taylor_integrate(lambda t, y: -y, 1.0, t) - np.exp(-t)).max() < 2 * EPSILON


def test_oscillations_are_right_to_rounding_forwards_and_backwards():
    t = np.linspace(0.0, 30.0, 31)
    for times in (t, -t, t[::-1] - 30.0):
        found = taylor_integrate(swing, np.array([1.0, 0.0]), times)
        assert np.abs(found - np.stack([np.cos(times), -np.sin(times)], 1)).max() < 1e-14


@pytest.mark.parametrize("e", [0.0, 0.3, 0.9])
def test_an_orbit_of_kepler_closes(e):
    y0 = perihelion(e)
    found = taylor_integrate(kepler, y0, [0.0, np.pi, 2 * np.pi])
    assert np.abs(found[1] - [-1 - e, 0.0, 0.0, -np.sqrt((1 - e) / (1 + e))]).max() < 1e-13 / (1 - e) ** 2
    assert np.abs(found[2] - y0).max() < 1e-13 / (1 - e) ** 3


def test_van_der_pol_as_mpmath_has_it():
    with mpmath.workdps(25):
        exact = mpmath.odefun(lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]], 0, [2, mpmath.mpf(1) / 4])(1.5)
    found = taylor_integrate(van_der_pol, np.array([2.0, 0.25]), [0.0, 1.5])[-1]
    assert np.abs(found - np.array([float(x) for x in exact])).max() < 4 * EPSILON


def test_the_time_is_an_unknown_with_a_series_of_its_own():
    t = np.linspace(0.5, 3.0, 6)
    found = taylor_integrate(lambda t, y: np.cos(t) * y, np.exp(np.sin(0.5)), t)
    assert np.abs(found - np.exp(np.sin(t))).max() < 4 * EPSILON


def test_energy_of_the_figure_eight_stays_over_100_periods():
    def bodies(t, y):
        slopes = [y[6], y[7], y[8], y[9], y[10], y[11], *[0.0] * 6]
        for i in range(3):
            for j in range(i):
                dx, dy = y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1]
                cube = (dx * dx + dy * dy) ** -1.5
                slopes[6 + 2 * i] -= dx * cube
                slopes[7 + 2 * i] -= dy * cube
                slopes[6 + 2 * j] += dx * cube
                slopes[7 + 2 * j] += dy * cube
        return np.array(slopes)

    def energy(y):
        q = y[:6].reshape(3, 2)
        return np.sum(y[6:] ** 2) / 2 - sum(1 / np.linalg.norm(q[i] - q[j]) for i in range(3) for j in range(i))

    x, v = np.array([0.97000436, -0.24308753]), np.array([-0.93240737, -0.86473146])
    start = np.concatenate([x, -x, [0.0, 0.0], -v / 2, -v / 2, v])
    end = taylor_integrate(bodies, start, [0.0, 100 * 6.32591398], tol=1e-15)[-1]
    assert abs(energy(end) - energy(start)) < 1e-13
    assert np.abs(end - start).max() < 1e-4  # nearly periodic


def test_operations_on_arrays_give_what_numbers_give():
    def of_arrays(t, y):
        q, v = y[:2], y[2:]
        return np.concatenate([v, -q * np.sum(q * q) ** -1.5])

    t = np.linspace(0.0, 5.0, 4)
    assert (
        np.abs(taylor_integrate(of_arrays, perihelion(0.4), t) - taylor_integrate(kepler, perihelion(0.4), t)).max()
        < 1e-13
    )


def test_large_arrays_stay_arrays():
    rates = np.linspace(0.1, 2.0, 300)
    found = taylor_integrate(lambda t, y: -rates * y, np.ones(300), [0.0, 1.5])
    assert np.abs(found[-1] - np.exp(-1.5 * rates)).max() < 5 * EPSILON


def test_containers_come_back_as_they_were_given():
    t = np.linspace(0.0, 2.0, 5)
    start = {"x": np.ones((2, 1)), "v": np.zeros((2, 1))}
    found = taylor_integrate(lambda t, y: {"x": y["v"], "v": -y["x"]}, start, t)
    assert found["x"].shape == (5, 2, 1)
    assert np.abs(found["x"][:, 1, 0] - np.cos(t)).max() < 4 * EPSILON


def test_lists_are_arrays_where_y_is_one():
    found = taylor_integrate(lambda t, y: [y[1], -y[0]], np.array([1.0, 0.0]), [0.0, 1.0])
    assert abs(found[-1, 0] - np.cos(1.0)) < 2 * EPSILON


def test_args_are_passed_on():
    found = taylor_integrate(lambda t, y, a, b: -a * y + b[0], 1.0, [0.0, 2.0], (0.5, np.array([0.25, 9.0])))
    assert abs(found[-1] - (0.5 + 0.5 * np.exp(-1.0))) < 2 * EPSILON


def test_times_may_repeat_and_nothing_may_lie_between():
    assert np.array_equal(taylor_integrate(lambda t, y: -y, 1.5, [2.0]), [1.5])
    assert np.array_equal(taylor_integrate(lambda t, y: -y, 1.5, [2.0, 2.0]), [1.5, 1.5])
    found = taylor_integrate(lambda t, y: -y, 1.0, [0.0, 1.0, 1.0, 1.0])
    assert found[1] == found[2] == found[3]


# ---- steps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [4, 7, 12])
def test_the_error_of_a_step_falls_as_its_order_says(order):
    """Steps of given length, by `max_step`; a tolerance that allows any."""

    def error(h):
        found = taylor_integrate(
            van_der_pol, np.array([2.0, 0.0]), [0.0, 0.4], tol=0.9, atol=1e9, order=order, max_step=h
        )
        return np.abs(found[-1] - exact).max()

    exact = taylor_integrate(van_der_pol, np.array([2.0, 0.0]), [0.0, 0.4])[-1]
    assert np.log2(error(0.2) / error(0.1)) == pytest.approx(order, abs=1.5)


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-12])
def test_tolerances_are_kept(tol):
    solution = taylor_solution(kepler, perihelion(0.5), [0.0, 2 * np.pi], tol=tol)
    assert solution.order == np.ceil(-0.8 * np.log(tol))
    assert np.abs(solution.y[-1] - perihelion(0.5)).max() < 300 * tol
    tighter = taylor_solution(kepler, perihelion(0.5), [0.0, 2 * np.pi])
    assert tighter.order == 29


def test_small_numbers_need_a_small_atol():
    tiny = 1e-12
    t = [0.0, 10.0]
    exact = tiny * np.cos(10.0)
    rough = taylor_integrate(swing, np.array([tiny, 0.0]), t, tol=1e-6)[-1, 0]
    fine = taylor_integrate(swing, np.array([tiny, 0.0]), t, tol=1e-6, atol=1e-20)[-1, 0]
    assert abs(fine - exact) < 1e-5 * tiny < abs(rough - exact)


def test_a_series_that_begins_with_zeros_is_not_taken_for_a_constant():
    found = taylor_integrate(lambda t, y: 40 * t**39 + 0 * y, 0.0, [0.0, 1.0])[-1]
    assert abs(found - 1.0) < 1e-13


def test_kinks_are_found():
    found = taylor_integrate(lambda t, y: np.where(t < 0.3, 1.0, -1.0) + 0 * y, 0.0, [0.0, 0.3, 1.0])
    assert np.abs(found - [0.0, 0.3, -0.4]).max() < 1e-12
    found = taylor_integrate(lambda t, y: np.abs(t - 0.3) + 0 * y, 0.0, [0.0, 1.0])[-1]
    assert abs(found - (0.3**2 + 0.7**2) / 2) < 1e-12


# ---- solutions ---------------------------------------------------------------------------------------------


def test_the_solution_is_known_everywhere():
    t = np.random.default_rng(1).uniform(0.0, 20.0, 200)
    solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 20.0])
    assert np.abs(solution.sol(t)[:, 0] - np.cos(t)).max() < 1e-14
    assert np.abs(solution.sol(solution.sol.breaks)[:, 1] + np.sin(solution.sol.breaks)).max() < 1e-14
    assert solution.sol(3.0).shape == (2,)
    assert solution.sol(np.zeros((2, 3))).shape == (2, 3, 2)
    assert solution.sol.coefficients.shape == (solution.steps, 30, 2)
    assert solution.status == 0
    assert solution.nfev >= solution.steps
    with pytest.raises(hoad.errors.ArgumentError, match=r"from t = 0 to 20.*Integrate further"):
        solution.sol(20.5)


@pytest.mark.parametrize("end", [20.0, -20.0])
def test_the_solution_at_many_times_is_that_at_each(end):
    """Steps with many times, with few and with none, in any order."""
    solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, end])
    t = end * np.random.default_rng(2).uniform(size=20_000)
    found = solution.sol(t)
    assert np.abs(found - np.stack([np.cos(t), -np.sin(t)], 1)).max() < 1e-14
    assert np.array_equal(found[:50], [solution.sol(x) for x in t[:50]])
    few = np.concatenate([t[:3], np.linspace(0.0, 0.01 * end, 9000), [end, 0.0]])
    assert np.array_equal(solution.sol(few), np.stack([solution.sol(x) for x in few]))
    assert solution.sol(np.zeros(0)).shape == (0, 2)
    pair = taylor_solution(lambda t, y: {"a": -y["a"], "b": y["b"]}, {"a": 1.0, "b": np.ones((2, 2))}, [0.0, 1.0])
    s = np.linspace(0.0, 1.0, 6000).reshape(2, 3000)
    assert np.abs(pair.sol(s)["a"] - np.exp(-s)).max() < 1e-14
    assert np.abs(pair.sol(s)["b"][..., 1, 0] - np.exp(s)).max() < 1e-14


def test_the_solution_is_known_backwards():
    solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, -7.0, -20.0])
    t = np.linspace(-20.0, 0.0, 50)
    assert np.abs(solution.sol(t)[:, 0] - np.cos(t)).max() < 1e-14
    assert np.abs(solution.y[:, 0] - np.cos([0.0, -7.0, -20.0])).max() < 1e-14


# ---- SciPy ----------------------------------------------------------------------------------------------------------


def test_solve_ivp_takes_the_solver():
    t = np.linspace(0.0, 10.0, 7)
    found = scipy.integrate.solve_ivp(
        lambda t, y: [y[1], -y[0]],
        *((0.0, 10.0), [1.0, 0.0]),
        method=hoad.ode.Taylor,
        rtol=1e-13,
        atol=1e-13,
        t_eval=t,
        dense_output=True,
        events=lambda t, y: y[0],
    )
    assert found.success
    assert np.abs(found.y[0] - np.cos(t)).max() < 1e-12
    assert np.abs(found.sol(t + 0.0)[1] + np.sin(t)).max() < 1e-12
    assert found.sol(1.0).shape == (2,)
    assert np.abs(found.t_events[0] - np.pi * np.array([0.5, 1.5, 2.5])).max() < 1e-9
    assert found.nfev < 40


def test_solve_ivp_says_where_it_failed():
    found = scipy.integrate.solve_ivp(lambda t, y: y * y, (0.0, 2.0), [1.0], method=hoad.ode.Taylor)
    assert not found.success
    assert found.message.startswith("solve_ivp has steps too short to change t at t = 1.0")


def test_an_option_that_is_none_raises():
    with pytest.raises(TypeError, match=r"hoad\.ode\.Taylor takes rtol, .*not first_step"):
        scipy.integrate.solve_ivp(swing, (0.0, 1.0), [1.0, 0.0], method=hoad.ode.Taylor, first_step=0.1)


def test_scipy_is_asked_for_by_name(tmp_path):
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "import hoad\ntry:\n    hoad.ode.Taylor\nexcept ImportError as e:\n    print(e)"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "pip install 'hoad[scipy]'" in found.stdout
    with pytest.raises(AttributeError, match="has no attribute 'Tailor'"):
        hoad.ode.Tailor  # noqa: B018


# ---- derivatives ----------------------------------------------------------------------------------------------------


def test_the_transition_matrix_of_an_oscillator_is_a_rotation():
    c, s = np.cos(9.0), np.sin(9.0)
    found = hoad.jacobian(lambda y: taylor_integrate(swing, y, [0.0, 9.0])[-1])(np.array([1.0, 0.3]))
    assert np.abs(found - [[c, s], [-s, c]]).max() < 1e-14


def kepler_transition(y):
    """After one period: nothing moves but by the change of the period, -ẏ dT."""
    r = np.hypot(y[0], y[1])
    axis = 1 / (2 / r - y[2] ** 2 - y[3] ** 2)
    of_axis = 2 * axis**2 * np.array([y[0] / r**3, y[1] / r**3, y[2], y[3]])
    return np.eye(4) - np.outer(kepler(0.0, y), 3 * np.pi * np.sqrt(axis) * of_axis)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_the_transition_matrix_of_kepler_is_that_of_the_closed_form_and_symplectic(e):
    y0 = perihelion(e)
    found = hoad.jacobian(lambda y: taylor_integrate(kepler, y, [0.0, 2 * np.pi])[-1])(y0)
    size = np.abs(found).max()
    assert np.abs(found - kepler_transition(y0)).max() < 1e-13 * size
    assert np.abs(found.T @ symplectic(2) @ found - symplectic(2)).max() < 1e-13 * size


def test_reverse_and_forward_mode_agree():
    def end(y):
        return taylor_integrate(van_der_pol, y, [0.0, 3.0])[-1]

    y0, v, w = np.array([2.0, 0.3]), np.array([0.3, -1.0]), np.array([1.5, 0.7])
    forward = hoad.jvp(end, (y0,), (v,))[1]
    (reverse,) = hoad.vjp(end, y0)[1](w)
    assert w @ forward == pytest.approx(reverse @ v, rel=1e-14)


def test_derivatives_are_those_of_the_steps_taken():
    """A coarse tolerance: the derivative of the numbers that came out, not of the flow."""

    def end(y):
        return taylor_integrate(lambda t, y: -y * y, y, [0.0, 1.0], tol=0.9, atol=1e9, order=2, max_step=0.5)[-1]

    def by_hand(y, h=0.5):
        value, slope = y, 1.0
        for _ in range(2):
            slope *= 1 - 2 * h * value + 3 * h**2 * value**2
            value = value - h * value**2 + h**2 * value**3
        return value, slope

    value, slope = hoad.value_and_grad(end)(0.4)
    assert value == pytest.approx(by_hand(0.4)[0], rel=1e-15)
    assert slope == pytest.approx(by_hand(0.4)[1], rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_derivatives_of_every_order_by_a_parameter(n):
    def decayed(a):
        return taylor_integrate(lambda t, y, b: -a * y + 0 * b, 1.0, [0.0, 2.0], (a,))[-1]

    assert hoad.derivative(decayed, n)(0.7) == pytest.approx((-2) ** n * np.exp(-1.4), rel=1e-13)
    nested = decayed
    for _ in range(n):
        nested = hoad.grad(nested)
    assert nested(0.7) == pytest.approx((-2) ** n * np.exp(-1.4), rel=1e-13)


def test_second_and_third_derivatives_by_the_start():
    """y' = y², y(t) = y₀ / (1 - y₀ t)."""

    def end(y):
        return taylor_integrate(lambda t, y: y * y, y, [0.0, 0.8])[-1]

    gap = 1 - 0.8 * 0.5
    expected = [gap**-2, 2 * 0.8 * gap**-3, 6 * 0.8**2 * gap**-4]
    f = end
    for value in expected:
        f = hoad.jacobian(f)
        assert f(0.5) == pytest.approx(value, rel=1e-13)


def test_hessians_match_differences_of_jacobians():
    def end(y):
        return taylor_integrate(kepler, y, [0.0, 2.0])[-1]

    y0, v, h = perihelion(0.3), np.array([0.3, 0.2, 0.5, 0.1]), 1e-5
    jacobian = hoad.jacobian(end)
    hessian = hoad.jacobian(jacobian)(y0)
    assert np.abs(hessian - np.swapaxes(hessian, 1, 2)).max() < 1e-12
    difference = (jacobian(y0 + h * v) - jacobian(y0 - h * v)) / (2 * h)
    assert np.abs(hessian @ v - difference).max() < 1e-8 * np.abs(hessian).max()


def test_derivatives_by_the_times():
    def end(t):
        return taylor_integrate(lambda t, y: t * y, 1.0, t)

    t = np.array([0.5, 1.0, 2.5])
    y = np.exp((t**2 - t[0] ** 2) / 2)
    expected = np.diag(t * y)
    expected[:, 0] = [0.0, -t[0] * y[1], -t[0] * y[2]]
    assert np.abs(hoad.jacobian(end)(t) - expected).max() < 1e-13


@pytest.mark.parametrize("integrate", ["taylor_integrate", "odeint"])
def test_derivatives_by_a_time_at_which_the_right_side_jumps(integrate):
    """Integrated to it, and from there on: y = exp(a + 3 (2 - a)) at 2."""

    def slope(rate):
        return (lambda t, y: rate * y) if integrate == "taylor_integrate" else (lambda y, t: rate * y)

    def end(a):
        solve = getattr(hoad.ode, integrate)
        return solve(slope(3.0), solve(slope(1.0), 1.0, [0.0, a])[-1], [a, 2.0])[-1]

    assert hoad.grad(end)(0.7) == pytest.approx(-2 * np.exp(0.7 + 3 * 1.3), rel=1e-7)
    assert hoad.grad(hoad.grad(end))(0.7) == pytest.approx(4 * np.exp(0.7 + 3 * 1.3), rel=1e-6)


def test_times_in_a_list():
    for times in (lambda end: [0.0, end], lambda end: (0, end / 2, end)):
        found = hoad.derivatives(lambda end: taylor_integrate(lambda t, y: -y, 1.0, times(end))[-1], 3)(2.0)
        np.testing.assert_allclose(found, np.exp(-2.0) * np.array([1.0, -1.0, 1.0, -1.0]), rtol=1e-12)
        slope = hoad.grad(lambda end: hoad.ode.odeint(lambda y, t: -y, 1.0, times(end))[-1])(2.0)
        assert slope == pytest.approx(-np.exp(-2.0), rel=1e-6)


def test_derivatives_of_containers_and_captured_values():
    def end(mass):
        y = taylor_integrate(
            lambda t, y: {"x": y["v"], "v": -y["x"] / mass},
            {"x": np.array([1.0]), "v": np.array([0.0])},
            [0.0, 1.0, 3.0],
        )
        return y["x"][1:, 0]

    w, t = np.sqrt(1 / 1.7), np.array([1.0, 3.0])
    assert np.abs(hoad.jacobian(end)(1.7) - t * np.sin(w * t) * w / 3.4).max() < 1e-14


def test_without_a_step_the_derivative_is_one():
    assert np.array_equal(hoad.jacobian(lambda y: taylor_integrate(swing, y, [1.0, 1.0])[-1])(np.ones(2)), np.eye(2))


def test_a_replay_where_the_steps_do_not_serve_raises():
    program = hoad.record(lambda a: taylor_integrate(lambda t, y: -a * y, 1.0, [0.0, 3.0])[-1], 0.5)
    assert program.evaluate(0.5001) == pytest.approx(np.exp(-1.5003), rel=1e-14)
    with pytest.raises(hoad.errors.GuardError):
        program.evaluate(50.0)


def test_vmap_takes_steps_for_each_input():
    rates = np.array([0.5, 5.0, 20.0])
    found = hoad.vmap(lambda a: taylor_integrate(lambda t, y: -a * y, 1.0, [0.0, 1.0])[-1])(rates)
    assert np.abs(found - np.exp(-rates)).max() < 4 * EPSILON


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rhs", "y0", "message"),
    [
        (lambda t, y: y * y, 1.0, r"steps too short to change t at t = 0\.99999\d*, after \d+ steps"),
        (lambda t, y: 1 / y, 0.0, r"nan or infinite at t = 0, after 0 steps"),
        (lambda t, y: np.sqrt(y), 0.0, r"nan or infinite at t = 0"),
    ],
)
def test_a_solution_that_ends_says_where(rhs, y0, message):
    with pytest.raises(hoad.errors.ArgumentError, match=message):
        taylor_integrate(rhs, y0, [0.0, 2.0])


def test_a_branch_that_goes_the_other_way_raises():
    with pytest.raises(hoad.errors.GuardError, match=r"another branch at t = 0\.[45]"):
        taylor_integrate(lambda t, y: y if t < 0.5 else -y, 1.0, [0.0, 1.0])
    with pytest.raises(hoad.errors.GuardError, match="another branch"):
        taylor_integrate(lambda t, y: y if y[0] < 1.5 else -y, np.ones(2), [0.0, 1.0])


def test_too_many_steps_raise():
    with pytest.raises(hoad.errors.ArgumentError, match=r"all of max_steps = 3.*at t = 1\."):
        taylor_integrate(lambda t, y: -y, 1.0, [0.0, 100.0], max_step=0.5, max_steps=3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"tol": 0.0}, hoad.errors.ArgumentError, "tol between 0 and 1"),
        ({"order": 1}, hoad.errors.ArgumentError, "order from 2 to 10000"),
        ({"max_step": -1.0}, hoad.errors.ArgumentError, "positive max_step"),
        ({"atol": -1.0}, hoad.errors.ArgumentError, "atol of 0 or more"),
        ({"args": 3.0}, hoad.errors.ArgumentError, "args as a tuple"),
        ({"t": 3.0}, hoad.errors.ShapeError, r"shape \(T,\)"),
        ({"t": [0.0, 1.0, 0.5]}, hoad.errors.ArgumentError, "increase or decrease"),
        ({"t": [0.0, 1j]}, hoad.errors.DTypeError, "real times"),
        ({"y0": 1j}, hoad.errors.DTypeError, "real equations"),
        ({"y0": np.ones(3)}, hoad.errors.ShapeError, r"needs rhs\(t, y\) like y"),
    ],
)
def test_arguments_are_checked(change, error, message):
    given = {"rhs": lambda t, y, *args: 0.0 * np.sum(y), "y0": 1.0, "t": [0.0, 1.0]} | change
    with pytest.raises(error, match=message):
        taylor_integrate(**given)


def test_an_operation_without_arithmetic_is_named():
    @hoad.primitive
    def odd(x):
        return np.interp(x, [0.0, 1.0], [0.0, 2.0])

    with pytest.raises(hoad.errors.NoRuleError, match="taylor_integrate needs the Taylor arithmetic of rhs"):
        taylor_integrate(lambda t, y: odd(y), 0.5, [0.0, 1.0])


def test_solutions_are_for_plain_numbers():
    with pytest.raises(hoad.errors.TracedValueError, match=r"Use taylor_integrate.*event, use hoad\.implicit\.root"):
        hoad.grad(lambda a: taylor_solution(lambda t, y: -a * y, 1.0, [0.0, 1.0]).y[-1])(1.0)


def test_the_time_of_an_event_has_derivatives_by_implicit_root():
    """As the error for traced values advises. A spring of stiffness k, released, first passes its rest at π / 2√k."""

    def spring(t, y, k):
        return np.array([y[1], -k * y[0]])

    def rest(t, y, k):
        return y[0]

    rest.terminal = True
    released = np.array([1.0, 0.0])

    def place(t, k):
        return taylor_integrate(spring, released, [0.0, t], args=(k,))[-1][0]

    def passing(k):
        return taylor_solution(spring, released, [0.0, 9.0], args=(k,), events=rest).t_events[0][0]

    time = hoad.implicit.root(place, passing)
    exact = np.pi * np.array([1 / 4, -1 / 32, 3 / 256, -15 / 2048])  # of π k^(-1/2) / 2 at k = 4
    np.testing.assert_allclose(hoad.derivatives(time, 3)(4.0), exact, rtol=1e-12)
    np.testing.assert_allclose(hoad.grad(time)(4.0), exact[1], rtol=1e-13)


def test_slopes_whose_derivatives_are_zero():
    """A stone that is thrown: its slope's tangents are zero, whatever those of its state."""

    def height(t, v, g):
        return taylor_integrate(lambda t, y: np.array([y[1], -g]), np.array([0.0, v]), [0.0, t])[-1][0]

    slopes = hoad.grad(height, argnums=(0, 1, 2))(3.0, 5.0, 2.0)
    np.testing.assert_allclose(slopes, [-1.0, 3.0, -4.5], rtol=1e-14)  # of v t - g t² / 2
    plain = hoad.grad(lambda v: height(3.0, v, 2.0))(5.0)
    np.testing.assert_allclose(plain, 3.0, rtol=1e-14)


# ---- what is not as it should be ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rhs", "y0", "found"),
    [
        (
            lambda t, y: np.array([y[1], -y[0]]),
            [1.0, 0.0],
            r"like y, which is \[\*, \*\].*shape \(2,\). Make y0 an array",
        ),
        (lambda t, y: -y[0], np.array([1.0, 0.0]), "an array of shape .2,., but it is a number. Return for each"),
        (lambda t, y: {"b": y["a"]}, {"a": 1.0}, "Return for each array of y"),
        (lambda t, y: None, 1.0, "made of numbers, but rhs returned NoneType. Return the slope"),
    ],
)
def test_slopes_unlike_y(rhs: Any, y0: Any, found: str) -> None:
    with pytest.raises(ShapeError, match=found):
        hoad.ode.taylor_integrate(rhs, y0, [0.0, 1.0])


@pytest.mark.parametrize("y0", [None, "1.0", {"a": 1.0, "b": None}])
def test_a_start_that_is_no_number(y0: Any) -> None:
    with pytest.raises(DTypeError, match="y0 made of numbers"):
        hoad.ode.taylor_integrate(lambda t, y: y, y0, [0.0, 1.0])


# ---- derivatives of high order --------------------------------------------------------------------------------------


def series_of(f: Any, x: float, n: int) -> np.ndarray:
    """All derivatives to order n, by mpmath."""
    with mpmath.workdps(50):
        return np.array([float(c * mpmath.factorial(k)) for k, c in enumerate(mpmath.taylor(f, mpmath.mpf(x), n))])


HIGH: dict[str, tuple[Any, Any]] = {
    "rate": (lambda p: taylor_integrate(lambda t, y: -p * y, 1.0, [0.0, 1.0])[-1], lambda p: mpmath.exp(-p)),
    "start": (lambda p: taylor_integrate(lambda t, y: y * y, p, [0.0, 0.5])[-1], lambda p: p / (1 - p / 2)),
    "end": (
        lambda p: taylor_integrate(lambda t, y: np.cos(t) * y, 1.0, np.stack([0 * p, p]))[-1],
        lambda p: mpmath.exp(mpmath.sin(p)),
    ),
    "system": (
        lambda p: taylor_integrate(lambda t, y: np.stack([p * y[1], -p * y[0]]), np.array([1.0, 0.0]), [0.0, 1.0, 2.0])[
            -1, 0
        ],
        lambda p: mpmath.cos(2 * p),
    ),
    "matrix": (
        lambda p: taylor_integrate(
            lambda t, y: p * (np.array([[0.0, 1.0], [-1.0, 0.0]]) @ y), np.array([1.0, 0.0]), [0.0, 2.0]
        )[-1, 0],
        lambda p: mpmath.cos(2 * p),
    ),
    "time": (
        lambda p: taylor_integrate(lambda t, y: np.sin(p * t) * y, 1.0, [0.0, 1.0])[-1],
        lambda p: mpmath.exp((1 - mpmath.cos(p)) / p),
    ),
    "container": (
        lambda p: taylor_integrate(lambda t, y: {"x": y["v"], "v": -p * p * y["x"]}, {"x": 1.0, "v": 0.0}, [0.0, 1.0])[
            "x"
        ][-1],
        mpmath.cos,
    ),
}


@pytest.mark.parametrize("case", HIGH)
def test_derivatives_of_high_order(case: str) -> None:
    f, exact = HIGH[case]
    x = 0.7
    for n in (8, 16):
        found, true = hoad.derivatives(f, n)(x), series_of(exact, x, n)
        assert np.max(np.abs(found - true) / np.maximum(np.abs(true), 1e-3 * np.max(np.abs(true)))) < 1e-11
    true = series_of(exact, x, 9)
    assert abs(hoad.derivative(f, 9)(x) / true[9] - 1) < 1e-11
    assert np.allclose(hoad.jit(hoad.derivatives(f, 5))(x), true[:6], rtol=1e-12, atol=1e-13)
    several = hoad.vmap(hoad.derivatives(f, 5))(np.array([0.5, x]))
    assert np.allclose(several, [series_of(exact, 0.5, 5), true[:6]], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", HIGH)
def test_gradients_of_derivatives_of_solutions(case: str) -> None:
    """The adjoint of a series of a solution, along a curve once more."""
    f, exact = HIGH[case]
    x = 0.7
    true = series_of(exact, x, 6)
    close = partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-11 * np.max(np.abs(true)))
    close(hoad.grad(lambda p: hoad.derivatives(f, 3)(p)[3])(x), true[4])
    close(hoad.derivatives(lambda p: hoad.derivatives(f, 2)(p)[2], 4)(x), true[2:])
    close(hoad.derivatives(hoad.grad(f), 5)(x), true[1:])
    close(hoad.grad(hoad.grad(lambda p: hoad.derivatives(f, 2)(p)[2]))(x), true[4])


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *[({"order": order}, "an order from 2 to 10000, an int") for order in (2.5, 0, 1, -3, True, np.nan, 10**30, "5")],
    *[({"tol": tol}, "tol between 0 and 1") for tol in (0, -1.0, 1.0, np.nan, True, None, "1", np.array([1e-3, 1e-4]))],
    *[({"atol": atol}, "an atol of 0 or more") for atol in (-1.0, np.nan, np.inf, True, "1", np.zeros(2))],
    *[({"max_step": step}, "a positive max_step") for step in (0, -1.0, np.nan, True, None, "1")],
    *[({"max_steps": steps}, "max_steps of 1 or more, an int") for steps in (0, -1, 2.5, np.inf, True, None)],
]


@pytest.mark.parametrize(("options", "words"), WRONG_OPTIONS)
def test_options_that_are_none(options: dict[str, Any], words: str) -> None:
    for integrate in (hoad.ode.taylor_integrate, hoad.ode.taylor_solution):
        with pytest.raises(ArgumentError, match=rf"{integrate.__name__} takes {words}, not "):
            integrate(lambda t, y: -y, np.ones(2), [0.0, 1.0], **options)


def test_options_of_other_types() -> None:
    options = {"order": np.int64(20), "tol": np.float32(1e-6), "max_step": 1, "max_steps": 10**30, "atol": 0}
    found = hoad.ode.taylor_integrate(lambda t, y: -y, 1.0, [0, 1], **options)
    assert found[-1] == pytest.approx(np.exp(-1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("y0", "t", "error", "words"),
    [
        (np.array([]), [0.0, 1.0], ShapeError, "made of numbers, but there are none"),
        ({}, [0.0, 1.0], ShapeError, "made of numbers, but there are none"),
        (
            np.array([1.0, np.nan]),
            [0.0, 1.0],
            ArgumentError,
            "a y with nan or inf in it at t = 0, .* Start from finite",
        ),
        (np.inf, [0.0, 1.0], ArgumentError, "a y with nan or inf in it at t = 0, "),
        (1.0, [0.0, np.nan], ArgumentError, "finite times that increase or decrease"),
        (1.0, [0.0, np.inf], ArgumentError, "finite times that increase or decrease"),
        (1.0, ["a", "b"], DTypeError, "real times, but t is an array of <U1"),
        (1.0, [], ShapeError, r"the times as an array of shape \(T,\)"),
    ],
)
def test_starts_and_times_that_are_none(y0: Any, t: Any, error: type[Exception], words: str) -> None:
    for integrate in (hoad.ode.taylor_integrate, hoad.ode.taylor_solution):
        with pytest.raises(error, match=words):
            integrate(lambda t, y: y, y0, t)


def test_spans_of_scipy_that_are_none() -> None:
    scipy_integrate = pytest.importorskip("scipy.integrate")
    for span in [(0.0, np.nan), (0.0, np.inf), (np.nan, 1.0)]:
        with pytest.raises(ArgumentError, match=r"solve_ivp takes finite times, not t_span"):
            scipy_integrate.solve_ivp(lambda t, y: -y, span, [1.0], method=hoad.ode.Taylor)
    with pytest.raises(ArgumentError, match=r"solve_ivp takes an order from 2 to 10000, an int, not 2\.5"):
        scipy_integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], method=hoad.ode.Taylor, order=2.5)
    with pytest.raises(ArgumentError, match="solve_ivp takes tol between 0 and 1, not nan"):
        scipy_integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], method=hoad.ode.Taylor, rtol=np.nan)


# ---- the order of the arguments


ORDERS = [  # a right side that means another order or another y0, y0, further arguments, and what the message says
    (lambda y, t: -2 * y, 1.0, (), r"parameters are named \(y, t\).*lambda t, y, \*args"),
    (lambda y, time: -np.sum(y) * np.ones(2), np.ones(2), (), r"named \(y, time\)"),
    (lambda y, s: np.array([y[1], -y[0]]), np.ones(2), (), r"IndexError \(test_taylor_.*as f\(y, t, \*args\) it works"),
    (lambda y, s, k: k * np.array([y[1], -y[0]]), np.ones(2), (2.0,), r"Called as f\(y, t, \*args\) it works"),
    (lambda y, s: -y, np.ones(2), (), r"ShapeError.*Called as f\(y, t, \*args\) it works"),
    (lambda y, s: {"a": y["a"]}, {"a": 1.0}, (), r"Called as f\(y, t, \*args\) it works"),
    (lambda y: -y, np.ones(2), (), r"It takes \(y\), but is called with 2 arguments"),
    (lambda t, y: -y, np.ones(2), (1.0,), r"It takes \(t, y\), but is called with 3 arguments"),
    (lambda t, y: -y, [1.0, 2.0], (), r"With an array for y it works: give y0 as np\.array"),
    (
        lambda y, s: -y[::-1] + 0.0,
        [1.0, 2.0],
        (),
        r"array for y it works, called as f\(y, t, \*args\).*y0 as np\.array",
    ),
]


@pytest.mark.parametrize(("rhs", "y0", "args", "message"), ORDERS)
@pytest.mark.parametrize("integrate", [taylor_integrate, taylor_solution])
def test_a_right_side_in_another_order(integrate, rhs, y0, args, message):
    with pytest.raises(hoad.errors.ArgumentError, match=message):
        integrate(rhs, y0, [0.0, 1.0], args)


def test_an_event_in_another_order():
    for g, message in (
        (lambda y, t: y[0], r"an event function as f\(t, y, \*args\).*named \(y, t\)"),
        (lambda y, s: y[0], r"an event function as .*Called as f\(y, t, \*args\) it works"),
    ):
        with pytest.raises(hoad.errors.ArgumentError, match=message):
            taylor_solution(swing, np.ones(2), [0.0, 1.0], events=g)


def test_errors_of_a_right_side_itself_are_left_alone():
    def rhs(t, y):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        taylor_integrate(rhs, np.ones(2), [0.0, 1.0])
    draws = np.random.default_rng(1)
    with pytest.raises(hoad.errors.ArgumentError, match="draws random numbers"):
        taylor_integrate(lambda t, y: -y * draws.random(), 1.0, [0.0, 1.0])
    assert taylor_integrate(lambda *both: -both[1], 1.0, [0.0, 1.0])[1] == pytest.approx(np.exp(-1.0), rel=1e-14)


def test_the_function_comes_first():
    for call in (
        lambda: taylor_integrate(np.ones(2), swing, [0.0, 1.0]),
        lambda: taylor_solution([0.0, 1.0], swing, np.ones(2)),
    ):
        with pytest.raises(hoad.errors.ArgumentError, match=r"function \(swing\) first.*\(rhs, y0, t\)"):
            call()


@pytest.mark.parametrize("make", ["np.zeros(2)", "np.empty((2,))", "np.zeros_like(np.ones(2))"])
def test_a_right_side_that_fills_an_array(tmp_path, monkeypatch, make):
    """The advice, as it is written, gives the solution."""
    body = [f"out = {make}", "out[0] = y[1]", "out[1] = -y[0]", "return out"]
    source = "\n    ".join(["import numpy as np\n\ndef rhs(t, y):", *body])
    (tmp_path / "filled.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "filled", raising=False)
    filled = importlib.import_module("filled")
    monkeypatch.delitem(sys.modules, "filled")
    with pytest.raises(hoad.errors.TracedValueError, match=r"filled\.py:4: out = .*like=y.*\(filled\.py:5\)") as raised:
        taylor_integrate(filled.rhs, np.array([1.0, 0.0]), [0.0, 1.0])
    advised = str(raised.value).split(" -> ")[1].split(" (filled")[0].split("; or")[0]
    names = {"np": np}
    exec(source.replace(f"out = {make}", advised), names)
    found = taylor_integrate(names["rhs"], np.array([1.0, 0.0]), [0.0, 1.0])
    np.testing.assert_allclose(found[1], [np.cos(1.0), -np.sin(1.0)], rtol=1e-14)


# ---- times that move


def grown(y0, a, end):
    return taylor_integrate(lambda t, y: a * y * (1 - y), y0, [0.0, end])[-1]


def logistic(y0, a, end):
    return y0 * mpmath.exp(a * end) / (1 - y0 + y0 * mpmath.exp(a * end))


def test_replays_at_other_times_take_steps_of_their_own():
    """Recorded steps end where the last time was: beyond, and far before it, their polynomials serve no more."""
    by_jit, slopes = hoad.jit(grown), hoad.jit(hoad.grad(grown, argnums=(0, 1, 2)))
    for point in [
        (0.3, 1.2, 2.0),
        (0.3, 1.2, 5.0),
        (0.3, 1.2, 1e-3),
        (0.3, 1.2, 0.0),
        (0.3, 1.2, -2.0),
        (0.9, -3.0, 1.0),
    ]:
        np.testing.assert_allclose(by_jit(*point), float(logistic(*point)), rtol=1e-13)
        exact = [float(mpmath.diff(logistic, point, order)) for order in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
        np.testing.assert_allclose(slopes(*point), exact, rtol=1e-12, atol=1e-13)
    program = hoad.record(lambda end: grown(0.3, 1.2, end), 2.0)
    np.testing.assert_allclose(program.evaluate(2.001), float(logistic(0.3, 1.2, 2.001)), rtol=1e-13)
    with pytest.raises(hoad.errors.GuardError):
        program.evaluate(5.0)


def test_each_lane_has_its_own_time():
    ends = np.array([3.0, 0.5, 0.1])
    for lanes in (ends, ends[::-1]):
        found = hoad.vmap(lambda end: grown(0.3, 1.2, end))(lanes)
        np.testing.assert_allclose(found, [float(logistic(0.3, 1.2, end)) for end in lanes], rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_derivatives_by_a_time_at_the_start(n):
    """Without a step: the solution still moves with its time."""
    exact = float(mpmath.diff(lambda end: logistic(0.3, 1.2, end), 0, n))
    np.testing.assert_allclose(hoad.derivative(lambda end: grown(0.3, 1.2, end), n)(0.0), exact, rtol=1e-12, atol=1e-13)
    matrix = hoad.jacobian(lambda t: taylor_integrate(swing, np.array([1.0, 2.0]), t))(np.ones(2))
    np.testing.assert_allclose(matrix[1], [[-2.0, 2.0], [1.0, -1.0]], rtol=1e-14)


@pytest.mark.parametrize("driver", ["grad", "vmap", "record", "derivatives", "jvp"])
def test_scipy_with_traced_values_raises(driver: str) -> None:
    """Its solution is plain numbers, and would be taken for a constant."""

    def end(a: Any) -> Any:
        return scipy.integrate.solve_ivp(lambda t, y: -a * y, (0.0, 2.0), [1.0], method=hoad.ode.Taylor).y[0, -1]

    def by_steps(a: Any) -> Any:
        solver = hoad.ode.Taylor(lambda t, y: -a * y, 0.0, np.array([1.0]), 2.0)
        solver.step()
        return solver.y[0]

    def started(a: Any) -> Any:
        return hoad.ode.Taylor(lambda t, y: -y, 0.0, np.array([a, 1.0]), 2.0)

    ways = {
        "grad": lambda f: hoad.grad(f)(1.0),
        "vmap": lambda f: hoad.vmap(f)(np.array([1.0, 2.0])),
        "record": lambda f: hoad.record(f, 1.0),
        "derivatives": lambda f: hoad.derivatives(f, 5)(1.0),
        "jvp": lambda f: hoad.jvp(f, (1.0,), (1.0,)),
    }
    for f in (end, by_steps, started):
        with pytest.raises(TracedValueError, match=r"solve_ivp takes plain numbers.*taylor_integrate"):
            ways[driver](f)
        with pytest.warns(hoad.JitWarning, match=r"solve_ivp takes plain numbers.*taylor_integrate"):
            hoad.jit(f)(1.0)


def test_measured_forces_by_interpolation() -> None:
    """Booleans of whole numbers are in the arithmetic of `np.interp`; between the knots y is a cubic in t."""
    knots, force = np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.0, 3.0, -2.0, 0.5])

    def rhs(t: Any, y: Any) -> Any:
        return np.array([y[1], np.interp(t, knots, force)])

    times = np.array([0.0, 0.5, 1.0, 2.0, 3.5])
    found = taylor_integrate(rhs, np.array([0.2, -1.0]), times)
    y, v, at = 0.2, -1.0, 0.0
    for k in range(1, len(times)):  # piece by piece
        ends = [*knots[(knots > times[k - 1]) & (knots < times[k])], times[k]]
        for end in ends:
            h, f = end - at, np.interp(at, knots, force)
            slope = (np.interp(end, knots, force) - f) / h
            y, v, at = y + v * h + f * h**2 / 2 + slope * h**3 / 6, v + f * h + slope * h**2 / 2, end
        np.testing.assert_allclose(found[k], [y, v], rtol=1e-12)
