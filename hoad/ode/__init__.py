"""Ordinary differential equations, differentiated step by step or by the adjoint equation."""

from __future__ import annotations

from typing import Any

from hoad.ode.integrate import odeint
from hoad.ode.piecewise import PiecewiseSeries, TaylorSolution
from hoad.ode.scipy import solver
from hoad.ode.taylor_integrator import taylor_integrate, taylor_solution

__all__ = ["PiecewiseSeries", "TaylorSolution", "odeint", "taylor_integrate", "taylor_solution"]


def __getattr__(name: str) -> Any:
    """`Taylor`, a method for SciPy's ``solve_ivp``, for which SciPy has to be there."""
    if name != "Taylor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return solver()
    except ImportError as error:
        raise ImportError(
            "hoad.ode.Taylor is a solver for SciPy, which is not installed: pip install 'hoad[scipy]'."
        ) from error
