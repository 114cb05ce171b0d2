from hoad._core.runtime.engine cimport Lowered

cdef int eliminate_transposes(Lowered program) except -1
