# cython: freethreading_compatible=False
"""The ufuncs that derivatives need and NumPy lacks: strong products, masks and selection, parts of complex numbers.

A strong zero absorbs: ``strong_multiply(0, inf)`` is 0. See the table of singular points in the design notes.
"""

import numpy as np

from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

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


# The last parameter is the void* that NumPy gives to a loop: it is NULL, and its type says which loop is meant.

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
    cdef cnp.npy_intp i = 0
    cdef uint64_t together = 0
    while i < dims[0]:
        if steps[0] == 1 and steps[2] == sizeof(number) and i + 8 <= dims[0]:
            memcpy(&together, args[0] + i, 8)
            if together == 0:       # as in all of a unit vector but one
                memset(args[2] + i * steps[2], 0, 8 * sizeof(number))
                i += 8
                continue
        if (<cnp.npy_bool*>(args[0] + i * steps[0]))[0]:
            (<number*>(args[2] + i * steps[2]))[0] = (<number*>(args[1] + i * steps[1]))[0]
        else:
            (<number*>(args[2] + i * steps[2]))[0] = 0
        i += 1


cdef void select_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, item* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        if (<cnp.npy_bool*>(args[0] + i * steps[0]))[0]:
            (<item*>(args[3] + i * steps[3]))[0] = (<item*>(args[1] + i * steps[1]))[0]
        else:
            (<item*>(args[3] + i * steps[3]))[0] = (<item*>(args[2] + i * steps[2]))[0]


cdef void real_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, part* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        (<part*>(args[1] + i * steps[1]))[0] = (<part*>(args[0] + i * steps[0]))[0]


cdef void imag_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, part* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        (<part*>(args[1] + i * steps[1]))[0] = (<part*>(args[0] + i * steps[0]))[1]


cdef void compose_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, part* kind) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(dims[0]):
        (<part*>(args[2] + i * steps[2]))[0] = (<part*>(args[0] + i * steps[0]))[0]
        (<part*>(args[2] + i * steps[2]))[1] = (<part*>(args[1] + i * steps[1]))[0]


cdef object ufunc(str says, str types, list loops, list functions=None):
    """The ufunc that a docstring, which begins with its name, is of.

    Each group of letters in `types` is of the operands and the result of one loop. Loops of NumPy's own call the C
    function that is given for each.
    """
    made = np.array(loops, dtype=np.uintp)
    data = np.array(functions or [0] * len(loops), dtype=np.uintp)
    codes = bytes([np.dtype(letter).num for letter in types.replace(" ", "")])
    name, doc = says.partition("(")[0].encode(), says.encode()
    Py_INCREF((made, data, codes, name, doc))       # which must last as long as the ufunc
    return cnp.PyUFunc_FromFuncAndData(
        <cnp.PyUFuncGenericFunction*>cnp.PyArray_DATA(made), <void**>cnp.PyArray_DATA(data), codes, <int>len(loops),
        types.index(" ") - 1, 1, cnp.PyUFunc_None, name, doc, 0)


strong_multiply = ufunc(
    "strong_multiply(x, y): 0 where x is 0, else x * y.", "fff ddd FFF DDD",
    [<uintptr_t>&strong_multiply_loop[float], <uintptr_t>&strong_multiply_loop[double],
     <uintptr_t>&strong_multiply_loop[complex64], <uintptr_t>&strong_multiply_loop[complex128]])
strong_multiply_both = ufunc(
    "strong_multiply_both(x, y): 0 where x or y is 0, else x * y.", "fff ddd FFF DDD",
    [<uintptr_t>&strong_multiply_both_loop[float], <uintptr_t>&strong_multiply_both_loop[double],
     <uintptr_t>&strong_multiply_both_loop[complex64], <uintptr_t>&strong_multiply_both_loop[complex128]])
strong_divide = ufunc(
    "strong_divide(x, y): 0 where x is 0, else x / y.", "fff ddd FFF DDD",
    [<uintptr_t>&strong_divide_loop[float], <uintptr_t>&strong_divide_loop[double],
     <uintptr_t>&strong_divide_loop[complex64], <uintptr_t>&strong_divide_loop[complex128]])
smooth = ufunc(
    "smooth(p, q): p, which has the derivatives of q.", "fff ddd FFF DDD",
    [<uintptr_t>&smooth_loop[float], <uintptr_t>&smooth_loop[double], <uintptr_t>&smooth_loop[complex64],
     <uintptr_t>&smooth_loop[complex128]])
mask = ufunc(
    "mask(c, x): x where c, else a zero that absorbs any factor.", "?ff ?dd ?FF ?DD",
    [<uintptr_t>&mask_loop[float], <uintptr_t>&mask_loop[double], <uintptr_t>&mask_loop[complex64],
     <uintptr_t>&mask_loop[complex128]])
select = ufunc(
    "select(c, x, y): x where c, else y.", "???? ?lll ?fff ?ddd ?FFF ?DDD".replace("l", np.dtype(np.int64).char),
    [<uintptr_t>&select_loop[cnp.npy_bool], <uintptr_t>&select_loop[int64_t], <uintptr_t>&select_loop[float],
     <uintptr_t>&select_loop[double], <uintptr_t>&select_loop[complex64], <uintptr_t>&select_loop[complex128]])
real = ufunc(
    "real(x): the real part of a complex x.", "Ff Dd",
    [<uintptr_t>&real_loop[float], <uintptr_t>&real_loop[double]])
imag = ufunc(
    "imag(x): the imaginary part of a complex x.", "Ff Dd",
    [<uintptr_t>&imag_loop[float], <uintptr_t>&imag_loop[double]])
compose = ufunc(
    "compose(x, y): the complex number of these real and imaginary parts.", "ffF ddD",
    [<uintptr_t>&compose_loop[float], <uintptr_t>&compose_loop[double]])

# NumPy's loops of one number and of two: those for float32 and complex64 go through double.
cdef list UNARY = [<uintptr_t>&cnp.PyUFunc_f_f_As_d_d, <uintptr_t>&cnp.PyUFunc_d_d]
cdef list COMPLEX = [<uintptr_t>&cnp.PyUFunc_F_F_As_D_D, <uintptr_t>&cnp.PyUFunc_D_D]
cdef list BINARY = [<uintptr_t>&cnp.PyUFunc_ff_f_As_dd_d, <uintptr_t>&cnp.PyUFunc_dd_d]


cdef object unary(str says):
    """The ufunc of floats, and of complex numbers if they have one, that calls the C function of this name."""
    name = says.partition("(")[0]
    real, of_complex = <uintptr_t>scalar1(name), <uintptr_t>complex1(name)
    if of_complex:
        return ufunc(says, "ff dd FF DD", UNARY + COMPLEX, [real, real, of_complex, of_complex])
    return ufunc(says, "ff dd", UNARY, [real, real])


cdef object binary(str says):
    """The ufunc of two floats that calls the C function of this name."""
    return ufunc(says, "fff ddd", BINARY, [<uintptr_t>scalar2(says.partition("(")[0])] * 2)


slope = unary("slope(x): the sign of x, as the derivative of its absolute value.")
sech_squared = unary("sech_squared(x): 1 / cosh(x)**2.")
logistic = unary("logistic(x): 1 / (1 + exp(-x)).")
sqrt_one_minus_square = unary("sqrt_one_minus_square(x): sqrt((1 - x) * (1 + x)), which does not cancel.")
x_over_hypot = binary("x_over_hypot(x, y): x / hypot(x, y), 0 at the origin.")
powlog1 = binary("powlog1(x, y): x**y * log(x), 0 where x**y is 0.")
powlog2 = binary("powlog2(x, y): x**y * log(x)**2, 0 where x**y is 0.")
powlog3 = binary("powlog3(x, y): x**y * log(x)**3, 0 where x**y is 0.")
