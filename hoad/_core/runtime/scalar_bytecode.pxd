cimport cython

from libc.stdint cimport int32_t, int64_t, uint8_t

from hoad._core.runtime.step cimport Step
from hoad._core.graph.tape cimport Slot


cdef extern from "machine_code.h":
    ctypedef void (*MachineCode)(double*) noexcept nogil
    ctypedef int64_t (*MachineLoop)(double*, char**, char**, int64_t, int64_t, int64_t) noexcept nogil
    ctypedef struct LoopMove:
        int32_t number, at, is_sum
    ctypedef struct LoopForm:
        LoopMove* rows
        LoopMove* results
        LoopMove* carried
        int32_t n_rows, n_results, n_carried, end


@cython.final
cdef class ScalarBytecode:
    cdef int32_t* code
    cdef int32_t n, capacity            # words
    cdef void** functions
    cdef int32_t n_functions, cap_functions
    cdef uint8_t* is_local              # of each operation: whether its result is read by this code alone
    cdef int32_t n_operations
    cdef int64_t runs, worth            # runs so far, of bytecode; and from when on machine code pays, or 0
    cdef MachineCode machine
    cdef size_t machine_bytes

    cdef void run(self, Slot* u) noexcept nogil


@cython.final
cdef class ScalarLoop:
    """A loop of such code alone, whose steps take and give numbers."""

    cdef ScalarBytecode bytecode
    cdef LoopForm form
    cdef LoopMove* moves                # all of the form
    cdef int32_t n_moves, numbers
    cdef int64_t runs, worth            # steps so far, and from when on machine code pays
    cdef MachineLoop machine
    cdef size_t machine_bytes

    cdef MachineLoop made(self, int64_t steps) noexcept nogil


cdef ScalarBytecode scalar_bytecode(const Step* steps, int32_t n, const int32_t* reads, int32_t* maker,
                                    int32_t registers)
cdef ScalarLoop scalar_loop(ScalarBytecode bytecode, int32_t numbers, int32_t n_rows, int32_t n_results,
                            int32_t n_carried)
