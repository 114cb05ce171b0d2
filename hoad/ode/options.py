"""How the Taylor integrator takes its steps, and what it is given: checked, with errors that say what went wrong."""

from __future__ import annotations

import math
import numbers
import sys
from typing import Any

import numpy as np

from hoad._core.taylor.taylor_stepper import DONE, FAILED, NO_VALUE, NOT_FINITE, TOO_MANY, TOO_SHORT, Stepper
from hoad._core.trace.traced import is_traced, plain_value
from hoad._pytree.arguments import packed_list
from hoad._transform.expansion import EXPANDING
from hoad.errors import ArgumentError, DTypeError, GuardError, ShapeError, TracedValueError
from hoad.ode.system import EPSILON, System

MOST_ORDER = 10_000


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
            f"found that rhs takes another branch {where}. It is recorded once, and may branch on y or t with np.where "
            "only."
        )


def order_for(tol: float) -> int:
    """The order at which a relative error costs least, in steps of length ``tol ** (1 / order)``.

    Where a step costs what its order squared does, that is half of -log(tol), as Jorba and Zou have it in section 3.1;
    where its order, all. Here it is in between: measured on equations of 2 to 100 numbers, docs/design/0028.
    """
    return max(2, math.ceil(-0.8 * math.log(tol)))


def _is_real(x: Any) -> bool:
    return not is_traced(x) and isinstance(x, numbers.Real) and not isinstance(x, bool)


def _is_whole(x: Any) -> bool:
    return not is_traced(x) and isinstance(x, numbers.Integral) and not isinstance(x, bool)


def checked_times(t: Any, name: str) -> Any:
    """The times as an array of float64, which may be traced; raises unless they are in order."""
    t = packed_list(t)
    if np.iscomplexobj(t):
        raise DTypeError(f"{name} takes real times, but t is complex. Along a path t(s), solve dy/ds = t'(s) dy/dt.")
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
            f"{name} takes finite times that increase or decrease from t[0] on. Sort them, and put the start first."
        )
    return times if is_traced(times) else np.ascontiguousarray(times)


def checked_args(args: Any, name: str, called: str = "rhs(t, y, *args)") -> tuple[Any, ...]:
    """The further arguments of rhs; raises for one that is not in a tuple."""
    if isinstance(args, (tuple, list)):
        return tuple(args)
    kind = "a traced value" if is_traced(args) else type(args).__name__
    shown = repr(args) if type(args) in (int, float, complex) else "x"
    raise ArgumentError(
        f"{name} takes args as a tuple, for {called}, but was given {kind}. For one further argument write "
        f"args=({shown},)."
    )


def traced_error(name: str, gives: str) -> TracedValueError:
    """The error where something is traced of which a function gives plain numbers."""
    return TracedValueError(
        f"{name} takes plain numbers, but something is traced: y0, t, args, or a value that rhs uses. Its {gives} "
        "would be cut off from the derivative. Use taylor_integrate of hoad.ode, at the times asked for. For the time "
        "of an event, use hoad.implicit.root, with taylor_solution in its solver."
    )
