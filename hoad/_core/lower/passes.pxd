"""From steps on single numbers to fused loops of rows."""

from hoad._core.runtime.engine cimport Lowered

cdef int schedule(Lowered program, bint once) except -1
