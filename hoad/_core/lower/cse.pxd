from hoad._core.runtime.engine cimport Lowered

cdef int merge_equal_steps(Lowered program) except -1
