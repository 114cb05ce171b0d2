"""What a function read besides its arguments, and whether it is still so."""

from cpython.object cimport PyObject

cdef struct ValueGuard:
    int kind
    PyObject* owner
    PyObject* key
    PyObject* expected

cdef class Environment:
    cdef ValueGuard* watches
    cdef readonly int size
    cdef list alive             # what the guards point to: (kind, owner, key, expected, name)

    cdef int first_change(self) except -2

cdef bint same(object x, object y) except -1
