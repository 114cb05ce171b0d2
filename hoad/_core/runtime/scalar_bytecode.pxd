cimport cython

from libc.stdint cimport int32_t

from hoad._core.runtime.step cimport Step
from hoad._core.graph.tape cimport Slot


@cython.final
cdef class ScalarBytecode:
    cdef int32_t* code
    cdef int32_t n, capacity            # words
    cdef void** functions
    cdef int32_t n_functions, cap_functions

    cdef void run(self, Slot* u) noexcept nogil

cdef ScalarBytecode scalar_bytecode(const Step* steps, int32_t n, const int32_t* reads, int32_t* maker,
                                    int32_t registers)
