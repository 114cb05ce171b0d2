from hoad._core.sweep.hash_consing cimport Appender
from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport Graph, int32_t, uint16_t

cdef uint16_t strengthen(Graph graph, uint16_t op, int32_t* a, int32_t* b) except? 0
cdef int32_t decided_by_zeros(Appender builder, Primitive primitive, const int32_t* operands, int32_t count,
                              int32_t aval) except? -1
cdef int32_t folded(Graph graph, uint16_t op, int32_t a, int32_t b) except? -1
cdef bint both_scalar(Graph graph, const int32_t* operands) noexcept
cdef int32_t simplified(Appender builder, uint16_t op, const int32_t* operands, int32_t count,
                        int32_t aval) except? -1
cdef int skip_broadcasts(Graph graph, int32_t* operands, int32_t count, int32_t aval) except -1
cdef int32_t transposed_back(Graph graph, uint16_t op, object params, int32_t operand) except? -1
