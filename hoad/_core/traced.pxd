"""The two traced types."""

from hoad._core.primitive cimport Primitive
from hoad._core.tape cimport Graph, int32_t, uint16_t

cdef class Scalar:
    cdef Graph graph
    cdef int32_t node
    cdef bint truth         # a truth value
    cdef double value

cdef class Array:
    cdef Graph graph
    cdef int32_t node
    cdef int32_t aval

cdef object wrap(Graph graph, int32_t operand)
cdef object record(Graph graph, Primitive primitive, object params, const int32_t* operands, int32_t count)
cdef int32_t operand_of(Graph graph, object x) except? -1
