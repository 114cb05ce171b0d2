"""Tape to tape: what makes new tapes of recorded ones."""

from hoad.transform import adjoint, sensitivity, tangent

__all__ = ["adjoint", "sensitivity", "tangent"]
