"""Layouts: in which order the axes of arrays lie in memory."""

from hoad._core.runtime.engine cimport Lowered, Step
from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport AbstractValue, int32_t

cdef int choose_layouts(Lowered program) except -1
cdef Step new_array_step(Lowered program, Primitive primitive, params, list avals, list registers) except *
cdef int32_t new_register(Lowered program, AbstractValue aval) except? -2147483648
