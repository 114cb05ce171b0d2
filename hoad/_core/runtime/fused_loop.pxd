cimport cython

from libc.stdint cimport int32_t, int64_t

from hoad._core.graph.tape cimport Slot
from hoad._core.runtime.machine_kernels cimport MachineKernels
from hoad._core.runtime.row_instruction cimport Instruction, RowPlace


@cython.final
cdef class FusedLoop:
    cdef RowPlace* places
    cdef int32_t n_places, cap_places
    cdef Instruction* code
    cdef int32_t n_code, cap_code
    cdef int32_t n_rows         # of a block
    cdef int32_t* remembered    # rows whose last numbers are kept for the next block
    cdef int32_t n_remembered, cap_remembered
    cdef int32_t n_sums
    cdef int32_t** tables       # of what is gathered
    cdef int32_t n_tables, cap_tables
    cdef int64_t low, high      # coordinates that any instruction covers
    cdef int64_t reach          # the longest of an instruction
    cdef int64_t grain          # coordinates that belong together: a part ends where they do
    cdef int64_t cost           # numbers that it goes through
    cdef bint is_whole          # it is not to be cut
    cdef MachineKernels machine  # machine code of what is arithmetic, or None

    cdef int32_t add_place(self, int32_t space, int32_t row, int64_t start, int64_t stride) except -1
    cdef Instruction* add(self, int32_t move, void* function, int32_t a, int32_t b, int32_t out, int64_t low,
                          int64_t high) except NULL
    cdef void read_back(self, int32_t first, int64_t reach) noexcept
    cdef int remember(self, int32_t row) except -1
    cdef int32_t* new_table(self, int64_t count) except NULL
    cdef int64_t scratch(self) noexcept
    cdef int32_t threads(self) noexcept nogil
    cdef void run(self, Slot* u, char* scratch, int32_t threads) noexcept nogil
    cdef void hold_together(self, int64_t grain) noexcept
