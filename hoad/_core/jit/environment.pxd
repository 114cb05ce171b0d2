"""What a function read besides its arguments, and whether it is still so."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

cdef struct ValueGuard:
    int kind
    PyObject* owner
    PyObject* key
    PyObject* expected
    uint64_t version            # of a class, or where an array lay, when all was as it was

cdef struct Word:
    const uint64_t* at
    uint64_t expected
    int guard                   # the one that is looked at where the word is another one

cdef class Environment:
    cdef ValueGuard* watches
    cdef readonly int size
    cdef list alive             # what the guards point to: (kind, owner, key, expected, name)
    cdef Word* words            # words of memory that tell that guards hold
    cdef int n_words
    cdef int* others            # the guards that have none
    cdef int n_others
    cdef dict attributes        # of the objects whose attributes words tell of, by guard

    cdef object name_of(self, int k)
    cdef int lay_out_words(self) except -1
    cdef int add_word(self, const uint64_t* at, PyObject* expected, int guard) except -1
    cdef int first_change(self) except -2
    cdef bint still_holds(self, int word) except -1

cdef bint same(object x, object y) except -1
cpdef object found_at(str kind, owner, key)
cpdef int put_at(str kind, owner, key, value) except -1
