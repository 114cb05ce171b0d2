"""Arrays put together from single numbers: items at equal distances that were so before are copied together.

And arrays of zeros but for some numbers of other arrays, as a matrix from the rows that a coloring compresses it to.
"""

cimport cython

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcpy, memset

from hoad._core.base.blocks cimport appended, give, required, take


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


@cython.final
cdef class GatherPut:
    def __dealloc__(self):
        give(self.pieces, self.cap_pieces * sizeof(PutPiece))
        give(self.offsets, 2 * self.n * sizeof(int32_t))

    cdef void run(self, Slot* u) noexcept nogil:
        cdef double* p = <double*>u[self.register].o
        cdef const double* x
        cdef const int32_t* at = self.offsets
        cdef int32_t i, k
        if <double*>u[self.below].o != p:       # else they are there
            memset(p, 0, self.size * sizeof(double))
        for i in range(self.n_pieces):
            x = <const double*>u[self.pieces[i].register].o
            for k in range(self.pieces[i].count):
                p[at[2 * k + 1]] = x[at[2 * k]]
            at += 2 * <int64_t>self.pieces[i].count


cdef GatherPut gather_put(int32_t register, int32_t below, int64_t size, int64_t n):
    """What puts n numbers, which are yet to be said, into an array of so many zeros."""
    cdef GatherPut made = GatherPut.__new__(GatherPut)
    made.register, made.below, made.size, made.n = register, below, size, n
    made.offsets = <int32_t*>required(take(2 * n * sizeof(int32_t)))
    return made


cdef int put_number(GatherPut made, int64_t k, int32_t register, int64_t source, int64_t place) except -1:
    """Let number k, in order, come from a place in the array of a register."""
    cdef PutPiece* piece = &made.pieces[made.n_pieces - 1] if made.n_pieces else NULL
    if piece == NULL or piece.register != register:
        piece = <PutPiece*>appended(<void**>&made.pieces, &made.cap_pieces, &made.n_pieces, sizeof(PutPiece))
        piece.register, piece.count = register, 0
    piece.count += 1
    made.offsets[2 * k], made.offsets[2 * k + 1] = <int32_t>source, <int32_t>place
    return 0


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
