"""Scalar functions by name, and the one switch over operations on doubles."""

from libc.stdint cimport uint16_t

ctypedef double (*Scalar1)(double) noexcept nogil
ctypedef double (*Scalar2)(double, double) noexcept nogil

cdef Scalar1 scalar1(str name)
cdef Scalar2 scalar2(str name)
