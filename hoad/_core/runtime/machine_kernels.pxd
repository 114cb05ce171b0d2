cimport cython

from libc.stdint cimport int32_t, int64_t

from hoad._core.runtime.row_instruction cimport Instruction, RowPlace

cdef extern from "machine_code.h":
    enum:
        NOTHING, ADD, SUBTRACT, SUBTRACT_FROM, MULTIPLY, DIVIDE
        TAKE, ADD_TO_ZERO, NEGATE, ABSOLUTE, SQUARE_ROOT, RECIPROCAL, SIGN
        LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL, MAXIMUM, MINIMUM
        MASK, STRONG_MULTIPLY, STRONG_DIVIDE, SELECT
    enum:
        IS_MADE, IN_ROW, IN_ARRAY, IS_SLOT, IS_ITEM
    ctypedef struct BlockValue:
        int32_t home, at, row, array
    ctypedef struct BlockOperation:
        int32_t first, then, a, b, c, out
    ctypedef void (*BlockCode)(char**, double*, double*, int64_t) noexcept nogil

cdef enum:
    MOST_ARRAYS = 64            # of a kernel

cdef struct MachineKernel:            # instructions that follow each other and are arithmetic
    int32_t first, end          # of the fused loop
    int64_t low, high           # coordinates that all of them cover
    int64_t lowest, highest     # and those that any of them does
    BlockOperation* operations
    BlockValue* values
    int32_t* arrays             # their places
    int32_t n_operations, n_values, n_arrays
    BlockCode code
    size_t nbytes


@cython.final
cdef class MachineKernels:
    """The kernels of a fused loop."""

    cdef MachineKernel* kernels
    cdef int32_t n_kernels, capacity
    cdef int32_t n_rows
    cdef int64_t runs, worth    # blocks so far, and from when on machine code pays
    cdef bint is_ready

    cdef void count(self, int64_t blocks) noexcept nogil
    cdef MachineKernel* at(self, int32_t k) noexcept nogil


cdef MachineKernels machine_kernels(const Instruction* code, int32_t n_code, const RowPlace* places, int32_t n_rows,
                                    const int32_t* remembered, int32_t n_remembered)
