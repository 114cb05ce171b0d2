"""Running a lowered program again and again."""

cimport numpy as cnp

from hoad._core.runtime.engine cimport Lowered, Registers
from hoad._core.graph.tape cimport int64_t

cdef cnp.ndarray addresses(list arrays)
cdef int raise_at_step(Lowered program, int code, Registers* work, int64_t step) except -1
