"""Calls of the methods of NumPy's generators of random numbers."""

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(PyObject*, PyObject**, size_t, PyObject*)

cdef bint is_redirected             # whether the methods lead here

cdef class DrawListener:
    cdef bint is_inside         # a method calls others
    cdef DrawListener around

    cdef object call(self, PyObject* function, vectorcallfunc original, PyObject** args, size_t nargsf,
                     PyObject* names)
    cdef int listen(self) except -1
    cdef int end(self) except -1

cdef int redirect() except -1
cdef DrawListener listener()
