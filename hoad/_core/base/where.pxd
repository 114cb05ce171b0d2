from cpython.object cimport PyObject
from libc.stdint cimport int32_t

cdef enum Origin:
    USERS
    LIBRARYS        # of NumPy or the standard library
    HOADS
    SCIPYS
    CHANGING        # of the standard library, with code that is in `CHANGING_CODE`

cdef tuple user_position()
cdef PyObject* user_code(int32_t* at) except? NULL
cdef int line_of(PyObject* code, int32_t at) noexcept
cdef tuple user_place()
cdef bint is_part_of(str package, str filename) except -1
cpdef bint is_passed(str filename) except -1
cpdef bint is_library(str filename) except -1
cdef int origin_of(str filename) except -1
cpdef str standard_name(str filename)
cdef bint is_solver(str filename) except -1
cpdef str here()
cdef bint assigns()
cdef bint indexes()
cdef bint compares_shape(object frame, object x) except -1
cpdef bint trims_polynomial()
cdef bint stores()
cpdef bint is_public(str name)
cpdef str wrapped_in(object frame)
cpdef str name_of(object function)
cpdef str name_running(object frame)
