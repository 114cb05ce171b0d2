from hoad._core.sweep.hash_consing cimport Appender
from hoad._core.graph.tape cimport int32_t, uint16_t

cdef object with_support(Appender builder, uint16_t op, object params, int32_t* operands)
