"""Scalar functions by name, and the one switch over operations on doubles."""

from libc.stdint cimport uint16_t

ctypedef double (*Scalar1)(double) noexcept nogil
ctypedef double (*Scalar2)(double, double) noexcept nogil
ctypedef void (*Complex1)(const double*, double*) noexcept nogil      # (real, imaginary) to (real, imaginary)

cdef Scalar1 scalar1(str name)
cdef Scalar2 scalar2(str name)
cdef Complex1 complex1(str name)
