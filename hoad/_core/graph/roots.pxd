from hoad._core.graph.tape cimport Graph, int32_t, uint16_t, uint8_t

cdef enum:
    MOST_OPERATIONS = 1024
    DEEPEST = 3             # operations between a square and the root

cdef uint8_t ROOTS[MOST_OPERATIONS]

cdef bint has_root(Graph graph, int32_t operand, int depth) noexcept

cdef inline bint may_be_root(Graph graph, int32_t operand) noexcept:
    """Whether it is a root, or what may be one times something."""
    return operand >= 0 and ROOTS[graph.nodes[operand].op & (MOST_OPERATIONS - 1)] != 0

cdef inline bint are_roots(Graph graph, int32_t a, int32_t b) noexcept:
    """Whether both may have a root, of which the product has the square."""
    return has_root(graph, b, DEEPEST) and has_root(graph, a, DEEPEST)

cdef object smoothed(object result, uint16_t op, object x, object y)
