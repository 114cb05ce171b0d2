"""Large blocks of memory, kept for the next taker."""

cdef enum:
    HUGE = 1 << 22

cdef void* take(size_t nbytes) noexcept
cdef void* take_zeroed(size_t nbytes) noexcept
cdef void* resized(void* block, size_t nbytes, size_t wanted) noexcept
cdef void give(void* block, size_t nbytes) noexcept
