"""Solutions and sensitivities of differential equations against closed forms and variational equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate

import hoad
from hoad.ode import odeint
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


WRONG = [
    ({"method": "rk4"}, r"method='rk4' takes equal steps. Say how many between two times: steps=n"),
    ({"method": "gear"}, "has the methods euler, heun, rk4, bosh3, dopri5, not 'gear'"),
    ({"max_steps": 3}, r"raise rtol and atol, or max_steps \(now 3\)"),
    ({"t": [0.0, 2.0, 1.0]}, "times that rise, or fall"),
    ({"t": [0.0, np.nan]}, "times that rise, or fall"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_errors_say_what_to_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=message):
        odeint(lambda y, t: -y, 1.0, options.pop("t", [0.0, 5.0]), **options)


def test_a_solution_that_ends_is_no_answer() -> None:
    with pytest.raises(hoad.ArgumentError, match=r"is at t = 1 .*its solution ends there"):
        odeint(lambda y, t: y * y, 1.0, [0.0, 2.0])


def test_shapes() -> None:
    with pytest.raises(hoad.ShapeError, match=r"rhs\(y, t\) like y.*\(2,\)"):
        odeint(lambda y, t: np.ones(2) * y, 1.0, [0.0, 1.0])
    with pytest.raises(hoad.ShapeError, match=r"times as an array of shape \(T,\)"):
        odeint(lambda y, t: y, 1.0, 1.0)
