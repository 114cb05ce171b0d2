"""What is known of operands, and of the results of operations on them: constants, strong zeros, slopes."""

cimport numpy as cnp

from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.tape cimport (
    OP_ADD, OP_ASSEMBLE, OP_COMPLEX, OP_DIVIDE, OP_IDENTITY, OP_ITEM, OP_MASK, OP_SLOPE, OP_SMOOTH, OP_SUBTRACT,
    AbstractValue, absorbs, aval_of, int64_t,
)

cnp.import_array()

# ---- constants

cdef bint array_holds(Graph graph, int32_t operand, double value) noexcept:
    """Whether a constant array holds complex numbers that all are this number."""
    cdef AbstractValue aval = aval_of(graph.consts[~operand].aval)
    if not aval.is_complex:
        return False
    cdef void* data = cnp.PyArray_DATA(<cnp.ndarray>graph.consts[~operand].value.o)
    if aval.itemsize == 2 * sizeof(double):
        return all_are(<double*>data, aval.size, value)
    return all_are(<float*>data, aval.size, value)


ctypedef fused part:
    float
    double


cdef bint all_are(const part* x, int64_t n, double value) noexcept nogil:
    """Whether n complex numbers, real and imaginary part by turns, are all this real one."""
    cdef int64_t i
    for i in range(n):
        if x[2 * i] != value or x[2 * i + 1] != 0:
            return False
    return n > 0


cdef bint is_zero(Graph graph, int32_t operand) except -1:
    """Whether it is a constant of zeros."""
    if operand >= 0 or operand == ZERO:
        return False
    if graph.consts[~operand].aval <= AVAL_BOOL:
        return graph.consts[~operand].value.d == 0.0
    return not (<object>graph.consts[~operand].value.o).any()


cdef bint has_no_zero(Graph graph, int32_t operand) except -1:
    """Whether it is a constant without a zero."""
    if operand >= 0 or operand == ZERO:
        return False
    if graph.consts[~operand].aval <= AVAL_BOOL:
        return graph.consts[~operand].value.d != 0.0
    return (<object>graph.consts[~operand].value.o).all()


# ---- flags of results

cdef uint16_t passed_on(uint16_t op, uint16_t of_a, uint16_t of_b) noexcept:
    """Strong zeros and slopes that the result of an operation on numbers has from operands with these flags."""
    cdef uint16_t flags = 0
    if op == OP_NEGATIVE or op == OP_ITEM or op == OP_IDENTITY or op == OP_SMOOTH:
        flags = of_a & F_STRONG
    elif op == OP_ADD or op == OP_SUBTRACT:
        flags = of_a & of_b & F_STRONG
    if carries_slopes(op):
        flags |= (of_a | of_b) & F_SLOPED
    return flags


cdef uint16_t wide_flags(Graph graph, Primitive primitive, const int32_t* operands, int32_t count) noexcept:
    """Those of a node with an extension row."""
    cdef int32_t i
    cdef uint16_t flags = 0
    if is_strong_result(graph, primitive, operands, count):
        flags |= F_STRONG
    if primitive.op == OP_SLOPE:
        flags |= F_SLOPED
    elif carries_slopes(primitive.op):
        for i in range(count):
            flags |= F_SLOPED if is_sloped(graph, operands[i]) else 0
    return flags


cdef bint is_strong_result(Graph graph, Primitive primitive, const int32_t* operands, int32_t count) noexcept:
    """Whether zeros of the result are strong."""
    cdef uint16_t op = primitive.op
    cdef int32_t i
    if absorbs(op) or op == OP_MASK or op == OP_ASSEMBLE:
        return True
    if op == OP_ADD or op == OP_SUBTRACT:
        return is_strong(graph, operands[0]) and is_strong(graph, operands[1])
    if op == OP_SMOOTH:
        return is_strong(graph, operands[0])
    if op == OP_COMPLEX:
        for i in range(2):
            if not (is_strong(graph, operands[i]) or is_number(graph, operands[i], 0.0)):
                return False
        return is_strong(graph, operands[0]) or is_strong(graph, operands[1])
    for i in range(count):
        if is_strong(graph, operands[i]) and (INFO[op].linear or i in primitive.linear_in):
            return True
    return False


cdef bint carries_slopes(uint16_t op) noexcept:
    """Whether what is sloped makes the result of an operation sloped."""
    return (op == OP_MULTIPLY or op == OP_ADD or op == OP_SUBTRACT or op == OP_NEGATIVE or op == OP_DIVIDE
            or absorbs(op) or op == OP_MASK or op == OP_IDENTITY)
