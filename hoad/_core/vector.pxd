"""Functions of float64 arrays, element by element, under the names of the primitives that they compute."""

from libc.stdint cimport int64_t

# p may be an operand. A result depends on its element alone: not on n, nor on the element's place.
ctypedef void (*Kernel1)(const double* x, double* p, int64_t n) noexcept nogil
ctypedef void (*Kernel2)(const double* x, const double* y, double* p, int64_t n) noexcept nogil

cdef Kernel1 vector1(str name)
cdef Kernel2 vector2(str name)
cdef bint is_faster(str name)
