"""What this thread records into, and what looks at results in its context."""

import sys
from contextvars import ContextVar

cimport cython
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set

from hoad._core.graph.tape cimport Graph

cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil


# Before Python 3.12, garbage may be collected within a change of a context. A finalizer that changes the context, too,
# frees what the change still uses: variables are not found any more, or the process ends (python/cpython issue 148891).
cdef bint COLLECTS_WITHIN = sys.version_info < (3, 12)


cpdef object set_in_context(object variable, object value):
    """`variable.set(value)`, during which no garbage is collected."""
    cdef bint collects = COLLECTS_WITHIN and PyGC_Disable()
    try:
        return PyContextVar_Set(variable, value)
    finally:
        if collects:
            PyGC_Enable()


cpdef object reset_in_context(object variable, object token):
    """`variable.reset(token)`, during which no garbage is collected."""
    cdef bint collects = COLLECTS_WITHIN and PyGC_Disable()
    try:
        PyContextVar_Reset(variable, token)
    finally:
        if collects:
            PyGC_Enable()


@cython.final
cdef class Watchers:
    """What looks at results in a context: a variable that is asked at every call, and that few programs ever set."""

    def __cinit__(self):
        self.variable = ContextVar("hoad_watchers", default=())

    cpdef tuple get(self):
        """Those of this context."""
        return self.variable.get() if self.is_used else ()

    def set(self, tuple watchers not None):
        """Let these look at results in this context; gives what `reset` takes."""
        self.is_used = True
        return set_in_context(self.variable, watchers)

    def reset(self, token not None):
        """Let those look at results that did before `set`."""
        reset_in_context(self.variable, token)


# What looks at results in this context before they are returned, the last of them: see `hoad.debug_nans`.
WATCHERS = Watchers()

# The graph that is recorded into in this context. One that has ended, or that another thread owns, counts as none.
RUNNING = ContextVar("hoad_running", default=None)


cpdef bint is_open(Graph graph):
    """Whether this thread is recording into `graph`."""
    return graph.thread == PyThread_get_thread_ident()


cpdef Graph running():
    """The graph this thread is recording into, or None."""
    cdef Graph graph = RUNNING.get()
    return graph if graph is not None and is_open(graph) else None
