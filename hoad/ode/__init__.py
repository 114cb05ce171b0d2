"""Ordinary differential equations, differentiated as their steps were taken, or by the adjoint equation."""

from __future__ import annotations

from hoad.ode.integrate import odeint

__all__ = ["odeint"]
