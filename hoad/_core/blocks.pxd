"""Large blocks of memory, kept for the next taker."""

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
