"""Conversions of numbers without Python, where they are C's: from booleans, integers and floats to floats, and from the
first two to integers.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cimport cython
cimport numpy as cnp

from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.graph.tape cimport AbstractValue

cnp.import_array()

ctypedef fused source:
    cnp.npy_bool
    int32_t
    int64_t
    float
    double

ctypedef fused target:
    float
    double
    int64_t


cdef void convert(source* x, target* p, int64_t n, int step) noexcept nogil:
    """p[i · step] = x[i]; what lies between, the imaginary parts of complex numbers, is 0."""
    cdef int64_t i
    for i in range(n):
        p[i * step] = <target>x[i]
        if step == 2:
            p[i * step + 1] = 0


cdef void convert_from(char* x, target* p, int64_t n, int step, int kind) noexcept nogil:
    """`convert`, from numbers of a kind."""
    if kind == cnp.NPY_BOOL:
        convert(<cnp.npy_bool*>x, p, n, step)
    elif kind == cnp.NPY_INT32:
        convert(<int32_t*>x, p, n, step)
    elif kind == cnp.NPY_INT64:
        convert(<int64_t*>x, p, n, step)
    elif target is not int64_t:     # NumPy warns where a float is no integer
        if kind == cnp.NPY_FLOAT32:
            convert(<float*>x, p, n, step)
        else:
            convert(<double*>x, p, n, step)


@cython.final
cdef class Cast(NativeCall):
    """Numbers of one dtype as those of another."""

    cdef int kind               # of the operand
    cdef int step               # floats of a result
    cdef int to                 # the kind of the numbers of a result, or of their parts
    cdef int64_t size

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        if self.to == cnp.NPY_FLOAT64:
            convert_from(operands[0], <double*>results[0], self.size, self.step, self.kind)
        elif self.to == cnp.NPY_INT64:
            convert_from(operands[0], <int64_t*>results[0], self.size, self.step, self.kind)
        else:
            convert_from(operands[0], <float*>results[0], self.size, self.step, self.kind)
        return 0


cdef dict SOURCES = {
    np.dtype(np.bool_): cnp.NPY_BOOL,
    np.dtype(np.int32): cnp.NPY_INT32,
    np.dtype(np.int64): cnp.NPY_INT64,
    np.dtype(np.float32): cnp.NPY_FLOAT32,
    np.dtype(np.float64): cnp.NPY_FLOAT64,
}


cdef dict TARGETS = {
    np.dtype(np.float32): cnp.NPY_FLOAT32,
    np.dtype(np.complex64): cnp.NPY_FLOAT32,
    np.dtype(np.float64): cnp.NPY_FLOAT64,
    np.dtype(np.complex128): cnp.NPY_FLOAT64,
    np.dtype(np.int64): cnp.NPY_INT64,
}


def cast(AbstractValue x not None, dtype):
    """What converts an operand like x to a dtype, or None."""
    to = np.dtype(dtype)
    if x.dtype not in SOURCES or to not in TARGETS or (to == np.int64 and x.dtype.kind == "f"):
        return None
    cdef Cast made = Cast.__new__(Cast)
    made.kind = SOURCES[x.dtype]
    made.step = 2 if to.kind == "c" else 1
    made.to = TARGETS[to]
    made.numbers = made.size = x.size
    return made
