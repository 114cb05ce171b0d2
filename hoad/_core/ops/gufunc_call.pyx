"""NumPy's loops of numpy.linalg and numpy.fft, without the functions of Python around them.

Those take several times as long as the loop of a small matrix. What they find out of the operands (the loop, its
strides, the factor of a norm) a signature fixes. The values are NumPy's to the last bit. Where a loop fails, or NumPy
looks at the values and refuses them, the function of Python does it all once more, and raises.
"""

import numpy as np

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport fabs, hypot, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

cimport cython
cimport numpy as cnp

from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.kernels.vector cimport Loop
from hoad._core.ops.plan cimport FAILED_PYTHON, UNFINISHED
from hoad._core.graph.tape cimport AbstractValue

cnp.import_array()

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct Ufunc "PyUFuncObject":
        int nargs, ntypes
        void** functions
        void** data
        const char* types

cdef extern from "<fenv.h>" nogil:
    int feclearexcept(int) noexcept
    int fetestexcept(int) noexcept
    int FE_INVALID

cdef extern from "Python.h":
    void PyErr_NoMemory() noexcept

cdef enum:
    MOST_AXES = 8
    MOST_STRIDES = 32

cdef enum Factors:
    CHOLESKY
    EIGH
    EIG
    SVD
    QR
    PINV
    LSTSQ

ctypedef fused number:
    double
    double complex

cdef double ROOT_OF_EPS = float(np.finfo(np.float64).eps ** 0.5)
cdef double LESS_THAN_ROOT = float(np.finfo(np.float64).eps ** 0.75)


# ---- symmetric matrices ---------------------------------------------------------------------------------------------

cdef inline double size(number x) noexcept nogil:
    if number is double:
        return fabs(x)
    else:
        return hypot(x.real, x.imag)


cdef inline number across(number x, bint conjugated) noexcept nogil:
    """What stands on the other side of the diagonal of a symmetric, or a Hermitian matrix."""
    if number is double:
        return x
    else:
        return x.conjugate() if conjugated else x


cdef inline double larger(double x, double y) noexcept nogil:
    """As np.maximum: nan where one is."""
    return x if x >= y or x != x else y


cdef bint is_exact(const number* a, int64_t n, bint conjugated) noexcept nogil:
    cdef int64_t i, j
    for i in range(n):
        for j in range(i + 1):
            if a[i * n + j] != across(a[j * n + i], conjugated):
                return False
    return True


cdef int is_close(const number* a, int64_t n, bint conjugated) noexcept nogil:
    """Whether both triangles are the same but for rounding, item by item; -1 where there is no memory to say."""
    cdef int64_t i, j
    cdef double of_both
    cdef int found = True
    cdef double* rows = <double*>PyMem_RawMalloc(n * sizeof(double))
    if rows == NULL:
        return -1
    for i in range(n):
        rows[i] = 0.0
        for j in range(n):
            rows[i] = larger(rows[i], larger(size(a[i * n + j]), size(a[j * n + i])))
        rows[i] = sqrt(rows[i])
    for i in range(n):
        for j in range(n):
            of_both = larger(size(a[i * n + j]), size(a[j * n + i]))
            if size(a[i * n + j] - across(a[j * n + i], conjugated)) > larger(
                    ROOT_OF_EPS * of_both, LESS_THAN_ROOT * (rows[i] * rows[j])):
                found = False
    PyMem_RawFree(rows)
    return found


cdef int are_symmetric(const number* a, int64_t stack, int64_t n, bint conjugated) noexcept nogil:
    cdef int64_t k
    cdef int found = True
    for k in range(stack):
        if not is_exact(a + k * n * n, n, conjugated):
            break
    else:
        return True
    for k in range(stack):      # by all of the stack, as one matrix that is not exact has the others looked at
        found = is_close(a + k * n * n, n, conjugated)
        if found != 1:
            break
    return found


def symmetric_doubles(a, bint conjugated):
    """Whether square matrices of doubles in the order of C are symmetric but for rounding; None of all others."""
    if type(a) is not np.ndarray or not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>a):
        return None
    cdef cnp.ndarray x = a
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int found
    if ndim < 2 or not cnp.PyArray_ISALIGNED(x) or not cnp.PyArray_ISNOTSWAPPED(x):
        return None
    cdef int64_t n = cnp.PyArray_DIM(x, ndim - 1)
    if cnp.PyArray_DIM(x, ndim - 2) != n:
        return None
    cdef int64_t stack = cnp.PyArray_SIZE(x) // max(n * n, 1)
    if cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
        found = are_symmetric(<const double*>cnp.PyArray_DATA(x), stack, n, conjugated)
    elif cnp.PyArray_TYPE(x) == cnp.NPY_CDOUBLE:
        found = are_symmetric(<const double complex*>cnp.PyArray_DATA(x), stack, n, conjugated)
    else:
        return None
    if found < 0:
        raise MemoryError
    return found != 0


# ---- loops ----------------------------------------------------------------------------------------------------------

cdef struct Loops:
    Loop loop
    void* data


cdef Loops loop_of(object module, str name, str signature, str types) except *:
    """NumPy's loop for these dtypes, NULL where this version has it under another name or with other dimensions."""
    cdef Loops found
    cdef Ufunc* u
    cdef int i, j
    memset(&found, 0, sizeof(found))
    function = getattr(module, name, None)
    if function is None or function.signature != signature:
        return found
    u = <Ufunc*><void*>function
    wanted = [np.dtype(kind).num for kind in types]
    for i in range(u.ntypes):
        for j in range(u.nargs):
            if u.types[i * u.nargs + j] != <int>wanted[j]:
                break
        else:
            found.loop = <Loop>u.functions[i]
            found.data = NULL if u.data == NULL else u.data[i]
            return found
    return found


cdef int no_memory() noexcept with gil:
    PyErr_NoMemory()
    return FAILED_PYTHON


# ---- factors of matrices --------------------------------------------------------------------------------------------

@cython.final
cdef class MatrixFactors(NativeCall):
    """Factors of each matrix of a stack by LAPACK."""

    cdef int what
    cdef Loops first, second
    cdef bint of_complex            # numbers that LAPACK is given
    cdef bint takes_parts           # reals of complex operands whose imaginary parts are zero
    cdef cnp.npy_intp stack, m, n, least
    cdef double rcond
    cdef cnp.npy_intp[5] dims
    cdef cnp.npy_intp[4] product_dims
    cdef cnp.npy_intp[MOST_STRIDES] steps
    cdef size_t scratch

    cdef int set_steps(self, list outer, list core) except -1:
        cdef int k
        for k, step in enumerate(outer + core):
            self.steps[k] = step
        return 0

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef char* memory = NULL
        cdef int code
        if self.what == CHOLESKY or self.what == EIGH:
            if self.of_complex:
                code = are_symmetric(<const double complex*>operands[0], self.stack, self.n, True)
            else:
                code = are_symmetric(<const double*>operands[0], self.stack, self.n, True)
            if code != 1:
                return UNFINISHED
        if self.scratch:
            memory = <char*>PyMem_RawMalloc(self.scratch)
            if memory == NULL:
                return no_memory()
        feclearexcept(FE_INVALID)
        code = self.fill(operands, results, memory)
        PyMem_RawFree(memory)
        return UNFINISHED if code or fetestexcept(FE_INVALID) else 0

    cdef int fill(self, char** operands, char** results, char* memory) noexcept nogil:
        """Run the loops; 1 where NumPy refuses the operands."""
        cdef char* args[7]
        cdef int64_t i, count = self.stack * self.m * self.n
        args[0], args[1], args[2] = operands[0], results[0], results[1]
        if self.what == EIG:
            for i in range(2 * count):
                if not isfinite((<double*>operands[0])[i]):
                    return 1
            if self.takes_parts:
                for i in range(count):
                    (<double*>memory)[i] = (<double*>operands[0])[2 * i]
                args[0] = memory
        elif self.what == SVD:
            args[3] = results[2]
        elif self.what == QR:
            return self.fill_qr(operands[0], results, memory)
        elif self.what == PINV:
            return self.fill_pinv(operands[0], results[0], memory)
        elif self.what == LSTSQ:
            args[1], args[2], args[3] = operands[1], <char*>&self.rcond, results[0]
            args[4], args[5] = memory + sizeof(double), memory
            args[6] = memory + sizeof(double) * (1 + self.dims[3])
        self.first.loop(args, self.dims, self.steps, self.first.data)
        return 0

    cdef int fill_qr(self, char* a, char** results, char* memory) noexcept nogil:
        """Reflections in place of a copy, then Q from them; R is above the diagonal of that copy."""
        cdef char* args[3]
        cdef cnp.npy_intp itemsize = 16 if self.of_complex else 8
        cdef cnp.npy_intp k, i
        cdef cnp.npy_intp n = self.n
        cdef char* tau = memory + self.stack * self.m * n * itemsize
        memcpy(memory, a, self.stack * self.m * n * itemsize)
        args[0], args[1] = memory, tau
        self.first.loop(args, self.dims, self.steps, self.first.data)
        args[0], args[1], args[2] = memory, tau, results[0]
        self.second.loop(args, self.dims, self.steps + 5, self.second.data)
        for k in range(self.stack):
            for i in range(n):
                memset(results[1] + (k * n + i) * n * itemsize, 0, i * itemsize)
                memcpy(results[1] + ((k * n + i) * n + i) * itemsize,
                       memory + ((k * self.m + i) * n + i) * itemsize, (n - i) * itemsize)
        return 0

    cdef int fill_pinv(self, char* a, char* p, char* memory) noexcept nogil:
        """The product V (Uᴴ / s) of what the singular values of the conjugate give, as NumPy has it."""
        cdef char* args[4]
        cdef cnp.npy_intp i, j, parts = 2 if self.of_complex else 1
        cdef cnp.npy_intp count = self.stack * self.m * self.n, n_u = self.stack * self.m * self.least
        cdef double* x = <double*>memory
        cdef double* u = x + count * parts
        cdef double* vh = u + n_u * parts
        cdef double* s = vh + self.stack * self.least * self.n * parts
        cdef double* own
        cdef double largest, re, im
        memcpy(x, a, count * parts * sizeof(double))
        if self.of_complex:
            for i in range(count):
                x[2 * i + 1] = -x[2 * i + 1]
        args[0], args[1], args[2], args[3] = <char*>x, <char*>u, <char*>s, <char*>vh
        self.first.loop(args, self.dims, self.steps, self.first.data)
        for i in range(self.stack):
            own = s + i * self.least
            largest = own[0]
            for j in range(self.least):
                largest = larger(largest, own[j])
            for j in range(self.least):
                own[j] = 1.0 / own[j] if own[j] > self.rcond * largest else 0.0
        for i in range(n_u):
            own = s + i // (self.m * self.least) * self.least + i % self.least
            if self.of_complex:
                re, im = u[2 * i], u[2 * i + 1]
                u[2 * i], u[2 * i + 1] = own[0] * re - 0.0 * im, own[0] * im + 0.0 * re
            else:
                u[i] *= own[0]
        args[0], args[1], args[2] = <char*>vh, <char*>u, p
        self.second.loop(args, self.product_dims, self.steps + 11, self.second.data)
        return 0


cdef MatrixFactors of_matrices(int what, AbstractValue a, object kinds):
    """What takes the operand a, with all but its loop; None of numbers that LAPACK is given as others."""
    if a.dtype.char not in kinds or a.ndim < 2 or a.size == 0 or not a.dtype.isnative:
        return None
    cdef MatrixFactors made = MatrixFactors.__new__(MatrixFactors)
    made.what = what
    made.of_complex = a.dtype.char == "D"
    made.m, made.n = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    made.least = min(made.m, made.n)
    made.stack = a.size // (made.m * made.n)
    made.numbers = a.size * made.least
    made.calls_python = True
    made.dims[0], made.dims[1], made.dims[2], made.dims[3] = made.stack, made.m, made.n, made.least
    return made


def cholesky_factor(module, AbstractValue a not None):
    """What computes the factor of positive definite matrices, or None."""
    cdef MatrixFactors made = of_matrices(CHOLESKY, a, "dD")
    if made is None:
        return None
    cdef int64_t n = made.n, item = a.itemsize
    made.first = loop_of(module, "cholesky_lo", "(m,m)->(m,m)", a.dtype.char * 2)
    made.set_steps([n * n * item] * 2, [n * item, item] * 2)
    return None if made.first.loop == NULL else made


def symmetric_factors(module, AbstractValue a not None, str triangle):
    """What computes eigenvalues and eigenvectors of symmetric matrices from one triangle, or None."""
    cdef MatrixFactors made = of_matrices(EIGH, a, "dD")
    if made is None:
        return None
    cdef int64_t n = made.n, item = a.itemsize
    made.first = loop_of(module, "eigh_lo" if triangle == "L" else "eigh_up", "(m,m)->(m),(m,m)",
                         f"{a.dtype.char}d{a.dtype.char}")
    made.set_steps([n * n * item, n * 8, n * n * item], [n * item, item, 8, n * item, item])
    return None if made.first.loop == NULL else made


def eigenvectors(module, AbstractValue a not None, bint is_real):
    """What computes eigenvalues and eigenvectors of complex matrices, or of real ones that are given so; or None."""
    cdef MatrixFactors made = of_matrices(EIG, a, "D")
    if made is None:
        return None
    cdef int64_t n = made.n, item = 8 if is_real else 16
    made.takes_parts = is_real
    made.scratch = a.size * 8 if is_real else 0
    made.first = loop_of(module, "eig", "(m,m)->(m),(m,m)", "dDD" if is_real else "DDD")
    made.set_steps([n * n * item, n * 16, n * n * 16], [n * item, item, 16, n * 16, 16])
    return None if made.first.loop == NULL else made


def singular_factors(module, AbstractValue a not None):
    """What computes singular values and as many vectors, or None."""
    cdef MatrixFactors made = of_matrices(SVD, a, "dD")
    if made is None:
        return None
    cdef int64_t m = made.m, n = made.n, p = made.least, item = a.itemsize
    made.first = loop_of(module, "svd_s", "(m,n)->(m,p),(p),(p,n)", f"{a.dtype.char * 2}d{a.dtype.char}")
    made.set_steps([m * n * item, m * p * item, p * 8, p * n * item],
                   [n * item, item, p * item, item, 8, n * item, item])
    return None if made.first.loop == NULL else made


def pseudoinverse(module, AbstractValue a not None, double rcond):
    """What computes the Moore-Penrose inverse, or None."""
    cdef MatrixFactors made = of_matrices(PINV, a, "dD")
    if made is None:
        return None
    cdef int64_t m = made.m, n = made.n, p = made.least, item = a.itemsize
    kind = a.dtype.char
    made.rcond = rcond
    made.scratch = (made.stack * (m * n + m * p + p * n)) * item + made.stack * p * 8
    made.first = loop_of(module, "svd_s", "(m,n)->(m,p),(p),(p,n)", f"{kind * 2}d{kind}")
    made.second = loop_of(np, "matmul", np.matmul.signature, kind * 3)
    made.product_dims[0], made.product_dims[1], made.product_dims[2], made.product_dims[3] = made.stack, n, p, m
    made.set_steps([m * n * item, m * p * item, p * 8, p * n * item],
                   [n * item, item, p * item, item, 8, n * item, item,
                    p * n * item, m * p * item, n * m * item, item, n * item, item, p * item, m * item, item])
    return None if made.first.loop == NULL or made.second.loop == NULL else made


def triangular_factors(module, AbstractValue a not None):
    """What computes Q and R of matrices with at least as many rows as columns, or None."""
    cdef MatrixFactors made = of_matrices(QR, a, "dD")
    if made is None or made.m < made.n:
        return None
    cdef int64_t m = made.m, n = made.n, item = a.itemsize
    made.scratch = (a.size + made.stack * n) * item
    made.first = loop_of(module, "qr_r_raw", "(m,n)->(p)", a.dtype.char * 2)
    made.second = loop_of(module, "qr_reduced", "(m,n),(k)->(m,k)", a.dtype.char * 3)
    made.set_steps([m * n * item, n * item, n * item, item, item],
                   [m * n * item, n * item, m * n * item, n * item, item, item, n * item, item])
    return None if made.first.loop == NULL or made.second.loop == NULL else made


def least_squares(module, AbstractValue a not None, AbstractValue b not None, double rcond):
    """What solves one system in the sense of least squares, or None."""
    cdef MatrixFactors made = of_matrices(LSTSQ, a, "dD")
    if made is None or a.ndim != 2 or b.dtype != a.dtype or b.size == 0:
        return None
    cdef int64_t n = made.n, columns = b.shape[1], item = a.itemsize
    kind = a.dtype.char
    made.rcond = rcond
    made.dims[3], made.dims[4] = columns, made.least
    made.scratch = (1 + columns + made.least) * 8
    made.first = loop_of(module, "lstsq", "(m,n),(m,nrhs),()->(n,nrhs),(nrhs),(),(p)", f"{kind * 2}d{kind}did")
    made.set_steps([0] * 7, [n * item, item, columns * item, item, columns * item, item, 8, 8])
    return None if made.first.loop == NULL else made


# ---- Fourier transforms ---------------------------------------------------------------------------------------------

cdef struct Axis:
    cnp.npy_intp before, n, m, behind       # lines, numbers of a line, those of its result, steps between them
    double factor


@cython.final
cdef class FourierTransform(NativeCall):
    """Transforms along some axes, the last first, by the loop of pocketfft."""

    cdef Loops loop
    cdef int count
    cdef cnp.npy_intp item, made_item   # bytes of a number of the operand, and of the result
    cdef Axis[MOST_AXES] axes

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef int k
        for k in range(self.count - 1, -1, -1):
            self.along(&self.axes[k], operands[0] if k == self.count - 1 else results[0], results[0])
        return 0

    cdef void along(self, Axis* axis, char* x, char* p) noexcept nogil:
        cdef char* args[3]
        cdef cnp.npy_intp[3] dims
        cdef cnp.npy_intp[5] steps
        cdef cnp.npy_intp k
        cdef bint are_rows = axis.behind == 1
        dims[0], dims[1], dims[2] = axis.before if are_rows else axis.behind, axis.n, axis.m
        steps[0], steps[1], steps[2] = self.item * (axis.n if are_rows else 1), 0, self.made_item * (
            axis.m if are_rows else 1)
        steps[3], steps[4] = axis.behind * self.item, axis.behind * self.made_item
        for k in range(1 if are_rows else axis.before):
            args[0] = x + k * axis.n * axis.behind * self.item
            args[1] = <char*>&axis.factor
            args[2] = p + k * axis.m * axis.behind * self.made_item
            self.loop.loop(args, dims, steps, self.loop.data)


def fourier_transform(module, str name, AbstractValue x not None, AbstractValue p not None, tuple axes, str norm):
    """What computes ``fft``, ``ifft``, ``rfft`` or ``irfft`` of an operand x as a result p, or None.

    Which loop NumPy takes for single floats depends on the norm.
    """
    if x.dtype.char not in "dD" or x.size == 0 or len(axes) > MOST_AXES or not x.dtype.isnative:
        return None
    cdef FourierTransform made = FourierTransform.__new__(FourierTransform)
    cdef int k, d
    forward = name in ("fft", "rfft")
    for k, d in enumerate(axes):
        made.axes[k].before = int(np.prod(x.shape[:d], dtype=np.int64))
        made.axes[k].behind = int(np.prod(x.shape[d + 1:], dtype=np.int64))
        made.axes[k].n, made.axes[k].m = x.shape[d], p.shape[d]
        n = x.shape[d] if forward else p.shape[d]
        factor = 1.0
        if norm == "ortho":
            factor = np.reciprocal(np.sqrt(n, dtype=np.float64))
        elif (norm == "forward") == forward:
            factor = np.reciprocal(n, dtype=np.float64)
        made.axes[k].factor = factor
    inner = "(n),()->(m)" if forward else "(m),()->(n)"
    if name == "rfft":
        name = "rfft_n_odd" if n % 2 else "rfft_n_even"
    made.loop = loop_of(module, name, inner, f"{x.dtype.char}d{p.dtype.char}")
    made.count, made.item, made.made_item = len(axes), x.itemsize, p.itemsize
    made.numbers = x.size * len(axes)
    return None if made.loop.loop == NULL else made
