"""What this thread records into, and what looks at results in its context."""

from contextvars import ContextVar

cimport cython

from hoad._core.graph.tape cimport Graph

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil


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
        return self.variable.set(watchers)

    def reset(self, token not None):
        """Let those look at results that did before `set`."""
        self.variable.reset(token)


# What looks at results in this context before they are returned, the last of them: see `hoad.debug_nans`.
WATCHERS = Watchers()

# The graph that is recorded into in this context. One that has ended, or that another thread owns, counts as none.
RUNNING = ContextVar("hoad_running", default=None)


def is_open(Graph graph):
    """Whether this thread is recording into `graph`."""
    return graph.thread == PyThread_get_thread_ident()


def running():
    """The graph this thread is recording into, or None."""
    graph = RUNNING.get()
    return graph if graph is not None and is_open(graph) else None
