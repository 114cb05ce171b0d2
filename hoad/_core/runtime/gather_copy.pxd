cimport cython

from libc.stdint cimport int32_t, int64_t

from hoad._core.graph.tape cimport Slot

cdef struct Stretch:            # of an array: numbers at equal distances where they come from, or zeros
    int64_t start, count, step  # items, and how far from one to the next
    int32_t slot                # where the first comes from; below 0 for zeros
    int32_t follows             # how far from one to the next there; 0 if they are the same


@cython.final
cdef class GatherCopy:
    cdef int32_t register       # of the array
    cdef Stretch* stretches
    cdef int32_t n_stretches, cap_stretches

    cdef void run(self, Slot* u) noexcept nogil

cdef struct PutPiece:              # numbers that come from one array
    int32_t register, count


@cython.final
cdef class GatherPut:
    """An array of zeros but for numbers that are gathered from other arrays."""

    cdef int32_t register, below        # of the array, and of the zeros that it is put into: see `Plan.run_put`
    cdef int64_t size
    cdef PutPiece* pieces
    cdef int32_t n_pieces, cap_pieces
    cdef int32_t* offsets               # of each number: where it comes from, and where it goes
    cdef int64_t n

    cdef void run(self, Slot* u) noexcept nogil

cdef GatherCopy gather_copy(int32_t register, const int32_t* slots, const int64_t* offsets, int64_t n, int64_t size)
cdef GatherPut gather_put(int32_t register, int32_t below, int64_t size, int64_t n)
cdef int put_number(GatherPut made, int64_t k, int32_t register, int64_t source, int64_t place) except -1
