cdef extern from "hoad.h" nogil:
    enum:
        HOAD_OK
        HOAD_BRANCH
        HOAD_SINGULAR
        HOAD_PYTHON

cdef int hoad_call(void* program, const double* inputs, double* outputs) noexcept nogil
cdef int hoad_ode(double t, const double* y, double* ydot, void* program) noexcept nogil
cdef void* hoad_program(object address) except NULL
