from hoad._core.taylor.series cimport Series

cdef int group(Series series) except -1
