"""Sections: the steps of a program on their way to runs."""

cimport cython

from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.runtime.engine cimport ArrayStep, Step
from hoad._core.lower.fusion cimport VectorOp, Fusion, Source
from hoad._core.graph.tape cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from hoad._core.runtime.access_pattern cimport Rowwise, AccessPattern

# What becomes of a step.
cdef enum Placement:
    SINGLE                  # it is done by itself
    IN_A_RUN
    AN_ITEM                 # read where it lies, or loaded
    A_VIEW                  # the same, of an array
    ONE_NUMBER              # an array of equal numbers: computed as one
    IN_PIECES               # put together: several runs


cdef struct At:             # where the operand of a member lies
    int32_t kind
    int32_t of
    int64_t index


@cython.final
cdef class Slp(Fusion):
    cdef Step* steps
    cdef int32_t n
    cdef int32_t registers          # before the runs had theirs
    cdef int32_t* maker             # of a register: the step that makes it, plus one
    cdef int32_t* moved             # of a register: where it went, plus one
    cdef int32_t* number            # of an array of equal numbers: the register of the number, plus one
    # of each step
    cdef uint64_t* isomorphism
    cdef int32_t* level
    cdef int32_t levels
    cdef int32_t* height            # of a register: the level of the step that makes it
    cdef int32_t noticed            # the stage of the latest step that is noticed from outside
    cdef dict known                 # arrays that are there before the run: which preset, by register
    cdef dict constants             # numbers that are there before the run, by register
    cdef uint16_t logical_not
    cdef set truths                 # registers of arrays of booleans that fused loops meet
    cdef int32_t* group
    cdef int32_t* order             # steps, by group
    cdef int32_t* run               # the run it is a member of
    cdef int32_t* at                # which member
    cdef int32_t* stage
    cdef uint8_t* placement
    cdef uint8_t* loaded            # it is done by itself too, as what it gives is asked for in memory
    cdef int64_t block              # bytes of these tables
    cdef char* memory
    cdef int32_t* starts            # of each group, in `order`
    cdef int32_t n_groups, cap_starts
    cdef At* found                  # the operands of a group, on both sides
    cdef int32_t cap_found
    cdef bint sees_through          # a product reads an operand through a view
    cdef Step* extra                # steps that compute the number of an array of equal ones, and their stages
    cdef int32_t* extra_stage
    cdef int32_t n_extra, cap_extra, cap_extra_stage

    cdef bint arrange(self) except -1
    cdef Rowwise rows_of(self, int32_t i)
    cdef bint is_noticed(self, int32_t i) noexcept
    cdef int make_tables(self) except -1
    cdef int find_levels(self) except -1
    cdef int find_isomorphic(self) except -1
    cdef uint64_t isomorphism_of(self, int32_t register) noexcept
    cdef int find_groups(self, bint by_isomorphism) except -1
    cdef bint is_wide(self, int32_t numbers) except -1
    cdef int sort(self) except -1
    cdef int split(self, int32_t first, int32_t end) except -1
    cdef int leave(self, int32_t first, int32_t end) except -1
    cdef int locate(self, int32_t first, int32_t end) except -1
    cdef At where(self, int32_t register) noexcept
    cdef bint is_backwards(self, int32_t count) noexcept
    cdef void reverse(self, int32_t first, int32_t end) noexcept
    cdef int32_t end_of_piece(self, int32_t start, int32_t count) noexcept
    cdef int32_t pieces(self, int32_t count) noexcept
    cdef int add_run(self, int32_t first, int32_t count, int32_t start, int32_t stop) except -1
    cdef int describe(self, Source* source, At* found, int32_t count) except -1
    cdef int32_t stage_of(self, At* found) noexcept
    cdef int32_t after(self, int32_t register, bint is_run) noexcept
    cdef int place(self, int32_t i) except -1
    cdef int see_through(self, int32_t i, ArrayStep* step) except -1
    cdef object sight(self, int32_t register, shape)
    cdef void wait_for(self, int32_t i, int32_t register) noexcept
    cdef int32_t operand(self, int32_t i, int32_t k) noexcept
    cdef bint place_rows(self, int32_t i, Rowwise rows) except -1
    cdef bint is_made_in_chain(self, int32_t register) except -1
    cdef int note_truths(self, int32_t i) except -1
    cdef int find_equal(self, int32_t register, int64_t size) except -1
    cdef bint is_constant(self, Source* source, double value) except -1
    cdef uint16_t simplified(self, uint16_t op, int64_t count) except? 0
    cdef bint is_made_whole(self, Source* source, int64_t count) noexcept
    cdef int find_zero(self, Source* source) except -1
    cdef int find_source(self, Source* source, int32_t register, const AccessPattern* view, int64_t start) except -1
    cdef int find_number(self, Source* source, int32_t register) except -1
    cdef int32_t after_number(self, int32_t i) noexcept
    cdef bint place_view(self, int32_t i, Rowwise rows, int32_t out) except -1
    cdef bint place_number(self, int32_t i, Rowwise rows, int32_t out) except -1
    cdef int add_extra(self, Step step, int32_t stage) except -1
    cdef bint place_pieces(self, int32_t i, Rowwise rows, int32_t out) except -1
    cdef int32_t add_stretch(self, int32_t i, Rowwise rows, int32_t out, int64_t low, int64_t high,
                             list covering) except -1
    cdef bint place_columns(self, int32_t i, Rowwise rows, int32_t out) except -1
    cdef int keep_array(self, int32_t register) except -1
    cdef int find_what_is_needed(self) except -1
    cdef int keep_register(self, int32_t register) except -1
    cdef int keep_gathered(self, VectorOp* run, int32_t side) except -1
    cdef int32_t now(self, int32_t register) noexcept
    cdef int forget_room(self) except -1
    cdef bint is_in_memory(self, int32_t register) noexcept
