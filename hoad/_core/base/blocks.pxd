from libc.stdint cimport int32_t, int64_t

cdef enum:
    HUGE = 1 << 22

cdef extern from *:
    """
    #ifndef HOAD_CHECKED
    #define HOAD_CHECKED 0
    #endif
    """
    const bint HOAD_CHECKED     # tables move whenever they grow, and what they leave is overwritten

cdef void* take(size_t nbytes) noexcept
cdef void* take_zeroed(size_t nbytes) noexcept
cdef void* resized(void* block, size_t nbytes, size_t wanted) noexcept
cdef void give(void* block, size_t nbytes) noexcept

cdef inline void* required(void* block) except NULL:
    """The block, unless there was no memory for it."""
    if block == NULL:
        raise MemoryError
    return block


cdef int widen(void** table, int32_t* capacity, int64_t wanted, size_t itemsize) except -1


cdef inline int reserve(void** table, int32_t* capacity, int64_t wanted, size_t itemsize) except -1:
    """Make room for `wanted` rows of a table, which has begun as NULL with no capacity."""
    return 0 if wanted <= capacity[0] else widen(table, capacity, wanted, itemsize)


cdef inline void* appended(void** table, int32_t* capacity, int32_t* count, size_t itemsize) except NULL:
    """The next row of a table with so many, which is counted, and yet to be filled in."""
    reserve(table, capacity, <int64_t>count[0] + 1, itemsize)
    count[0] += 1
    return <char*>table[0] + <size_t>(count[0] - 1) * itemsize
