"""Ordinary differential equations: explicit Runge–Kutta schemes, whose steps are differentiated as they were taken.

The derivative is that of the discrete scheme, exact to rounding: what the numbers it gave would have been at other
arguments, with the same steps. Where the scheme has converged, it is that of the flow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._core.traced import is_traced, plain_value
from hoad.arguments import check_function
from hoad.containers import Structure, flatten
from hoad.drivers.loops import scan
from hoad.errors import ArgumentError, DTypeError, ShapeError
from hoad.transform.loops import captured_program

# ---- schemes --------------------------------------------------------------------------------------------------------


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


class _Equation:
    """``y' = rhs(y, t, *args)`` for a container y, its leaves in a list."""

    def __init__(self, rhs: Callable[..., Any], args: tuple[Any, ...], structure: Structure, shapes: list[Any]) -> None:
        self.rhs, self.args = rhs, args
        self.structure, self.shapes = structure, shapes

    def slope(self, y: list[Any], t: Any) -> list[Any]:
        leaves, found = flatten(self.rhs(self.structure.unflatten(y), t, *self.args))
        if found != self.structure or [np.shape(x) for x in leaves] != self.shapes:
            raise ShapeError(
                f"odeint needs rhs(y, t) like y, which is {repr(self.structure)[10:-1]} with shapes {self.shapes}, but "
                f"it is {repr(found)[10:-1]} with shapes {[np.shape(x) for x in leaves]}."
            )
        for k, (x, slope) in enumerate(zip(y, leaves, strict=True)):
            if np.iscomplexobj(slope) and not np.iscomplexobj(x):
                raise DTypeError(
                    f"odeint needs a complex y0{self.structure.path(k)} where rhs(y, t) is complex, but it is real. "
                    "Write y0 + 0j."
                )
        return leaves

    def step(self, scheme: Scheme, y: list[Any], t: Any, h: Any) -> tuple[list[Any], list[Any]]:
        """y after a step, and the slopes at its stages, leaf by leaf."""
        slopes: list[list[Any]] = []
        for c, row in zip(scheme.c, scheme.a, strict=True):
            stage = [x + h * _sum(row, [k[i] for k in slopes]) if any(row) else x for i, x in enumerate(y)]
            slopes.append(self.slope(stage, t + c * h))
        columns = [[k[i] for k in slopes] for i in range(len(y))]
        return [x + h * _sum(scheme.b, column) for x, column in zip(y, columns, strict=True)], columns


def _sum(weights: tuple[float, ...], slopes: list[Any]) -> Any:
    """Σ w k over the weights that are not 0."""
    terms = [w * k for w, k in zip(weights, slopes, strict=False) if w]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


# (interval, where in it the step begins, its length), the latter two as parts of the interval
Step = tuple[int, float, float]

# ---- the steps ------------------------------------------------------------------------------------------------------


class _Control:
    """Steps of an embedded scheme within tolerances, found on plain numbers."""

    def __init__(self, equation: _Equation, scheme: Scheme, y: list[Any], times: Any, rtol: float, atol: float):
        self.scheme, self.rtol, self.atol = scheme, rtol, atol
        self.n = len(y)
        plain = [plain_value(x) for x in y]

        def attempt(*values: Any) -> list[Any]:
            *at, t, h = values
            after, slopes = equation.step(scheme, at, t, h)
            errors = [h * _sum(scheme.error or (), column) for column in slopes]
            return [*after, *errors, *[column[0] for column in slopes]]

        program, captured = captured_program(attempt, [*plain, float(times[0]), 0.0])
        self.run = program._lowered().run
        self.captured = [plain_value(x) for x in captured]
        self.start = plain

    def attempt(self, y: list[Any], t: float, h: float) -> tuple[list[Any], float, list[Any]]:
        """y after a step, its error over what is tolerated, and the slopes it began with."""
        found = self.run([*y, t, h, *self.captured])
        after, errors, slopes = found[: self.n], found[self.n : 2 * self.n], found[2 * self.n :]
        scale = [self.atol + self.rtol * np.maximum(np.abs(a), np.abs(b)) for a, b in zip(y, after, strict=True)]
        return after, _norm(errors, scale), slopes

    def first(self, y: list[Any], t: float, way: float) -> float:
        """The length of a first step that is not too long: Hairer, Nørsett and Wanner (1993), section II.4."""
        _, _, slopes = self.attempt(y, t, 0.0 * way)
        scale = [self.atol + self.rtol * np.abs(x) for x in y]
        size, speed = _norm(y, scale), _norm(slopes, scale)
        return 0.01 * size / speed if size > 1e-5 and speed > 1e-5 else 1e-6

    def steps(self, times: Any, max_steps: int) -> list[Step]:
        """The steps from the first time to the last, each within an interval."""
        found: list[Step] = []
        y, h = self.start, 0.0
        for k, (begin, end) in enumerate(zip(times[:-1].tolist(), times[1:].tolist(), strict=True)):
            span, done = end - begin, 0.0
            h = h or self.first(y, begin, span)
            while done < 1.0 and span:
                whole = h >= 0.99 * (1.0 - done) * abs(span)
                part = 1.0 - done if whole else h / abs(span)
                after, error = self.attempt(y, begin + done * span, part * span)[:2]
                factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** (-1 / self.scheme.order)))
                if not error <= 1.0:  # nor nan
                    h = part * abs(span) * (factor if np.isfinite(error) else 0.1)
                else:
                    found.append((k, done, part))
                    y, done = after, 1.0 if whole else done + part
                    h = max(h, part * abs(span) * factor) if whole else h * factor  # one cut short says little
                if h < 1e-14 * max(abs(begin), abs(span)) or len(found) > max_steps:
                    raise ArgumentError(
                        f"odeint took {len(found)} steps and is at t = {begin + done * span:.6g} with steps of "
                        f"{h:.1e}. The equation is stiff, or its solution ends there: raise rtol and atol, or "
                        f"max_steps (now {max_steps})."
                    )
        return found


def _norm(leaves: list[Any], scale: list[Any]) -> float:
    """The root of the mean square over all entries, relative to a scale."""
    parts = [np.ravel(x / s) for x, s in zip(leaves, scale, strict=True)]
    entries = np.concatenate(parts) if parts else np.zeros(0)
    return float(np.sqrt(np.mean(np.abs(entries) ** 2))) if entries.size else 0.0


def _equal_steps(times: Any, steps: int) -> list[Step]:
    return [(k, i / steps, 1 / steps) for k in range(len(times) - 1) for i in range(steps)]


# ---- the integrator -------------------------------------------------------------------------------------------------


def odeint(
    rhs: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "dopri5",
    rtol: float = 1e-8,
    atol: float = 1e-8,
    steps: int | None = None,
    max_steps: int = 100_000,
) -> Any:
    """The solution of ``y' = rhs(y, t, *args)``, y(t[0]) = y0, at the times t.

    Parameters
    ----------
    rhs : callable
        ``rhs(y, t, *args)``, written with NumPy, like y. It may use traced values of the function around it.
    y0 : float, complex, array or container of them
        The value at t[0].
    t : array, shape (T,)
        Times, rising or falling.
    args : tuple, optional
        Further arguments of rhs.
    method : {"dopri5", "bosh3", "rk4", "heun", "euler"}, optional
        The first two choose their steps, unless `steps` is given.
    rtol, atol : float, optional
        What error a step may make, relative to y, and in the units of y.
    steps : int, optional
        Take so many equal steps between two times; required for a method that does not choose its own.
    max_steps : int, optional
        Give up after so many.

    Returns
    -------
    array or container of them
        y at all times: for each array of y0 of shape (S) one of shape (T, S).

    Raises
    ------
    ArgumentError
        If there is no such method, or it needs `steps`; if the steps become too small or too many.
    ShapeError
        If rhs gives something else than y is made of, or t is no vector.
    DTypeError
        If rhs is complex where y0 is real, or t is complex.

    Notes
    -----
    Cost: one step recorded, whatever their number; steps run compiled. Steps are chosen on plain numbers, in a first
    run, and are constants to the derivative, as parts of the intervals of t: a replay takes the same. Derivatives by
    y0, args and t are those of the scheme. Their memory is as that of `scan`.

    References
    ----------
    Hairer, Nørsett and Wanner (1993), Solving Ordinary Differential Equations I, sections II.4 and II.5; Dormand and
    Prince (1980); Bogacki and Shampine (1989).

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def decay(rate):
    ...     return hoad.ode.odeint(lambda y, t: -rate * y, 1.0, np.array([0.0, 1.0, 2.0]))[-1]
    >>> float(round(decay(0.5), 7)), round(hoad.grad(decay)(0.5), 7)  # exp(-1), -2 exp(-1)
    (0.3678794, -0.7357589)
    """
    check_function("ode.odeint", rhs)
    scheme = SCHEMES.get(method)
    if scheme is None:
        raise ArgumentError(f"odeint has the methods {', '.join(SCHEMES)}, not {method!r}.")
    if steps is None and scheme.error is None:
        raise ArgumentError(
            f"odeint with method={method!r} takes equal steps. Say how many between two times: steps=n."
        )
    if np.iscomplexobj(t):
        raise DTypeError("odeint takes real times, but t is complex. Along a path t(s), solve dy/ds = rhs(y, t) t'(s).")
    times = t if is_traced(t) else np.asarray(t, np.float64)
    if np.ndim(times) != 1 or not times.shape[0]:
        raise ShapeError(
            f"odeint takes the times as an array of shape (T,), t[0] the first; found shape {np.shape(t)}."
        )
    leaves, structure = flatten(y0)
    y = [x if is_traced(x) else np.asarray(x, complex if np.iscomplexobj(x) else float)[()] for x in leaves]
    equation = _Equation(rhs, tuple(args), structure, [np.shape(x) for x in y])
    plain = plain_value(times)
    if (np.any(np.diff(plain) < 0) and np.any(np.diff(plain) > 0)) or not np.all(np.isfinite(plain)):
        raise ArgumentError("odeint takes times that rise, or fall, from t[0] on. Sort them, and put the start first.")
    if steps is not None:
        taken = _equal_steps(plain, steps)
    else:
        taken = _Control(equation, scheme, y, plain, rtol, atol).steps(plain, max_steps)
    found = _run(equation, scheme, y, times, taken)
    return structure.unflatten(found)


def _run(equation: _Equation, scheme: Scheme, y: list[Any], times: Any, taken: list[Step]) -> list[Any]:
    """y at all times, by these steps: for each leaf an array."""
    interval = np.array([k for k, _, _ in taken], dtype=np.int64)
    begin, part = np.array([b for _, b, _ in taken]), np.array([p for _, _, p in taken])
    spans = times[1:] - times[:-1]
    at = times[:-1][interval] + begin * spans[interval]

    def body(state: list[Any], row: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
        after, _ = equation.step(scheme, state, *row)
        return after, after

    _, rows = scan(body, y, (at, part * spans[interval]), length=len(taken))
    last = np.searchsorted(interval, np.arange(len(spans)), side="right")  # 0: an interval without steps before any
    return [_with_start(x, row, last) for x, row in zip(y, rows, strict=True)]


def _with_start(first: Any, rows: Any, last: Any) -> Any:
    """The rows at the ends of the intervals, with the first value in front."""
    start = np.reshape(first, (1, *np.shape(first)))
    return np.concatenate([start, rows])[np.concatenate([[0], last])]


__all__ = ["odeint"]
