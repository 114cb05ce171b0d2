"""Events of `taylor_solution`: every change of sign of an event function, at the time of a closed form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate

import hoad
from hoad.errors import ArgumentError, GuardError, ShapeError
from hoad.ode import taylor_integrate, taylor_solution


def swing(t, y):
    return np.array([y[1], -y[0]])


def clock(t, y):
    """y = t, in a single step."""
    return 1.0 + 0 * y


def event(g, terminal=False, direction=0):
    def function(t, y):
        return g(t, y)

    function.terminal, function.direction = terminal, direction
    return function


def test_all_changes_of_sign_are_found_to_rounding():
    solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 100.0], events=event(lambda t, y: y[0]))
    exact = np.pi * (np.arange(40) + 0.5)
    exact = exact[exact < 100.0]
    assert np.abs(solution.t_events[0] - exact).max() < 1e-13
    assert np.abs(solution.y_events[0][:, 0]).max() < 1e-13


def test_many_changes_within_a_step_are_found():
    """A step that is long for y is none for g."""
    solution = taylor_solution(lambda t, y: 1.0 + 0 * y, 0.0, [0.0, 1.0], events=event(lambda t, y: np.sin(200 * y)))
    assert solution.steps == 1
    assert np.abs(solution.t_events[0] - np.pi / 200 * np.arange(1, 64)).max() < 1e-14


def test_changes_close_to_each_other_are_found():
    gap = 1e-6
    g = event(lambda t, y: (y - 0.5) * (y - 0.5 - gap))
    solution = taylor_solution(lambda t, y: 1.0 + 0 * y, 0.0, [0.0, 1.0], events=g)
    assert np.abs(solution.t_events[0] - [0.5, 0.5 + gap]).max() < 1e-8


def test_a_root_without_a_change_of_sign_is_no_event():
    g = event(lambda t, y: (y - 0.5) ** 2)
    assert len(taylor_solution(lambda t, y: 1.0 + 0 * y, 0.0, [0.0, 1.0], events=g).t_events[0]) == 0


def test_a_kink_of_an_event_function_is_found():
    g = event(lambda t, y: np.where(y < 0.3, -1.0, 1.0))
    assert np.abs(taylor_solution(lambda t, y: 1.0 + 0 * y, 0.0, [0.0, 1.0], events=g).t_events[0] - 0.3).max() < 1e-11


def test_directions_are_told_apart_in_both_directions_of_time():
    for end in (20.0, -20.0):
        rising = event(lambda t, y: y[0], direction=1)
        falling = event(lambda t, y: y[0], direction=-1)
        solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, end], events=[rising, falling])
        up, down = solution.t_events
        # as SciPy has it: along the integration
        theirs = scipy.integrate.solve_ivp(
            swing, (0.0, end), [1.0, 0.0], events=[rising, falling], rtol=1e-10, atol=1e-10
        )
        assert np.allclose(up, theirs.t_events[0], atol=1e-6)
        assert np.allclose(down, theirs.t_events[1], atol=1e-6)


def test_a_terminal_event_ends_the_solution():
    ground = event(lambda t, y: y[0], terminal=True, direction=-1)
    solution = taylor_solution(
        lambda t, y: np.array([y[1], -9.81]), np.array([0.0, 9.81]), [0.0, 1.0, 5.0], events=ground
    )
    assert solution.status == 1
    assert solution.message == "A terminal event happened."
    assert np.array_equal(solution.t, [0.0, 1.0])
    assert solution.sol.breaks[-1] == pytest.approx(2.0, abs=1e-15)
    assert np.abs(solution.y_events[0] - [[0.0, -9.81]]).max() < 1e-13
    third = event(lambda t, y: y[0], terminal=3)
    solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 100.0], events=third)
    assert np.abs(solution.t_events[0] - np.pi * np.array([0.5, 1.5, 2.5])).max() < 1e-14


def test_an_event_where_the_solution_starts_is_none():
    solution = taylor_solution(swing, np.array([0.0, 1.0]), [0.0, 4.0], events=event(lambda t, y: y[0]))
    assert np.abs(solution.t_events[0] - [np.pi]).max() < 1e-14


def test_event_functions_give_one_number():
    with pytest.raises(hoad.errors.ShapeError, match="one number"):
        taylor_solution(swing, np.ones(2), [0.0, 1.0], events=lambda t, y: y)


@pytest.mark.parametrize("g", [lambda t, y: y[0] > 0, lambda t, y: t > 1.0])
def test_event_functions_give_no_truth_value(g):
    with pytest.raises(ArgumentError, match=r"boolean.*Give y\[0\] - c in place of y\[0\] > c"):
        taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 10.0], events=g)
    theirs = scipy.integrate.solve_ivp(swing, (0.0, 10.0), [1.0, 0.0], events=lambda t, y: y[0] - 0.5, rtol=1e-9)
    ours = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 10.0], events=lambda t, y: y[0] - 0.5)
    assert np.allclose(ours.t_events[0], theirs.t_events[0], atol=1e-6)


def test_roots_where_intervals_are_halved_are_found():
    """At 1/2, 1/4 and 3/8 of the one step, where subdivision ends intervals."""
    g = event(lambda t, y: (y - 0.5) * (y - 0.25) * (y - 0.375) * (y - 0.1))
    solution = taylor_solution(lambda t, y: 1.0 + 0 * y, 0.0, [0.0, 1.0], events=g)
    assert np.abs(solution.t_events[0] - [0.1, 0.25, 0.375, 0.5]).max() < 1e-13


def test_events_that_are_none() -> None:
    def decay(t, y):
        return -y

    assert hoad.ode.taylor_solution(decay, 1.0, [0.0, 1.0], events=None).t_events == []
    with pytest.raises(ArgumentError, match="given 3"):
        hoad.ode.taylor_solution(decay, 1.0, [0.0, 1.0], events=3)
    with pytest.raises(ShapeError, match="one number, not NoneType"):
        hoad.ode.taylor_solution(decay, 1.0, [0.0, 1.0], events=lambda t, y: None)
    with pytest.raises(ArgumentError, match="event function is nan at t = 2"):  # which was searched for ever
        hoad.ode.taylor_solution(lambda t, y: 0 * y - 1.0, 1.0, [0.0, 2.0], events=lambda t, y: np.log(y))


# ---- several in a step ----------------------------------------------------------------------------------------------


def product(roots):
    return lambda t, y: np.prod([y - float(x) for x in roots])


def test_the_events_of_one_step_are_taken_in_their_order():
    """A terminal event cuts off what is later in its step, of all functions."""
    first = event(product([0.1, 0.4, 0.7]), terminal=2)
    second = event(product([0.2, 0.3, 0.5]))
    third = event(lambda t, y: y - 0.6)
    solution = taylor_solution(clock, 0.0, [0.0, 0.35, 0.45, 1.0], events=[first, second, third])
    assert solution.steps == 1
    assert solution.status == 1
    for found, exact in zip(solution.t_events, ([0.1, 0.4], [0.2, 0.3], []), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-14)
    np.testing.assert_allclose(solution.y_events[1], [0.2, 0.3], rtol=1e-14)
    np.testing.assert_allclose(solution.t, [0.0, 0.35])
    back = taylor_solution(lambda t, y: 1.0 + 0 * y, 1.0, [1.0, 0.0], events=[first, second, third])
    for found, exact in zip(back.t_events, ([0.7, 0.4], [0.5], [0.6]), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-14)


@pytest.mark.parametrize("longest", [np.inf, 0.5, 0.25, 0.125])
def test_an_event_where_steps_meet_happens_once(longest):
    events = [event(product([0.25, 0.5, 0.75])), event(lambda t, y: np.where(y < 0.5, -1.0, 1.0) * (1 + y))]
    solution = taylor_solution(clock, 0.0, [0.0, 1.0], events=events, max_step=longest)
    np.testing.assert_allclose(solution.t_events[0], [0.25, 0.5, 0.75], rtol=1e-13)
    np.testing.assert_allclose(solution.t_events[1], [0.5], rtol=1e-11)
    terminal = taylor_solution(clock, 0.0, [0.0, 1.0], events=event(lambda t, y: y - 0.5, True), max_step=longest)
    assert terminal.t_events[0] == [0.5]


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, -1e-6, -1e-2])
def test_two_roots_at_a_summit_are_two_or_none(gap):
    """g touches zero but for ± gap², so that it changes sign twice or not at all."""
    touching = event(lambda t, y: (y - 0.3) ** 2 - np.sign(gap) * gap**2)
    found = taylor_solution(clock, 0.0, [0.0, 1.0], events=touching).t_events[0]
    np.testing.assert_allclose(found, [0.3 - gap, 0.3 + gap] if gap > 0 else [], atol=1e-15 / abs(gap))
    circle = event(lambda t, y: y[0] - 1.0 + np.sign(gap) * gap**2)  # cos t, whose summits are at 2 π k
    found = taylor_solution(swing, np.array([0.0, 1.0]), [0.0, 20.0], events=circle).t_events[0]
    half = np.arccos(1 - gap**2)
    summits = np.pi / 2 + 2 * np.pi * np.arange(4)
    exact = np.stack([summits - half, summits + half], 1).ravel()
    np.testing.assert_allclose(found, exact[exact < 20.0] if gap > 0 else [], atol=1e-14 / abs(gap))


def test_a_root_of_third_order_is_an_event():
    found = taylor_solution(clock, 0.0, [0.0, 1.0], events=event(lambda t, y: (y - 0.3) ** 3)).t_events[0]
    np.testing.assert_allclose(found, [0.3], atol=1e-4)  # where the cube is below rounding


@pytest.mark.parametrize("order", [12, 29])
@pytest.mark.parametrize("longest", [np.inf, 0.3])
def test_roots_of_random_polynomials_are_all_found(order, longest):
    """Those that are apart, between 0 and 1, and no others; as rational numbers, their number is exact."""
    rng = np.random.default_rng(order)
    for _ in range(40):
        roots = [Fraction(int(k), 97) for k in rng.choice(np.arange(-30, 130), rng.integers(1, 9), replace=False)]
        exact = sorted(float(x) for x in roots if 0 < x < 1)
        g = event(product(roots))
        found = taylor_solution(clock, 0.0, [0.0, 1.0], events=g, order=order, max_step=longest).t_events[0]
        assert len(found) == len(exact)
        np.testing.assert_allclose(found, exact, atol=1e-9)


# ---- functions of all kinds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [20.0, -20.0])
def test_functions_of_the_time_alone(end):
    g = event(lambda t, y: np.sin(10 * t) + 0.0 * y[0])
    alone = event(lambda t, y: np.sin(10 * t))
    rising = event(lambda t, y: np.sin(10 * t), direction=1)
    solution = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, end], events=[g, alone, rising])
    exact = np.sign(end) * np.pi / 10 * np.arange(1, 64)
    np.testing.assert_allclose(solution.t_events[0], exact, rtol=1e-14)
    np.testing.assert_allclose(solution.t_events[1], exact, rtol=1e-14)
    np.testing.assert_allclose(solution.t_events[2], exact[1::2] if end > 0 else exact[::2], rtol=1e-14)


def test_functions_of_some_arrays_of_a_container():
    y0 = {"a": np.array([1.0, 0.0]), "b": 0.0, "c": np.zeros((2, 2))}

    def rhs(t, y):
        return {"a": np.array([y["a"][1], -y["a"][0]]), "b": 1.0 + 0 * y["b"], "c": np.full((2, 2), 2.0)}

    events = [lambda t, y: y["c"][1, 0] - 3.0, lambda t, y: y["a"][0], lambda t, y: y["b"] - 2.5]
    solution = taylor_solution(rhs, y0, [0.0, 4.0], events=events)
    for found, exact in zip(solution.t_events, (1.5, np.pi / 2, 2.5), strict=True):
        np.testing.assert_allclose(found, [exact], rtol=1e-14)
    np.testing.assert_allclose(solution.y_events[1]["c"], [np.full((2, 2), np.pi)], rtol=1e-14)


def test_functions_of_whole_arrays():
    """More numbers than are taken one by one, and operations on arrays: e^-t times a vector."""
    y0 = np.linspace(1.0, 2.0, 300)
    events = [lambda t, y: np.linalg.norm(y) - np.linalg.norm(y0) / 2, lambda t, y: np.max(y) - 0.5, lambda t, y: y @ y]
    solution = taylor_solution(lambda t, y: -y, y0, [0.0, 3.0], events=events)
    np.testing.assert_allclose(solution.t_events[0], [np.log(2)], rtol=1e-14)
    np.testing.assert_allclose(solution.t_events[1], [np.log(4)], rtol=1e-14)
    assert len(solution.t_events[2]) == 0
    few = taylor_solution(lambda t, y: -y, y0[:3], [0.0, 3.0], events=lambda t, y: np.linalg.norm(y) - 1.0)
    np.testing.assert_allclose(few.t_events[0], [np.log(np.linalg.norm(y0[:3]))], rtol=1e-14)


def test_kinks_of_a_function_between_the_ends_of_steps():
    """|cos t| - 1/2 has kinks where it is at its lowest."""
    g = event(lambda t, y: np.abs(y[0]) - 0.5)
    found = taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 10.0], events=g).t_events[0]
    exact = np.sort(np.concatenate([np.pi * np.arange(4) + np.pi / 3, np.pi * np.arange(4) - np.pi / 3]))
    np.testing.assert_allclose(found, exact[(exact > 0) & (exact < 10)], rtol=1e-13)


def test_a_function_that_takes_another_branch_is_refused():
    def folded(t, y):
        return y[0] - 0.2 if y[0] > 0.5 else 0.3 - y[1]

    with pytest.raises(GuardError, match=r"an event function branches on y or t.*Use np\.where"):
        taylor_solution(swing, np.array([1.0, 0.0]), [0.0, 10.0], events=[lambda t, y: y[1], folded])


def test_a_function_without_a_value_for_a_singular_matrix():
    def g(t, y):
        return np.linalg.solve(np.array([[y[0], 0.0], [0.0, 1.0]], like=y), np.array([1.0, 0.0]))[0]

    with pytest.raises(np.linalg.LinAlgError):
        taylor_solution(lambda t, y: np.array([-1.0, 0.0]), np.array([1.0, 0.0]), [0.0, 1.0], events=g)


# ---- derivatives ----------------------------------------------------------------------------------------------------


def test_a_ball_that_bounces_has_the_derivatives_of_its_closed_form():
    """Thrown up at v, it meets the ground after 2 v / g, and goes on at e v: derivatives through two bounces."""
    g = 2.0

    def fall(t, y):
        return np.array([y[1], -g])

    def ground(t, y):
        return y[0]

    ground.terminal, ground.direction = True, -1

    def flight(v):
        return taylor_solution(fall, np.array([0.0, v]), [0.0, 10.0], events=ground).t_events[0][0]

    def height(t, v):
        return taylor_integrate(fall, np.array([0.0, v]), [0.0, t])[-1][0]

    duration = hoad.implicit.root(height, flight)

    def bounced(x, t=6.0, bounces=2):
        v, e = x[0], x[1]
        for _ in range(bounces):
            t_hit = duration(v)
            landing = taylor_integrate(fall, np.array([0.0, v]), [0.0, t_hit])[-1]
            t, v = t - t_hit, -e * landing[1]
        return height(t, v)

    def closed(x, t=6.0, bounces=2):
        v, e = x[0], x[1]
        for _ in range(bounces):
            t, v = t - 2 * v / g, e * v
        return v * t - g * t**2 / 2

    x, step = np.array([5.0, 0.5]), np.array([1.0, -0.5])

    def on_line(f):
        return lambda s: f(x + s * step)

    np.testing.assert_allclose(bounced(x), closed(x), rtol=1e-13)
    np.testing.assert_allclose(hoad.grad(bounced)(x), hoad.grad(closed)(x), rtol=1e-12)
    np.testing.assert_allclose(hoad.hessian(bounced)(x), hoad.hessian(closed)(x), rtol=1e-11)
    found, exact = hoad.derivatives(on_line(bounced), 3)(0.0), hoad.derivatives(on_line(closed), 3)(0.0)
    np.testing.assert_allclose(found, exact, rtol=1e-10)


# ---- SciPy ----------------------------------------------------------------------------------------------------------


def test_solve_ivp_finds_events_on_the_polynomials_of_steps():
    options = {"method": hoad.ode.Taylor, "rtol": 1e-13, "atol": 1e-13}
    found = scipy.integrate.solve_ivp(swing, (0.0, 20.0), [1.0, 0.0], events=lambda t, y: y[0], **options)
    np.testing.assert_allclose(found.t_events[0], np.pi * (np.arange(6) + 0.5), rtol=1e-13)
    assert np.abs(found.y_events[0][:, 0]).max() < 1e-13
