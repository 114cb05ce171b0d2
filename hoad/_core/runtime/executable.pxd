from cpython.object cimport PyObject

cimport numpy as cnp

from hoad._core.graph.tape cimport AbstractValue, int32_t, int64_t
from hoad._core.runtime.engine cimport Lowered, Registers

cdef class Workspace:           # the memory of one run
    cdef char* memory
    cdef int64_t size
    cdef Registers work
    cdef list held              # the inputs as arrays; those of numbers are its own

cdef class Executable:
    cdef Lowered lowered
    cdef readonly object arrange    # makes what is given of the values, or None where that is one value
    cdef int32_t n_results          # outputs that are given, the first ones
    cdef bint is_long               # a run takes long enough to release the GIL, and to spare copies of results
    cdef int64_t most_kept          # bytes of a workspace that is kept
    cdef Workspace free_workspace   # a workspace that nobody uses, and more of them
    cdef list workspaces

    cdef Workspace enter(self, int32_t threads)
    cdef Workspace new_workspace(self)
    cdef int leave(self, Workspace workspace, bint is_moved) except -1
    cdef int place(self, Workspace workspace, int32_t k, PyObject* x) except -1
    cdef int interpret(self, Workspace workspace) noexcept
    cdef object run_on(self, tuple args, int32_t threads, bint is_arranged)
    cdef list all_values(self, Workspace workspace, list made)
    cdef object result(self, Workspace workspace, list made)


cdef inline bint is_ready(cnp.ndarray array) noexcept:
    """Whether a program can read an array where it lies."""
    return cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISALIGNED(array) and cnp.PyArray_ISNOTSWAPPED(array)
