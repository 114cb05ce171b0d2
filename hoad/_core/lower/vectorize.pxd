"""From the steps of a program to vector operations and the fused loops that they join."""

from hoad._core.runtime.engine cimport Lowered

cdef int vectorize(Lowered program) except -1
