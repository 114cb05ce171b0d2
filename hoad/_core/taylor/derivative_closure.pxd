from hoad._core.sweep.builder cimport Builder
from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport Graph, int32_t

cdef class Closure:
    cdef readonly Graph graph
    cdef Builder builder
    cdef readonly list inputs       # nodes
    cdef readonly list outputs      # operands

    cdef int32_t push(self, Primitive primitive, object params, const int32_t* operands, int32_t n) except? -1
