"""What a recording took out as numbers, as a replay rounds it."""

from hoad._core.runtime.engine cimport Lowered

cdef int settle(Lowered program, list values) except -1
