from libc.stdint cimport int32_t, int64_t

cdef class NativeCall:
    cdef bint may_fail              # a call may give a code
    cdef bint calls_python          # it may be `UNFINISHED`
    cdef int64_t numbers            # about how many a call goes through
    cdef int depth                  # of native runs within it, itself one of them
    cdef int32_t worth              # how many threads a call is worth

    cdef bint call_lanes(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil
    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil
