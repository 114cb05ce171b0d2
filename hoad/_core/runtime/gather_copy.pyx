"""Arrays put together from single numbers: neighbours that were neighbours before are copied together."""

cimport cython

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcpy, memset

from hoad._core.base.blocks cimport appended, give, required


@cython.final
cdef class GatherCopy:
    """What an assembly of single numbers is in a program that is run again and again."""

    def __dealloc__(self):
        give(self.stretches, self.cap_stretches * sizeof(Stretch))

    cdef void run(self, Slot* u) noexcept nogil:
        cdef double* p = <double*>u[self.register].o
        cdef int32_t i
        cdef Stretch* stretch
        for i in range(self.n_stretches):
            stretch = &self.stretches[i]
            if stretch.slot < 0:
                memset(p + stretch.start, 0, stretch.count * sizeof(double))
            elif stretch.count == 1:
                p[stretch.start] = u[stretch.slot].d
            else:
                memcpy(p + stretch.start, &u[stretch.slot], stretch.count * sizeof(double))


cdef GatherCopy gather_copy(int32_t register, const int32_t* slots, const int64_t* offsets, int64_t n, int64_t size):
    """The array of `size` numbers, in a register, that holds the slots at their offsets and zeros elsewhere."""
    cdef GatherCopy made = GatherCopy.__new__(GatherCopy)
    cdef int32_t* source = <int32_t*>required(PyMem_RawMalloc(max(size, 1) * sizeof(int32_t)))
    cdef int64_t i
    cdef Stretch* last = NULL
    made.register = register
    try:
        for i in range(size):
            source[i] = -1
        for i in range(n):
            source[offsets[i]] = slots[i]
        for i in range(size):
            if last != NULL and source[i] == (last.slot + last.count if last.slot >= 0 else -1):
                last.count += 1
                continue
            last = <Stretch*>appended(<void**>&made.stretches, &made.cap_stretches, &made.n_stretches, sizeof(Stretch))
            last.start, last.count, last.slot = i, 1, source[i]
    finally:
        PyMem_RawFree(source)
    return made
