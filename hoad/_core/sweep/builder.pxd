from hoad._core.sweep.hash_consing cimport Appender
from hoad._core.graph.tape cimport int32_t, uint8_t, uint16_t

cdef enum:
    FIRST_LEAF = 2
    LEAVES = 6
    PLACES = 96         # of the longest rule on scalars; below 256, so that a place is a byte

cdef struct RuleStep:       # op(a, b) on scalars; operands are places
    uint16_t op
    uint8_t a
    uint8_t b
    uint8_t special     # so is its result
    uint8_t commutative
    uint8_t flags       # of its result, if no operand is special

# A rule on scalars, ready to be inlined. Its places hold: the symbolic zero, the mark for no second operand, six
# leaves, the constants, and what each step gives.
cdef struct ScalarRule:
    RuleStep* steps
    double* constants
    int n_constants
    int n_steps
    uint8_t outputs[2]
    uint8_t leaves[LEAVES]      # the leaves that steps and outputs ask for
    int n_leaves
    bint negated[2]     # the output is minus what its place holds

cdef struct Places:
    int32_t operand[PLACES]
    bint special[PLACES]


cdef class Builder(Appender):
    cdef int32_t emit_special(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int inline_rule(self, const ScalarRule* rule, Places* at) except -1
