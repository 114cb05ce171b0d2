"""The gradient of the determinant of a small matrix, its cofactors, by elimination, without Python.

With complete pivoting P A Q = L U, and adj(A) = ± Q adj(U) L⁻¹ P. Each row of U is at most its pivot, so that nothing
divides by a pivot that is small beside what it divides, and the last pivot is no divisor at all: adj(U) is
det(U₁) [[d U₁⁻¹, -U₁⁻¹ u], [0, 1]] for U = [[U₁, u], [0, d]]. The result is that of a matrix that differs by rounding
from A, whatever its rank.

Reference
---------
Stewart, G. W. (1998). On the adjugate matrix. Linear Algebra and its Applications 283: 151-164.
"""

import math

from libc.math cimport fabs, frexp, isfinite, ldexp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

cimport cython
cimport numpy as cnp

from hoad._core.base.threads cimport share
from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.kernels.vector cimport Loop, MatrixLoop, matrix_loop
from hoad._core.graph.tape cimport AbstractValue

cdef enum:
    MOST = 16                   # rows: bounds of growth are 2ⁿ, though it is hardly ever met
    A_PART = 1 << 14            # operations on numbers that a thread takes at once
    OF_A_MATRIX = 1 << 5        # those that take as long as what is done once for a matrix

MOST_ROWS = MOST

cdef double NAN = float("nan")
# Beyond these, rows and columns are multiplied by powers of 2, which do not round: no quotient leaves the range.
cdef double SMALL = 1e-40, LARGE = 1e40
# The product of pivots has its exponent put apart where one of the factors is beyond these.
cdef double LESS = 1e-100, MORE = 1e100

ctypedef fused number:
    double
    double complex


cdef inline double size(number x) noexcept nogil:
    """|x|, or the larger part of a complex x; nan of a nan."""
    if number is double:
        return fabs(x)
    else:
        return fabs(x.real) if not fabs(x.real) < fabs(x.imag) and x.imag == x.imag else fabs(x.imag)


cdef inline void exchange(number* a, number* b, int n, int step) noexcept nogil:
    cdef int i
    cdef number x
    for i in range(n):
        x = a[i * step]
        a[i * step] = b[i * step]
        b[i * step] = x


cdef double largest(const number* a, int n, int first, int* row, int* column) noexcept nogil:
    """The size of the largest entry from row and column `first` on, and its place; nan if there is a nan."""
    cdef double found = -1.0, entry
    cdef int i, j
    for i in range(first, n):
        for j in range(first, n):
            entry = size(a[i * n + j])
            if not entry <= found:
                found, row[0], column[0] = entry, i, j
                if entry != entry:
                    return NAN
    return found


cdef int balance(number* a, int n, int* rows, int* columns) noexcept nogil:
    """Bring the largest entry of each row and column near 1, if one is far from it; gives the sum of exponents."""
    cdef double[2 * MOST] sizes
    cdef double entry
    cdef bint is_far = False
    cdef int i, j, total = 0
    memset(sizes, 0, sizeof(sizes))
    for i in range(n):
        rows[i] = columns[i] = 0
        for j in range(n):
            entry = size(a[i * n + j])
            sizes[i] = max(sizes[i], entry)
            sizes[n + j] = max(sizes[n + j], entry)
    for i in range(2 * n):
        is_far = is_far or sizes[i] != 0.0 and not SMALL < sizes[i] < LARGE
    if not is_far:
        return 0
    for i in range(n):
        frexp(sizes[i], &rows[i])
        total += rows[i]
        for j in range(n):
            a[i * n + j] = raised(a[i * n + j], -rows[i])
    for j in range(n):
        entry = 0.0
        for i in range(n):
            entry = max(entry, size(a[i * n + j]))
        frexp(entry, &columns[j])
        total += columns[j]
        for i in range(n):
            a[i * n + j] = raised(a[i * n + j], -columns[j])
    return total


cdef bint eliminate(number* a, number* found, int n, int* places, number* product, int* powers) noexcept nogil:
    """U in place of a, L⁻¹ P in place of the identity `found`, and the product of all pivots but the last.

    Where each column was is in `places`. False where the rank is less than n - 1.
    """
    cdef int i, j, k, row = 0, column = 0, exponent
    cdef double pivot
    cdef number factor
    for k in range(n - 1):
        pivot = largest(a, n, k, &row, &column)
        if pivot == 0.0:
            return False
        if row != k:
            exchange(a + k * n, a + row * n, n, 1)
            exchange(found + k * n, found + row * n, n, 1)
            product[0] = -product[0]
        if column != k:
            exchange(a + k, a + column, n, n)
            places[k], places[column] = places[column], places[k]
            product[0] = -product[0]
        if not LESS < pivot < MORE or not LESS < size(product[0]) < MORE:
            frexp(size(product[0]), &exponent)
            product[0] = raised(product[0], -exponent)
            powers[0] += exponent
        product[0] = product[0] * a[k * n + k]
        for i in range(k + 1, n):
            factor = a[i * n + k] / a[k * n + k]
            for j in range(k + 1, n):
                a[i * n + j] = a[i * n + j] - factor * a[k * n + j]
            for j in range(n):
                found[i * n + j] = found[i * n + j] - factor * found[k * n + j]
    return True


cdef void substitute(const number* a, number* found, int n) noexcept nogil:
    """adj(U) L⁻¹ P but for the product of pivots, in place of L⁻¹ P: U₁⁻¹ (d M - u m) above the last row m."""
    cdef int i, j, k
    cdef number d = a[n * n - 1]
    cdef number* last = found + (n - 1) * n
    for i in range(n - 2, -1, -1):
        for j in range(n):
            found[i * n + j] = d * found[i * n + j] - a[i * n + n - 1] * last[j]
        for k in range(i + 1, n - 1):
            for j in range(n):
                found[i * n + j] = found[i * n + j] - a[i * n + k] * found[k * n + j]
        for j in range(n):
            found[i * n + j] = found[i * n + j] / a[i * n + i]


cdef void cofactors(number* a, number* found, int n, number* p) noexcept nogil:
    """The cofactors of a, which is overwritten; `found` is memory for as many numbers."""
    cdef int[MOST] places, rows, columns
    cdef int i, j, exponent, powers
    cdef number product = 1.0
    memset(p, 0, n * n * sizeof(number))
    if not isfinite(largest(a, n, 0, &i, &j)):
        for i in range(n * n):
            p[i] = NAN if number is double else NAN + 1j * NAN
        return
    powers = balance(a, n, rows, columns)
    memset(found, 0, n * n * sizeof(number))
    for i in range(n):
        found[i * n + i], places[i] = 1.0, i
    if not eliminate(a, found, n, places, &product, &powers):
        return
    substitute(a, found, n)
    frexp(size(product), &exponent)
    product = raised(product, -exponent)
    powers += exponent
    for j in range(n):
        for i in range(n):
            exponent = powers - rows[j] - columns[places[i]]
            p[j * n + places[i]] = raised(found[i * n + j] * product, exponent)


cdef void cofactors_loop(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, void* data) noexcept nogil:
    """The cofactors of one contiguous matrix, as a loop has it."""
    cdef double[MOST * MOST] a, found
    memcpy(a, args[0], dims[1] * dims[1] * sizeof(double))
    cofactors(a, found, <int>dims[1], <double*>args[1])


cdef inline number raised(number x, int powers) noexcept nogil:
    """x · 2^powers."""
    if number is double:
        return x * power_of_2(powers) if -1000 < powers < 1000 else ldexp(x, powers)
    else:
        if -1000 < powers < 1000:
            return x * power_of_2(powers)
        x.real, x.imag = ldexp(x.real, powers), ldexp(x.imag, powers)
        return x


cdef inline double power_of_2(int exponent) noexcept nogil:
    """By its bits."""
    cdef int64_t bits = (<int64_t>exponent + 1023) << 52
    cdef double found
    memcpy(&found, &bits, sizeof(double))
    return found


@cython.final
@cython.auto_pickle(False)
cdef class DetGradient(NativeCall):
    """The cofactors of each matrix of a stack, in double precision."""

    cdef int n
    cdef int64_t stack, stack_part
    cdef bint is_complex, is_single
    cdef Loop small                 # of matrices side by side, or NULL
    cdef MatrixLoop rare

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef StackOfCofactors shared
        cdef int64_t part, parts = (self.stack + self.stack_part - 1) // self.stack_part
        shared.of, shared.operands, shared.results = <void*>self, operands, results
        if threads > 1 and parts > 1:
            share(run_part, &shared, parts, threads, NULL, 0)
            return 0
        for part in range(parts):
            run_part(&shared, part, NULL)
        return 0

    cdef bint call_lanes(self, char** at, const int64_t* moves, int32_t lanes) noexcept nogil:
        if self.small == NULL or self.stack != 1:
            return False
        self.run_small(at, moves, lanes)
        return True

    cdef void run_small(self, char** at, const int64_t* moves, int64_t count) noexcept nogil:
        """So many contiguous matrices, `moves` bytes from each other."""
        cdef cnp.npy_intp row = self.n * sizeof(double)
        cdef cnp.npy_intp[2] dims = [count, self.n]
        cdef cnp.npy_intp[6] steps = [moves[0], moves[1], row, sizeof(double), row, sizeof(double)]
        self.small(at, dims, steps, &self.rare)

    cdef void run_part(self, char** operands, char** results, int64_t part) noexcept nogil:
        cdef double[2 * MOST * MOST] a, found, given
        cdef int64_t b, i, count = self.n * self.n * (2 if self.is_complex else 1)
        cdef int64_t each = self.n * self.n * sizeof(double)
        cdef int64_t[2] moves = [each, each]
        cdef char* at[2]
        if self.small != NULL:
            at[0], at[1] = operands[0] + part * self.stack_part * each, results[0] + part * self.stack_part * each
            self.run_small(at, moves, min(self.stack_part, self.stack - part * self.stack_part))
            return
        for b in range(part * self.stack_part, min((part + 1) * self.stack_part, self.stack)):
            for i in range(count):
                a[i] = (<float*>operands[0])[b * count + i] if self.is_single else (
                    <double*>operands[0])[b * count + i]
            if self.is_complex:
                cofactors(<double complex*>a, <double complex*>found, self.n, <double complex*>given)
            else:
                cofactors(<double*>a, <double*>found, self.n, <double*>given)
            for i in range(count):
                if self.is_single:
                    (<float*>results[0])[b * count + i] = <float>given[i]
                else:
                    (<double*>results[0])[b * count + i] = given[i]


cdef struct StackOfCofactors:   # that threads share
    void* of                    # a `DetGradient`
    char** operands
    char** results


cdef void run_part(void* data, int64_t part, char* scratch) noexcept nogil:
    cdef StackOfCofactors* shared = <StackOfCofactors*>data
    (<DetGradient>shared.of).run_part(shared.operands, shared.results, part)


def det_gradient(AbstractValue x):
    """What computes the cofactors of matrices like x, of up to `MOST_ROWS` rows."""
    cdef DetGradient made = DetGradient.__new__(DetGradient)
    made.n = x.shape[x.ndim - 1]
    if made.n > MOST:
        raise ValueError(f"cofactors of {made.n} rows are not found by elimination")
    made.stack = math.prod(x.shape[:x.ndim - 2])
    made.is_complex, made.is_single = x.is_complex, x.dtype.char in "fF"
    made.small = matrix_loop("cofactors", made.n, &made.rare) if x.is_float64 else NULL
    made.rare.loop = cofactors_loop
    made.numbers = x.size * made.n
    made.stack_part = max(A_PART // (made.n ** 3 + OF_A_MATRIX), 1)
    made.worth = <int32_t>min(made.stack // made.stack_part, 1 << 16)
    return made
