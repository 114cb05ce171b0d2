"""Compiled solvers of differential equations, which keep the addresses of arrays: they must not meet traced ones."""

from __future__ import annotations

import functools
from typing import Any

from hoad._core.trace.context import running
from hoad._scipy.compiled import module
from hoad._scipy.registry import IMPLEMENTED, refused

_find_integrator: Any = getattr(module("scipy.integrate._ode"), "find_integrator", None)

if _find_integrator is not None:

    @functools.wraps(_find_integrator)
    def find_integrator(name: Any) -> Any:
        if running() is not None:
            raise refused(
                str(name),
                "is compiled code, which",
                "Use hoad.ode.odeint, of rhs(y, t), or solve_ivp with method='DOP853', or 'BDF' where it is stiff.",
                "scipy.integrate",
            )
        return _find_integrator(name)

    IMPLEMENTED[_find_integrator] = find_integrator
