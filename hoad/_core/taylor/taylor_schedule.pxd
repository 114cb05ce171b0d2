from hoad._core.taylor.derivative_closure cimport Closure
from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport int32_t

cdef struct Ask:
    int32_t node        # what a node asks for
    int32_t ahead       # by how many orders that is ahead of the coefficient it is asked for

cdef class Ordering:
    cdef readonly Closure closure
    cdef readonly list outputs      # operands
    cdef readonly list guards       # (operand, expected)
    cdef readonly dict given        # how many coefficients of each input
    cdef readonly int32_t degree
    cdef readonly bint is_real
    cdef readonly list tops
    cdef readonly list lags
    cdef readonly dict slopes
    cdef readonly dict integrands
    cdef readonly dict instead
    cdef readonly dict powers
    cdef dict rows
    cdef Ask* asks
    cdef int32_t n_asks, cap_asks
    cdef int32_t* ends              # of the asks of each node: of those of its value, and of all
    cdef int32_t cap_ends

    cpdef tuple row(self, int32_t i)
    cpdef int32_t top(self, int32_t operand) except? -2
    cdef int lay_out(self) except -1
    cdef int ask(self, object operand, int32_t ahead) except -1
    cdef int32_t begin(self, int32_t i) noexcept
    cdef int32_t end(self, int32_t i, int32_t order) noexcept

cpdef bint is_multilinear(Primitive primitive, list tops)
cpdef tuple unsigned(Closure closure, int32_t operand)
