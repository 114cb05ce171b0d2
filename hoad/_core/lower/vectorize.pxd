from hoad._core.runtime.engine cimport Lowered

cdef int vectorize(Lowered program) except -1
