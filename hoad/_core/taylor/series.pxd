from libc.stdint cimport int32_t, int64_t

from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.ops.plan cimport Plan
from hoad._core.graph.primitive cimport Signature
from hoad._core.kernels.vector cimport SeriesCode, SeriesGroup, SeriesStep, SeriesTerm

cdef struct Row:
    int64_t size            # items of one coefficient, in one lane
    int64_t itemsize
    int64_t at              # bytes, of a block of one lane, where it begins
    int32_t top             # the highest order at which it is not zero
    bint is_real            # made of doubles, booleans too; else it has a value only
    bint is_truth
    const char* constant    # its value, or NULL
    bint has_lanes          # the constant

cdef struct SeriesPort:           # an input or an output
    int32_t row
    int32_t count           # coefficients that are given
    bint has_lanes

cdef struct SeriesCheck:
    int32_t row
    const char* expected

cdef class Series(NativeCall):
    cdef readonly int32_t degree
    cdef readonly int64_t lanes
    cdef readonly bint is_narrow         # made of numbers, by steps that `series.h` knows
    cdef list alive             # what is pointed to
    cdef Row* rows
    cdef int32_t n_rows, cap_rows
    cdef SeriesStep* steps
    cdef int32_t n_steps, cap_steps
    cdef SeriesTerm* terms
    cdef int32_t n_terms, cap_terms
    cdef SeriesPort* inputs
    cdef int32_t n_inputs, cap_inputs
    cdef SeriesPort* outputs
    cdef int32_t n_outputs, cap_outputs
    cdef SeriesCheck* checks
    cdef int32_t n_checks, cap_checks
    cdef int32_t* feedback
    cdef int32_t n_feedback, cap_feedback
    cdef int32_t* parts         # where they end
    cdef int32_t n_parts, cap_parts
    cdef SeriesGroup* groups    # in which narrow rows are found, if there are any
    cdef readonly int32_t n_groups
    cdef int32_t cap_groups
    cdef int32_t* members
    cdef int32_t n_members, cap_members
    cdef int64_t scratch        # numbers that groups keep
    cdef bint has_plans
    cdef bint is_of_numbers     # no row is an array, nor holds anything but doubles
    cdef double* orders
    cdef double* divisors       # of integrals
    cdef double* scales         # of outputs, or NULL
    cdef int64_t widest         # items of the largest row
    cdef int64_t per_lane       # bytes of the rows
