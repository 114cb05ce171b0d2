"""Threads: how many there may be, and work that they share out.

There is one pool a process. Its workers are started when work is first worth sharing, wait without Python and are never
more than the largest number that was asked for, less one: the thread that has the work does parts of it too. Parts are
taken in turn by whoever is free. So what a part is must not depend on the number of threads; then nor does any result.
"""

import contextvars
import os
import sys

from libc.stdlib cimport calloc, free, getenv, malloc, strtol

from hoad.errors import ArgumentError

cdef extern from "pythread.h" nogil:
    ctypedef void* PyThread_type_lock
    enum:
        WAIT_LOCK
    int PyThread_acquire_lock(PyThread_type_lock, int) noexcept
    PyThread_type_lock PyThread_allocate_lock() noexcept
    void PyThread_free_lock(PyThread_type_lock) noexcept
    void PyThread_release_lock(PyThread_type_lock) noexcept
    unsigned long PyThread_start_new_thread(void (*)(void*) noexcept nogil, void*) noexcept
    unsigned long PYTHREAD_INVALID_THREAD_ID

cdef extern from "threads.h":
    int64_t threads_count(int64_t* counter) noexcept nogil
    void* threads_take(void** place) noexcept nogil
    int32_t threads_cores() noexcept
    bint threads_sharing

cdef enum:
    MOST = 1 << 20

# The first decides where it is set; else the least of the others does, which limit what NumPy calls.
cdef tuple VARIABLES = (b"OMP_NUM_THREADS", b"OPENBLAS_NUM_THREADS", b"MKL_NUM_THREADS")
cdef const char* OWN_VARIABLE = "HOAD_THREADS"

cdef int32_t CORES = os.cpu_count() or 1
cdef int32_t assumed = 0            # cores, for tests
cdef object controller_of = None    # the module threadpoolctl that `controller` is from
cdef object controller = None


# ---- how many -------------------------------------------------------------------------------------------------------


def most_threads():
    """The cores this process may run on, or fewer where the environment or threadpoolctl say so.

    The environment variable HOAD_THREADS decides alone where it is set. Else the least holds of OMP_NUM_THREADS,
    OPENBLAS_NUM_THREADS and MKL_NUM_THREADS, and of what the libraries are limited to that threadpoolctl knows, if
    somebody has imported it.
    """
    return most()


cdef int32_t most() except -1:
    cdef int32_t cores = assumed or threads_cores() or CORES
    cdef int32_t said = number_in(OWN_VARIABLE)
    if said:
        return min(cores, said)
    for name in VARIABLES:
        said = number_in(name)
        cores = min(cores, said) if said else cores
    return min(cores, limit_of_libraries())


def assume_cores(int cores):
    """For tests: count as if the process had so many cores; as it has, if 0."""
    global assumed
    assumed = cores


def check_threads(str driver not None, threads):
    """Raise unless `threads` is a number of threads."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ArgumentError(f"{driver} takes threads as a number of threads, 1 or more, not {threads!r}.")


def started():
    """How many workers have been started."""
    return n_workers


cdef int32_t allowed(int32_t asked) except -1:
    """How many threads a run may use that was asked to use so many at most; 0 means as many as may be."""
    return 1 if asked == 1 else min(asked or <int32_t>MOST, most())


cdef int32_t number_in(const char* name) noexcept:
    """The number of threads that a variable of the environment says, or 0. A list is for nested levels."""
    cdef const char* text = getenv(name)
    return 0 if text == NULL else <int32_t>min(max(strtol(text, NULL, 10), 0), MOST)


cdef int32_t limit_of_libraries() except -1:
    """The least number of threads that a library may use now, as threadpoolctl finds it."""
    module = sys.modules.get("threadpoolctl")
    if not hasattr(module, "ThreadpoolController"):     # not imported, or not yet
        return MOST
    profile = sys.getprofile()      # it looks at calls of the user's function, which these are none of
    sys.setprofile(None)
    try:
        return least_of_libraries(module)
    finally:
        sys.setprofile(profile)


cdef int32_t least_of_libraries(object module) except -1:
    global controller, controller_of
    if module is not controller_of:
        controller, controller_of = module.ThreadpoolController(), module
    return min([library.num_threads or MOST for library in controller.lib_controllers
                if getattr(library, "threading_layer", None) not in ("disabled", "sequential")], default=MOST)


# ---- the pool -------------------------------------------------------------------------------------------------------

cdef struct Job:
    Task task
    void* data
    int64_t parts
    int64_t begun           # how many of them
    size_t size             # bytes of scratch

cdef struct Worker:
    PyThread_type_lock wake     # free for a moment when there is a job
    PyThread_type_lock done     # the same when that has been done
    void* job                   # taken by the worker, or taken back by the one who gave it
    Worker* next                # among those that are idle, or those that have the same job
    char* scratch
    size_t size

cdef Worker* idle = NULL
cdef int32_t n_workers = 0
cdef PyThread_type_lock pool = NULL     # for the two above


cdef void share(Task task, void* data, int64_t parts, int32_t threads, char* scratch, size_t size) noexcept nogil:
    """Do all parts, in up to so many threads. Each of the others gets `size` bytes of scratch.

    What is shared out by a part is done by the thread that does the part.
    """
    global threads_sharing
    cdef Job job
    cdef Worker* following
    cdef bint before = threads_sharing
    job.task, job.data, job.parts, job.begun, job.size = task, data, parts, 0, size
    cdef Worker* worker = NULL if before else workers_for(&job, <int32_t>min(<int64_t>threads, parts) - 1)
    threads_sharing = before or worker != NULL
    do(&job, scratch)
    threads_sharing = before
    while worker != NULL:
        following = worker.next
        if threads_take(&worker.job) == NULL:       # else it has not woken yet, and will find nothing to do
            PyThread_acquire_lock(worker.done, WAIT_LOCK)
            rest(worker)
        worker = following


cdef void do(Job* job, char* scratch) noexcept nogil:
    cdef int64_t part = threads_count(&job.begun)
    while part < job.parts:
        job.task(job.data, part, scratch)
        part = threads_count(&job.begun)


cdef Worker* workers_for(Job* job, int32_t count) noexcept nogil:
    """Up to `count` workers that have begun or soon begin with a job."""
    cdef Worker* found = NULL
    cdef Worker* worker
    cdef int32_t n = 0
    if count <= 0:
        return NULL
    PyThread_acquire_lock(pool, WAIT_LOCK)
    while n < count:
        worker = idle_or_new(count)
        if worker == NULL:
            break
        worker.next, found = found, worker
        n += 1
    PyThread_release_lock(pool)
    worker = found
    while worker != NULL:
        worker.job = job
        PyThread_release_lock(worker.wake)
        worker = worker.next
    return found


cdef Worker* idle_or_new(int32_t most) noexcept nogil:
    """A worker that has nothing to do, or NULL; the caller has the pool."""
    global idle, n_workers
    cdef Worker* worker = idle
    if worker != NULL:
        idle = worker.next
    elif n_workers < most:
        worker = new_worker()
        n_workers += worker != NULL
    return worker


cdef Worker* new_worker() noexcept nogil:
    cdef Worker* worker = <Worker*>calloc(1, sizeof(Worker))
    if worker == NULL:
        return NULL
    worker.wake, worker.done = taken_lock(), taken_lock()
    if (worker.wake != NULL and worker.done != NULL
            and PyThread_start_new_thread(work, worker) != PYTHREAD_INVALID_THREAD_ID):
        return worker
    free_lock(worker.wake)
    free_lock(worker.done)
    free(worker)
    return NULL


cdef PyThread_type_lock taken_lock() noexcept nogil:
    cdef PyThread_type_lock lock = PyThread_allocate_lock()
    if lock != NULL:
        PyThread_acquire_lock(lock, WAIT_LOCK)
    return lock


cdef void free_lock(PyThread_type_lock lock) noexcept nogil:
    if lock != NULL:
        PyThread_release_lock(lock)
        PyThread_free_lock(lock)


cdef void rest(Worker* worker) noexcept nogil:
    """Put a worker among the idle."""
    global idle
    PyThread_acquire_lock(pool, WAIT_LOCK)
    worker.next, idle = idle, worker
    PyThread_release_lock(pool)


cdef void work(void* this) noexcept nogil:
    """What a worker does all its life, which ends with that of the process."""
    global threads_sharing
    cdef Worker* worker = <Worker*>this
    cdef Job* job
    threads_sharing = True
    while True:
        PyThread_acquire_lock(worker.wake, WAIT_LOCK)
        job = <Job*>threads_take(&worker.job)
        if job == NULL:         # others were faster
            rest(worker)
            continue
        if has_room(worker, job.size):
            do(job, worker.scratch)
        PyThread_release_lock(worker.done)


cdef bint has_room(Worker* worker, size_t size) noexcept nogil:
    """Whether a worker has so much scratch, if need be from now on; one that has not leaves its parts to others."""
    if worker.size < size:
        free(worker.scratch)
        worker.scratch = <char*>malloc(size)
        worker.size = size if worker.scratch != NULL else 0
    return worker.size >= size


def _begin():
    """Have an empty pool: at first, and in a child of fork, which has none of its parent's threads."""
    global pool, idle, n_workers, threads_sharing
    pool = PyThread_allocate_lock()
    if pool == NULL:
        raise MemoryError
    idle, n_workers, threads_sharing = NULL, 0, False


_begin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


# ---- calls of Python ------------------------------------------------------------------------------------------------

cdef class Calls:
    """A function to be called for each part."""

    cdef object function
    cdef list contexts
    cdef list failures

    cdef int call(self, int64_t part) except -1:
        try:
            self.contexts[part].run(self.function, part)
        except BaseException as failure:        # it is raised where the work is shared out
            self.failures[part] = failure
        return 0


def share_calls(function not None, int64_t parts, int32_t threads):
    """Call function(k) for each part, in up to so many threads, each with the context of this one.

    The first failure is raised when all have ended.
    """
    cdef Calls calls = Calls.__new__(Calls)
    cdef void* data = <void*>calls
    calls.function = function
    calls.contexts = [contextvars.copy_context() for _ in range(parts)]
    calls.failures = [None] * parts
    with nogil:
        share(call_part, data, parts, threads, NULL, 0)
    for failure in calls.failures:
        if failure is not None:
            raise failure


cdef void call_part(void* data, int64_t part, char* scratch) noexcept nogil:
    call_with_gil(data, part)


cdef void call_with_gil(void* data, int64_t part) noexcept with gil:
    (<Calls>data).call(part)
