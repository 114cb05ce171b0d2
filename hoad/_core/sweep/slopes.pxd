"""Products of slopes of absolute values."""

from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport Graph, int32_t, uint16_t

cdef enum:
    NOTHING = -2147483646       # no operand, not even a symbolic zero; no constant has this number

cdef bint is_slope(uint16_t op) noexcept


cdef class Appender:
    cdef readonly Graph graph
    cdef bint simplify

    cdef int32_t emit_numbers(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t emit_wide(self, Primitive primitive, object params, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1
    cdef int32_t negative(self, int32_t a) except? -1
    cdef int32_t broadcast(self, int32_t operand, int32_t aval) except? -1


cdef int32_t product_of_slopes(Appender builder, int32_t a, int32_t b, int32_t aval) except? -1
