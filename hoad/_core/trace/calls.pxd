"""Recording calls, of hoad's own primitives and through NumPy's protocols."""

from hoad._core.graph.primitive cimport Primitive

cdef object record_call(Primitive primitive, object params, tuple values)
