"""The Taylor integrator: each step is a power series, found to any order from the equation itself.

Steps are chosen on plain numbers, in a compiled loop. Where traced values come in, the steps as they were taken are one
loop on the tape, whose body is the series of the solution, an operation with an adjoint of its own: so derivatives of
any order are those of the truncated series, exact to rounding.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.recording import guard_rows, inline
from hoad._core.series import NotClosedError, Series
from hoad._core.steps import DONE, FAILED, NO_VALUE, NOT_FINITE, TOO_MANY, TOO_SHORT, Stepper
from hoad._core.tape import intern_aval
from hoad._core.traced import is_traced, plain_value
from hoad.arguments import check_function, packed, packed_list, telling_call
from hoad.containers import Structure, flatten
from hoad.drivers.first import jvp
from hoad.drivers.higher import stop_gradient
from hoad.drivers.loops import scan
from hoad.errors import ArgumentError, DTypeError, GuardError, HoadError, NoRuleError, ShapeError, TracedValueError
from hoad.ode.events import Watch
from hoad.ode.order import check_names, telling_order
from hoad.ode.steady import steady_program
from hoad.program import Program, Tape, called
from hoad.trace import is_number
from hoad.transform.programs import recorded
from hoad.transform.recurrence import Recurrence, natural
from hoad.transform.series import Arithmetic
from hoad.transform.taylor import EXPANDING, arithmetic_of

EPSILON = float(np.finfo(float).eps)
NUMBER = flatten(0.0)[1]  # what is no container
MOST_NUMBERS = 256  # beyond, an array of unknowns is not taken apart
MOST_ORDER = 10_000
MANY, BLOCK = 8, 4096  # times in a step, from which on they are summed together; at a time
SERVED = 1e3  # times that a recorded step's error may grow before it serves no more


# ---- the equation ---------------------------------------------------------------------------------------------------


class System:
    """``y' = rhs(t, y, *args)`` for a container y, recorded once."""

    def __init__(self, rhs: Callable[..., Any], y0: Any, t: float, args: tuple[Any, ...], name: str) -> None:
        self.rhs, self.args, self.name = rhs, args, name
        leaves, self.structure = flatten(y0)
        if not all(map(is_number, leaves)):
            raise DTypeError(
                f"{name} takes y0 made of numbers, but found "
                f"{' and '.join(type(x).__name__ for x in leaves if not is_number(x))} in it."
            )
        if not any(map(np.size, leaves)):
            raise ShapeError(f"{name} takes y0 made of numbers, but there are none in {y0!r}.")
        self.y = [_double(x, name) for x in map(packed, leaves)]
        self.shapes = [np.shape(x) for x in self.y]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        with telling_order(name, "rhs", rhs, t, y0, args, self._gives):
            self.program, self.held = self.recorded("rhs", rhs, t, self._slopes)

    def recorded(
        self, called: str, f: Callable[..., Any], t: float, outputs: Callable[[Any], list[Any]]
    ) -> tuple[Program, list[Any]]:
        """The program of f from (*y, t), and the traced values that are its further inputs."""

        def of_leaves(*values: Any) -> list[Any]:
            return outputs(f(values[-1], self.structure.unflatten(values[:-1]), *self.args))

        return steady_program(self.name, called, of_leaves, [*[plain_value(x) for x in self.y], t])

    def _slopes(self, returned: Any) -> list[Any]:
        if isinstance(returned, (list, tuple)) and len(self.shapes) == 1 and self.structure == NUMBER:
            returned = np.array(returned) if all(not np.ndim(x) for x in returned) else np.stack(returned)
        leaves, found = flatten(returned)
        if not all(map(is_number, leaves)):
            raise ShapeError(
                f"{self.name} needs rhs(t, y) like y, made of numbers, but rhs returned "
                f"{' and '.join(type(x).__name__ for x in leaves if not is_number(x))}. Return the slope of y."
            )
        leaves = [_double(packed(x), self.name) for x in leaves]
        if found != self.structure or [np.shape(x) for x in leaves] != self.shapes:
            raise ShapeError(
                f"{self.name} needs rhs(t, y) like y, which is {self._described(self.structure, self.shapes)}, but it "
                f"is {self._described(found, [np.shape(x) for x in leaves])}. {self._advice(found)}"
            )
        return leaves

    def _gives(self, returned: Any) -> bool:
        """Whether rhs returned a slope."""
        try:
            self._slopes(returned)
        except (HoadError, ValueError, TypeError):
            return False
        return True

    def _described(self, structure: Structure, shapes: Sequence[Any]) -> str:
        if structure == NUMBER:
            return f"an array of shape {shapes[0]}" if shapes[0] else "a number"
        return f"{structure.shown()} with shapes {shapes}"

    def _advice(self, found: Structure) -> str:
        """What to do where rhs and y differ."""
        if found == NUMBER and self.structure != NUMBER and not any(self.shapes):
            return "Make y0 an array, np.array([...]), where rhs returns one; or return a container like y."
        return "Return for each array of y its slope, of the same shape."

    def varied(self, t: float) -> System:
        """The equation with one of its variational equations beside it, of a direction that is like any other."""

        def both(t: Any, pair: Any, *args: Any) -> Any:
            def slopes(y: Any) -> Any:
                return self.structure.unflatten(self._slopes(self.rhs(t, y, *args)))

            return jvp(slopes, (pair[0],), (pair[1],))

        y = [plain_value(x) for x in self.y]
        size = max((float(np.max(np.abs(x))) for x in y if np.size(x)), default=1.0)
        directions = [(size or 1.0) * np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x))[()] for x in y]
        pair = (self.structure.unflatten(y), self.structure.unflatten(directions))
        return System(both, pair, t, self.args, self.name)

    @property
    def is_traced(self) -> bool:
        """Whether a solution hangs on traced values."""
        return any(map(is_traced, [*self.y, *self.held]))

    def along(self, order: int, lanes: int | None = None) -> Recurrence:
        """The series of the solution, by (t, *held, *y)."""
        tape, n = self.program._last, len(self.y)
        inputs = [*tape._inputs[n:], *tape._inputs[:n]]
        window = (tape._start, tape._end, tape._first_guard, tape._guards)
        program = Program([Tape(tape._graph, window, inputs, list(tape._outputs), "primal", False)])
        given = (2, *[1] * len(self.held))
        have_lanes = (lanes is not None, *[False] * len(self.held))
        return Recurrence(program, n, given, natural(order), lanes, have_lanes)

    # ---- plain numbers

    def stepper(self, t: float, end: float, tol: float, atol: float, order: int, longest: float) -> Stepper:
        """What takes steps from here."""
        held = [plain_value(x) for x in self.held]
        flat = [np.ravel(plain_value(x)) for x in self.y]
        series, sizes = self._series(order, held)
        if len(sizes) > len(flat):
            flat, held = list(np.concatenate(flat)), []
        degree = EXPANDING.get()
        least = tol / math.comb(
            order + degree, degree
        )  # what is left out of cₖ tᵏ at k = order grows so in derivatives
        factor = math.exp(-0.7 / (order - 1)) * least ** (1.0 / (order - 1))
        shortest = EPSILON * max(abs(t), abs(end), abs(end - t))
        return Stepper(series, sizes, flat, t, held, factor, atol / tol, tol, shortest, longest)

    def _series(self, order: int, held: list[Any]) -> tuple[Series, list[int]]:
        """The arithmetic of the slopes, by numbers where only items are taken of arrays; the sizes of y in it."""
        size = sum(self.sizes)
        if size <= MOST_NUMBERS and any(self.shapes):
            series = self._arithmetic(self._of_numbers(held), size, order)
            if series.is_narrow:
                return series, [1] * size
        return self._arithmetic(self.program, len(self.y), order), self.sizes

    def _arithmetic(self, program: Program, n: int, order: int) -> Series:
        last = program._last
        outputs = list(last._outputs)
        guards = [(node, was) for node, was, _ in guard_rows(self.program._last._graph)[: self.program._last._guards]]
        if program is not self.program:
            guards = [(node, was) for node, (_, was) in zip(outputs[n:], guards, strict=True)]
        given = [*[order + 1] * n, 2, *[1] * (len(last._inputs) - n - 1)]
        try:
            return Arithmetic(last._graph, program._input_nodes(), outputs[:n], guards, given, order).series(
                is_flow=True
            )
        except NotClosedError as error:
            raise NoRuleError(
                f"{self.name} needs the Taylor arithmetic of rhs, but there is none of {error}. Write rhs with "
                "operations that have a derivative rule, or use odeint."
            ) from None

    def _of_numbers(self, held: list[Any]) -> Program:
        """The program from numbers to numbers, followed by what its guards compare."""
        last, nodes = self.program._last, self.program._input_nodes()
        guards = [node for node, *_ in guard_rows(last._graph)[: last._guards]]

        def slopes(*values: Any) -> list[Any]:
            numbers = iter(values)
            ys = [
                np.reshape(np.array([next(numbers) for _ in range(size)]), shape) if shape else next(numbers)
                for shape, size in zip(self.shapes, self.sizes, strict=True)
            ]
            found = inline(last._graph, [*last._outputs, *guards], nodes, [*ys, values[-1], *held])
            slopes = [x[k] for x in found[: len(ys)] for k in np.ndindex(*np.shape(x))]
            return [*slopes, *found[len(ys) :]]

        return recorded(slopes, [intern_aval(np.dtype(float), ())] * (sum(self.sizes) + 1))

    def leaves(self, rows: Any) -> list[Any]:
        """The leaves of y, of flat values along the last axis."""
        ends = np.cumsum([0, *self.sizes])
        return [
            rows[..., begin:end].reshape(*rows.shape[:-1], *shape)
            for begin, end, shape in zip(ends, ends[1:], self.shapes, strict=False)
        ]

    def container(self, rows: Any) -> Any:
        """y of flat values along the last axis."""
        return self.structure.unflatten([x if x.ndim else x[()] for x in self.leaves(rows)])


def _double(x: Any, name: str) -> Any:
    """A leaf in float64."""
    if np.iscomplexobj(x):
        raise DTypeError(
            f"{name} solves real equations, but y is complex. Take real and imaginary parts as unknowns of their own."
        )
    if not is_traced(x):
        return np.asarray(x, np.float64)[()]
    return x if x.dtype == np.float64 else x.astype(np.float64)


# ---- solutions ------------------------------------------------------------------------------------------------------


class PiecewiseSeries:
    """A solution as one power series for each step.

    Attributes
    ----------
    breaks : array, shape (K + 1,)
        When the steps begin, and when the last one ends.
    coefficients : array, shape (K, p + 1, n)
        Of each step the Taylor coefficients around its beginning, of all numbers in y, one leaf after another.
    """

    def __init__(self, system: System, began: Any, rests: Any, lengths: Any, coefficients: Any, end: float) -> None:
        self._system, self._rests, self._lengths = system, rests, lengths
        self.breaks = np.append(began, end)
        self.coefficients = coefficients

    def __call__(self, t: Any) -> Any:
        """y at a time, or at an array of times (T): for each array of y of shape (S) one of shape (T, S)."""
        times = np.asarray(t, np.float64)
        flat = np.atleast_1d(times).ravel()
        first, last = self.breaks[0], self.breaks[-1]
        if np.any((flat < min(first, last)) | (flat > max(first, last)) | np.isnan(flat)):
            raise ArgumentError(
                f"the solution is known from t = {first:.6g} to {last:.6g}, but asked for beyond. Integrate further."
            )
        way = 1.0 if last >= first else -1.0
        k = np.clip(np.searchsorted(way * self.breaks[:-1], way * flat, side="right") - 1, 0, None)
        if not len(self.coefficients):
            rows = np.broadcast_to(self._start, (len(flat), len(self._start)))
        else:
            rows = self._rows(k, (flat - self.breaks[k]) - self._rests[k])
        return self._system.container(rows.reshape(*times.shape, rows.shape[1]))

    def _rows(self, k: Any, h: Any) -> Any:
        """y so far behind where the steps k begin: step by step, each for all of its times at once."""
        order = np.argsort(k, kind="stable")
        sorted_k, sorted_h = k[order], h[order]
        ends = [*np.flatnonzero(np.diff(sorted_k)) + 1, len(k)]
        if len(k) < MANY * len(ends):
            return _sums(np.moveaxis(self.coefficients[k], 1, 0), h[:, None])
        rows = np.empty((len(k), self.coefficients.shape[2]))
        begin = 0
        for end in ends:
            c = self.coefficients[sorted_k[begin]]
            for first in range(begin, end, BLOCK):
                places = slice(first, min(first + BLOCK, end))
                rows[order[places]] = _sums(c[:, :, None], sorted_h[places]).T
            begin = end
        return rows

    @property
    def _start(self) -> Any:
        return np.concatenate([np.ravel(x) for x in self._system.y])

    def __repr__(self) -> str:
        k, p, n = self.coefficients.shape
        span = f"from {self.breaks[0]:.6g} to {self.breaks[-1]:.6g}"
        return f"<PiecewiseSeries: {k} steps of order {p - 1}, {n} numbers, {span}>"


class TaylorSolution:
    """What `taylor_solution` found.

    Attributes
    ----------
    t : array, shape (T,)
        The times asked for, up to where the solution ends: where a terminal event ended it, that is in `y_events`.
    y : array or container
        The solution at these times: for each array of y0 of shape (S) one of shape (T, S).
    sol : PiecewiseSeries
        The solution at any time between: ``sol(t)``.
    t_events : list of arrays
        For each event function when it happened.
    y_events : list
        And y then, as in `y`.
    order, steps, nfev : int
        The order of the steps, how many there are, and how often the series of rhs was computed.
    status : int
        0, or 1 where a terminal event ended it.
    message : str
        The same in words.
    """

    t: Any
    y: Any
    sol: PiecewiseSeries
    t_events: list[Any]
    y_events: list[Any]
    order: int
    steps: int
    nfev: int
    status: int
    message: str

    def __init__(self, **found: Any) -> None:
        self.__dict__.update(found)

    def __repr__(self) -> str:
        return f"<TaylorSolution: {self.steps} steps of order {self.order}, {self.message}>"


def _sums(coefficients: Any, h: Any) -> Any:
    """Σ cₖ hᵏ, the order along axis 0; either may be traced."""
    found = coefficients[len(coefficients) - 1]
    for k in range(len(coefficients) - 2, -1, -1):
        found = found * h + coefficients[k]
    return found


def _checked_times(t: Any, name: str) -> Any:
    t = packed_list(t)
    if np.iscomplexobj(t):
        raise DTypeError(f"{name} takes real times, but t is complex.")
    times = t if is_traced(t) else np.asarray(t)
    if times.dtype.kind not in "biuf":
        raise DTypeError(f"{name} takes real times, but t is an array of {times.dtype}.")
    times = times if times.dtype == np.float64 else times.astype(np.float64)
    if np.ndim(times) != 1 or not times.shape[0]:
        raise ShapeError(
            f"{name} takes the times as an array of shape (T,), t[0] the first; found shape {np.shape(t)}."
        )
    plain = plain_value(times)
    if (np.any(np.diff(plain) < 0) and np.any(np.diff(plain) > 0)) or not np.all(np.isfinite(plain)):
        raise ArgumentError(
            f"{name} takes finite times that rise, or fall, from t[0] on. Sort them, and put the start first."
        )
    return times if is_traced(times) else np.ascontiguousarray(times)


def order_for(tol: float) -> int:
    """The order at which a relative error costs least, in steps of length ``tol ** (1 / order)``.

    Where a step costs what its order squared does, that is half of -log(tol), as Jorba and Zou have it in section 3.1;
    where its order, all. Here it is in between: measured on equations of 2 to 100 numbers, docs/design/0028.
    """
    return max(2, math.ceil(-0.8 * math.log(tol)))


def _is_real(x: Any) -> bool:
    return isinstance(x, numbers.Real) and not isinstance(x, bool)


def _is_whole(x: Any) -> bool:
    return isinstance(x, numbers.Integral) and not isinstance(x, bool)


class Options:
    """How steps are taken."""

    def __init__(
        self, name: str, tol: float, atol: float | None, order: int | None, max_step: float, max_steps: int = 1
    ) -> None:
        if not (_is_real(tol) and 0.0 < tol < 1.0):
            raise ArgumentError(f"{name} takes tol between 0 and 1, not {tol!r}.")
        if order is not None and not (_is_whole(order) and 2 <= order <= MOST_ORDER):
            raise ArgumentError(f"{name} takes an order from 2 to {MOST_ORDER}, an int, not {order!r}.")
        if not (_is_real(max_step) and max_step > 0.0):
            raise ArgumentError(f"{name} takes a positive max_step, not {max_step!r}.")
        if not (_is_whole(max_steps) and max_steps >= 1):
            raise ArgumentError(f"{name} takes max_steps of 1 or more, an int, not {max_steps!r}.")
        if atol is not None and not (_is_real(atol) and 0.0 <= atol < math.inf):
            raise ArgumentError(f"{name} takes an atol of 0 or more, not {atol!r}.")
        self.name, self.max_step, self.max_steps = name, float(max_step), min(int(max_steps), sys.maxsize)
        self.tol = max(float(tol), EPSILON)
        self.atol = self.tol if atol is None else float(atol)
        self.order = order_for(self.tol) + EXPANDING.get() if order is None else int(order)

    def stepper(self, system: System, times: Any) -> Stepper:
        """What takes steps from the first time to the last."""
        return system.stepper(float(times[0]), float(times[-1]), self.tol, self.atol, self.order, self.max_step)

    def check(self, code: int, stepper: Stepper) -> None:
        """Raise for a step that could not be taken."""
        if code != DONE:
            raise (GuardError if code == FAILED else ArgumentError)(self.trouble(code, stepper))

    def trouble(self, code: int, stepper: Stepper) -> str:
        """Why a step could not be taken, and where: a sentence."""
        return f"{self.name} {self._found(code, stepper)}"

    def _found(self, code: int, stepper: Stepper) -> str:
        where = f"at t = {stepper.t:.17g}, after {stepper.taken} steps"
        if code == NOT_FINITE and not np.isfinite(stepper.state).all():
            return f"has a y with nan or inf in it {where}. Start from finite numbers."
        if code == NOT_FINITE:
            return (
                f"found a Taylor coefficient that is nan or infinite {where}. rhs is singular there: start elsewhere, "
                "or end before."
            )
        if code == NO_VALUE:
            return (
                f"cannot compute rhs {where}: a matrix is singular there, or not positive definite. Start elsewhere, "
                "or end before."
            )
        if code == TOO_SHORT:
            return f"has steps too short to change t {where}. The solution ends there, or is not smooth."
        if code == TOO_MANY:
            return f"took all of max_steps = {self.max_steps}, and is {where}. Raise max_steps, or tol."
        return (
            f"found that rhs takes another branch {where}. It is recorded once, and may branch by y or t with np.where "
            "only."
        )


# ---- on the tape ----------------------------------------------------------------------------------------------------


def _recorded(system: System, options: Options, times: Any) -> list[Any]:
    """y at all times, for each leaf an array; the steps serve a variational equation as well."""
    plain = plain_value(times)
    varied = system.varied(float(plain[0]))
    stepper = options.stepper(varied, plain)
    options.check(stepper.run(plain, np.empty((len(plain), sum(varied.sizes))), options.max_steps, True)[1], stepper)
    return _by_steps(system, options, times, *stepper.steps[:3])


def _by_steps(system: System, options: Options, times: Any, begun: Any, rests: Any, lengths: Any) -> list[Any]:
    """The same, by given steps."""
    plain = plain_value(times)
    start = times[0]
    along = system.along(options.order)

    def body(state: list[Any], row: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
        t, h = row
        series = called(along, (_line(t), *system.held, *state))
        return [_sums(c, h) for c in series], [*state, _error(options, series, h)]

    rows = [np.reshape(x, (1, *np.shape(x))) for x in system.y]  # of steps as they begin, or the start alone
    offsets, errors = np.zeros(1), np.zeros(1)
    if len(lengths):
        offsets = (begun - plain[0]) + rests
        _, (*rows, errors) = scan(body, list(system.y), (start + offsets, lengths), length=len(lengths))
    way = np.sign(plain[-1] - plain[0])
    k = np.clip(np.searchsorted(way * begun, way * plain, side="right") - 1, 0, None)
    t = start + offsets[k]
    wide = system.along(options.order, len(plain))
    series = called(wide, (np.stack([t, np.ones(len(plain))]), *system.held, *[x[k] for x in rows]))
    far = [np.reshape(times - t, (-1, *[1] * (c.ndim - 2))) for c in series]
    _check_served(np.concatenate([errors, _errors(options, series, far)]), options)
    return [_sums(c, h) for c, h in zip(series, far, strict=True)]


def _line(t: Any) -> Any:
    """The coefficients of the time."""
    return np.stack([t, np.ones(())])


def _error(options: Options, series: Sequence[Any], h: Any) -> Any:
    """The last term of a step over the size of y, without a derivative."""
    series = stop_gradient(list(series))
    last = np.max(np.concatenate([np.ravel(np.abs(c[-1])) for c in series]))
    size = np.max(np.concatenate([np.ravel(np.abs(c[0])) for c in series]))
    return last * np.abs(h) ** options.order / np.maximum(size, options.atol / options.tol)


def _errors(options: Options, series: Sequence[Any], far: Sequence[Any]) -> Any:
    """The same at times so far from where their steps begin: these may have moved away from the steps."""
    series, far = stop_gradient(list(series)), stop_gradient(list(far))
    last = [np.abs(c[-1]) * np.abs(h) ** options.order for c, h in zip(series, far, strict=True)]
    rows = [np.concatenate([np.reshape(x, (len(x), -1)) for x in of], axis=1) for of in (last, [c[0] for c in series])]
    error, size = (np.max(np.abs(x), axis=1) for x in rows)
    return error / np.maximum(size, options.atol / options.tol)


def _check_served(errors: Any, options: Options) -> None:
    """Record a guard: that the steps serve. The inputs where they do not need steps of their own."""
    worst = np.max(errors)
    found = plain_value(worst)
    bool(worst <= SERVED * max(float(found), options.tol))


# ---- what there is to call ------------------------------------------------------------------------------------------


@telling_call("Its tolerance is tol, relative to the largest number in y, or where that is more atol in its units.")
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
        ``rhs(t, y, *args)``, as for SciPy's ``solve_ivp``, written with NumPy. It may use traced values of the function
        around it. It is recorded once, and may branch by y and t with np.where only.
    y0 : float, array or container of them
        The value at t[0]. A list is a container of numbers, and what rhs gets and gives is one then: for a vector
        pass an array.
    t : array, shape (T,)
        Times, rising or falling.
    args : tuple, optional
        Further arguments of rhs.
    tol : float, optional
        The error that a step may make, relative to the largest number in y; the resolution of float64 by default.
    atol : float, optional
        The error that it may make where that is more; `tol` by default.
    order : int, optional
        Of the series; by default what costs least at this tolerance, ``ceil(-0.8 log(tol))``: 29 at full accuracy.
    max_step : float, optional
        The longest step.
    max_steps : int, optional
        Give up after so many.

    Returns
    -------
    array or container of them
        y at all times: for each array of y0 of shape (S) one of shape (T, S).

    Raises
    ------
    ArgumentError
        If the steps become too short, or too many, or a coefficient is nan: the message says when; if rhs gives
        something else when it is called again, as with random numbers; if an argument is not what it should be.
    ShapeError
        If rhs gives something else than y is made of, or t is no vector.
    DTypeError
        If y or t is complex.
    NoRuleError
        If an operation of rhs has no Taylor arithmetic.
    GuardError
        If rhs branches by y or t; if a program is replayed at a point that the steps it was recorded with do not serve.

    Notes
    -----
    Cost: rhs recorded once; a step costs about p² / 2 multiplications for each of its products. Where all of y is taken
    item by item, or by operations of numbers, steps run on numbers alone.

    Derivatives by y0, t, args, and whatever traced values rhs uses, are those of the steps as they were taken, exact to
    rounding, in every mode and at every order. Their memory is as that of `scan`. What a step leaves out grows with the
    order of a derivative: under `derivatives`, `derivative` from order 4 on and `taylor`, the steps are chosen for it;
    otherwise, from order 4 on, give a higher `order`.

    A step knows rhs where it begins and where it ends. What happens in between alone, a pulse shorter than a step, is
    not seen: give `max_step`.

    A kink of rhs, as of np.where, is found to rounding by ever shorter steps. Derivatives leave out how the time moves
    at which a solution meets a jump of rhs in y; at a kink that is so from the second on. So it is where rhs jumps in
    t, as np.where(t < a, ...) does, with the derivative by a: integrate to a, and from there on.

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
    times = _checked_times(t, name)
    check_names(name, "rhs", rhs)
    system = System(rhs, y0, float(plain_value(times)[0]), _checked_args(args, name), name)
    if system.is_traced or is_traced(times):
        return system.structure.unflatten(_recorded(system, options, times))
    found = np.empty((len(times), sum(system.sizes)))
    stepper = options.stepper(system, times)
    options.check(stepper.run(times, found, options.max_steps, False)[1], stepper)
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
    """The solution as `taylor_integrate` finds it, at any time in between, and when events happen.

    Parameters
    ----------
    rhs, y0, t, args, tol, atol, order, max_step, max_steps
        As for `taylor_integrate`; nothing is traced.
    events : callable or sequence of callables, optional
        Functions ``g(t, y, *args)`` of which each change of sign is an event. As for SciPy, a function may have the
        attributes ``terminal``, True or the number of events after which the solution ends, and ``direction``: positive
        for events where g rises with t, negative for those where it falls.

    Returns
    -------
    TaylorSolution
        With the solution at the times, `sol`, `t_events`, `y_events`.

    Raises
    ------
    ArgumentError, ShapeError, DTypeError, NoRuleError, GuardError
        As for `taylor_integrate`.
    TracedValueError
        If something is traced.

    Notes
    -----
    Cost: as for `taylor_integrate`; with events, a series of each g for each step. No change of sign within a step is
    missed: all roots of the polynomial of g are found, to rounding. Two changes between which g is no larger than the
    rounding of its terms are none. A root without a change of sign is no event.

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
    times = _checked_times(t, name)
    if is_traced(times):
        raise traced_error(name, "polynomials")
    check_names(name, "rhs", rhs)
    system = System(rhs, y0, float(times[0]), _checked_args(args, name), name)
    if system.is_traced:
        raise traced_error(name, "polynomials")
    functions = _functions(events)
    stepper = options.stepper(system, times)
    watches = [_watch(system, g, float(times[0]), options.order) for g in functions]
    found = np.empty((len(times), sum(system.sizes)))
    happened: list[list[float]] = [[] for _ in watches]
    reached = _until(system, options, stepper, times, found, watches, happened)
    begun, rests, lengths, coefficients = stepper.steps
    end = float(times[-1]) if reached is None else reached
    kept = times if reached is None else times[np.abs(times - times[0]) <= abs(end - times[0])]
    sol = PiecewiseSeries(system, begun, rests, lengths, coefficients, end if len(begun) else float(times[0]))
    ended = reached is not None
    return TaylorSolution(
        t=kept,
        y=system.container(found[: len(kept)]),
        sol=sol,
        t_events=[np.array(x) for x in happened],
        y_events=[sol(np.array(x)) for x in happened],
        order=options.order,
        steps=stepper.taken,
        nfev=stepper.runs,
        status=int(ended),
        message="A terminal event happened." if ended else "The last time was reached.",
    )


def traced_error(name: str, gives: str) -> TracedValueError:
    """The error where something is traced of which a function gives plain numbers."""
    return TracedValueError(
        f"{name} takes plain numbers, but something is traced: y0, t, args, or a value that rhs uses. Its {gives} "
        "would be cut off from the derivative. Use taylor_integrate of hoad.ode, at the times asked for."
    )


def _checked_args(args: Any, name: str) -> tuple[Any, ...]:
    if isinstance(args, (tuple, list)):
        return tuple(args)
    raise ArgumentError(
        f"{name} takes args as a tuple, for rhs(t, y, *args), but was given {type(args).__name__}. For one further "
        "argument write args=(x,)."
    )


def _functions(events: Any) -> list[Callable[..., Any]]:
    """The event functions, of which there may be one, several or none."""
    if events is None:
        return []
    functions = list(events) if isinstance(events, (list, tuple)) else [events]
    for g in functions:
        if not callable(g):
            raise ArgumentError(
                f"taylor_solution takes events as a function g(t, y), or a list of such, but was given {g!r}."
            )
    return functions


def _watch(system: System, g: Callable[..., Any], t: float, order: int) -> Watch:
    """What follows an event function."""
    check_function(f"ode.{system.name}", g)

    def one(returned: Any) -> list[Any]:
        value = packed(returned)
        if not is_number(value) or np.size(value) != 1:
            raise ShapeError(
                f"an event function gives one number, not {type(returned).__name__} of shape {np.shape(value)}."
            )
        if np.asarray(plain_value(value)).dtype.kind == "b":
            raise ArgumentError(
                "an event function gives a number that changes sign where the event happens, but this one gave a truth "
                "value, which has no sign. Give y[0] - c in place of y[0] > c."
            )
        return [np.reshape(_double(value, system.name), ())]

    check_names(system.name, "an event function", g)
    y0 = system.structure.unflatten([plain_value(x) for x in system.y])
    failures = IndexError, KeyError, TypeError
    with telling_order(system.name, "an event function", g, t, y0, system.args, is_number, failures):
        program, held = system.recorded("an event function", g, t, one)
    if any(map(is_traced, held)):
        raise traced_error(system.name, "polynomials")
    n = len(system.y)
    return Watch(
        g,
        _expansion(program, [*[order + 1] * n, 2, *[1] * len(held)], order),
        _expansion(program, [1] * (n + 1 + len(held)), 0),
        held,
    )


def _expansion(program: Program, given: list[int], degree: int) -> Series:
    try:
        return arithmetic_of(program, given, degree).series()
    except NotClosedError as error:
        raise NoRuleError(f"an event function has no Taylor arithmetic: there is none of {error}.") from None


def _until(
    system: System,
    options: Options,
    stepper: Stepper,
    times: Any,
    found: Any,
    watches: list[Watch],
    happened: list[list[float]],
) -> float | None:
    """Integrate, and note what happens: when a terminal event ended it, or None."""
    if not watches:
        options.check(stepper.run(times, found, options.max_steps, True)[1], stepper)
        return None
    done = 0
    while done < len(times):
        begun = stepper.taken
        done, code = stepper.run(times, found, options.max_steps, True, done, True)
        options.check(code, stepper)
        if stepper.taken > begun:
            stop = _happening(system, stepper, watches, happened)
            if stop is not None:
                return stop
    return None


def _happening(system: System, stepper: Stepper, watches: list[Watch], happened: list[list[float]]) -> float | None:
    """Note the events of the last step, up to the first that is terminal: when that was."""
    leaves = system.leaves(stepper.coefficients)
    crossings = [
        (abs(c.offset), (stepper.began + (stepper.began_rest + c.offset)), k)
        for k, watch in enumerate(watches)
        for c in watch.crossings(leaves, stepper.began, stepper.h)
    ]
    for _, t, k in sorted(crossings):
        happened[k].append(float(t))
        watches[k].left -= 1
        if not watches[k].left:
            return float(t)
    return None


__all__ = ["PiecewiseSeries", "TaylorSolution", "taylor_integrate", "taylor_solution"]
