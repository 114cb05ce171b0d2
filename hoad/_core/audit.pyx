"""Looking at the functions that Python enters, without a call of Python's for each."""

cimport cython

import gc
import sys

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF

from hoad._core.where cimport is_library

cdef extern from "Python.h":
    ctypedef struct PyFrameObject:
        pass
    ctypedef int (*Py_tracefunc)(PyObject*, PyFrameObject*, int, PyObject*) except -1
    enum:
        PyTrace_CALL
    void PyEval_SetProfile(Py_tracefunc function, PyObject* owner) except *
    void* PyFrame_GetCode(PyFrameObject* frame) noexcept


@cython.final
cdef class Watch:
    """While it is the profile function of a thread, notes code that is entered and neither expected nor a library's.

    What a library calls is its own: rules, primitives. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there.
    """

    cdef dict expected          # code by its identity
    cdef readonly str unknown   # the name of what was noted last
    cdef size_t thread          # the one that is watched
    cdef bint collecting        # whether that thread collects garbage now

    def __init__(self, dict expected not None):
        self.expected = expected

    def start(self, bint alone):
        """Watch this thread; where it has no profile function, be that."""
        self.thread = <size_t>PyThread_get_thread_ident()
        gc.callbacks.insert(0, self.began)      # others' callbacks are not the function's either
        gc.callbacks.append(self.ended)
        if alone:
            PyEval_SetProfile(entered, <PyObject*>self)

    def end(self):
        """Let the garbage collector be; the profile function is put back by who knows the one before."""
        for callback in (self.began, self.ended):
            if callback in gc.callbacks:
                gc.callbacks.remove(callback)

    def began(self, phase, info):
        """What the garbage collector calls first."""
        if phase == "start" and <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = True

    def ended(self, phase, info):
        """What it calls last."""
        if phase == "stop" and <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = False

    def __call__(self, frame, event, argument):
        """The same, where a profile function is put back as Python knows it."""
        if event == "call" and not self.collecting:
            self.look(<PyFrameObject*>frame)

    cdef int look(self, PyFrameObject* frame) except -1:
        """Note the code of a frame, if it is unknown."""
        code = <object><PyObject*>PyFrame_GetCode(frame)
        Py_DECREF(code)
        if is_library(code.co_filename) or <size_t><PyObject*>code in self.expected:
            return 0
        above = (<object>frame).f_back
        if above is None or not is_library(above.f_code.co_filename):
            self.unknown = getattr(code, "co_qualname", code.co_name)
        return 0


cdef object unwatched(object function, tuple args, dict keywords):
    """What a function gives, whatever it calls: what outlives the call that is looked at.

    Programs are made once of what was recorded already, and rules give templates once for all calls, so that a look at
    them would find something the first time only.
    """
    watch = sys.getprofile()
    if type(watch) is not Watch:
        return function(*args, **keywords)
    PyEval_SetProfile(NULL, NULL)
    try:
        return function(*args, **keywords)
    finally:
        PyEval_SetProfile(entered, <PyObject*>watch)


cdef int entered(PyObject* owner, PyFrameObject* frame, int event, PyObject* argument) except -1:
    if event == PyTrace_CALL and not (<Watch>owner).collecting:
        (<Watch>owner).look(frame)
    return 0
