from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport AbstractValue, int32_t
from hoad._core.runtime.engine cimport Lowered, Step

cdef void count_reads(Lowered program, int32_t* reads) noexcept
cdef Step new_array_step(Lowered program, Primitive primitive, params, list avals, list registers) except *
cdef int32_t new_buffer(Lowered program, AbstractValue aval) except? -2147483648
cdef int32_t add_preset(Lowered program, double value) except -1
cdef int more_registers(Lowered program, int32_t count) except -1
cdef int drop_buffers(Lowered program, set registers) except -1
