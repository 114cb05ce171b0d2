"""Runs: operations on rows, and the fused loops they join."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.runtime.engine cimport Lowered
from hoad._core.runtime.access_pattern cimport AccessPattern

cdef enum:
    NONE = -1

cdef enum SourceKind:             # where a number lies
    IN_SLOT
    IN_RUN
    IN_ARRAY

cdef enum Work:             # what a run does
    OPERATION               # `op` on its sources
    COPY
    STORE                   # the same, at every so many places
    ZEROS
    SUM                     # of its source, to a slot
    SUMS_ALONG              # of its source along an axis, to an array

cdef struct Source:         # what a run reads on one side
    int32_t kind
    int32_t of              # which run, or the register of the array
    int64_t start, stride   # where it lies: a register of numbers, or a place in the run or the array
    const AccessPattern* view        # where `stride` does not say it, or NULL
    bint gathered           # its numbers lie anywhere
    int32_t wait            # the first stage in which it can be read from memory
    bint minus              # its negative is meant
    bint is_truth           # booleans, where they lie in an array

cdef struct VectorOp:
    uint8_t work
    uint8_t sides           # how many sources
    uint16_t op
    int32_t first, count    # members
    Source source[3]
    void* loop              # of NumPy, for what has no kernel, or NULL
    void* data
    int32_t stage
    int32_t chain
    int64_t low             # coordinate of the first member
    int32_t home            # the register of the array that the results are written to, or SLOTS
    int64_t base            # where in it
    int64_t step            # from one of them to the next there
    bint kept               # somebody reads the results but the fused loop
    bint is_truth           # they are booleans
    int64_t along, behind   # of sums along an axis: its length, and the numbers behind it
    int32_t next            # in the fused loop
    int32_t row, last       # of the block; the last run of the fused loop that reads it
    int32_t users           # how many sources of the fused loop it is
    int32_t inner           # a run that is done together with this one
    int32_t again           # the run that this one does again, or NONE
    bint is_inner
    bint remembered         # it is read at coordinates a little earlier
    bint is_free            # nobody would mind if it held its negative
    bint minus              # it does, or it is a negation that its readers look through
    bint leads              # of a difference: the negative of the first is meant
    int64_t reach           # how many before a block its fused loop reads, also by way of others

cdef struct Link:           # a fused loop to be
    int32_t stage
    int64_t count           # members of its first run
    int32_t head, tail      # runs

cdef class RowAllocator:
    cdef list free
    cdef list borrowed      # by one instruction
    cdef dict last          # loads: the last run that reads each
    cdef dict loaded        # the rows of those that are there
    cdef int32_t now        # the run that is put in the fused loop
    cdef int32_t count

    cdef int32_t new(self) except -1
    cdef int32_t take(self) except -1
    cdef int32_t borrow(self) except -1
    cdef int32_t hold(self, tuple load) except -1
    cdef int give_back(self) except -1

cdef class Fusion:
    cdef Lowered program
    cdef VectorOp* runs
    cdef int32_t n_runs, cap_runs
    cdef Link* links
    cdef int32_t n_links, cap_links
    cdef int32_t stages
    cdef int32_t minus_one          # the register of that number, or NONE

    cdef VectorOp* new_run(self, int32_t work, int32_t op, int64_t count, int32_t sides) except NULL
    cdef int settle(self) except -1
    cdef int join(self) except -1
    cdef int do_again(self) except -1
    cdef bint is_worth_again(self, VectorOp* run, Source* source, int32_t stage) noexcept
    cdef int32_t stage_of_run(self, VectorOp* run) noexcept
    cdef bint joins(self, Source* source, int32_t stage) noexcept
    cdef int32_t chain_for(self, int32_t stage, int64_t count) except -2
    cdef void append(self, int32_t chain, int32_t number) noexcept
    cdef int64_t shift(self, VectorOp* run, Source* source) noexcept
    cdef int note_use(self, VectorOp* run, Source* source) except -1
    cdef int give_room(self, VectorOp* run) except -1
    cdef list chains_of(self)
    cdef FusedLoop build(self, int32_t number)
    cdef list members(self, int32_t number)
    cdef bint reads_row(self, VectorOp* run, Source* source) noexcept
    cdef bint is_within(self, int32_t number, Source* source) noexcept
    cdef list in_turn(self, list members)
    cdef int find_ends(self, RowAllocator rows, list members) except -1
    cdef int absorb_signs(self, int32_t number, list members) except -1
    cdef void look_through(self, int32_t number, Source* source) noexcept
    cdef int take_signs(self, VectorOp* run) except -1
    cdef int find_reach(self, int32_t number, list members) except -1
    cdef int add_instruction(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1
    cdef int pair(self, list members) except -1
    cdef int32_t partner(self, VectorOp* run, int32_t side) noexcept
    cdef int add_led(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1
    cdef int32_t place_of_minus_one(self, FusedLoop chain) except -1
    cdef int add_pair(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1
    cdef int add_selection(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1
    cdef int add_operation(self, FusedLoop chain, RowAllocator rows, int32_t k) except -1
    cdef int add_gathered(self, FusedLoop chain, RowAllocator rows, VectorOp* run) except -1
    cdef int add_bytes(self, FusedLoop chain, RowAllocator rows, VectorOp* run) except -1
    cdef bint is_in_row(self, VectorOp* run, Source* source) noexcept
    cdef int release(self, RowAllocator rows, VectorOp* run, int32_t k) except -1
    cdef int32_t result(self, FusedLoop chain, RowAllocator rows, VectorOp* run) except -1
    cdef int32_t place_of_source(self, FusedLoop chain, VectorOp* run, Source* source) except -1
    cdef int32_t row_of(self, FusedLoop chain, RowAllocator rows, VectorOp* run, int32_t side, bint number) except -1
    cdef int32_t base_of(self, FusedLoop chain, Source* source) except -1
    cdef int32_t* table(self, FusedLoop chain, VectorOp* run, int32_t side) except NULL

cdef int32_t add_preset(Lowered program, double value) except -1
cdef int more_registers(Lowered program, int32_t count) except -1
