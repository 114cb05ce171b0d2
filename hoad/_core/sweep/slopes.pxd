"""Products of slopes of absolute values."""

from hoad._core.graph.tape cimport uint16_t

cdef bint is_slope(uint16_t op) noexcept
