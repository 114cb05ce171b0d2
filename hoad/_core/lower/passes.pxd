from hoad._core.runtime.engine cimport Lowered

cdef int run_passes(Lowered program, bint once) except -1
