"""Whether a product may be one of a root with itself.

|x|, a hypotenuse, a norm and a square root have a kink at 0, or a pole there; their squares have none. What is recorded
for a square is looked at here, without objects, and found to be one of a root or not by what `bind_roots` was given.
"""

from hoad._core.graph.tape cimport OP_DIVIDE, node_operands

cdef object find_smooth = None

cdef enum:
    IS_ROOT = 1
    CARRIES = 2


cdef bint has_root(Graph graph, int32_t operand, int depth) noexcept:
    """Whether it is a root, or made of one by what a square passes through."""
    cdef int32_t k, n
    if not may_be_root(graph, operand):
        return False
    if ROOTS[graph.nodes[operand].op] == IS_ROOT:
        return True
    if depth == 0:
        return False
    cdef const int32_t* operands = node_operands(graph, operand, &n)
    for k in range(1 if graph.nodes[operand].op == OP_DIVIDE else n):
        if has_root(graph, operands[k], depth - 1):
            return True
    return False


cdef object smoothed(object result, uint16_t op, object x, object y):
    """`result`, which is ``op(x, y)``; if a form of it without the root is found, with the derivatives of that form."""
    return find_smooth(op, x, y, result)


def bind_roots(list roots, list carriers, smooth):
    """Say which operations are roots, through which a square passes, and who finds what it is without a root."""
    global find_smooth
    for op in roots:
        ROOTS[op] = IS_ROOT
    for op in carriers:
        ROOTS[op] = CARRIES
    find_smooth = smooth
