"""The vector kernels of this processor: vector.h says what they are, docs/design/0017 how good and how fast.

The best are taken when the module is imported, or those that HOAD_KERNELS names.
"""

import os

import numpy as np


cimport numpy as cnp

from hoad._core.kernels.scalar cimport Scalar1, Scalar2, scalar1, scalar2

from hoad.errors import ArgumentError, count

cnp.import_array()

cdef extern from "vector.h" nogil:
    ctypedef struct Row1:
        const char* name
        Kernel1 kernel
    ctypedef struct Row2:
        const char* name
        Kernel2 kernel
    ctypedef struct RowBoth:
        Kernel1 first, second
        KernelBoth both
    ctypedef Kernel3 Pair[3][2]
    ctypedef Kernel3 Selection[2]
    ctypedef struct CForms2 "Forms2":
        Kernel2 rows
    ctypedef struct Arithmetic2:
        const char* name
        CForms2 forms
    ctypedef struct Target:
        const char* name
        const Row1* rows1
        const Row2* rows2
        const RowBoth* rows_both
        const Row1* arithmetic1
        const Arithmetic2* arithmetic2
        Pair* pairs
        Selection* selections
        const SeriesKernels* series
        Loop matrices
        bint usable
    enum:
        MOST_TARGETS, SMALL_ROWS
    int find_targets(Target* found)

# Where NumPy's own loops take longer (SciPy's for erf and erfc; ours of single numbers for the three of ours).
FASTER = {
    "portable": (),
    "v3": (
        "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
        "power", "arctan2", "sqrt", "sech_squared", "logistic", "sqrt_one_minus_square", "erf", "erfc",
    ),
    "v4": ("sin", "cos", "sqrt", "sech_squared", "logistic", "sqrt_one_minus_square", "erf", "erfc"),
}

cdef tuple OF_MATRICES = ("det", "slogdet", "solve", "inv", "cofactors")    # as in vector.h

cdef Target TARGETS[MOST_TARGETS]
cdef int N_TARGETS = find_targets(TARGETS)


def targets():
    """The targets that were compiled and run here, the best last."""
    return [TARGETS[i].name.decode() for i in range(N_TARGETS) if TARGETS[i].usable]


cdef Target* target_named(str name) except NULL:
    cdef int i
    for i in range(N_TARGETS):
        if TARGETS[i].usable and TARGETS[i].name.decode() == name:
            return &TARGETS[i]
    raise ArgumentError(
        f"the vector kernels {name!r}, which HOAD_KERNELS or a caller asks for, do not run here. This processor and "
        f"this build of hoad have {', '.join(targets())}. Unset HOAD_KERNELS, and the last of them is taken."
    )


cdef Target* CHOSEN = target_named(os.environ.get("HOAD_KERNELS") or targets()[-1])


def target():
    """The target in use."""
    return CHOSEN.name.decode()


cdef Kernel1 kernel1(const Row1* row, str name):
    while row.name != NULL:
        if row.name.decode() == name:
            return row.kernel
        row += 1
    return NULL


cdef Kernel2 kernel2(Target* of, str name):
    cdef const Row2* row = of.rows2
    while row.name != NULL:
        if row.name.decode() == name:
            return row.kernel
        row += 1
    return NULL


cdef Kernel1 vector1(str name):
    """The kernel of one operand of this name, or NULL."""
    name = "sign" if name == "slope" else name
    cdef Kernel1 found = kernel1(CHOSEN.rows1, name.removeprefix("scipy.special."))
    return found if found != NULL else kernel1(CHOSEN.arithmetic1, name)


cdef Kernel2 vector2(str name):
    """The kernel of two operands of this name, or NULL."""
    cdef const Forms2* forms = arithmetic(name)
    return forms.rows if forms != NULL else kernel2(CHOSEN, name.removeprefix("scipy.special."))


cdef const Forms2* arithmetic(str name):
    """The forms of an arithmetic operation of two operands, or NULL."""
    cdef const Arithmetic2* row = CHOSEN.arithmetic2
    while row.name != NULL:
        if row.name.decode() == name:
            return <const Forms2*>&row.forms
        row += 1
    return NULL


cdef Kernel3 pair_kernel(int first, int second, bint a_is_row, bint b_is_row, bint c_is_row) noexcept:
    """The kernel of two operations, `PairFirst` on a and b and `PairSecond` with c; NULL where a and b are numbers."""
    cdef int rows = 0 if a_is_row and b_is_row else 1 if a_is_row else 2
    return CHOSEN.pairs[4 * first + second][rows][0 if c_is_row else 1] if a_is_row or b_is_row else NULL


cdef Kernel3 selection_kernel(bint a_is_row, bint c_is_row) noexcept nogil:
    """The kernel of a where b else c: b is a row."""
    return CHOSEN.selections[0 if a_is_row else 1][0 if c_is_row else 1]


cdef const SeriesKernels* series_kernels() noexcept nogil:
    """Taylor arithmetic for this processor."""
    return CHOSEN.series


cdef Loop matrix_loop(str name, int64_t rows, MatrixLoop* data):
    """The loop over stacks of matrices of up to so many rows and columns, by vector_matrices.h, or NULL.

    Its data is to hold the loop that is asked where a matrix is rare.
    """
    if name not in OF_MATRICES or not 0 < rows <= SMALL_ROWS:
        return NULL
    data.what = OF_MATRICES.index(name)
    return CHOSEN.matrices


cdef KernelBoth kernel_of_both(void* first, void* second) noexcept nogil:
    """The kernel that does what two kernels of one operand do, or NULL."""
    cdef const RowBoth* row = CHOSEN.rows_both
    while row.both != NULL:
        if <void*>row.first == first and <void*>row.second == second:
            return row.both
        row += 1
    return NULL


cdef bint is_faster(str name):
    """Whether the kernel of this name is at least as fast as the loop of the ufunc."""
    return name.removeprefix("scipy.special.") in FASTER[target()]


def names():
    """The names of the kernels of one operand, and of those of two."""
    cdef const Row1* row1 = CHOSEN.rows1
    cdef const Row2* row2 = CHOSEN.rows2
    cdef list one = []
    cdef list two = []
    while row1.name != NULL:
        one.append(row1.name.decode())
        row1 += 1
    while row2.name != NULL:
        two.append(row2.name.decode())
        row2 += 1
    return one, two


cdef int64_t common_size(list arrays) except -1:
    """The size of arrays that a kernel can walk through together."""
    for array in arrays:
        if array.dtype != np.float64 or not array.flags.c_contiguous or array.size != arrays[0].size:
            raise ArgumentError(
                f"a kernel takes contiguous float64 arrays of one size, but was given {array.dtype} of shape "
                f"{array.shape}. Use np.ascontiguousarray(array, dtype=float)."
            )
    return arrays[0].size


def evaluate(str name, cnp.ndarray x, cnp.ndarray y=None, *, cnp.ndarray out=None, str of=None):
    """A kernel applied to contiguous float64 arrays, by the kernels of the target `of` (those in use unless given)."""
    cdef Target* chosen = CHOSEN if of is None else target_named(of)
    cdef Kernel1 one = kernel1(chosen.rows1, name) if y is None else NULL
    cdef Kernel2 two = kernel2(chosen, name) if y is not None else NULL
    out = np.empty(x.size) if out is None else out
    cdef int64_t n = common_size([x, out] if y is None else [x, y, out])
    if one != NULL:
        with nogil:
            one(<const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(out), n)
    elif two != NULL:
        with nogil:
            two(<const double*>cnp.PyArray_DATA(x), <const double*>cnp.PyArray_DATA(y),
                <double*>cnp.PyArray_DATA(out), n)
    else:
        raise no_kernel(name, 1 if y is None else 2)
    return out


def library(str name, cnp.ndarray x, cnp.ndarray y=None, *, cnp.ndarray out=None):
    """The same by the functions of single numbers, one call an element: what a kernel is compared with."""
    cdef str full = f"scipy.special.{name}" if name in ("erf", "erfc") else name
    cdef Scalar1 one = scalar1(full) if y is None else NULL
    cdef Scalar2 two = scalar2(full) if y is not None else NULL
    out = np.empty(x.size) if out is None else out
    cdef int64_t i
    cdef int64_t n = common_size([x, out] if y is None else [x, y, out])
    cdef double* a = <double*>cnp.PyArray_DATA(x)
    cdef double* b = NULL if y is None else <double*>cnp.PyArray_DATA(y)
    cdef double* p = <double*>cnp.PyArray_DATA(out)
    if one != NULL:
        for i in range(n):
            p[i] = one(a[i])
    elif two != NULL:
        for i in range(n):
            p[i] = two(a[i], b[i])
    else:
        raise no_kernel(name, 1 if y is None else 2)
    return out


cdef object no_kernel(str name, int operands):
    one, two = names()
    return ArgumentError(
        f"no kernel of {count(operands, 'operand')} is called {name!r}. Those of one are {', '.join(one)}; those of "
        f"two {', '.join(two)}."
    )
