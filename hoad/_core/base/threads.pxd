from libc.stdint cimport int32_t, int64_t

# Part `part` of some work, with scratch room of the thread that does it.
ctypedef void (*Task)(void* data, int64_t part, char* scratch) noexcept nogil

cdef int32_t allowed(int32_t asked) except -1
cdef void share(Task task, void* data, int64_t parts, int32_t threads, char* scratch, size_t size) noexcept nogil
