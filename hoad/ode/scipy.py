"""The Taylor integrator as a solver of SciPy's, which is imported where it is asked for."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.taylor.taylor_stepper import DONE, value_at
from hoad._core.trace.coerce import holds_traced
from hoad.errors import ArgumentError
from hoad.ode.options import Options, traced_error
from hoad.ode.system import System


class _Method:
    """Taylor's method, for ``scipy.integrate.solve_ivp(rhs, t_span, y0, method=hoad.ode.Taylor)``.

    Parameters
    ----------
    fun : callable
        ``rhs(t, y)``, written with NumPy; it is recorded once.
    t0 : float
        The initial time.
    y0 : array, shape (n,)
        The initial value.
    t_bound : float
        The final time.
    max_step : float, optional
        The longest step.
    rtol, atol : float, optional
        The error allowed in a step: `rtol` relative to the largest number in y, or `atol` if that is larger; the
        smallest entry of an array.
    vectorized : bool, optional
        Ignored.
    order : int, optional
        The order of the series; the default costs least at `rtol`.

    Raises
    ------
    TracedValueError
        If something is traced: SciPy stores plain numbers. `taylor_integrate` and `odeint` have derivatives.

    Notes
    -----
    Steps are long, and SciPy finds events by signs at the ends of steps. It misses one of two events in a step, and may
    find an event at the start again. Give `max_step`, or use `taylor_solution`, which finds all.

    Cost: as for `taylor_integrate`. ``nfev`` counts series, not values, of rhs.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.integrate
    >>> import hoad
    >>> options = {"method": hoad.ode.Taylor, "rtol": 1e-13, "atol": 1e-13}
    >>> found = scipy.integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], **options)
    >>> bool(abs(found.y[0, -1] - np.exp(-1.0)) < 1e-13)
    True
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        t0: float,
        y0: Any,
        t_bound: float,
        max_step: float = np.inf,
        rtol: float = 1e-3,
        atol: Any = 1e-6,
        vectorized: bool = False,
        order: int | None = None,
        **others: Any,
    ) -> None:
        self.y: Any
        if holds_traced((t0, y0, t_bound)):
            raise traced_error("solve_ivp", "solution")
        super().__init__(fun, t0, y0, t_bound, vectorized, support_complex=False)  # type: ignore[call-arg]
        if others:
            raise ArgumentError(f"hoad.ode.Taylor takes rtol, atol, max_step and order, not {', '.join(others)}.")
        if not (math.isfinite(t0) and math.isfinite(t_bound)):
            raise ArgumentError(f"solve_ivp takes finite times, not t_span = ({t0!r}, {t_bound!r}).")
        self._options = Options("solve_ivp", rtol, float(np.min(atol)), order, max_step)
        system = System(fun, self.y, t0, (), "solve_ivp")
        if system.is_traced:
            raise traced_error("solve_ivp", "solution")
        self._stepper = self._options.stepper(system, (t0, t_bound))
        self.t_bound = t_bound

    def _step_impl(self) -> tuple[bool, str | None]:
        code = self._stepper.step(self.t_bound)
        self.nfev = self._stepper.runs
        if code != DONE:
            return False, self._options.trouble(code, self._stepper)
        self.t, self.y = self._stepper.t, self._stepper.state
        return True, None


class _Polynomial:
    """The series of a step."""

    def __init__(self, t_old: float, t: float, rest: float, coefficients: Any) -> None:
        super().__init__(t_old, t)  # type: ignore[call-arg]
        self.began, self.rest, self.coefficients = t_old, rest, coefficients

    def _call_impl(self, t: Any) -> Any:
        h = (t - self.began) - self.rest
        if not np.ndim(h):
            return value_at(self.coefficients, h)  # SciPy asks so for the roots of an event function
        found = np.multiply.outer(self.coefficients[-1], np.ones_like(h))
        for c in self.coefficients[-2::-1]:
            found = found * h + np.reshape(c, (-1, *[1] * np.ndim(h)))
        return found


@functools.cache
def solver() -> type:
    """`Taylor`, a subclass of SciPy's ``OdeSolver``."""
    from scipy.integrate import DenseOutput, OdeSolver

    class Polynomial(_Polynomial, DenseOutput):  # type: ignore[misc]
        __doc__ = _Polynomial.__doc__

    class Taylor(_Method, OdeSolver):  # type: ignore[misc]
        __doc__ = _Method.__doc__

        def _dense_output_impl(self) -> Polynomial:
            stepper = self._stepper
            return Polynomial(stepper.began, stepper.t, stepper.began_rest, stepper.coefficients)

    return Taylor
