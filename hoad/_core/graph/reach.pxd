from cpython.bytearray cimport PyByteArray_AS_STRING

from hoad._core.graph.tape cimport Graph, int32_t, uint8_t

cdef void mark_dependents(Graph graph, int32_t start, int32_t end, uint8_t* marks) noexcept
cdef bytearray dependents(Graph graph, int32_t start, int32_t end, nodes)
cdef void mark_needed(Graph graph, int32_t start, int32_t end, uint8_t* marks, const uint8_t* ends=*) noexcept


cdef inline uint8_t* marks_in(bytearray marks) noexcept:
    return <uint8_t*>PyByteArray_AS_STRING(marks)
