from hoad._core.sweep.hash_consing cimport Appender
from hoad._core.graph.tape cimport Graph, int32_t

cdef int32_t negative(Appender builder, int32_t a) except? -1
cdef int32_t broadcast(Appender builder, int32_t operand, int32_t aval) except? -1
cdef int32_t zeros(Graph graph, int32_t aval) except? -1
cdef int32_t ones(Graph graph, int32_t aval) except? -1
cdef int32_t item(Appender builder, int32_t x, int32_t offset) except? -1
cdef int32_t assemble(Appender builder, int32_t aval, const int32_t* operands, int32_t count, object offsets,
                      object parts) except? -1
cdef int32_t noted(Appender builder, int32_t operand, int32_t swept, int32_t target, int32_t part) except? -1
