"""Functions of float64 arrays, element by element, under the names of the primitives that they compute."""

from libc.stdint cimport int32_t, int64_t

# p may be an operand. A result depends on its element alone: not on n, nor on the element's place.
ctypedef void (*Kernel1)(const double* x, double* p, int64_t n) noexcept nogil
ctypedef void (*Kernel2)(const double* x, const double* y, double* p, int64_t n) noexcept nogil

ctypedef void (*Kernel3)(const double* a, const double* b, const double* c, double* p, int64_t n) noexcept nogil
ctypedef void (*Gathered2)(const double* a, const int32_t* k, const double* b, const int32_t* m, double* p,
                           int64_t n) noexcept nogil

cdef struct Forms2:             # of two rows, of a row and one number, of one number and a row, of gathered numbers
    Kernel2 rows
    Kernel2 right
    Kernel2 left
    Gathered2 gathered

cdef enum PairFirst:
    FIRST_ADD, FIRST_LESS, FIRST_TIMES

cdef enum PairSecond:
    THEN_ADD, THEN_LESS, THEN_FROM, THEN_TIMES

cdef Kernel1 vector1(str name)
cdef Kernel2 vector2(str name)
cdef const Forms2* arithmetic(str name)
cdef Kernel3 pair_kernel(int first, int second, bint a_is_row, bint b_is_row, bint c_is_row) noexcept
cdef bint is_faster(str name)
