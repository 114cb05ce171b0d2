"""What a function read besides its arguments, and whether it is still so."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

cdef struct ValueGuard:
    int kind
    PyObject* owner
    PyObject* key
    PyObject* expected
    uint64_t version            # of the owner, when all was as it was

cdef class Environment:
    cdef ValueGuard* watches
    cdef readonly int size
    cdef list alive             # what the guards point to: (kind, owner, key, expected, name)

    cdef object name_of(self, int k)
    cdef int first_change(self) except -2

cdef bint same(object x, object y) except -1
cpdef object found_at(str kind, owner, key)
cpdef int put_at(str kind, owner, key, value) except -1
