cimport numpy as cnp

from hoad._core.runtime.engine cimport Lowered, Registers
from hoad._core.graph.tape cimport int32_t, int64_t

cdef object rows_of(Lowered program, int32_t k, object value, int64_t length)
cdef cnp.ndarray addresses(list arrays)
cdef int raise_at_step(Lowered program, int code, Registers* work, int64_t step) except -1
