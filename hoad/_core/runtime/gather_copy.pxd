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

cdef GatherCopy gather_copy(int32_t register, const int32_t* slots, const int64_t* offsets, int64_t n, int64_t size)
