cimport numpy as cnp

from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport Graph, int32_t

cdef object record_call(Primitive primitive, object params, tuple values)
cdef object record_on(Graph graph, int op, object params, int32_t operand)
cdef object record_gather(Graph graph, int32_t operand, cnp.ndarray places)
