"""Where in the user's code something happens, and by what name the user knows it."""

cdef tuple user_position()
cdef tuple user_place()
cpdef bint is_library(str filename) except -1
cdef bint is_solver(str filename) except -1
cpdef str here()
cdef bint assigns()
cpdef bint is_public(str name)
cpdef str name_of(object function)
cpdef str name_running(object frame)
