from hoad._core.graph.primitive cimport Primitive

cdef object record_call(Primitive primitive, object params, tuple values)
