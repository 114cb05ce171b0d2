"""Shared work done once."""

from hoad._core.runtime.engine cimport Lowered

cdef int share(Lowered program) except -1
