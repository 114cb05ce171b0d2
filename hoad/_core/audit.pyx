"""Looking at the functions that Python enters, without a call of Python's for each."""

cimport cython

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyFrameObject:
        pass
    ctypedef int (*Py_tracefunc)(PyObject*, PyFrameObject*, int, PyObject*) except -1
    enum:
        PyTrace_CALL
    void PyEval_SetProfile(Py_tracefunc function, PyObject* owner)
    object PyFrame_GetCode(PyFrameObject* frame)


@cython.final
cdef class Watch:
    """While it is the profile function of a thread, calls ``look(frame)`` where code is entered that is not known yet.

    Code for which that is true is known from then on.
    """

    cdef object look
    cdef dict known         # code by its identity; held, lest another takes its place

    def __init__(self, look, dict known not None):
        self.look = look
        self.known = known

    def start(self):
        """Be the profile function of this thread, in place of none."""
        PyEval_SetProfile(entered, <PyObject*>self)

    def __call__(self, frame, event, argument):
        """The same, where a profile function is put back as Python knows it."""
        if event == "call" and id(frame.f_code) not in self.known:
            self.note(frame, frame.f_code)

    cdef int note(self, object frame, object code) except -1:
        if self.look(frame):
            self.known[id(code)] = code
        return 0


cdef int entered(PyObject* owner, PyFrameObject* frame, int event, PyObject* argument) except -1:
    cdef Watch watch
    if event != PyTrace_CALL:
        return 0
    watch = <Watch>owner
    code = PyFrame_GetCode(frame)
    if <size_t><PyObject*>code not in watch.known:
        watch.note(<object><PyObject*>frame, code)
    return 0
