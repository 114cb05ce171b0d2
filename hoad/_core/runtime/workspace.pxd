cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_type_lock
from libc.string cimport memcpy

from hoad._core.runtime.engine cimport Lowered, Registers
from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.graph.tape cimport AbstractValue, int32_t, int64_t

cdef enum:
    MOST_KEPT = 4

cdef struct Space:              # what one run at a time writes to
    PyThread_type_lock lock     # NULL: it is given back to the allocator after the run
    char* memory
    char* more                  # what is asked for besides the registers
    Registers work

cdef struct ProgramPort:               # an input or an output without lanes
    int32_t register
    bint is_scalar              # a double in the register, else an address
    bint is_truth               # a double there, a byte outside
    int64_t nbytes              # of one value, outside

cdef class Spaces:
    cdef Lowered program
    cdef int32_t lanes
    cdef int64_t size           # bytes of the registers
    cdef int64_t more
    cdef bint is_small, is_warm
    cdef Space kept[MOST_KEPT]

    cdef Space* enter(self) noexcept nogil
    cdef bint prepare(self, Space* space) noexcept nogil
    cdef void leave(self, Space* space) noexcept nogil

cdef int64_t outside(AbstractValue aval)
cdef int describe(ProgramPort* port, int32_t register, AbstractValue aval) except -1
cdef object rows_of(Lowered program, int32_t k, object value, int64_t length)
cdef cnp.ndarray addresses(list arrays)
cdef int raise_at_step(Lowered program, int code, Registers* work, int64_t step) except -1


cdef inline void put(Registers* work, ProgramPort* port, char* data) noexcept nogil:
    """Let an input be what lies at an address."""
    if port.is_truth:
        work.uniform[port.register].d = data[0] != 0
    elif port.is_scalar:
        work.uniform[port.register].d = (<double*>data)[0]
    else:
        work.uniform[port.register].o = <PyObject*>data


cdef inline void get(Registers* work, ProgramPort* port, char* data) noexcept nogil:
    """Write what an output is to an address."""
    if port.is_truth:
        data[0] = work.uniform[port.register].d != 0
    elif port.is_scalar:
        (<double*>data)[0] = work.uniform[port.register].d
    elif data != <char*>work.uniform[port.register].o:
        memcpy(data, work.uniform[port.register].o, port.nbytes)


cdef class Call(NativeCall):
    cdef Lowered program
    cdef Spaces spaces
    cdef ProgramPort* ports            # inputs, then outputs
    cdef bint* made_there       # of each output: whether it is made where the caller wants it
    cdef int32_t n_in, n_out
