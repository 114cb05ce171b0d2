"""Sums of products as products of matrices."""

from hoad._core.runtime.engine cimport Lowered

cdef int rewrite_as_matmuls(Lowered program) except -1
