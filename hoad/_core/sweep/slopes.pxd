from hoad._core.sweep.hash_consing cimport Appender
from hoad._core.graph.tape cimport int32_t

cdef int32_t product_of_slopes(Appender builder, int32_t a, int32_t b, int32_t aval) except? -1
