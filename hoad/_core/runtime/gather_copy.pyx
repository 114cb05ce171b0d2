"""Arrays put together from single numbers: items at equal distances that were so before are copied together."""

cimport cython

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcpy, memset

from hoad._core.base.blocks cimport appended, give, required


cdef enum:
    MOST_TURNS = 32     # stretches that take turns: a loop of a few statements, swept in a few directions
    FEWEST_ITEMS = 4    # of a stretch; fewer are copied one by one
    MOST_ITEMS = 64     # of one of several that take turns: what they write together stays in the cache


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
            if stretch.slot < 0 and stretch.step == 1:
                memset(to, 0, stretch.count * sizeof(double))
            elif stretch.slot < 0:
                for k in range(stretch.count):
                    to[k * stretch.step] = 0
            elif stretch.count == 1:
                to[0] = u[stretch.slot].d
            elif stretch.step == 1 and stretch.follows == 1:
                memcpy(to, &u[stretch.slot], stretch.count * sizeof(double))
            else:
                for k in range(stretch.count):
                    to[k * stretch.step] = u[stretch.slot + k * stretch.follows].d


cdef GatherCopy gather_copy(int32_t register, const int32_t* slots, const int64_t* offsets, int64_t n, int64_t size):
    """The array of `size` numbers, in a register, that holds the slots at their offsets and zeros elsewhere."""
    cdef GatherCopy made = GatherCopy.__new__(GatherCopy)
    cdef int32_t* source = <int32_t*>required(PyMem_RawMalloc(max(size, 1) * sizeof(int32_t)))
    cdef int64_t i, count
    cdef int32_t turns = 1
    made.register = register
    try:
        for i in range(size):
            source[i] = -1
        for i in range(n):
            source[offsets[i]] = slots[i]
        i = 0
        while i < size:
            count = items(source + i, size - i, turns)  # as many take turns as before, or else
            if count < FEWEST_ITEMS:
                for turns in range(1, MOST_TURNS + 1):
                    count = items(source + i, size - i, turns)
                    if count >= FEWEST_ITEMS:
                        break
                else:
                    turns, count = 1, 1
            append(made, source + i, i, turns, count)
            i += turns * count
    finally:
        PyMem_RawFree(source)
    return made


cdef int64_t items(const int32_t* source, int64_t size, int32_t turns) noexcept:
    """How many items each of so many stretches has that begin here and take turns, at equal steps."""
    cdef int64_t k
    cdef int64_t most = size if turns == 1 else min(size, <int64_t>MOST_ITEMS * turns)
    for k in range(turns, most):
        if (source[k] < 0) != (source[k - turns] < 0) or (
                k >= 2 * turns and source[k] - source[k - turns] != source[k - turns] - source[k - 2 * turns]):
            return k // turns
    return most // turns


cdef int append(GatherCopy made, const int32_t* source, int64_t start, int32_t turns, int64_t count) except -1:
    """Stretches that take turns from an item on."""
    cdef int32_t k
    cdef Stretch* last
    for k in range(turns):
        last = <Stretch*>appended(<void**>&made.stretches, &made.cap_stretches, &made.n_stretches, sizeof(Stretch))
        last.start, last.count, last.step, last.slot = start + k, count, turns, source[k]
        last.follows = source[turns + k] - source[k] if count > 1 else 0
    return 0
