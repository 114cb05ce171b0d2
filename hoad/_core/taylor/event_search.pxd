from libc.stdint cimport int32_t, int64_t

from hoad._core.taylor.series cimport Series

cdef struct Event:              # of one function g
    int32_t side                # the last sign of g that is known
    int32_t direction           # of the changes of sign that count, or 0 for both
    int64_t left                # events until the solution ends; below 0, it does not
    double* times
    int32_t n_times
    int32_t n_found             # together with those of the running step, which are offsets into it
    int32_t cap_times

cdef class EventSearch:
    cdef readonly double ended  # when the last event was
    cdef Series series
    cdef int32_t order, n_events, n_blocks
    cdef int64_t n
    cdef int64_t* offsets       # of what the functions depend on, in y
    cdef int64_t* sizes
    cdef char** at
    cdef double time[2]
    cdef object memory
    cdef double* given          # y as the series takes it, block after block
    cdef double* now            # the coefficients of each g from the end of the last step on
    cdef double* before         # those of the last step
    cdef double* scaled         # those of one g, for a step of length 1
    cdef double* pending        # coefficients in Bernstein's basis, of intervals
    cdef Event* events
    cdef bint is_known          # are the coefficients

    cdef int follow(self, const double* y, const double* after, double began, double rest, double h,
                    double t) except -1 nogil
    cdef int expand(self, const double* y, double t, double* found) except -1 nogil
    cdef int between(self, int32_t k, const double* y, double t, double h, const double* c, double end, double offset,
                     int depth) except -1 nogil
    cdef int halve(self, int32_t k, const double* y, double t, double h, const double* c, double end, double offset,
                   int depth) except -1 nogil
    cdef int roots(self, Event* event, double offset, double h, double noise) except -1 nogil
    cdef bint settle(self, double began, double rest) noexcept nogil
