"""Running sums without Python."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cimport cython

from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.graph.tape cimport AbstractValue

ctypedef fused real:
    float
    double


cdef void add_up(real* x, real* p, int64_t outer, int64_t n, int64_t inner) noexcept nogil:
    """p[i, k, j] = x[i, 0, j] + ... + x[i, k, j], in turn."""
    cdef int64_t _i, k, j
    cdef real total
    for _i in range(outer):
        if inner == 1:
            total = x[0]
            p[0] = total
            for k in range(1, n):
                total += x[k]
                p[k] = total
        else:
            for j in range(inner):
                p[j] = x[j]
            for k in range(inner, n * inner):
                p[k] = p[k - inner] + x[k]
        x += n * inner
        p += n * inner


@cython.final
cdef class Cumsum(NativeCall):
    """Sums of the first numbers along an axis."""

    cdef bint is_double
    cdef int64_t outer, n, inner    # of numbers before the axis, along it, and after it, with parts of complex ones

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        if self.numbers == 0:
            return 0
        if self.is_double:
            add_up(<double*>operands[0], <double*>results[0], self.outer, self.n, self.inner)
        else:
            add_up(<float*>operands[0], <float*>results[0], self.outer, self.n, self.inner)
        return 0


def running_sum(AbstractValue x not None, int axis):
    """What adds up an operand like x along an axis, or None."""
    if x.dtype.char not in "fdFD":
        return None
    cdef Cumsum made = Cumsum.__new__(Cumsum)
    made.is_double = x.dtype.char in "dD"
    made.numbers = x.size
    made.outer = int(np.prod(x.shape[:axis], dtype=np.int64))
    made.n = x.shape[axis] if x.ndim else 1
    made.inner = int(np.prod(x.shape[axis + 1:], dtype=np.int64)) * (2 if x.dtype.kind == "c" else 1)
    return made
