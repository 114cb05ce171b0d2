"""Solutions and sensitivities of differential equations against closed forms and variational equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate

import hoad
from hoad.ode import integrate, odeint
from hoad.ode.schemes import SCHEMES

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def predators(y: Any, t: Any, a: Any, b: Any) -> Any:
    """Lotka and Volterra's equations."""
    return np.array([a * y[0] - b * y[0] * y[1], 0.5 * y[0] * y[1] - y[1]])


def reference(times: Any) -> tuple[Any, Any]:
    """y and its derivatives by a, b and y0, by SciPy from the variational equations."""
    a, b = 1.1, 0.4

    def variational(t: float, z: Any) -> Any:
        y, s = z[:2], z[2:].reshape(2, 4)
        by_y = np.array([[a - b * y[1], -b * y[0]], [0.5 * y[1], 0.5 * y[0] - 1]])
        by_parameters = np.array([[y[0], -y[0] * y[1], 0, 0], [0, 0, 0, 0]])
        return np.concatenate([predators(y, t, a, b), (by_y @ s + by_parameters).ravel()])

    start = np.concatenate([[1.0, 2.0], np.array([[0.0, 0, 1, 0], [0, 0, 0, 1]]).ravel()])
    found = scipy.integrate.solve_ivp(
        variational, (times[0], times[-1]), start, t_eval=times, method="DOP853", rtol=1e-13, atol=1e-13
    )
    return found.y[:2].T, found.y[2:].T.reshape(-1, 2, 4)


@pytest.mark.parametrize("method", ["dopri5", "bosh3"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_sensitivities_are_those_of_the_variational_equations(method: str, mode: str) -> None:
    times = np.linspace(0.0, 5.0, 6)
    tolerance = 1e-11 if method == "dopri5" else 1e-8
    y, s = reference(times)

    def f(a: Any, b: Any, y0: Any) -> Any:
        return odeint(predators, y0, times, (a, b), method=method, rtol=tolerance, atol=tolerance)

    point = (1.1, 0.4, np.array([1.0, 2.0]))
    np.testing.assert_allclose(f(*point), y, atol=300 * tolerance)
    by_a, by_b, by_y0 = hoad.jacobian(f, argnums=(0, 1, 2), mode=mode)(*point)
    np.testing.assert_allclose(np.concatenate([by_a[..., None], by_b[..., None], by_y0], -1), s, atol=3000 * tolerance)


@pytest.mark.parametrize("method", SCHEMES)
def test_order_of_convergence(method: str) -> None:
    def error(steps: int) -> tuple[float, float]:
        def f(w: Any) -> Any:
            return odeint(lambda y, t: w * y * np.cos(t), 1.0, [0.0, 2.0], method=method, steps=steps)[-1]

        exact = np.exp(1.5 * np.sin(2.0))
        return abs(f(1.5) - exact), abs(hoad.grad(f)(1.5) - np.sin(2.0) * exact)

    order = {"euler": 1, "heun": 2, "bosh3": 3, "rk4": 4, "dopri5": 5}[method]
    coarse, fine = error(32), error(64)
    assert np.log2(coarse[0] / fine[0]) == pytest.approx(order, abs=0.35)
    assert np.log2(coarse[1] / fine[1]) == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_higher_derivatives(order: int) -> None:
    f = lambda r: odeint(lambda y, t: -r * y * (1 + 0.1 * np.sin(t)), 1.0, [0.0, 2.0], **TIGHT)[-1]  # noqa: E731
    factor = -(2 + 0.1 * (1 - np.cos(2.0)))
    assert hoad.derivative(f, order)(0.5) == pytest.approx(factor**order * np.exp(factor * 0.5), rel=1e-9)


def test_the_discrete_scheme_is_differentiated_exactly() -> None:
    """Equal steps of Euler for y' = -r y: (1 - r h)ⁿ, whose derivative is far from that of the flow."""
    f = lambda r: odeint(lambda y, t: -r * y, 1.0, [0.0, 1.0], method="euler", steps=4)[-1]  # noqa: E731
    assert f(0.8) == pytest.approx(0.8**4, rel=1e-15)
    assert hoad.grad(f)(0.8) == pytest.approx(-(0.8**3), rel=1e-15)
    assert hoad.derivative(f, 2)(0.8) == pytest.approx(0.75 * 0.8**2, rel=1e-14)


def test_derivative_by_the_times_is_the_slope() -> None:
    f = lambda end: odeint(lambda y, t: -y * t, 1.0, np.stack([0.0, end / 2, end]), **TIGHT)  # noqa: E731
    end = 1.4
    exact = np.array([1.0, np.exp(-((end / 2) ** 2) / 2), np.exp(-(end**2) / 2)])
    np.testing.assert_allclose(f(end), exact, rtol=1e-11)
    np.testing.assert_allclose(hoad.jacobian(f)(end), [0.0, -end / 4 * exact[1], -end * exact[2]], atol=1e-10)


def test_the_flow_of_an_oscillator_is_symplectic() -> None:
    def flow(z: Any) -> Any:
        solved = odeint(lambda y, t: {"q": y["p"], "p": -np.sin(y["q"])}, {"q": z[0], "p": z[1]}, [0.0, 7.0], **TIGHT)
        return np.stack([solved["q"][-1], solved["p"][-1]])

    assert np.linalg.det(hoad.jacobian(flow)(np.array([1.2, -0.3]))) == pytest.approx(1.0, abs=1e-9)


def test_containers_falling_times_and_a_single_time() -> None:
    found = odeint(lambda y, t: {"x": y["v"], "v": -y["x"]}, {"x": 1.0, "v": np.zeros(2)[0]}, [0.0, -1.0, -3.0])
    np.testing.assert_allclose(found["x"], np.cos([0.0, 1.0, 3.0]), atol=1e-6)
    np.testing.assert_array_equal(odeint(lambda y, t: -y, 2.0, [0.5]), [2.0])
    still = odeint(lambda y, t: -y, np.array([2.0, 3.0]), [0.0, 0.0, 1.0, 1.0])
    np.testing.assert_array_equal(still[0], still[1])
    np.testing.assert_array_equal(still[2], still[3])
    np.testing.assert_allclose(still[3], np.array([2.0, 3.0]) * np.exp(-1.0), rtol=1e-7)


def test_a_program_replays_the_steps_as_recorded() -> None:
    f = lambda r: odeint(lambda y, t: -r * y, 1.0, [0.0, 1.0], **TIGHT)[-1]  # noqa: E731
    program = hoad.gradient(hoad.record(f, 0.5))
    assert program.evaluate(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-10)
    assert program.evaluate(0.6) == pytest.approx(-np.exp(-0.6), rel=1e-8)
    assert program[0].size < 60


RATES = np.array([0.5, 5.0, 50.0, 300.0])


def decayed(rate: Any, **options: Any) -> Any:
    return odeint(lambda y, t: -rate * y, 1.0, np.array([0.0, 1.0]), **options)[-1]


@pytest.mark.parametrize("method", ["dopri5", "bosh3"])
def test_inputs_of_a_vmap_take_steps_that_serve_them(method: str) -> None:
    f = lambda a: decayed(a, method=method, rtol=1e-6, atol=1e-6)  # noqa: E731
    for rates in (RATES, RATES[::-1]):
        np.testing.assert_allclose(hoad.vmap(f)(rates), np.exp(-rates), atol=2e-5)
        np.testing.assert_allclose(hoad.vmap(hoad.grad(f))(rates), -np.exp(-rates), atol=2e-4)
        by_rates = hoad.grad(lambda r: np.sum(hoad.vmap(f)(r)))(rates)
        np.testing.assert_allclose(by_rates, -np.exp(-rates), atol=2e-4)


def test_inputs_of_a_vmap_that_are_starts_or_times() -> None:
    starts = np.array([0.1, 3.0, 200.0])
    f = lambda a: odeint(lambda y, t: -(y**3), np.array([a, 1.0]), [0.0, 1.0])[-1, 0]  # noqa: E731
    np.testing.assert_allclose(hoad.vmap(f)(starts), starts / np.sqrt(1 + 2 * starts**2), atol=1e-6)
    f = lambda end: odeint(lambda y, t: -y, 1.0, np.array([0.0, end]))[-1]  # noqa: E731
    np.testing.assert_allclose(hoad.vmap(f)(RATES), np.exp(-RATES), atol=1e-7)


@pytest.mark.parametrize("far", [50.0, 300.0, np.nan])
def test_a_replay_that_the_steps_do_not_serve_raises(far: float) -> None:
    program = hoad.record(decayed, 0.5)
    for replayed in (program, hoad.gradient(program)):
        with pytest.raises(hoad.GuardError, match=r"test_odeint\.py"):
            replayed.evaluate(far)
    assert hoad.record(lambda a: decayed(a, steps=3), 0.5).evaluate(50.0) > 1e6  # as asked for
    assert hoad.record(lambda a: a * decayed(1.0), 1.0).evaluate(50.0) == pytest.approx(50 * np.exp(-1.0), rel=1e-6)


@pytest.mark.parametrize("factor", [0.95, 1.0, 1.05])
@pytest.mark.parametrize("rate", [0.5, 5.0, 50.0])
def test_a_replay_close_by_is_accurate(rate: float, factor: float) -> None:
    program, close = hoad.record(decayed, rate), rate * factor
    assert program.evaluate(close) == pytest.approx(np.exp(-close), abs=1e-7)
    assert hoad.gradient(program).evaluate(close) == pytest.approx(-np.exp(-close), abs=1e-6)


def test_watching_the_steps_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    def derivatives() -> list[Any]:
        f = lambda p: np.sum(odeint(predators, np.array([1.0, 2.0]), [0.0, 1.0, 3.0], (p[0], p[1])) ** 2)  # noqa: E731
        point = np.array([1.1, 0.4])
        return [hoad.record(f, point).evaluate(point), hoad.grad(f)(point), hoad.hessian(f)(point)]

    watched = derivatives()
    run = integrate._run
    monkeypatch.setattr(integrate, "_run", lambda *given: run(*given[:-1], False))
    for found, expected in zip(watched, derivatives(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_steps_of_a_chaotic_solution_serve_where_they_were_chosen() -> None:
    def lorenz(x: Any) -> Any:
        def rhs(y: Any, t: Any) -> Any:
            return np.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

        return odeint(rhs, np.array([x, 1.0, 20.0]), [0.0, 30.0], rtol=1e-6, atol=1e-6)[-1]

    np.testing.assert_array_equal(hoad.record(lorenz, 1.0).evaluate(1.0), lorenz(1.0))
    np.testing.assert_array_equal(hoad.vmap(lorenz)(np.array([1.0, 2.0])), np.stack([lorenz(1.0), lorenz(2.0)]))


def test_nothing_is_watched_where_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrate, "_check_served", lambda errors: pytest.fail("watched"))
    decayed(1.0)
    hoad.grad(lambda a: a * decayed(1.0))(2.0)
    hoad.grad(lambda a: decayed(a, steps=3))(2.0)


WRONG = [
    ({"method": "rk4"}, r"method='rk4' takes equal steps. Say how many between two times: steps=n"),
    ({"method": "gear"}, "has the methods euler, heun, rk4, bosh3, dopri5, not 'gear'"),
    ({"max_steps": 3}, r"raise rtol and atol, or max_steps \(now 3\)"),
    ({"t": [0.0, 2.0, 1.0]}, "times that increase or decrease"),
    ({"t": [0.0, np.nan]}, "times that increase or decrease"),
    ({"args": 2.0}, r"args as a tuple.*given float.*write args=\(2\.0,\)"),
    ({"args": np.ones(2)}, r"args as a tuple.*given ndarray.*write args=\(x,\)"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_errors_say_what_to_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=message):
        odeint(lambda y, t: -y, 1.0, options.pop("t", [0.0, 5.0]), **options)


def test_a_solution_that_ends_is_no_answer() -> None:
    with pytest.raises(hoad.ArgumentError, match=r"is at t = 1 .*its solution ends there"):
        odeint(lambda y, t: y * y, 1.0, [0.0, 2.0])


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_a_start_where_there_is_no_slope(adjoint: str) -> None:
    for rhs in (lambda y, t: y / t, lambda y, t: np.log(t) * y, lambda y, t: y * np.nan):
        with pytest.raises(hoad.ArgumentError, match=r"starts at t = 0, where rhs\(y, t\) is nan or infinite"):
            odeint(rhs, 1.0, [0.0, 1.0], adjoint=adjoint)
    with pytest.raises(hoad.ArgumentError, match=r"starts at t = 0, where y is nan or infinite"):
        odeint(lambda y, t: y, np.inf, [0.0, 1.0], adjoint=adjoint)
    if adjoint == "continuous":
        with pytest.raises(hoad.ArgumentError, match=r"starts at t = 1, where a derivative of rhs\(y, t\) is nan"):
            hoad.grad(lambda y0: odeint(lambda y, t: np.sqrt(y), y0, [0.0, 1.0], adjoint=adjoint)[-1])(0.0)


def test_a_branch_by_what_changes_from_step_to_step() -> None:
    rhs = lambda y, t: -y if t < 0.5 else -2 * y  # noqa: E731
    with pytest.raises(hoad.GuardError):
        odeint(rhs, 1.0, [0.0, 1.0])
    smooth = odeint(lambda y, t: np.where(t < 0.5, -y, -2 * y), 1.0, [0.0, 0.5, 1.0])[-1]
    assert smooth == pytest.approx(np.exp(-1.5), rel=1e-6)
    by_argument = lambda a: odeint(lambda y, t, a: -a * y if a < 1 else y, 1.0, [0.0, 1.0], (a,))[-1]  # noqa: E731
    assert hoad.grad(by_argument)(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-6)


def test_shapes() -> None:
    advice = r"Where y is an array, return np\.array\(\[\.\.\.\]\), not a list\.$"
    with pytest.raises(hoad.ShapeError, match=advice):
        odeint(lambda y, t: [y[1], -y[0]], np.array([1.0, 0.0]), [0.0, 1.0])
    with pytest.raises(hoad.ShapeError, match=advice):
        odeint(lambda y, t: {"x": (y["x"][1], -y["x"][0])}, {"x": np.array([1.0, 0.0])}, [0.0, 1.0])
    with pytest.raises(hoad.ShapeError, match=r"rhs\(y, t\) like y.*\(2,\)"):
        odeint(lambda y, t: np.ones(2) * y, 1.0, [0.0, 1.0])
    with pytest.raises(hoad.ShapeError, match=r"times as an array of shape \(T,\)"):
        odeint(lambda y, t: y, 1.0, 1.0)


def test_times_that_are_equal_where_they_are_recorded():
    """y' = y: the solution exp(t - t[0]) moves with its time also where no step was needed to come there."""

    def at(t):
        return odeint(lambda y, t: y, 1.0, t, rtol=1e-10, atol=1e-10)

    t = np.array([0.0, 1.0, 1.0, 2.0])
    exact = np.diag(np.exp(t)) - np.outer(np.exp(t), np.eye(4)[0])
    np.testing.assert_allclose(hoad.jacobian(at)(t), exact, rtol=1e-8, atol=1e-8)
    by_jit = hoad.jit(lambda end: at(np.stack([0.0, end]))[-1])
    for end in (0.0, 2.0, -1.0, 0.0):
        np.testing.assert_allclose(by_jit(end), np.exp(end), rtol=1e-8)
    assert hoad.derivative(lambda end: at(np.stack([0.0, end]))[-1], 3)(0.0) == pytest.approx(1.0, rel=1e-12)


# ---- the order of y and t -------------------------------------------------------------------------------------------


def test_the_time_may_come_first() -> None:
    f = lambda k: odeint(lambda t, y, k: -k * y * t, 1.0, [0.0, 2.0], (k,), tfirst=True, **TIGHT)[-1]  # noqa: E731
    assert f(0.5) == pytest.approx(np.exp(-1.0), rel=1e-10)
    for order in range(1, 5):  # exp(-2 k)
        assert hoad.derivative(f, order)(0.5) == pytest.approx((-2.0) ** order * np.exp(-1.0), rel=1e-9)
    g = lambda k: odeint(  # noqa: E731
        lambda t, y, k: -k * y * t, 1.0, [0.0, 2.0], (k,), tfirst=True, adjoint="continuous", **TIGHT
    )[-1]
    assert hoad.grad(g)(0.5) == pytest.approx(-2.0 * np.exp(-1.0), rel=1e-9)


@pytest.mark.parametrize(
    ("rhs", "y0", "tfirst", "said"),
    [
        (lambda t, y: -y, 1.0, False, r"its parameters are named \(t, y\), as for solve_ivp. Give tfirst=True"),
        (lambda time, u: -u, 1.0, False, "Give tfirst=True"),
        (lambda y, t: -y, 1.0, True, "Leave tfirst out"),
        (lambda a, b: -b, np.ones(2), False, r"Called as f\(t, y, \*args\) it works: give tfirst=True"),
        (lambda a, b: -b[0] * np.ones(2), np.ones(2), False, "give tfirst=True"),
        (lambda y: -y, 1.0, False, r"takes \(y\), but is called with 2 arguments: y, t"),
    ],
)
def test_the_other_order_raises(rhs: Any, y0: Any, tfirst: bool, said: str) -> None:
    with pytest.raises(hoad.errors.ArgumentError, match=said):
        odeint(rhs, y0, [0.0, 2.0], tfirst=tfirst)


def test_two_times_or_none_are_let_pass() -> None:
    odeint(lambda t, time: -t, 1.0, [0.0, 1.0])
    odeint(lambda a, b: -a, 1.0, [0.0, 1.0])
