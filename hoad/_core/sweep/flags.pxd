from libc.math cimport fabs, floor

from hoad._core.graph.primitive cimport INFO, Primitive
from hoad._core.graph.tape cimport (
    ARITY, AVAL_BOOL, AVAL_FLOAT, F_BOOL, F_SLOPED, F_STRONG, OP_MULTIPLY, OP_NEGATIVE, OP_STRONG_MULTIPLY,
    OP_STRONG_MULTIPLY_BOTH, ZERO, Graph, Node, int32_t, node_operands, operand_aval, uint16_t,
)

cdef bint array_holds(Graph graph, int32_t operand, double value) noexcept
cdef bint is_zero(Graph graph, int32_t operand) except -1
cdef bint has_no_zero(Graph graph, int32_t operand) except -1
cdef uint16_t passed_on(uint16_t op, uint16_t of_a, uint16_t of_b) noexcept
cdef uint16_t wide_flags(Graph graph, Primitive primitive, const int32_t* operands, int32_t count) noexcept


cdef inline bint is_product(uint16_t op) noexcept nogil:
    return op == OP_MULTIPLY or op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH


cdef inline bint is_const(Graph graph, int32_t operand) noexcept:
    """Whether it is a constant number (not an array)."""
    return ZERO < operand < 0 and graph.consts[~operand].aval <= AVAL_BOOL


cdef inline bint is_number(Graph graph, int32_t operand, double value) noexcept:
    return (ZERO < operand < 0 and graph.consts[~operand].aval == AVAL_FLOAT
            and graph.consts[~operand].value.d == value)


cdef inline bint is_integral(Graph graph, int32_t operand) noexcept:
    cdef double value
    if not (ZERO < operand < 0 and graph.consts[~operand].aval == AVAL_FLOAT):
        return False
    value = graph.consts[~operand].value.d
    return fabs(value) < 1e6 and value == floor(value) and value != 0.0


cdef inline bint is_fraction(Graph graph, int32_t operand) noexcept:
    """Whether it is a constant with which a product is never simplified."""
    cdef double value
    if not (ZERO < operand < 0 and graph.consts[~operand].aval == AVAL_FLOAT):
        return False
    value = graph.consts[~operand].value.d
    return value != floor(value)


cdef inline bint is_boolean(Graph graph, int32_t operand) noexcept:
    return operand_aval(graph, operand) == AVAL_BOOL


cdef inline bint is_strong(Graph graph, int32_t operand) noexcept:
    return operand >= 0 and graph.nodes[operand].flags & F_STRONG


cdef inline bint is_sloped(Graph graph, int32_t operand) noexcept:
    return operand >= 0 and graph.nodes[operand].flags & F_SLOPED


cdef inline bint is_op(Graph graph, int32_t operand, uint16_t op) noexcept:
    return operand >= 0 and graph.nodes[operand].op == op


cdef inline int32_t first_operand(Graph graph, int32_t node) noexcept:
    cdef int32_t count
    return node_operands(graph, node, &count)[0]


cdef inline bint is_special(Graph graph, int32_t operand) noexcept:
    """Whether an operation on it may be simplified, or is another one: constants, signs, strong zeros, booleans."""
    cdef const Node* node
    if operand < 0:
        return True
    node = &graph.nodes[operand]
    return node.flags & (F_STRONG | F_BOOL | F_SLOPED) or node.op == OP_NEGATIVE


cdef inline bint holds(Graph graph, int32_t operand, double value) noexcept:
    """As `is_number`, also for constants of complex numbers that all have this value."""
    if not ZERO < operand < 0:
        return False
    if graph.consts[~operand].aval == AVAL_FLOAT:
        return graph.consts[~operand].value.d == value
    return graph.consts[~operand].aval > AVAL_BOOL and array_holds(graph, operand, value)


cdef inline uint16_t flags_of(Graph graph, int32_t operand) noexcept:
    return graph.nodes[operand].flags if operand >= 0 else 0


cdef inline uint16_t scalar_flags(Graph graph, uint16_t op, int32_t a, int32_t b) noexcept:
    """The flags of ``op(a, b)`` on numbers: a boolean, strong zeros, slopes."""
    cdef uint16_t of_a = flags_of(graph, a)
    cdef uint16_t of_b = flags_of(graph, b) if ARITY[op] == 2 else 0
    if (of_a | of_b) & (F_STRONG | F_SLOPED):
        return INFO[op].flags | passed_on(op, of_a, of_b)
    return INFO[op].flags
