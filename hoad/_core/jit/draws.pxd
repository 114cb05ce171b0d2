"""Random draws that are made anew at each replay."""

cdef class Draws:
    cdef readonly list made
    cdef Py_ssize_t size

    cdef list states(self)
    cdef object draw(self, Py_ssize_t k)

cdef int go_back(list states) except -1
cpdef bint is_recorded() except -1
