"""Functions of float64 arrays, element by element, under the names of the primitives that they compute."""

from libc.stdint cimport int32_t, int64_t

cimport numpy as cnp

cdef extern from "series.h" nogil:
    enum:
        SERIES_NONE, SERIES_COPY, SERIES_ADD, SERIES_SUBTRACT, SERIES_NEGATE, SERIES_SCALE, SERIES_SHRINK
        SERIES_SQUARE, SERIES_MULTIPLY, SERIES_DIVIDE, SERIES_STRONG_MULTIPLY, SERIES_STRONG_MULTIPLY_BOTH,
        SERIES_STRONG_DIVIDE, SERIES_SELECT, SERIES_MASK
        SERIES_DERIVE, SERIES_SLOPES, SERIES_POWER, SERIES_ITEM, SERIES_PLAN
        VALUE_GIVEN, VALUE_COPY, VALUE_ADD, VALUE_SUBTRACT, VALUE_MULTIPLY, VALUE_DIVIDE, VALUE_NEGATE, VALUE_SQUARE
        VALUE_SELECT, VALUE_MASK, VALUE_CALL1, VALUE_CALL2, VALUE_PLAN
    ctypedef struct SeriesStep:
        int32_t value
        int32_t rule
        int32_t out
        int32_t a
        int32_t b
        int32_t c
        int32_t top
        int32_t top_a
        int32_t top_b
        int32_t first
        int32_t count
        int64_t size
        int32_t operands
        int32_t n_operands
        int32_t n_results
        int32_t takes_bytes
        int32_t lag
        void* call
        void* more
    ctypedef struct SeriesTerm:
        int32_t h
        int32_t x
        int32_t y
        int32_t top_h
        int32_t top_x
        int32_t strong
        double sign
    ctypedef struct SeriesCode:
        const SeriesStep* steps
        int32_t n_steps
        const SeriesTerm* terms
        const int32_t* parts
        int32_t n_parts
        const double* orders
        const SeriesGroup* groups
        int32_t n_groups
        const int32_t* members
        int32_t n_members
        const int32_t* feedback
        int32_t n_feedback
        int32_t degree
        int64_t stride
        double** at
        double* zeros
        int64_t lanes
    ctypedef struct SeriesGroup:
        int32_t rule
        int32_t top
        int32_t first
        int32_t count
        int32_t width
        int64_t at
    ctypedef struct SeriesPlace:
        pass
    enum:
        SERIES_MEMBERS
        SERIES_SHORT

    ctypedef struct SeriesKernels:
        void (*narrow)(const SeriesCode* code, double* rows, SeriesPlace* places, double* kept) noexcept nogil
        void (*groups)(const SeriesCode* code, double* rows, SeriesPlace* places, double* kept) noexcept nogil
        void (*blocks)(const SeriesCode* code, int32_t step, int32_t end, int32_t order, int32_t last) noexcept nogil

ctypedef void (*Loop)(char**, const cnp.npy_intp*, const cnp.npy_intp*, void*) noexcept nogil
cdef struct MatrixLoop:         # as in vector.h
    Loop loop
    void* data
    int what

# p may be an operand. A result depends on its element alone: not on n, nor on the element's place.
ctypedef void (*Kernel1)(const double* x, double* p, int64_t n) noexcept nogil
ctypedef void (*Kernel2)(const double* x, const double* y, double* p, int64_t n) noexcept nogil

ctypedef void (*KernelBoth)(const double* x, double* p, double* q, int64_t n) noexcept nogil  # p or q may be x
ctypedef void (*Kernel3)(const double* a, const double* b, const double* c, double* p, int64_t n) noexcept nogil
ctypedef void (*Gathered2)(const double* a, const int32_t* k, const double* b, const int32_t* m, double* p,
                           int64_t n) noexcept nogil

cdef struct Forms2:             # of two rows, of a row and one number, of one number and a row, of gathered numbers
    Kernel2 rows
    Kernel2 right
    Kernel2 left
    Gathered2 gathered

cdef enum PairFirst:
    FIRST_ADD, FIRST_LESS, FIRST_TIMES

cdef enum PairSecond:
    THEN_ADD, THEN_LESS, THEN_FROM, THEN_TIMES

cdef Kernel1 vector1(str name)
cdef Kernel2 vector2(str name)
cdef const Forms2* arithmetic(str name)
cdef KernelBoth kernel_of_both(void* first, void* second) noexcept nogil
cdef Kernel3 pair_kernel(int first, int second, bint a_is_row, bint b_is_row, bint c_is_row) noexcept
cdef Kernel3 selection_kernel(bint a_is_row, bint c_is_row) noexcept nogil
cdef const SeriesKernels* series_kernels() noexcept nogil
cdef Loop matrix_loop(str name, int64_t rows, MatrixLoop* data)
cdef bint is_faster(str name)
