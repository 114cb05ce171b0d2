cimport numpy as cnp

from hoad._core.graph.primitive cimport Primitive
from hoad._core.graph.tape cimport Graph, int32_t
cdef int32_t operand_of(Graph graph, object x) except? -1
cdef bint is_of_objects(object x) noexcept
cpdef object new_input(Graph graph, object value, bint nested=*)
cdef Graph graph_among(object values)
cdef tuple as_loop_operands(Graph graph, Primitive primitive, tuple values)
cpdef object as_numbers(object x)
cpdef int check_class(object x) except -1
cdef bint holds_numbers(cnp.ndarray x) noexcept
