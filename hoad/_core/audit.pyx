"""Looking at the functions that Python enters, without a call of Python's for each."""

cimport cython

import gc

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident

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

    Code for which that is true is known from then on. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there.
    """

    cdef object look
    cdef dict known         # code by its identity; held, lest another takes its place
    cdef size_t thread      # the one that is watched
    cdef bint collecting    # whether that thread collects garbage now

    def __init__(self, look, dict known not None):
        self.look = look
        self.known = known

    def start(self, bint alone):
        """Watch this thread; where it has no profile function, be that."""
        self.thread = <size_t>PyThread_get_thread_ident()
        gc.callbacks.append(self.collected)
        if alone:
            PyEval_SetProfile(entered, <PyObject*>self)

    def end(self):
        """Let the garbage collector be; the profile function is put back by who knows the one before."""
        if self.collected in gc.callbacks:
            gc.callbacks.remove(self.collected)

    def collected(self, phase, info):
        """What the garbage collector calls as it begins and ends."""
        if <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = phase == "start"

    def __call__(self, frame, event, argument):
        """The same, where a profile function is put back as Python knows it."""
        if event == "call" and not self.collecting and id(frame.f_code) not in self.known:
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
    if watch.collecting:
        return 0
    code = PyFrame_GetCode(frame)
    if <size_t><PyObject*>code not in watch.known:
        watch.note(<object><PyObject*>frame, code)
    return 0
