from hoad._core.graph.primitive cimport Primitive, Signature
from hoad._core.graph.tape cimport Graph, int32_t

cdef enum:
    FEW = 16        # operands for which there is room on the stack

cdef list compute(Graph graph, Signature sig, const int32_t* operands, int32_t count)
cdef list compute_few(Graph graph, list outputs, int32_t start)
cdef bint is_put_off(Signature sig)
cdef int check_numbers(Primitive primitive, Signature sig) except -1

cdef inline double scalar_value(Graph graph, int32_t operand) noexcept:
    return graph.consts[~operand].value.d if operand < 0 else graph.slots[operand].d
