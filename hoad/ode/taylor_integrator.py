"""The Taylor integrator: each step is a power series, found to any order from the equation itself.

Steps are chosen on plain numbers, in a compiled loop. For traced values, these steps are one loop on the tape, whose
body is the series of the solution, an operation with its own adjoint. Derivatives of any order are therefore those of
the truncated series, exact to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.taylor.taylor_stepper import ENDED
from hoad._core.trace.traced import is_traced, plain_value
from hoad._docstrings import docfiller
from hoad._pytree.arguments import check_function, telling_call
from hoad.ode.events import event_search
from hoad.ode.options import Options, checked_args, checked_times, traced_error
from hoad.ode.order import check_names
from hoad.ode.piecewise import PiecewiseSeries, TaylorSolution
from hoad.ode.system import EPSILON, System
from hoad.ode.taped import recorded_solution

# ---- what there is to call ------------------------------------------------------------------------------------------


@telling_call("Its tolerance is tol, relative to the largest number in y, or where that is more atol in its units.")
@docfiller
def taylor_integrate(
    rhs: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    tol: float = EPSILON,
    atol: float | None = None,
    order: int | None = None,
    max_step: float = math.inf,
    max_steps: int = 1_000_000,
) -> Any:
    """The solution of ``y' = rhs(t, y, *args)``, y(t[0]) = y0, at the times t, by Taylor series of high order.

    Parameters
    ----------
    rhs : callable
        ``rhs(t, y, *args)``, as for SciPy's ``solve_ivp``, written with NumPy. It may use traced values of the
        enclosing function. It is recorded once, and may branch on y and t with np.where only.
    y0 : float, array or container of these
        The value at t[0]. A list is a container of numbers, and so are then y and the result of rhs: for a vector pass
        an array.
    %(ode_times)s
    tol : float, optional
        The error allowed in a step, relative to the largest number in y; the resolution of float64 by default.
    atol : float, optional
        The absolute error allowed in a step, if that is larger; `tol` by default.
    order : int, optional
        The order of the series. The default costs least at this tolerance, ``ceil(-0.8 log(tol))``: 29 at full
        accuracy.
    max_step : float, optional
        The longest step.
    max_steps : int, optional
        The largest number of steps.

    Returns
    -------
    array or container of these
        y at all times: for each array of shape (S) in y0, one of shape (T, S).

    Raises
    ------
    ArgumentError
        If the steps become too short or too many, or a coefficient is nan (the message says at which t); if rhs differs
        between two calls, as with random numbers; if an option is not valid.
    ShapeError
        If the result of rhs does not have the structure of y, or t is not a vector.
    DTypeError
        If y or t is complex.
    NoRuleError
        If an operation of rhs has no Taylor arithmetic.
    GuardError
        If rhs branches on y or t; if a program is replayed at a point where its recorded steps are not accurate enough.

    Notes
    -----
    Cost: rhs is recorded once; a step of order p costs about p² / 2 multiplications for each product in rhs. If rhs
    uses y item by item, or by operations on numbers, steps run on numbers alone.

    Derivatives with respect to y0, t, args, and any traced values that rhs uses, are those of the steps taken, exact to
    rounding, in every mode and at every order. Memory is as for `scan`. The truncation error of a step grows with the
    order of the derivative. Under `derivatives`, `taylor`, and `derivative` from order 4 on, the steps are chosen
    accordingly; otherwise, from order 4 on, give a higher `order`.

    A step evaluates rhs at its beginning and at its end. A pulse between these, shorter than a step, is missed: give
    `max_step`.

    A kink of rhs, such as that of np.where, is located to rounding by ever shorter steps. If rhs jumps at some y,
    derivatives do not include the change of the time at which the solution meets the jump; at a kink this holds from
    the second derivative on. If rhs jumps at a time a, as np.where(t < a, ...) does, the same holds for the derivative
    with respect to a: integrate up to a, and from there on.

    References
    ----------
    Jorba and Zou (2005), A software package for the numerical integration of ODEs by means of high-order Taylor
    methods, Experimental Mathematics 14, 99-117; Biscani and Izzo (2021), Revisiting high-order Taylor methods for
    astrodynamics and celestial mechanics, Monthly Notices of the Royal Astronomical Society 504, 2614-2628.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def swing(t, y):
    ...     return np.array([y[1], -y[0]])
    >>> def end(y0):
    ...     return hoad.ode.taylor_integrate(swing, y0, [0.0, np.pi / 2])[-1]
    >>> end(np.array([1.0, 0.0])).round(15) + 0.0
    array([ 0., -1.])
    >>> hoad.jacobian(end)(np.array([1.0, 0.0])).round(15) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    name = "taylor_integrate"
    check_function(f"ode.{name}", rhs, y0, t)
    options = Options(name, tol, atol, order, max_step, max_steps)
    times = checked_times(t, name)
    check_names(name, "rhs", rhs)
    system = System(rhs, y0, float(plain_value(times)[0]), checked_args(args, name), name)
    if system.is_traced or is_traced(times):
        return system.structure.unflatten(recorded_solution(system, options, times))
    found = np.empty((len(times), sum(system.sizes)))
    stepper = options.stepper(system, times)
    options.check(stepper.run(times, found, options.max_steps, False), stepper)
    return system.container(found)


@telling_call("Its tolerance is tol, relative to the largest number in y, or where that is more atol in its units.")
def taylor_solution(
    rhs: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    tol: float = EPSILON,
    atol: float | None = None,
    order: int | None = None,
    max_step: float = math.inf,
    max_steps: int = 1_000_000,
    events: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
) -> TaylorSolution:
    """The solution of `taylor_integrate`, also at any time in between, and its events.

    Parameters
    ----------
    rhs, y0, t, args, tol, atol, order, max_step, max_steps
        As for `taylor_integrate`, but not traced.
    events : callable or sequence of callables, optional
        Functions ``g(t, y, *args)`` whose changes of sign are events. As in SciPy, a function may have the attributes
        ``terminal``, True or the number of events after which the solution ends, and ``direction``: positive for events
        where g increases from the first time towards the last, negative for events where it decreases.

    Returns
    -------
    TaylorSolution
        The solution at the times, `sol`, `t_events` and `y_events`.

    Raises
    ------
    ArgumentError, ShapeError, DTypeError, NoRuleError, GuardError
        As for `taylor_integrate`.
    TracedValueError
        If something is traced. `hoad.implicit.root` differentiates the time of an event: docs/howto/ode.md.

    Notes
    -----
    Cost: as for `taylor_integrate`; with events, a series of each g for each step, in compiled code. No change of sign
    within a step is missed: all roots of the polynomial of g are found, to rounding. Two changes of sign do not count
    if g stays below the rounding of its terms between them. A root without a change of sign is not an event.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def thrown(t, y):
    ...     return np.array([y[1], -9.81])
    >>> def ground(t, y):
    ...     return y[0]
    >>> ground.terminal, ground.direction = True, -1
    >>> flight = hoad.ode.taylor_solution(thrown, np.array([0.0, 9.81]), [0.0, 5.0], events=ground)
    >>> flight.t_events[0], flight.sol(1.0)
    (array([2.]), array([4.905, 0.   ]))
    """
    name = "taylor_solution"
    check_function(f"ode.{name}", rhs, y0, t)
    options = Options(name, tol, atol, order, max_step, max_steps)
    times = checked_times(t, name)
    if is_traced(times):
        raise traced_error(name, "polynomials")
    check_names(name, "rhs", rhs)
    system = System(rhs, y0, float(times[0]), checked_args(args, name), name)
    if system.is_traced:
        raise traced_error(name, "polynomials")
    search = event_search(system, events, float(times[0]), options.order)
    stepper = options.stepper(system, times)
    found = np.empty((len(times), sum(system.sizes)))
    code = stepper.run(times, found, options.max_steps, True, search)
    ended, end, kept = code == ENDED, float(times[-1]), times
    if ended and search is not None:
        end = search.ended
        kept = times[np.abs(times - times[0]) <= abs(end - times[0])]
    else:
        options.check(code, stepper)
    happened = [] if search is None else search.times
    begun, rests, _, coefficients = stepper.steps
    sol = PiecewiseSeries(system, begun, rests, coefficients, end if len(begun) else float(times[0]))
    return TaylorSolution(
        t=kept,
        y=system.container(found[: len(kept)]),
        sol=sol,
        t_events=happened,
        y_events=[sol(x) for x in happened],
        order=options.order,
        steps=stepper.taken,
        nfev=stepper.runs,
        status=int(ended),
        message="A terminal event happened." if ended else "The last time was reached.",
    )
