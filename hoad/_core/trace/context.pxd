cimport cython

from hoad._core.graph.tape cimport Graph


cpdef object set_in_context(object variable, object value)
cpdef object reset_in_context(object variable, object token)
cpdef bint is_open(Graph graph)
cpdef Graph running()


@cython.final
cdef class Watchers:
    cdef object variable
    cdef bint is_used           # somebody has set it, in some context

    cpdef tuple get(self)
