"""Vector operations, and the fused loops that they join."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from hoad._core.graph.tape cimport OP_ADD, OP_MULTIPLY, OP_SQUARE, OP_SUBTRACT
from hoad._core.kernels.vector cimport FIRST_ADD, FIRST_LESS, FIRST_TIMES
from hoad._core.runtime.access_pattern cimport AccessPattern
from hoad._core.runtime.engine cimport Lowered
from hoad._core.runtime.fused_loop cimport FusedLoop
from hoad._core.runtime.row_instruction cimport MARGIN

cdef enum:
    NONE = -1

cdef enum SourceKind:       # where a number lies
    IN_SLOT
    IN_VECTOR
    IN_ARRAY

cdef enum Work:             # what a vector operation does
    OPERATION               # `op` on its sources
    COPY
    STORE                   # the same, at every so many places
    ZEROS
    SUM                     # of its source, to a slot
    SUMS_ALONG              # of its source along an axis, to an array

cdef struct Source:         # what a vector operation reads on one side
    int32_t kind
    int32_t of              # which vector operation, or the register of the array
    int64_t start, stride   # where it lies: a register of numbers, or a place in the results or the array
    const AccessPattern* view        # where `stride` does not say it, or NULL
    bint gathered           # its numbers lie anywhere
    int32_t wait            # the first stage in which it can be read from memory
    bint minus              # its negative is meant
    bint is_truth           # booleans, where they lie in an array

cdef struct VectorOp:       # one operation on rows of numbers
    uint8_t work
    uint8_t sides           # how many sources
    uint16_t op
    int32_t first, count    # members
    Source source[3]
    void* ufunc_loop        # of NumPy, for what has no kernel, or NULL
    void* ufunc_data
    int32_t stage
    int32_t loop
    int64_t low             # coordinate of the first member
    int32_t home            # the register of the array that the results are written to, or SLOTS
    int64_t base            # where in it
    int64_t step            # from one of them to the next there
    bint kept               # somebody reads the results but the fused loop
    bint is_truth           # they are booleans
    int64_t along, behind   # of sums along an axis: its length, and the numbers behind it
    int32_t next            # in the fused loop
    int32_t row, last       # of the block; the last vector operation of the fused loop that reads it
    int32_t users           # how many sources of the fused loop it is
    int32_t inner           # another that is done together with this one
    int32_t second          # another function of the same numbers, whose results come with those of this one, or NONE
    bint is_second
    int32_t original        # the one that this one does once more, or NONE
    bint is_inner
    bint remembered         # it is read at coordinates a little earlier
    bint is_free            # nobody would mind if it held its negative
    bint minus              # it does, or it is a negation that its readers look through
    bint leads              # of a difference: the negative of the first is meant
    int64_t reach           # how many before a block its fused loop reads, also by way of others

cdef struct LoopPlan:       # a fused loop to be
    int32_t stage
    int64_t count           # members of its first vector operation
    int32_t head, tail      # vector operations

cdef class Fusion:
    cdef Lowered program
    cdef VectorOp* vectors
    cdef int32_t n_vectors, cap_vectors
    cdef LoopPlan* loops
    cdef int32_t n_loops, cap_loops
    cdef int32_t stages
    cdef int32_t minus_one          # the register of that number, or NONE

    cdef int32_t* table(self, FusedLoop loop, VectorOp* vector, int32_t side) except NULL

cdef VectorOp* new_vector(Fusion fusion, int32_t work, int32_t op, int64_t count, int32_t sides) except NULL
cdef int join(Fusion fusion) except -1
cdef int keep_result(Fusion fusion, VectorOp* vector) except -1


cdef inline bint may_join(const Source* source) noexcept:
    """Whether a vector operation may join the fused loop that makes a source of it."""
    return source.kind == IN_VECTOR and source.stride == 1 and source.view == NULL and not source.gathered


cdef inline int64_t shift(Fusion fusion, const VectorOp* vector, const Source* source) noexcept:
    """How many coordinates before its own a vector operation reads another of its fused loop."""
    return vector.low - fusion.vectors[source.of].low - source.start


cdef inline bint reads_row(Fusion fusion, const VectorOp* vector, const Source* source) noexcept:
    """Whether a source is read from a row of the block."""
    return (may_join(source) and fusion.vectors[source.of].loop == vector.loop
            and shift(fusion, vector, source) <= MARGIN)


cdef inline int first_of(uint16_t op) noexcept:
    """The place of an operation in a pair, or -1."""
    if op == OP_ADD:
        return FIRST_ADD
    if op == OP_SUBTRACT:
        return FIRST_LESS
    return FIRST_TIMES if op == OP_MULTIPLY or op == OP_SQUARE else -1
