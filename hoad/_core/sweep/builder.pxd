"""Appending nodes to a graph, simplified."""

from hoad._core.graph.primitive cimport Primitive, Signature
from hoad._core.graph.tape cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from hoad._core.sweep.slopes cimport Appender

cdef struct TableEntry:
    uint32_t tag        # bits of the hash, so that another node is seldom looked at in vain
    int32_t node        # 0 is empty, else node + 1

ctypedef uint16_t State

cdef enum:               # what is known of a node in a reverse sweep: bits of its State
    DEPENDS = 1         # on an input of the sweep, differentiably
    IS_INPUT = 2
    OTHER_KIND = 4      # no float64 scalar
    NEGATED = 8         # its adjoint so far is minus the operand kept for it
    DEPENDS_A = 16      # its first operand depends
    DEPENDS_B = 32
    PLAIN = 64          # an operation on float64 scalars
    SPECIAL = 128       # see `Builder.is_special`
    SPECIAL_BAR = 256   # its adjoint so far is special

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

# A rule on scalars, ready to be inlined. Its places hold: the symbolic zero, what stands for no second operand, six
# leaves, the constants, and what each step gives.
cdef struct ScalarRule:
    RuleStep* steps
    double* constants
    int n_constants
    int n_steps
    uint8_t outputs[2]
    bint negated[2]     # the output is minus what its place holds

cdef struct Places:
    int32_t operand[PLACES]
    bint special[PLACES]

cdef bint carries_slopes(uint16_t op) noexcept


cdef class Builder(Appender):
    cdef TableEntry* table           # nodes by the hash of what they compute
    cdef int32_t rows, used     # rows: a power of two
    cdef int shift              # 64 - log2(rows): rows are found by the high bits of a hash
    cdef bint thorough          # a tape is being emitted that may be swept again and again
    cdef bint complete          # of all it appends, equal nodes are one, however many there are
    cdef bint learned           # the nodes that the builder found are in the table
    cdef bint lossy             # newer nodes push out older ones

    cdef inline int32_t emit(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t emit_special(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef inline bint is_special(self, int32_t operand) noexcept
    cdef int splice(self, const ScalarRule* rule, Places* at) except -1
    cdef int32_t pull_back_plain(self, ScalarRule** rules, int32_t node, int32_t* bar, State* state,
                                 int32_t low) except? -1
    cdef inline int pull_back(self, const ScalarRule* rule, int32_t node, int32_t* bar, State* state,
                              int32_t low) except -1
    cdef int accumulate(self, int32_t* bar, State* state, int32_t adjoint, bint negated) except -1
    cdef inline int accumulate_float(self, int32_t* bar, State* state, int32_t adjoint, bint special,
                                     bint negated) except -1
    cdef int32_t emit_pair(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t negative(self, int32_t a) except? -1
    cdef int32_t emit_wide(self, Primitive primitive, object params, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1
    cdef int32_t item(self, int32_t x, int32_t offset) except? -1
    cdef int32_t assemble(self, int32_t aval, const int32_t* operands, int32_t count, object offsets,
                          object parts) except? -1
    cdef int32_t copy(self, int32_t operand) except? -1
    cdef int32_t noted(self, int32_t operand, int32_t swept, int32_t target, int32_t part) except? -1
    cdef int32_t zeros(self, int32_t aval) except? -1
    cdef int learn(self, int32_t start, int32_t stop) except -1
    cdef int remember(self, uint64_t h, int32_t node) except -1
    cdef int widen(self) except -1
    cdef uint64_t hash_of(self, int32_t node) noexcept
    cdef int32_t find_wide(self, uint64_t h, Signature sig, const int32_t* operands, int32_t count) noexcept
    cdef inline bint is_const(self, int32_t operand) noexcept
    cdef inline bint is_number(self, int32_t operand, double value) noexcept
    cdef inline bint is_fraction(self, int32_t operand) noexcept
    cdef inline bint is_integral(self, int32_t operand) noexcept
    cdef inline bint is_strong(self, int32_t operand) noexcept
    cdef inline bint is_sloped(self, int32_t operand) noexcept
    cdef int32_t push_sloped(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef inline bint is_op(self, int32_t operand, uint16_t op) noexcept
    cdef inline int32_t first_operand(self, int32_t node) noexcept
    cdef inline int32_t push(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t found_or_pushed(self, uint16_t op, uint16_t flags, int32_t a, int32_t b) except? -1
    cdef inline uint16_t flags_of(self, uint16_t op, int32_t a, int32_t b) noexcept
    cdef int32_t strengthen(self, uint16_t op, int32_t* a, int32_t* b) except -1
    cdef bint holds(self, int32_t operand, double value) noexcept
    cdef bint has_no_zero(self, int32_t operand) except -1
    cdef int32_t emit_zero(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t simplified(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t fold(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t simplified_product(self, int32_t a, int32_t b) except? -1
    cdef int32_t simplified_strong_product(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t simplified_quotient(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t simplified_parts(self, uint16_t op, const int32_t* operands) noexcept
    cdef int32_t folded_wide(self, Primitive primitive, const int32_t* operands, int32_t count, int32_t aval) except? -1
    cdef int32_t turned_back(self, int32_t operand, object params) except? -1
    cdef bint both_scalar(self, const int32_t* operands) noexcept
    cdef int32_t push_wide(self, Signature sig, const int32_t* operands, int32_t count) except? -1
    cdef uint16_t strength(self, Primitive primitive, const int32_t* operands, int32_t count) noexcept
    cdef int32_t zero_wide(self, Primitive primitive, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1
    cdef int32_t masked(self, const int32_t* operands, int32_t aval) except? -1
    cdef int32_t broadcast(self, int32_t operand, int32_t aval) except? -1
    cdef int skip_broadcasts(self, int32_t* operands, int32_t count, int32_t aval) except -1
    cdef int32_t simplified_wide(self, uint16_t op, const int32_t* operands, int32_t count, int32_t aval) except? -1
    cdef int32_t push_unary(self, uint16_t op, int32_t a) except? -1
    cdef int32_t push_pair(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef bint is_zero(self, int32_t operand) except -1
    cdef inline bint is_truth(self, int32_t operand) noexcept
