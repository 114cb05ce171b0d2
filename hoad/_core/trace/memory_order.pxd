"""How the items of a new array lie in memory, where that is not as in C."""
from hoad._core.trace.traced cimport Array

cdef int keep_order(object made, object operands) except -1
cdef int doubt_order(object made, object operands) except -1
cdef bint is_spread(object x) noexcept
cpdef bint is_in_order(object x) except -1
cdef object order_of_steps(object strides, tuple shape)
