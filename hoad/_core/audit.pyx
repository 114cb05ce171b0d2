"""Looking at the functions that Python enters, without a call of Python's for each."""

cimport cython

import gc

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF

from hoad._core.where cimport is_library

cdef extern from "Python.h":
    ctypedef struct PyFrameObject:
        pass
    ctypedef int (*Py_tracefunc)(PyObject*, PyFrameObject*, int, PyObject*) except -1
    ctypedef struct PyThreadState:
        Py_tracefunc c_profilefunc
        PyObject* c_profileobj
    enum:
        PyTrace_CALL
    PyThreadState* PyThreadState_Get() noexcept
    void PyEval_SetProfile(Py_tracefunc function, PyObject* owner) except *
    void* PyFrame_GetCode(PyFrameObject* frame) noexcept


@cython.final
cdef class Watch:
    """While it is the profile function of a thread, notes code that is entered and neither expected nor a library's.

    What a library calls is its own: rules, primitives. What the garbage collector enters is nobody's: it runs where
    it happens to run, whatever was called there. A profiler that is there already goes on.
    """

    cdef dict expected          # code by its identity
    cdef void* known            # the code that was found there last
    cdef readonly str unknown   # the name of what was noted last
    cdef size_t thread          # the one that is watched
    cdef bint collecting        # whether that thread collects garbage now
    cdef Py_tracefunc before    # the profile function before this one, and what it was given
    cdef object owner

    def __init__(self, dict expected not None):
        self.expected = expected

    def __enter__(self):
        cdef PyThreadState* state = PyThreadState_Get()
        self.thread = <size_t>PyThread_get_thread_ident()
        self.before = state.c_profilefunc
        self.owner = None if state.c_profileobj == NULL else <object>state.c_profileobj
        gc.callbacks.insert(0, self.began)      # others' callbacks are not the function's either
        gc.callbacks.append(self.ended)
        PyEval_SetProfile(entered, <PyObject*>self)
        return self

    def __exit__(self, *_):
        for callback in (self.began, self.ended):
            if callback in gc.callbacks:
                gc.callbacks.remove(callback)
        if PyThreadState_Get().c_profileobj == <PyObject*>self:
            self.put_back()

    cdef int put_back(self) except -1:
        """Set the profile function before this one."""
        PyEval_SetProfile(self.before, self.owner_before())
        return 0

    cdef PyObject* owner_before(self) noexcept:
        return NULL if self.before == NULL else <PyObject*>self.owner

    cdef int go_on(self) except -1:
        """Be the profile function again, unless somebody has set another one since it was put back."""
        cdef PyThreadState* state = PyThreadState_Get()
        if state.c_profilefunc == self.before and state.c_profileobj == self.owner_before():
            PyEval_SetProfile(entered, <PyObject*>self)
        return 0

    def began(self, phase, info):
        """What the garbage collector calls first."""
        if phase == "start" and <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = True

    def ended(self, phase, info):
        """What it calls last."""
        if phase == "stop" and <size_t>PyThread_get_thread_ident() == self.thread:
            self.collecting = False

    def __call__(self, frame, event, argument):
        """What Python calls where somebody put this back, as Python knows it."""
        PyEval_SetProfile(entered, <PyObject*>self)
        if event == "call" and not self.collecting:
            self.look(<PyFrameObject*>frame)

    cdef int look(self, PyFrameObject* frame) except -1:
        """Note the code of a frame, if it is unknown."""
        code = <object><PyObject*>PyFrame_GetCode(frame)
        Py_DECREF(code)
        if <void*>code == self.known:
            return 0
        if <size_t><PyObject*>code in self.expected:
            self.known = <void*>code
            return 0
        if is_library(code.co_filename):
            return 0
        above = (<object>frame).f_back
        if above is None or not is_library(above.f_code.co_filename):
            self.unknown = getattr(code, "co_qualname", code.co_name)
        return 0


cpdef object unwatched(object function, tuple args, dict keywords=None):
    """What a function gives, whatever it calls: hoad's own work on what was recorded, and what outlives the call.

    Programs are made once of what was recorded already, and rules give templates once for all calls, so that a look at
    them would find something the first time only. And where many functions of hoad's run, to look at each takes longer
    than they do. Nothing of the user's may run within but rules, which are a library's.
    """
    cdef PyThreadState* state = PyThreadState_Get()
    cdef dict given = {} if keywords is None else keywords
    if state.c_profilefunc != <Py_tracefunc>entered:
        return function(*args, **given)
    watch = <Watch>state.c_profileobj
    watch.put_back()
    try:
        return function(*args, **given)
    finally:
        watch.go_on()


cdef int entered(PyObject* owner, PyFrameObject* frame, int event, PyObject* argument) except -1:
    cdef Watch watch = <Watch>owner
    if watch.before != NULL:
        watch.before(<PyObject*>watch.owner, frame, event, argument)
    if event == PyTrace_CALL and not watch.collecting:
        watch.look(frame)
    return 0
