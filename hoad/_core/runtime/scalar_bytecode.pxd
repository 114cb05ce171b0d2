"""Single operations, one after the other."""

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
    cdef inline void word(self, int32_t what) noexcept
    cdef int32_t function_of(self, void* function) except -1
    cdef int add(self, const Step* step) except -1
    cdef int add_both(self, const Step* first, const Step* second) except -1

cdef ScalarBytecode serial(const Step* steps, int32_t n, const int32_t* uses, int32_t* maker, int32_t registers)
