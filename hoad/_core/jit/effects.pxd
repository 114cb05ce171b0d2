"""What a replay does besides computing."""


cdef class Effect:
    cdef readonly str kind          # of the place, as of a guard
    cdef readonly object owner
    cdef readonly object key
    cdef readonly str name
    cdef object before
    cdef readonly str action
    cdef object what
    cdef object arrange             # makes what is put there of values, or None
    cdef readonly tuple places      # of the values
    cdef object missing             # what there is to add to where there is nothing, or ABSENT
    cdef object number              # the class of what is added to

    cdef object made(self, list values)
    cdef object found(self)
    cdef int add(self, found, list values) except -1
    cdef bint is_possible(self) except -1
    cdef int apply(self, list values) except -1

cdef class Effects:
    cdef readonly list effects

    cdef bint needs_values          # of a run

    cdef bint are_possible(self) except -1
    cpdef int apply(self, list values) except -1

cdef class PlaceTrace:
    cdef set names
    cdef object listener
    cdef dict tables                # id of code: (code, what is told of its instructions)
    cdef readonly bint is_set       # whether it traces: a debugger may be there

    cdef int start(self) except -1
    cdef int look(self, code, frame) except -1
