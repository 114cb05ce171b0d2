"""Contractions: sums of products as products of matrices."""

from hoad._core.runtime.engine cimport Lowered

cdef int contract(Lowered program) except -1
