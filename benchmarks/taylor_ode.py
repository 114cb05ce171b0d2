"""What does Taylor integration cost, and does it keep the energy?

The figure-eight of three bodies in a plane, 12 equations, over 100 periods at tolerance 1e-15, beside heyoka, and
SciPy's DOP853 at 1e-13; then until it runs for the first time. Then a pendulum whose passages are events, beside the
same without events, and heyoka. Bars: 4 times heyoka's time, 20 ms, a drift of 1e-13; with events 2 times the time
without, and 1.5 times where none happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import harness
import numpy as np
from harness import Case, Row, Settings, Side

import hoad
import hoad.ode

PEERS = ("heyoka", "scipy")
TOLERANCE, TOLERANCE_OF_DOP853 = 1e-15, 1e-13
COST_BAR, FIRST_BAR, DRIFT_BAR = 4.0, 20e-3, 1e-13
EVENTS_BAR, NEVER_BAR = 2.0, 1.5
PERIOD = 6.32591398
RNG = np.random.default_rng(5)


def start() -> Any:
    """Close to the figure-eight; another orbit whenever it is called."""
    x, v = np.array([0.97000436, -0.24308753]), np.array([-0.93240737, -0.86473146])
    return np.concatenate([x, -x, [0.0, 0.0], -v / 2, -v / 2, v]) + RNG.uniform(-1e-9, 1e-9, 12)


def slopes(y: Any, power: float) -> list[Any]:
    """Of three bodies of mass 1, places before velocities, that attract each other as r^(2 power + 1)."""
    found = [*[y[k] for k in range(6, 12)], *[0.0] * 6]
    for i in range(3):
        for j in range(i):
            dx, dy = y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1]
            weight = (dx * dx + dy * dy) ** power
            for k, pull in ((6, dx * weight), (7, dy * weight)):
                found[k + 2 * i] = found[k + 2 * i] - pull
                found[k + 2 * j] = found[k + 2 * j] + pull
    return found


def energy(y: Any, power: float) -> float:
    q = y[:6].reshape(3, 2)
    distances = [float(np.linalg.norm(q[i] - q[j])) for i in range(3) for j in range(i)]
    return float(np.sum(y[6:] ** 2) / 2 + sum(r ** (2 * power + 2) for r in distances) / (2 * power + 2))


def of_hoad(power: float, end: float) -> Callable[[Any], Any]:
    def rhs(t: float, y: Any) -> Any:
        return np.array(slopes(y, power))

    return lambda y: hoad.ode.taylor_integrate(rhs, y, [0.0, end], tol=TOLERANCE)[-1]


def of_heyoka(power: float, end: float) -> Callable[[Any], Any]:
    heyoka = harness.peer("heyoka")
    variables = heyoka.make_vars(*(f"y{k:02}" for k in range(12)))
    system = list(zip(variables, slopes(variables, power), strict=True))
    integrator = heyoka.taylor_adaptive(system, start(), tol=TOLERANCE)

    def run(y: Any) -> Any:
        integrator.time = 0.0
        integrator.state[:] = y
        integrator.propagate_until(end)
        return np.array(integrator.state)

    return run


def of_scipy(power: float, end: float) -> Callable[[Any], Any]:
    solve = harness.peer("scipy.integrate").solve_ivp
    options = {"method": "DOP853", "rtol": TOLERANCE_OF_DOP853, "atol": TOLERANCE_OF_DOP853}
    return lambda y: solve(lambda t, y: slopes(y, power), (0.0, end), y, **options).y[:, -1]


def beside(power: float, settings: Settings, question: str) -> list[Row]:
    end = settings.size(100, 1) * PERIOD
    ways = {"hoad": of_hoad, "heyoka": of_heyoka, "DOP853": of_scipy}
    runs = {name: make(power, end) for name, make in ways.items()}
    y = start()
    for name in ("heyoka", "DOP853"):
        harness.require_equal(runs["hoad"](y), runs[name](y), rtol=1e-5)
    ours, heyoka, scipy = harness.interleave(
        [Side(name, run, lambda: (start(),)) for name, run in runs.items()], settings
    )
    return [harness.cost(question, ours, heyoka, COST_BAR), harness.cost(question, ours, scipy)]


def first(power: float, settings: Settings, question: str) -> list[Row]:
    """Until a new equation has been recorded and has taken a step."""
    began = perf_counter()
    of_hoad(power, 1e-3)(start())
    return [harness.limit(f"{question}, first call", perf_counter() - began, "s", FIRST_BAR)]


def drift(power: float, settings: Settings, question: str) -> list[Row]:
    y = start()
    end = of_hoad(power, settings.size(100, 1) * PERIOD)(y)
    lost = abs(energy(end, power) - energy(y, power))
    return [harness.limit(f"{question}, drift of the energy", lost, "", DRIFT_BAR)]


def pendulum(event: Callable[..., Any] | None, end: float) -> Callable[[Any], Any]:
    """The times at which an event function changes sign; without one, none."""
    names = {"tol": TOLERANCE, "events": event}
    return lambda y: hoad.ode.taylor_solution(lambda t, y: np.array([y[1], -np.sin(y[0])]), y, [0.0, end], **names)


def pendulum_of_heyoka(end: float) -> Callable[[Any], Any]:
    heyoka = harness.peer("heyoka")
    x, v = heyoka.make_vars("x", "v")
    times: list[float] = []
    event = heyoka.nt_event(x, lambda integrator, t, sign: times.append(t))
    system = [(x, v), (v, -heyoka.sin(x))]
    integrator = heyoka.taylor_adaptive(system, [1.0, 0.0], tol=TOLERANCE, nt_events=[event])

    def run(y: Any) -> Any:
        times.clear()
        integrator.time = 0.0
        integrator.state[:] = y
        integrator.propagate_until(end)
        return np.array(times)

    return run


def events(settings: Settings) -> list[Row]:
    end = settings.size(2000, 20)
    runs = {
        "hoad": pendulum(lambda t, y: y[0], end),
        "no event": pendulum(lambda t, y: y[0] - 3.0, end),
        "without events": pendulum(None, end),
        "heyoka": pendulum_of_heyoka(end),
    }
    harness.require_equal(runs["hoad"](np.array([1.0, 0.0])).t_events[0], runs["heyoka"](np.array([1.0, 0.0])))
    sides = [Side(name, run, lambda: (np.array([1.0 + RNG.uniform(-1e-9, 1e-9), 0.0]),)) for name, run in runs.items()]
    crossing, never, without, heyoka = harness.interleave(sides, settings)
    return [
        harness.cost("pendulum, events", crossing, heyoka, COST_BAR),
        harness.cost("pendulum, events", crossing, without, EVENTS_BAR),
        harness.cost("pendulum, an event that never happens", never, without, NEVER_BAR),
    ]


def cases(settings: Settings) -> Iterator[Case]:
    for name, power in (("three bodies", -1.5), ("three bodies, perturbed", -1.49)):
        for what in (first, beside, drift):
            yield f"{name}, {what.__name__}", partial(what, power, settings, name)
    yield "pendulum, events", partial(events, settings)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, cases, PEERS))
