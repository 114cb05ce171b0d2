"""What a piece of code names."""

cdef enum NameKind:
    NOTHING, GLOBALS, STORED_GLOBALS, ATTRIBUTES, STORED, MODULES, HANDLES, PATTERNS, WHOLE, COMPARISON


cdef class Reads:
    cdef readonly set globals
    cdef readonly set stored_globals    # that it assigns to
    cdef readonly set attributes
    cdef readonly set stored            # attributes that it assigns to
    cdef readonly set asked             # those that it reads by `getattr` and the like
    cdef readonly set modules
    cdef readonly set values            # names that it loads other than to call what they stand for at once
    cdef readonly bint handles
    cdef readonly bint has_patterns
    cdef readonly bint asks_whole   # whether it may compare or show objects, with all that they hold
    cdef readonly bint computes     # whether `getattr` and the like are given names that are not constants
    cdef readonly list inner        # all code that is defined within it

    cdef int note(self, code) except -1
    cdef int note_name(self, NameKind kind, str name) except -1
    cdef int note_second(self, code, const unsigned char* steps, Py_ssize_t i, Py_ssize_t size, bint stores) except -1

cpdef Reads reads_of(code)
