"""Fusion: vector operations, each one operation on rows, join fused loops.

Time is cut into *stages*: in odd ones fused loops work on vector operations, in even ones single steps on what is left.
A vector operation waits for the stage of its operands, except that it joins the fused loop that makes them where it
reads them at its own coordinate or at an earlier one. What is read otherwise than at its own coordinate, or by anything
but its fused loop, is kept in memory.
"""

from hoad._core.base.blocks cimport appended, give, reserve
from hoad._core.lower.rewrite cimport more_registers
from hoad._core.runtime.row_instruction cimport BLOCK, SLOTS

from hoad._core.graph.tape cimport OP_NEGATIVE

cdef enum:
    LOOPS_TRIED = 8             # the latest, for a vector operation that may join any


cdef class Fusion:
    """The vector operations of a program, and the fused loops they join; what they come of is its child's business."""

    def __cinit__(self, *_):
        self.minus_one = NONE

    def __dealloc__(self):
        give(self.vectors, self.cap_vectors * sizeof(VectorOp))
        give(self.loops, self.cap_loops * sizeof(LoopPlan))

    cdef int32_t* table(self, FusedLoop loop, VectorOp* vector, int32_t side) except NULL:
        """Which numbers the members of a vector operation gather."""
        raise NotImplementedError


cdef VectorOp* new_vector(Fusion fusion, int32_t work, int32_t op, int64_t count, int32_t sides) except NULL:
    """A vector operation that is to be given its sources, and then to `join`."""
    reserve(<void**>&fusion.vectors, &fusion.cap_vectors, fusion.n_vectors + 1, sizeof(VectorOp))
    cdef VectorOp* vector = &fusion.vectors[fusion.n_vectors]
    vector.work, vector.op, vector.sides = <uint8_t>work, <uint16_t>op, <uint8_t>sides
    vector.first, vector.count = 0, <int32_t>count
    vector.ufunc_loop = vector.ufunc_data = NULL
    vector.home, vector.base, vector.step = SLOTS, NONE, 1
    vector.is_truth = False
    unplace(vector, 1)
    return vector


cdef void unplace(VectorOp* vector, int32_t stage) noexcept:
    """Let a vector operation be in no fused loop yet."""
    vector.stage, vector.loop, vector.low, vector.kept = stage, NONE, 0, False
    vector.next = vector.row = vector.last = vector.inner = vector.original = vector.second = NONE
    vector.is_second = False
    vector.users, vector.is_inner, vector.remembered, vector.reach = 0, False, False, 0
    vector.is_free, vector.minus, vector.leads = True, False, False


cdef int join(Fusion fusion) except -1:
    """Find stage, fused loop and coordinate of the new vector operation, whose sources are known."""
    rematerialize(fusion)
    return find_loop(fusion)


cdef int rematerialize(Fusion fusion) except -1:
    """Let sources of the new vector operation be made once more where they would be kept in memory till then."""
    cdef VectorOp vector = fusion.vectors[fusion.n_vectors]
    cdef VectorOp* made
    cdef int32_t side, of
    cdef int32_t stage = stage_of(fusion, &vector)
    for side in range(vector.sides):
        if not is_cheap(fusion, &vector, &vector.source[side], stage):
            continue
        of = vector.source[side].of
        reserve(<void**>&fusion.vectors, &fusion.cap_vectors, fusion.n_vectors + 2, sizeof(VectorOp))
        made = &fusion.vectors[fusion.n_vectors]
        made[0] = fusion.vectors[of]
        unplace(made, stage)
        made.original = of
        find_loop(fusion)
        vector.source[side].of = fusion.n_vectors - 1
    fusion.vectors[fusion.n_vectors] = vector
    return 0


cdef bint is_cheap(Fusion fusion, const VectorOp* vector, const Source* source, int32_t stage) noexcept:
    """Whether a source from an earlier stage is a sum, product or negation of one array in memory anyway."""
    cdef const Source* read
    cdef int32_t side
    cdef int arrays = 0
    if not may_join(source) or source.start:
        return False
    cdef const VectorOp* other = &fusion.vectors[source.of]
    if (other.stage >= stage or other.count != vector.count or other.work != OPERATION or other.home == SLOTS
            or first_of(other.op) < 0 and other.op != OP_NEGATIVE):
        return False
    for side in range(other.sides):
        read = &other.source[side]
        if read.gathered or read.view != NULL or read.is_truth:
            return False
        if read.stride:
            arrays += 1
            if read.stride != 1 or read.kind == IN_SLOT or (
                    read.kind == IN_VECTOR and not fusion.vectors[read.of].kept):
                return False
    return arrays == 1


cdef int32_t stage_of(Fusion fusion, const VectorOp* vector) noexcept:
    """The first stage in which a vector operation can read its sources."""
    cdef const Source* source
    cdef int32_t stage = vector.stage
    cdef int32_t side
    for side in range(vector.sides):
        source = &vector.source[side]
        stage = max(stage, fusion.vectors[source.of].stage if may_join(source) else source.wait)
    return stage


cdef int find_loop(Fusion fusion) except -1:
    """Put the new vector operation in a fused loop."""
    cdef int32_t number = fusion.n_vectors
    cdef VectorOp* vector = &fusion.vectors[number]
    cdef VectorOp* other
    cdef Source* source
    cdef int32_t side
    vector.stage = stage_of(fusion, vector)
    for side in range(vector.sides):
        vector.source[side].minus = False
    for side in range(vector.sides):
        source = &vector.source[side]
        if not may_join(source) or fusion.vectors[source.of].stage != vector.stage:
            continue
        other = &fusion.vectors[source.of]
        if vector.loop != NONE and vector.loop != other.loop:       # two fused loops cannot be one any more
            wait_longer(vector)
            break
        vector.low = max(vector.low, other.low + source.start) if vector.loop != NONE else other.low + source.start
        vector.loop = other.loop
    if vector.work == SUM and vector.low % BLOCK or vector.work == SUMS_ALONG and vector.low:
        wait_longer(vector)         # its blocks are to be its own, whatever fused loop it is in
    if vector.loop == NONE:
        vector.loop = loop_for(fusion, vector.stage, vector.count)
    fusion.stages = max(fusion.stages, vector.stage + 1)
    cdef LoopPlan* plan = &fusion.loops[vector.loop]
    if plan.tail == NONE:
        plan.head = number
    else:
        fusion.vectors[plan.tail].next = number
    plan.tail = number
    fusion.n_vectors += 1
    for side in range(vector.sides):
        note_use(fusion, vector, &vector.source[side])
    return 0


cdef void wait_longer(VectorOp* vector) noexcept:
    """Leave a fused loop for one of the next stage."""
    vector.stage += 2
    vector.loop, vector.low = NONE, 0


cdef int32_t loop_for(Fusion fusion, int32_t stage, int64_t count) except -2:
    """A fused loop of that stage for a vector operation that joins none by its operands."""
    cdef int32_t k
    cdef int64_t difference
    cdef LoopPlan* plan
    for k in range(fusion.n_loops - 1, max(fusion.n_loops - 1 - LOOPS_TRIED, -1), -1):
        plan = &fusion.loops[k]
        difference = plan.count - count
        if plan.stage == stage and -plan.count <= 8 * difference <= plan.count:
            return k
    plan = <LoopPlan*>appended(<void**>&fusion.loops, &fusion.cap_loops, &fusion.n_loops, sizeof(LoopPlan))
    plan.stage, plan.count = stage, count
    plan.head = plan.tail = NONE
    return fusion.n_loops - 1


cdef int note_use(Fusion fusion, VectorOp* vector, Source* source) except -1:
    """Keep what is read from beyond its block."""
    if source.kind != IN_VECTOR or source.gathered:
        return 0
    cdef VectorOp* other = &fusion.vectors[source.of]
    if reads_row(fusion, vector, source):
        other.users += 1
        other.remembered = other.remembered or shift(fusion, vector, source) > 0
    else:
        keep_result(fusion, other)
    return 0


cdef int keep_result(Fusion fusion, VectorOp* vector) except -1:
    """Keep the results of a vector operation: in its array, or in slots that follow each other."""
    vector.kept = True
    if vector.original != NONE:
        fusion.vectors[vector.original].kept = True         # in whose row of the block it is
    if vector.home == SLOTS and vector.base == NONE:
        vector.base = fusion.program.n_uniform
        more_registers(fusion.program, vector.count)
    return 0
