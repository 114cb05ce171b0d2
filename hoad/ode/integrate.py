"""The integrator: solutions of differential equations by explicit Runge–Kutta schemes.

The derivative is that of the discrete scheme with fixed steps, exact to rounding. If the scheme has converged, it is
that of the flow. The continuous adjoint is the derivative of the flow itself, to a tolerance: see `hoad.ode.flow`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hoad._core.trace.traced import is_traced, plain_value
from hoad._docstrings import docfiller
from hoad._drivers.scan import scan
from hoad._drivers.values import stop_gradient
from hoad._pytree.arguments import check_function, packed, telling_call
from hoad._pytree.containers import flatten
from hoad._transform.composite import captured_program
from hoad.errors import ArgumentError, DTypeError, ShapeError
from hoad.ode.determinism import steady_program
from hoad.ode.flow import Block, Flow, Given
from hoad.ode.options import checked_args, checked_times
from hoad.ode.order import TIME_FIRST, TIME_SECOND, check_names_of_odeint, telling_order
from hoad.ode.schemes import SCHEMES, attempted, errors_of, step
from hoad.ode.steps import Method, Steps, mean_square, tolerated
from hoad.ode.system import double


class _Equation:
    """``y' = rhs(y, t, *args)``, or ``rhs(t, y, *args)``, for a container y, its leaves in a list."""

    def __init__(self, rhs: Callable[..., Any], args: tuple[Any, ...], y0: Any, tfirst: bool) -> None:
        self.rhs, self.args, self.tfirst = rhs, args, tfirst
        leaves, self.structure = flatten(y0)
        self.start = [
            x if is_traced(x) else np.asarray(x, complex if np.iscomplexobj(x) else float)[()]
            for x in map(packed, leaves)
        ]
        self.shapes = [np.shape(x) for x in self.start]

    def slope(self, y: list[Any], t: Any) -> list[Any]:
        container = self.structure.unflatten(y)
        return self.checked(self.rhs(*((t, container) if self.tfirst else (container, t)), *self.args), y)

    def checked(self, returned: Any, y: list[Any]) -> list[Any]:
        """The leaves of what rhs returned; raise unless it is like y."""
        leaves, found = flatten(returned)
        leaves = [packed(x) for x in leaves]
        called = "rhs(t, y)" if self.tfirst else "rhs(y, t)"
        if found != self.structure or [np.shape(x) for x in leaves] != self.shapes:
            listed = found != self.structure and len(leaves) > len(y) and any(self.shapes)
            raise ShapeError(
                f"odeint needs {called} like y, which is {repr(self.structure)[10:-1]} with shapes {self.shapes}, but "
                f"it is {repr(found)[10:-1]} with shapes {[np.shape(x) for x in leaves]}."
                f"{' Where y is an array, return np.array([...]), not a list.' if listed else ''}"
            )
        for k, (x, slope) in enumerate(zip(y, leaves, strict=True)):
            if np.iscomplexobj(slope) and not np.iscomplexobj(x):
                raise DTypeError(
                    f"odeint needs a complex y0{self.structure.path(k)} where {called} is complex, but it is real. "
                    "Write y0 + 0j."
                )
        return leaves

    def check_steady(self, t: float) -> None:
        """Raise where rhs fails at the start, or draws random numbers: a step that is recorded would draw them once."""
        y0 = self.structure.unflatten(self.start)
        start = [t, *map(plain_value, self.start)]
        form = TIME_FIRST if self.tfirst else TIME_SECOND

        def gives(returned: Any) -> Any:
            return self.checked(returned, start[1:])

        with telling_order("odeint", "rhs", self.rhs, t, y0, self.args, gives, form=form):
            steady_program("odeint", "rhs", lambda t, *y: self.slope(list(y), t), start)


# (interval, where in it the step begins, its length), the latter two as parts of the interval
Step = tuple[int, float, float]


# Steps are constants of the derivative, which serve other inputs as well, as long as no step's error is more than so
# many times what is tolerated. Where they were chosen it is at most once that, and with a method of order 5 ten times
# is where a solution is half as fast again: inputs close by share the steps, and none gets an answer far from what the
# tolerances promise.
LIMIT = 10.0


def _steps(equation: _Equation, method: Method, y: list[Any], times: Any) -> tuple[list[Step], bool]:
    """The steps from the first time to the last, each within an interval; whether they depend on traced values."""
    now = [plain_value(x) for x in y]
    plain = plain_value(times)
    attempt = partial(attempted, method.scheme, equation.slope, len(y))
    program, captured = captured_program(attempt, [*now, float(plain[0]), 0.0])
    steps = Steps(method, program, len(y), [plain_value(x) for x in captured], [1.0] * len(y))
    found: list[Step] = []
    for k, (begin, end) in enumerate(pairwise(plain.tolist())):
        if begin == end and is_traced(times):
            found.append((k, 0.0, 1.0))  # a step of no length, by which y moves with the times
        for before, part, after in steps.across(now, begin, end):
            found.append((k, before, part))
            now = after
    return found, any(map(is_traced, [*y, times, *captured]))


def _equal_steps(times: Any, steps: int) -> list[Step]:
    return [(k, i / steps, 1 / steps) for k in range(len(times) - 1) for i in range(steps)]


# ---- the integrator -------------------------------------------------------------------------------------------------


@telling_call("Its tolerances are rtol and atol.")
@docfiller
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
    adjoint: str = "discrete",
    adjoint_rtol: float | None = None,
    adjoint_atol: float | None = None,
    tfirst: bool = False,
) -> Any:
    """The solution of ``y' = rhs(y, t, *args)``, y(t[0]) = y0, at the times t.

    Parameters
    ----------
    rhs : callable
        ``rhs(y, t, *args)``, as for SciPy's `odeint`, written with NumPy; its result has the structure of y. It may
        use traced values of the enclosing function. It is recorded once, and may branch as the body of a `scan` may: on
        values that are the same at all steps, such as args; on y and t with np.where.
    y0 : float, complex, array or container of these
        The value at t[0]. A list is a container of numbers, and so are then y and the result of rhs: for a vector pass
        an array.
    %(ode_times)s
    method : {"dopri5", "bosh3", "rk4", "heun", "euler"}, optional
        The scheme. The first two choose their steps, unless `steps` is given.
    rtol, atol : float, optional
        The error allowed in a step, relative to y and absolute.
    steps : int, optional
        The number of equal steps between two times; required for a method that does not choose its steps.
    max_steps : int, optional
        The largest number of steps; with the continuous adjoint, between two times.
    adjoint : {"discrete", "continuous"}, optional
        "discrete" differentiates the steps as they were taken, exactly. "continuous" differentiates the flow, by
        equations whose memory does not grow with the number of steps; it needs a method that chooses its steps.
    adjoint_rtol, adjoint_atol : float, optional
        The error allowed in a step of these equations, relative to each of their unknowns, and relative to the largest
        adjoint or tangent they start from; `rtol` and `atol` by default.
    tfirst : bool, optional
        True for ``rhs(t, y, *args)``, as for SciPy's `solve_ivp` and for `taylor_integrate`.

    Returns
    -------
    array or container of these
        y at all times: for each array of shape (S) in y0, one of shape (T, S).

    Raises
    ------
    ArgumentError
        If the method or the adjoint is unknown, or other options do not fit it; if rhs is nan or infinite at the start,
        or differs between two calls, as with random numbers; if the steps become too small or too many; if args is not
        a tuple; if the names of the parameters of rhs, or its result, show that it takes y and t in the other order.
    ShapeError
        If the result of rhs does not have the structure of y, or t is not a vector.
    DTypeError
        If rhs is complex and y0 is real, t is complex, or y0 is complex with the continuous adjoint.
    GuardError
        If rhs branches on y or t; if a program is replayed at a point where its recorded steps are not accurate enough.

    Notes
    -----
    Cost: one step is recorded for any number of steps; steps run compiled. Steps are chosen on plain numbers, in a
    first run, and are constant fractions of the intervals of t to the derivative. A replay takes the same steps, and
    raises if the error of a step exceeds ten times what `rtol` and `atol` allow; `vmap` then chooses new steps for
    those inputs. Derivatives with respect to y0, args and t are those of the scheme. Memory is as for `scan`.

    If rhs jumps at some y, derivatives do not include the change of the time at which the solution meets the jump. If
    rhs jumps at a time a, as np.where(t < a, ...) does, the same holds for the derivative with respect to a: integrate
    up to a, and from there on.

    With ``adjoint="continuous"`` rhs is recorded once, and steps are chosen again at each replay. A reverse sweep
    solves the adjoint equation together with y from the last time to the first; forward mode solves the variational
    equations, and higher derivatives those of the adjoint equation. Memory is that of y at the times. If y cannot be
    integrated backwards, as in stiff equations, the interval between two times is halved until it can, or an error is
    raised.

    References
    ----------
    Hairer, Nørsett and Wanner (1993), Solving Ordinary Differential Equations I, sections II.4 and II.5; Dormand and
    Prince (1980); Bogacki and Shampine (1989). The adjoint equation: Cao, Li, Petzold and Serban (2003), "Adjoint
    sensitivity analysis for differential-algebraic equations".

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
    check_names_of_odeint(rhs, tfirst)
    scheme = SCHEMES.get(method)
    if scheme is None:
        raise ArgumentError(f"odeint has the methods {', '.join(SCHEMES)}, not {method!r}.")
    if steps is None and scheme.error is None:
        raise ArgumentError(
            f"odeint with method={method!r} takes equal steps. Say how many between two times: steps=n."
        )
    if adjoint not in ("discrete", "continuous"):
        raise ArgumentError(f"odeint takes adjoint='discrete' or 'continuous', not {adjoint!r}.")
    if adjoint == "discrete" and (adjoint_rtol is not None or adjoint_atol is not None):
        raise ArgumentError(
            "odeint takes adjoint_rtol and adjoint_atol with adjoint='continuous' only: the discrete derivative is "
            "exact for the steps as they were taken. Leave them out, or choose that adjoint."
        )
    if adjoint == "continuous" and steps is not None:
        raise ArgumentError(
            "odeint with adjoint='continuous' chooses its steps, within tolerances. Leave steps out, with method="
            "'dopri5' or 'bosh3', or take adjoint='discrete'."
        )
    times = checked_times(t, "odeint")
    equation = _Equation(rhs, checked_args(args, "odeint", "rhs(y, t, *args)"), y0, tfirst)
    y, structure = equation.start, equation.structure
    plain = plain_value(times)
    equation.check_steady(float(plain[0]))
    chosen = Method(scheme, rtol, atol, max_steps)
    if adjoint == "continuous":
        later = replace(
            chosen,
            rtol=rtol if adjoint_rtol is None else adjoint_rtol,
            atol=atol if adjoint_atol is None else adjoint_atol,
        )
        return structure.unflatten(_flowed(equation, (chosen, later), y, times))
    if steps is not None:
        return structure.unflatten(_run(equation, chosen, y, times, _equal_steps(plain, steps), False))
    return structure.unflatten(_run(equation, chosen, y, times, *_steps(equation, chosen, y, times)))


def _run(equation: _Equation, method: Method, y: list[Any], times: Any, taken: list[Step], watched: bool) -> list[Any]:
    """y at all times, by these steps: for each leaf an array. `watched`: see `_check_served`."""
    interval = np.array([k for k, _, _ in taken], dtype=np.int64)
    begin, part = np.array([b for _, b, _ in taken]), np.array([p for _, _, p in taken])
    spans = times[1:] - times[:-1]
    at = times[:-1][interval] + begin * spans[interval]
    watched = watched and bool(taken) and any(np.size(x) for x in y)

    def body(state: list[Any], row: tuple[Any, Any]) -> tuple[list[Any], tuple[list[Any], Any]]:
        after, columns = step(method.scheme, equation.slope, state, *row)
        return after, (after, _error(method, state, after, columns, row[1]) if watched else None)

    _, (rows, errors) = scan(body, y, (at, part * spans[interval]), length=len(taken))
    if watched:
        _check_served(errors)
    last = np.searchsorted(interval, np.arange(len(spans)), side="right")  # 0: an interval without steps before any
    return [_with_start(x, row, last) for x, row in zip(y, rows, strict=True)]


def _error(method: Method, before: list[Any], after: list[Any], columns: list[list[Any]], h: Any) -> Any:
    """The square of the error of a step over what is tolerated, as `Steps` has it, but without a derivative."""
    errors, before, after = stop_gradient((errors_of(method.scheme, columns, h), before, after))
    return mean_square(errors, tolerated(method.rtol, [method.atol] * len(before), before, after))


def _check_served(errors: Any) -> None:
    """Record a guard: that the steps serve. The inputs where they do not need steps of their own.

    At the recorded point they serve, but for what rounding makes of a chaotic solution, which is allowed for.
    """
    worst = np.max(errors)  # nan, if one is
    found = plain_value(worst)
    bool(worst <= (LIMIT**2 * found if found > 1.0 else LIMIT**2))


def _with_start(first: Any, rows: Any, last: Any) -> Any:
    """The rows at the ends of the intervals, with the first value in front."""
    start = np.reshape(first, (1, *np.shape(first)))
    return np.concatenate([start, rows])[np.concatenate([[0], last])]


# ---- the continuous adjoint -----------------------------------------------------------------------------------------


_double = partial(double, name="odeint with adjoint='continuous'", instead=", or adjoint='discrete'")


def _flowed(equation: _Equation, methods: tuple[Method, Method], y: list[Any], times: Any) -> list[Any]:
    """y at all times, as one operation: for each leaf an array."""
    if not y:
        return []
    y = [_double(x) for x in y]
    starts = [np.reshape(x, (1, *np.shape(x))) for x in y]
    if times.shape[0] == 1:
        return starts

    def slopes(t: Any, *state: Any) -> list[Any]:
        return [_double(x) for x in equation.slope(list(state), t)]

    program, held = captured_program(slopes, [plain_value(times)[0], *[plain_value(x) for x in y]])
    flow = Flow(program, None, (), (Block(len(y), True),), (len(held), 0), methods)
    impulses = [
        np.concatenate([start, np.zeros((times.shape[0] - 1, *np.shape(x)))])
        for start, x in zip(starts, y, strict=True)
    ]
    return list(flow(Given(times, held, [], [], [], impulses)))
