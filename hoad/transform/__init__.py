"""Tape to tape: what makes new tapes of recorded ones."""

from hoad.transform import adjoint, evens, sensitivity, tangent

__all__ = ["adjoint", "evens", "sensitivity", "tangent"]
