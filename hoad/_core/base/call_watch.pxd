"""Looking at the functions that Python enters, without a call of Python's for each."""

cpdef object unwatched(object function, tuple args, dict keywords=*)


cdef class EnteredCode:
    cdef readonly dict codes        # id: code of the user's that was entered

    cdef bint knows(self, code) except -1
    cdef int enter(self, code) except -1
    cdef bint asks_for(self, code) except -1
    cdef int enter_library(self) except -1
