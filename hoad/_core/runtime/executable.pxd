from cpython.object cimport PyObject

cimport numpy as cnp

from hoad._core.graph.tape cimport AVAL_BOOL, AVAL_FLOAT, int32_t, int64_t
from hoad._core.runtime.engine cimport Input, Lowered, Registers

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject* Py_TYPE(PyObject*) noexcept
    bint PyFloat_CheckExact(PyObject*) noexcept
    double PyFloat_AS_DOUBLE(PyObject*) noexcept

cdef PyTypeObject* FLOAT64      # NumPy's

cdef class Workspace:           # the memory of one run
    cdef char* memory
    cdef int64_t size
    cdef Registers work
    cdef list held              # what inputs were converted to

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
    cdef int lay_out(self, Workspace workspace) except -1
    cdef int leave(self, Workspace workspace, bint is_moved) except -1
    cdef int place(self, Workspace workspace, int32_t k, PyObject* x) except -1
    cdef int interpret(self, Workspace workspace) noexcept
    cdef object run_on(self, tuple args, int32_t threads, bint is_arranged)
    cdef list all_values(self, Workspace workspace, list made)
    cdef object result(self, Workspace workspace, list made)


cdef inline bint is_float(PyObject* x) noexcept:
    """Whether this is Python's float or NumPy's, and of no class derived from these."""
    return PyFloat_CheckExact(x) or Py_TYPE(x) == FLOAT64


cdef inline bint is_ready(cnp.ndarray array) noexcept:
    """Whether a program can read an array where it lies."""
    return cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISALIGNED(array) and cnp.PyArray_ISNOTSWAPPED(array)


cdef inline bint place_ready(Lowered program, Registers* work, int32_t k, PyObject* x) noexcept:
    """Let input k be a float, or an array of its shape and dtype, if it can be read where it lies; whether it can."""
    cdef Input* place = &program.inputs[k]
    if place.aval == AVAL_FLOAT and is_float(x):
        work.uniform[place.register].d = PyFloat_AS_DOUBLE(x)
    elif place.aval == AVAL_BOOL or type(<object>x) is not cnp.ndarray or not is_ready(<cnp.ndarray>x):
        return False
    elif place.aval == AVAL_FLOAT:
        work.uniform[place.register].d = (<double*>cnp.PyArray_DATA(<cnp.ndarray>x))[0]
    else:
        work.uniform[place.register].o = <PyObject*>cnp.PyArray_DATA(<cnp.ndarray>x)
    return True
