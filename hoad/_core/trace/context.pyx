"""What this thread records into, and what looks at results in its context."""

from contextvars import ContextVar

from hoad._core.graph.tape cimport Graph

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil

# What looks at results in this context before they are returned, the last of them: see `hoad.debug_nans`.
WATCHERS = ContextVar("hoad_watchers", default=())


# The graph that is recorded into in this context. One that has ended, or that another thread owns, counts as none.
RUNNING = ContextVar("hoad_running", default=None)


def is_open(Graph graph):
    """Whether this thread is recording into `graph`."""
    return graph.thread == PyThread_get_thread_ident()


def running():
    """The graph this thread is recording into, or None."""
    graph = RUNNING.get()
    return graph if graph is not None and is_open(graph) else None
