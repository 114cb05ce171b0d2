cimport numpy as cnp

from hoad._core.trace.writes cimport Buffer
from hoad._core.graph.primitive cimport Primitive
from hoad._core.trace.errors cimport check_alive
from hoad._core.graph.tape cimport Graph, int32_t, int64_t, uint8_t, uint16_t

# What a traced value without axes represents, where that is not a number of NumPy's.
cdef enum:
    OF_PYTHON = 1       # a float, complex or bool of Python
    WHOLE = 2           # an int of Python, as math.floor gives
    NO_AXES = 4         # an array of no dimensions
    A_NUMBER = 8        # a number of NumPy's, though it has a buffer

cdef class Traced:
    cdef Graph graph
    cdef int32_t node           # of an array: what it held at `version` of the buffer; ask `node_now`
    cdef uint8_t represents     # one of the above, 0 for a number of NumPy's and for what has axes
    # Of a scalar alone; here, because Cython keeps the memory of objects that are no larger than those of the base.
    cdef bint truth             # a boolean
    cdef double value

cdef class Scalar(Traced):
    pass

cdef class Array(Traced):
    cdef int32_t aval
    cdef int64_t version
    cdef Buffer buffer          # what its views share with it; None while it has none and was not written to
    cdef cnp.ndarray view       # where it lies in the root, None for the root itself: see hoad._core.trace.writes
    cdef object order           # of its axes in memory while it has no buffer: hoad._core.trace.memory_order
    cdef int64_t taken          # the version of the buffer when this view was made
    cdef str part               # "real" or "imag", where it is a view of that part of a complex root; else None
    cdef str sealed             # why nothing may be written to it, or None
    cdef int64_t made_at        # after how many entries of the graph it was made
    cdef public bint copies     # whether its slices are copies, as those of NumPy's `flat` are

cdef object DOUBT

cdef int check_own(Array x) except -1
cdef uint8_t represented(object value)
cpdef object representing(object x, int represents)
cdef object wrap(Graph graph, int32_t operand)
cdef Array new_array(Graph graph, int32_t operand, int32_t aval)
cdef Buffer buffer_of(Array x)
cdef object called(object implementation, tuple args, dict kwargs)
cdef object item_of(Graph graph, int32_t operand, int64_t at)
cdef object push_scalar(Graph graph, uint16_t op, int32_t a, int32_t b, double value, bint truth)
cpdef object plain_value(object x)

# How calls are recorded, where that takes more than arithmetic of scalars.
ctypedef object (*RecordCall)(Primitive primitive, object params, tuple values)
ctypedef object (*CallUfunc)(object ufunc, str method, tuple inputs, dict kwargs)
ctypedef object (*CallFunction)(object owner, object function, tuple args, dict kwargs)
ctypedef int (*NoteOrder)(object made, object operands) except -1
ctypedef int32_t (*Refresh)(Array x) except? -1
ctypedef object (*ReadItem)(Buffer buffer, int64_t place)
ctypedef object (*Overwrite)(Array x, object result, str symbol)
ctypedef object (*ViewAt)(Array x, object index)

cdef void connect(RecordCall record, CallUfunc ufunc, CallFunction function, NoteOrder keep, NoteOrder doubt) noexcept
cdef void connect_writes(Refresh fresh, ReadItem item, Overwrite over, ViewAt view) noexcept

cdef Refresh refresh

cdef inline int32_t node_now(Array x) except? -1:
    """The operand that holds the value of `x`."""
    cdef int32_t node = x.node if x.buffer is None or x.version == x.buffer.version else refresh(x)
    check_alive(x.graph, node)
    return node
