"""Places in sorted doubles without Python."""

from libc.stdint cimport int32_t, int64_t

cimport cython

from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.ops.plan cimport UNFINISHED
from hoad._core.graph.tape cimport AbstractValue

cdef enum:
    MOST = 256      # numbers that are looked at, one after another, whether they are sorted


cdef inline bint is_less(double x, double y) noexcept nogil:
    """As NumPy sorts: nan comes last."""
    return x < y or (y != y and x == x)


cdef inline bint comes_before(double x, double y, bint from_right) noexcept nogil:
    return not is_less(y, x) if from_right else is_less(x, y)


@cython.final
cdef class SearchSorted(NativeCall):
    """Where numbers would be put in, by bisection, which begins at the place of the number before."""

    cdef bint from_right
    cdef int64_t n, count

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef double* a = <double*>operands[0]
        cdef double* v = <double*>operands[1]
        cdef int64_t first = 0, end = self.n
        cdef int64_t k, middle
        for k in range(1, self.n):
            if is_less(a[k], a[k - 1]):
                return UNFINISHED       # what is found in numbers that are not sorted, each version of NumPy says
        for k in range(self.count):
            if comes_before(v[max(k - 1, 0)], v[k], self.from_right):
                end = self.n
            else:
                first = 0
                end = min(end + 1, self.n)
            while first < end:
                middle = first + (end - first) // 2
                if comes_before(a[middle], v[k], self.from_right):
                    first = middle + 1
                else:
                    end = middle
            (<int64_t*>results[0])[k] = first
        return 0


def sorted_places(AbstractValue a not None, AbstractValue v not None, str side):
    """What finds the places of numbers like v in a, or None."""
    if a.dtype.char != "d" or v.dtype.char != "d" or not (a.dtype.isnative and v.dtype.isnative) or a.size > MOST:
        return None
    cdef SearchSorted made = SearchSorted.__new__(SearchSorted)
    made.from_right = side == "right"
    made.n, made.count = a.size, v.size
    made.calls_python = True
    made.numbers = a.size + v.size
    return made
