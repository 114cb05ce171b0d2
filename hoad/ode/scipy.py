"""The Taylor integrator as a solver of SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DenseOutput, OdeSolver

from hoad._core.steps import DONE
from hoad.ode.taylor import Options, System


class Taylor(OdeSolver):  # type: ignore[misc]
    """Taylor's method, for ``scipy.integrate.solve_ivp(rhs, t_span, y0, method=hoad.ode.Taylor)``.

    Parameters
    ----------
    fun : callable
        ``rhs(t, y)``, written with NumPy; it is recorded once.
    t0, t_bound : float
        Where the solution starts and ends.
    y0 : array, shape (n,)
        The value at t0.
    max_step : float, optional
        The longest step.
    rtol, atol : float, optional
        The error that a step may make, relative to the largest number in y, or where that is more in its units; of an
        array the least.
    order : int, optional
        Of the series; by default what costs least at rtol.

    Notes
    -----
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
        super().__init__(fun, t0, y0, t_bound, vectorized, support_complex=False)
        if others:
            raise TypeError(f"hoad.ode.Taylor has no option {', '.join(others)}.")
        options = Options("solve_ivp", rtol, float(np.min(atol)), order, max_step, 0)
        self._stepper = options.stepper(System(fun, np.asarray(y0, np.float64), t0, (), "solve_ivp"), (t0, t_bound))
        self._options = options
        self.y: Any

    def _step_impl(self) -> tuple[bool, str | None]:
        code = self._stepper.step(self.t_bound)
        self.nfev = self._stepper.runs
        if code != DONE:
            return False, self._options.trouble(code, self._stepper)
        self.t, self.y = self._stepper.t, self._stepper.state
        return True, None

    def _dense_output_impl(self) -> _Polynomial:
        return _Polynomial(self.t_old, self.t, self._stepper)


class _Polynomial(DenseOutput):  # type: ignore[misc]
    """The series of a step."""

    def __init__(self, t_old: float, t: float, stepper: Any) -> None:
        super().__init__(t_old, t)
        self._rest, self._coefficients = stepper.began_rest, stepper.coefficients

    def _call_impl(self, t: Any) -> Any:
        h = (t - self.t_old) - self._rest
        found = np.multiply.outer(self._coefficients[-1], np.ones_like(h))
        for c in self._coefficients[-2::-1]:
            found = found * h + np.reshape(c, (-1, *[1] * np.ndim(h)))
        return found


__all__ = ["Taylor"]
