"""Arrays put together from single numbers: neighbours that were neighbours before are copied together."""

cimport cython

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcpy, memset

from hoad._core.base.blocks cimport appended, give, required


cdef enum:
    MOST_OPEN = 32      # stretches that an item may belong to, where several take turns


@cython.final
cdef class GatherCopy:
    """What an assembly of single numbers is in a program that is run again and again."""

    def __dealloc__(self):
        give(self.stretches, self.cap_stretches * sizeof(Stretch))

    cdef void run(self, Slot* u) noexcept nogil:
        cdef double* p = <double*>u[self.register].o
        cdef double* to
        cdef int32_t i
        cdef int64_t k
        cdef Stretch* stretch
        for i in range(self.n_stretches):
            stretch = &self.stretches[i]
            to = p + stretch.start
            if stretch.slot < 0:
                memset(to, 0, stretch.count * sizeof(double))
            elif stretch.count == 1:
                to[0] = u[stretch.slot].d
            elif stretch.step == 1 and stretch.follows:
                memcpy(to, &u[stretch.slot], stretch.count * sizeof(double))
            elif stretch.follows:
                for k in range(stretch.count):
                    to[k * stretch.step] = u[stretch.slot + k].d
            else:
                for k in range(stretch.count):
                    to[k * stretch.step] = u[stretch.slot].d


cdef GatherCopy gather_copy(int32_t register, const int32_t* slots, const int64_t* offsets, int64_t n, int64_t size):
    """The array of `size` numbers, in a register, that holds the slots at their offsets and zeros elsewhere."""
    cdef GatherCopy made = GatherCopy.__new__(GatherCopy)
    cdef int32_t* source = <int32_t*>required(PyMem_RawMalloc(max(size, 1) * sizeof(int32_t)))
    cdef int64_t i
    cdef int32_t k
    cdef Stretch* last
    made.register = register
    try:
        for i in range(size):
            source[i] = -1
        for i in range(n):
            source[offsets[i]] = slots[i]
        for i in range(size):
            for k in range(made.n_stretches - 1, max(made.n_stretches - MOST_OPEN, 0) - 1, -1):
                if goes_on(&made.stretches[k], i, source[i]):
                    break
            else:
                last = <Stretch*>appended(<void**>&made.stretches, &made.cap_stretches, &made.n_stretches,
                                          sizeof(Stretch))
                last.start, last.count, last.step, last.slot, last.follows = i, 1, 1, source[i], 1
    finally:
        PyMem_RawFree(source)
    return made


cdef bint goes_on(Stretch* stretch, int64_t i, int32_t slot) noexcept:
    """Whether an item is the next of a stretch, which then has it."""
    if stretch.slot < 0 or slot < 0:
        if stretch.slot >= 0 or slot >= 0 or stretch.start + stretch.count != i:
            return False
    elif stretch.count == 1:
        if slot != stretch.slot and slot != stretch.slot + 1:
            return False
        stretch.step, stretch.follows = i - stretch.start, slot - stretch.slot
    elif i != stretch.start + stretch.count * stretch.step or (
            slot != stretch.slot + <int32_t>stretch.count * stretch.follows):
        return False
    stretch.count += 1
    return True
