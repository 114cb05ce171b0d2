"""The two traced types."""

from hoad._core.primitive cimport Primitive
from hoad._core.tape cimport Graph, int32_t, uint16_t

cdef class Scalar:
    cdef Graph graph
    cdef int32_t node
    cdef bint truth         # a truth value
    cdef double value

cdef class Array:
    cdef Graph graph
    cdef int32_t node
    cdef int32_t aval

cdef object wrap(Graph graph, int32_t operand)
cdef object push_scalar(Graph graph, uint16_t op, int32_t a, int32_t b, double value, bint truth)
cpdef object plain_value(object x)

# How calls are recorded, where that takes more than arithmetic of scalars.
ctypedef object (*RecordCall)(Primitive primitive, object params, tuple values)
ctypedef object (*CallUfunc)(object ufunc, str method, tuple inputs, dict kwargs)
ctypedef object (*CallFunction)(object function, tuple args, dict kwargs)

cdef void connect(RecordCall record, CallUfunc ufunc, CallFunction function) noexcept

# Numbers of operations, once they are declared.
cdef int LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, LOGICAL_NOT, MASK, MATMUL
