"""Tape to tape: what makes new tapes of recorded ones."""

from hoad._transform import adjoint, even_functions, sensitivity, tangent

__all__ = ["adjoint", "even_functions", "sensitivity", "tangent"]
