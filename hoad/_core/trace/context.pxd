cimport cython


@cython.final
cdef class Watchers:
    cdef object variable
    cdef bint is_used           # somebody has set it, in some context

    cpdef tuple get(self)
