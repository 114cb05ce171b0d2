# cython: freethreading_compatible=False
"""The ufuncs that derivatives need and NumPy lacks: strong products, masks and selection, parts of complex numbers.

A strong zero absorbs: ``strong_multiply(0, inf)`` is 0. See the table of singular points in the design notes.
"""

from libc.stdint cimport int64_t

cimport numpy as cnp

from hoad._core.kernels.scalar cimport complex1, scalar1, scalar2

cnp.import_array()
cnp.import_ufunc()

ctypedef float complex complex64
ctypedef double complex complex128

ctypedef fused number:
    float
    double
    complex64
    complex128

ctypedef fused part:
    float
    double

ctypedef fused item:
    float
    double
    complex64
    complex128
    int64_t
    cnp.npy_bool


cdef void strong_multiply_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps,
                               number* kind) noexcept nogil:
    cdef cnp.npy_intp i
    cdef number x
    for i in range(dims[0]):
        x = (<number*>(args[0] + i * steps[0]))[0]
        (<number*>(args[2] + i * steps[2]))[0] = x if x == 0 else x * (<number*>(args[1] + i * steps[1]))[0]


cdef void strong_multiply_both_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps,
                                    number* kind) noexcept nogil:
    cdef cnp.npy_intp i
    cdef number x, y
    for i in range(dims[0]):
        x = (<number*>(args[0] + i * steps[0]))[0]
        y = (<number*>(args[1] + i * steps[1]))[0]
        (<number*>(args[2] + i * steps[2]))[0] = x if x == 0 else y if y == 0 else x * y


cdef void strong_divide_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps,
                             number* kind) noexcept nogil:
    cdef cnp.npy_intp i
    cdef number x
    for i in range(dims[0]):
        x = (<number*>(args[0] + i * steps[0]))[0]
        (<number*>(args[2] + i * steps[2]))[0] = x if x == 0 else x / (<number*>(args[1] + i * steps[1]))[0]


cdef void smooth_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, number* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        (<number*>(args[2] + i * steps[2]))[0] = (<number*>(args[0] + i * steps[0]))[0]


cdef void mask_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, number* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        if (<cnp.npy_bool*>(args[0] + i * steps[0]))[0]:
            (<number*>(args[2] + i * steps[2]))[0] = (<number*>(args[1] + i * steps[1]))[0]
        else:
            (<number*>(args[2] + i * steps[2]))[0] = 0


cdef void select_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, item* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        if (<cnp.npy_bool*>(args[0] + i * steps[0]))[0]:
            (<item*>(args[3] + i * steps[3]))[0] = (<item*>(args[1] + i * steps[1]))[0]
        else:
            (<item*>(args[3] + i * steps[3]))[0] = (<item*>(args[2] + i * steps[2]))[0]


cdef void part_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, int which,
                    part* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        (<part*>(args[1] + i * steps[1]))[0] = (<part*>(args[0] + i * steps[0]))[which]


cdef void compose_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, part* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        (<part*>(args[2] + i * steps[2]))[0] = (<part*>(args[0] + i * steps[0]))[0]
        (<part*>(args[2] + i * steps[2]))[1] = (<part*>(args[1] + i * steps[1]))[0]


# NumPy wants loops of one plain type, so each instance of a fused loop has a thin one around it.
ctypedef void (*Loop)(char**, const cnp.npy_intp*, const cnp.npy_intp*, void*) noexcept nogil

cdef void strong_multiply_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_loop(a, n, s, <float*>NULL)

cdef void strong_multiply_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_loop(a, n, s, <double*>NULL)

cdef void strong_multiply_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_loop(a, n, s, <complex64*>NULL)

cdef void strong_multiply_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_loop(a, n, s, <complex128*>NULL)

cdef void strong_multiply_both_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_both_loop(a, n, s, <float*>NULL)

cdef void strong_multiply_both_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_both_loop(a, n, s, <double*>NULL)

cdef void strong_multiply_both_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_both_loop(a, n, s, <complex64*>NULL)

cdef void strong_multiply_both_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_multiply_both_loop(a, n, s, <complex128*>NULL)

cdef void strong_divide_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_divide_loop(a, n, s, <float*>NULL)

cdef void strong_divide_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_divide_loop(a, n, s, <double*>NULL)

cdef void strong_divide_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_divide_loop(a, n, s, <complex64*>NULL)

cdef void strong_divide_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    strong_divide_loop(a, n, s, <complex128*>NULL)

cdef void smooth_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    smooth_loop(a, n, s, <float*>NULL)

cdef void smooth_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    smooth_loop(a, n, s, <double*>NULL)

cdef void smooth_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    smooth_loop(a, n, s, <complex64*>NULL)

cdef void smooth_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    smooth_loop(a, n, s, <complex128*>NULL)

cdef void mask_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    mask_loop(a, n, s, <float*>NULL)

cdef void mask_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    mask_loop(a, n, s, <double*>NULL)

cdef void mask_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    mask_loop(a, n, s, <complex64*>NULL)

cdef void mask_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    mask_loop(a, n, s, <complex128*>NULL)

cdef void select_b(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    select_loop(a, n, s, <cnp.npy_bool*>NULL)

cdef void select_l(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    select_loop(a, n, s, <int64_t*>NULL)

cdef void select_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    select_loop(a, n, s, <float*>NULL)

cdef void select_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    select_loop(a, n, s, <double*>NULL)

cdef void select_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    select_loop(a, n, s, <complex64*>NULL)

cdef void select_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    select_loop(a, n, s, <complex128*>NULL)

cdef void real_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    part_loop(a, n, s, 0, <float*>NULL)

cdef void real_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    part_loop(a, n, s, 0, <double*>NULL)

cdef void imag_F(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    part_loop(a, n, s, 1, <float*>NULL)

cdef void imag_D(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    part_loop(a, n, s, 1, <double*>NULL)

cdef void compose_f(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    compose_loop(a, n, s, <float*>NULL)

cdef void compose_d(char** a, const cnp.npy_intp* n, const cnp.npy_intp* s, void* d) noexcept nogil:
    compose_loop(a, n, s, <double*>NULL)


# The tables stay with the ufuncs for as long as the process lives, as PyUFunc_FromFuncAndData asks.
cdef cnp.PyUFuncGenericFunction STRONG_MULTIPLY[4]
cdef cnp.PyUFuncGenericFunction STRONG_MULTIPLY_BOTH[4]
cdef cnp.PyUFuncGenericFunction STRONG_DIVIDE[4]
cdef cnp.PyUFuncGenericFunction SMOOTH[4]
cdef cnp.PyUFuncGenericFunction MASK[4]
cdef cnp.PyUFuncGenericFunction SELECT[6]
cdef char PRODUCT_TYPES[12]
cdef char BINARY_TYPES[6]
cdef char MASK_TYPES[12]
cdef char SELECT_TYPES[24]
cdef void* NO_DATA[6]

STRONG_MULTIPLY[:] = [
    <cnp.PyUFuncGenericFunction>strong_multiply_f, <cnp.PyUFuncGenericFunction>strong_multiply_d,
    <cnp.PyUFuncGenericFunction>strong_multiply_F, <cnp.PyUFuncGenericFunction>strong_multiply_D]
STRONG_MULTIPLY_BOTH[:] = [
    <cnp.PyUFuncGenericFunction>strong_multiply_both_f, <cnp.PyUFuncGenericFunction>strong_multiply_both_d,
    <cnp.PyUFuncGenericFunction>strong_multiply_both_F, <cnp.PyUFuncGenericFunction>strong_multiply_both_D]
STRONG_DIVIDE[:] = [
    <cnp.PyUFuncGenericFunction>strong_divide_f, <cnp.PyUFuncGenericFunction>strong_divide_d,
    <cnp.PyUFuncGenericFunction>strong_divide_F, <cnp.PyUFuncGenericFunction>strong_divide_D]
SMOOTH[:] = [<cnp.PyUFuncGenericFunction>smooth_f, <cnp.PyUFuncGenericFunction>smooth_d,
             <cnp.PyUFuncGenericFunction>smooth_F, <cnp.PyUFuncGenericFunction>smooth_D]
MASK[:] = [<cnp.PyUFuncGenericFunction>mask_f, <cnp.PyUFuncGenericFunction>mask_d,
           <cnp.PyUFuncGenericFunction>mask_F, <cnp.PyUFuncGenericFunction>mask_D]
SELECT[:] = [<cnp.PyUFuncGenericFunction>select_b, <cnp.PyUFuncGenericFunction>select_l,
             <cnp.PyUFuncGenericFunction>select_f, <cnp.PyUFuncGenericFunction>select_d,
             <cnp.PyUFuncGenericFunction>select_F, <cnp.PyUFuncGenericFunction>select_D]

cdef int[6] ITEM_TYPES = [cnp.NPY_BOOL, cnp.NPY_INT64, cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_CFLOAT, cnp.NPY_CDOUBLE]
cdef int k
for k in range(3):
    BINARY_TYPES[k] = <char>cnp.NPY_FLOAT
    BINARY_TYPES[3 + k] = <char>cnp.NPY_DOUBLE
for k in range(4):
    PRODUCT_TYPES[3 * k] = PRODUCT_TYPES[3 * k + 1] = PRODUCT_TYPES[3 * k + 2] = <char>ITEM_TYPES[k + 2]
    MASK_TYPES[3 * k] = <char>cnp.NPY_BOOL
    MASK_TYPES[3 * k + 1] = MASK_TYPES[3 * k + 2] = <char>ITEM_TYPES[k + 2]
for k in range(6):
    SELECT_TYPES[4 * k] = <char>cnp.NPY_BOOL
    SELECT_TYPES[4 * k + 1] = SELECT_TYPES[4 * k + 2] = SELECT_TYPES[4 * k + 3] = <char>ITEM_TYPES[k]
    NO_DATA[k] = NULL

cdef cnp.PyUFuncGenericFunction REAL[2]
cdef cnp.PyUFuncGenericFunction IMAG[2]
cdef cnp.PyUFuncGenericFunction COMPOSE[2]
cdef char[4] PART_TYPES = [cnp.NPY_CFLOAT, cnp.NPY_FLOAT, cnp.NPY_CDOUBLE, cnp.NPY_DOUBLE]
cdef char[6] COMPOSE_TYPES = [cnp.NPY_FLOAT, cnp.NPY_FLOAT, cnp.NPY_CFLOAT,
                              cnp.NPY_DOUBLE, cnp.NPY_DOUBLE, cnp.NPY_CDOUBLE]
REAL[:] = [<cnp.PyUFuncGenericFunction>real_F, <cnp.PyUFuncGenericFunction>real_D]
IMAG[:] = [<cnp.PyUFuncGenericFunction>imag_F, <cnp.PyUFuncGenericFunction>imag_D]
COMPOSE[:] = [<cnp.PyUFuncGenericFunction>compose_f, <cnp.PyUFuncGenericFunction>compose_d]

cdef cnp.PyUFuncGenericFunction UNARY[4]
cdef char[8] UNARY_TYPES = [cnp.NPY_FLOAT, cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_DOUBLE,
                            cnp.NPY_CFLOAT, cnp.NPY_CFLOAT, cnp.NPY_CDOUBLE, cnp.NPY_CDOUBLE]
cdef void* SECH_DATA[4]
cdef void* SQRT_ONE_MINUS_SQUARE_DATA[4]
cdef void* SLOPE_DATA[2]
cdef void* LOGISTIC_DATA[2]
cdef cnp.PyUFuncGenericFunction BINARY[2]
cdef void* X_OVER_HYPOT_DATA[2]
cdef void* POWLOG1_DATA[2]
cdef void* POWLOG2_DATA[2]
cdef void* POWLOG3_DATA[2]

# NumPy's generic loops call the C function they are given as data; those for float32 go through double.
BINARY[0] = <cnp.PyUFuncGenericFunction>cnp.PyUFunc_ff_f_As_dd_d
BINARY[1] = <cnp.PyUFuncGenericFunction>cnp.PyUFunc_dd_d
POWLOG1_DATA[0] = POWLOG1_DATA[1] = <void*>scalar2("powlog1")
POWLOG2_DATA[0] = POWLOG2_DATA[1] = <void*>scalar2("powlog2")
POWLOG3_DATA[0] = POWLOG3_DATA[1] = <void*>scalar2("powlog3")
X_OVER_HYPOT_DATA[0] = X_OVER_HYPOT_DATA[1] = <void*>scalar2("x_over_hypot")
UNARY[:] = [<cnp.PyUFuncGenericFunction>cnp.PyUFunc_f_f_As_d_d, <cnp.PyUFuncGenericFunction>cnp.PyUFunc_d_d,
            <cnp.PyUFuncGenericFunction>cnp.PyUFunc_F_F_As_D_D, <cnp.PyUFuncGenericFunction>cnp.PyUFunc_D_D]
SECH_DATA[0] = SECH_DATA[1] = <void*>scalar1("sech")
SECH_DATA[2] = SECH_DATA[3] = <void*>complex1("sech")
SQRT_ONE_MINUS_SQUARE_DATA[0] = SQRT_ONE_MINUS_SQUARE_DATA[1] = <void*>scalar1("sqrt_one_minus_square")
SQRT_ONE_MINUS_SQUARE_DATA[2] = SQRT_ONE_MINUS_SQUARE_DATA[3] = <void*>complex1("sqrt_one_minus_square")
SLOPE_DATA[0] = SLOPE_DATA[1] = <void*>scalar1("slope")
LOGISTIC_DATA[0] = LOGISTIC_DATA[1] = <void*>scalar1("logistic")

strong_multiply = cnp.PyUFunc_FromFuncAndData(
    STRONG_MULTIPLY, NO_DATA, PRODUCT_TYPES, 4, 2, 1, cnp.PyUFunc_None, "strong_multiply",
    "strong_multiply(x, y): 0 where x is 0, else x * y.", 0)
strong_multiply_both = cnp.PyUFunc_FromFuncAndData(
    STRONG_MULTIPLY_BOTH, NO_DATA, PRODUCT_TYPES, 4, 2, 1, cnp.PyUFunc_None, "strong_multiply_both",
    "strong_multiply_both(x, y): 0 where x or y is 0, else x * y.", 0)
strong_divide = cnp.PyUFunc_FromFuncAndData(
    STRONG_DIVIDE, NO_DATA, PRODUCT_TYPES, 4, 2, 1, cnp.PyUFunc_None, "strong_divide",
    "strong_divide(x, y): 0 where x is 0, else x / y.", 0)
smooth = cnp.PyUFunc_FromFuncAndData(SMOOTH, NO_DATA, PRODUCT_TYPES, 4, 2, 1, cnp.PyUFunc_None, "smooth",
                                     "smooth(p, q): p, which has the derivatives of q.", 0)
slope = cnp.PyUFunc_FromFuncAndData(UNARY, SLOPE_DATA, UNARY_TYPES, 2, 1, 1, cnp.PyUFunc_None, "slope",
                                    "slope(x): the sign of x, as the derivative of its absolute value.", 0)
mask = cnp.PyUFunc_FromFuncAndData(MASK, NO_DATA, MASK_TYPES, 4, 2, 1, cnp.PyUFunc_None, "mask",
                                   "mask(c, x): x where c, else a zero that absorbs any factor.", 0)
select = cnp.PyUFunc_FromFuncAndData(SELECT, NO_DATA, SELECT_TYPES, 6, 3, 1, cnp.PyUFunc_None, "select",
                                     "select(c, x, y): x where c, else y.", 0)
real = cnp.PyUFunc_FromFuncAndData(REAL, NO_DATA, PART_TYPES, 2, 1, 1, cnp.PyUFunc_None, "real",
                                   "real(x): the real part of a complex x.", 0)
imag = cnp.PyUFunc_FromFuncAndData(IMAG, NO_DATA, PART_TYPES, 2, 1, 1, cnp.PyUFunc_None, "imag",
                                   "imag(x): the imaginary part of a complex x.", 0)
compose = cnp.PyUFunc_FromFuncAndData(COMPOSE, NO_DATA, COMPOSE_TYPES, 2, 2, 1, cnp.PyUFunc_None, "compose",
                                      "compose(x, y): the complex number of these real and imaginary parts.", 0)
sech = cnp.PyUFunc_FromFuncAndData(UNARY, SECH_DATA, UNARY_TYPES, 4, 1, 1, cnp.PyUFunc_None, "sech",
                                   "sech(x): 1 / cosh(x).", 0)
logistic = cnp.PyUFunc_FromFuncAndData(UNARY, LOGISTIC_DATA, UNARY_TYPES, 2, 1, 1, cnp.PyUFunc_None, "logistic",
                                       "logistic(x): 1 / (1 + exp(-x)).", 0)
sqrt_one_minus_square = cnp.PyUFunc_FromFuncAndData(
    UNARY, SQRT_ONE_MINUS_SQUARE_DATA, UNARY_TYPES, 4, 1, 1, cnp.PyUFunc_None, "sqrt_one_minus_square",
    "sqrt_one_minus_square(x): sqrt((1 - x) * (1 + x)), which does not cancel.", 0)
x_over_hypot = cnp.PyUFunc_FromFuncAndData(
    BINARY, X_OVER_HYPOT_DATA, BINARY_TYPES, 2, 2, 1, cnp.PyUFunc_None, "x_over_hypot",
    "x_over_hypot(x, y): x / hypot(x, y), 0 at the origin.", 0)
powlog1 = cnp.PyUFunc_FromFuncAndData(BINARY, POWLOG1_DATA, BINARY_TYPES, 2, 2, 1, cnp.PyUFunc_None, "powlog1",
                                      "powlog1(x, y): x**y * log(x), 0 where x**y is 0.", 0)
powlog2 = cnp.PyUFunc_FromFuncAndData(BINARY, POWLOG2_DATA, BINARY_TYPES, 2, 2, 1, cnp.PyUFunc_None, "powlog2",
                                      "powlog2(x, y): x**y * log(x)**2, 0 where x**y is 0.", 0)
powlog3 = cnp.PyUFunc_FromFuncAndData(BINARY, POWLOG3_DATA, BINARY_TYPES, 2, 2, 1, cnp.PyUFunc_None, "powlog3",
                                      "powlog3(x, y): x**y * log(x)**3, 0 where x**y is 0.", 0)
