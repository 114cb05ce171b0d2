"""Explicit Runge–Kutta schemes, and one step by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Scheme:
    """A Runge–Kutta scheme: stages at ``t + c h`` from ``y + h Σ a k``, weights b, and those of the error estimate."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    error: tuple[float, ...] | None = None  # b less the weights of the embedded scheme
    order: int = 1  # of the error estimate, plus one: err ~ h^order


SCHEMES = {
    "euler": Scheme((0.0,), ((),), (1.0,)),
    "heun": Scheme((0.0, 1.0), ((), (1.0,)), (1 / 2, 1 / 2)),
    "rk4": Scheme(
        (0.0, 1 / 2, 1 / 2, 1.0), ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    ),
    # Bogacki and Shampine (1989), 3(2)
    "bosh3": Scheme(
        (0.0, 1 / 2, 3 / 4, 1.0),
        ((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
        (2 / 9, 1 / 3, 4 / 9, 0.0),
        (2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8),
        3,
    ),
    # Dormand and Prince (1980), 5(4)
    "dopri5": Scheme(
        (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
        (
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
            (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        ),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
        (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
        5,
    ),
}

Slopes = Callable[[list[Any], Any], list[Any]]  # of the state, and further integrands, at (state, t)


def step(scheme: Scheme, slopes: Slopes, state: list[Any], t: Any, h: Any) -> tuple[list[Any], list[list[Any]]]:
    """The state after a step, followed by the integrals of the integrands over it; the slopes at its stages."""
    found: list[list[Any]] = []
    for c, row in zip(scheme.c, scheme.a, strict=True):
        stage = [x + h * weighted(row, [k[i] for k in found]) if any(row) else x for i, x in enumerate(state)]
        found.append(slopes(stage, t + c * h))
    columns = [list(column) for column in zip(*found, strict=True)]
    gained = [h * weighted(scheme.b, column) for column in columns]
    return [x + gain for x, gain in zip(state, gained, strict=False)] + gained[len(state) :], columns


def weighted(weights: tuple[float, ...], slopes: list[Any]) -> Any:
    """Σ w k over the weights that are not 0."""
    terms = [w * k for w, k in zip(weights, slopes, strict=False) if w]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def attempted(scheme: Scheme, slopes: Slopes, n: int, *values: Any) -> list[Any]:
    """What `Steps` runs, of (state of n values, t, h): what `step` gives, its errors, and the slopes at its start."""
    *state, t, h = values[: n + 2]
    after, columns = step(scheme, slopes, state, t, h)
    return [*after, *errors_of(scheme, columns, h), *[column[0] for column in columns]]


def errors_of(scheme: Scheme, columns: list[list[Any]], h: Any) -> list[Any]:
    """What a step may be wrong by, of the slopes at its stages."""
    return [h * weighted(scheme.error or (), column) for column in columns]
