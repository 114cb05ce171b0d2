"""Derivatives of spectral functions of a matrix, V f(w) Vᴴ or U f(s) Vᴴ, by divided differences of f, without Python.

The derivative of f(A) along E₁, ..., Eₖ is, between eigenvectors, the sum over all orders of the directions of
f[wᵢ, wⱼ, ..., wₗ] E₁ᵢⱼ E₂ⱼ... ...ₗ (Daleckii and Krein). Nothing else divides by gaps between eigenvalues, and a
divided difference needs no quotient where f is known about them, so that a smooth f may have equal eigenvalues.

What is known of f is the array c, (..., rows, n). Either it has its Taylor coefficients at each eigenvalue, one row an
order, or (`known` false) a single row of numbers, the values of a function that is constant about each eigenvalue. The
latter has a derivative where eigenvalues that rounding cannot tell apart have no part in it. Which these are (`strong`)
the reference says: it is not 0 where f depends on an eigenvalue, for a number may be 0 by chance.

Singular values are eigenvalues of [[0, A], [Aᴴ, 0]], of which f is an odd function. It has the eigenvalues s and -s
with (u, v) / √2 and (u, -v) / √2, and 0 with what is outside of the longer side.

All is done in double precision, a matrix of a stack at a time.

References
----------
Higham, N. J. (2008). Functions of matrices. SIAM: sections 3.2 and B.16.
McCurdy, A., Ng, K. C., and Parlett, B. N. (1984). Accurate computation of divided differences of the exponential
function. Math. Comp. 43.
"""

import itertools
import math

import numpy as np

from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport cython
cimport numpy as cnp

from hoad._core.runtime.engine cimport no_memory
from hoad._core.kernels.native_call cimport NativeCall
from hoad._core.ops.plan cimport Plan, plan_of
from hoad._core.graph.primitive cimport Primitive, signature
from hoad._core.graph.tape cimport AbstractValue, intern_aval

cnp.import_array()

ctypedef fused number:
    double
    double complex

cdef enum:
    MOST = 31                   # directions: a table for more has no place in memory

cdef double NAN = float("nan")

# Values by LAPACK are off by a small multiple of n ε max|w|: gaps that should be 0 have been found to be 1.3 of it.
cdef int HIDDEN_GAPS = 4
HIDDEN = HIDDEN_GAPS

# The gap, beside the largest value or the radius of convergence, below which Taylor coefficients are looked at: a
# quotient loses two digits there.
cdef double CLOSE = 0.03

# How far rounding, in multiples of ε, may take the value of a function from what its Taylor coefficients nearby say.
cdef double ROUNDING = 1024.0

# How far apart branches of one function are, beside it.
cdef double BRANCHES = 0.01

# Coefficients are compared at a part of the radius of convergence, at which rounding errors of high orders are small.
cdef double SHORTER = 16.0

# Steps by factors of 4 in which that radius is looked for, and the largest size of terms.
cdef int MOST_STEPS = 64
cdef double HUGE = 1e300


# ---- divided differences ---------------------------------------------------------------------------------------------

cdef struct Points:
    int64_t n, rows
    int k                       # order of the differences
    bint known
    bint one                    # whether f is one analytic function, or may differ between points
    const double* w             # ascending
    const double* reference     # Taylor coefficients, [rows][n]; or what is not 0 where f depends on a point; or NULL
    char* near                  # [n][n], i <= j: the series at i gives the difference
    char* lost                  # rounding hides the gap, and no series is known
    double* sums                # [rows]


cdef bint converges(const Points* p, int64_t i, double gap, double eps) noexcept nogil:
    """Whether the Taylor series of a difference at point i has converged so far from it."""
    cdef double power = 1.0, term
    cdef double last = 0.0, before = 0.0, largest = 0.0     # two terms each, for functions that are even or odd
    cdef int64_t m
    for m in range(p.k, p.rows):
        term = fabs(p.reference[m * p.n + i] * power)
        power *= gap
        if not term <= largest:
            largest = term
        if m >= p.rows - 2:
            last = term if not term <= last else last
        elif m >= p.rows - 4:
            before = term if not term <= before else before
    return last * last <= eps * largest * before


cdef void largest_terms(const Points* p, int64_t i, double length, double* low, double* high) noexcept nogil:
    """The largest terms of the Taylor series at point i, so far from it, in its first and in its second half."""
    cdef double power = 1.0, term
    cdef int64_t m
    low[0] = high[0] = 0.0
    for m in range(p.rows):
        term = fabs(p.reference[m * p.n + i]) * power
        power *= length
        if m < (p.rows + 1) // 2:
            low[0] = term if term > low[0] else low[0]
        else:
            high[0] = term if term > high[0] else high[0]


cdef double reach(const Points* p, int64_t i, double largest, double length) noexcept nogil:
    """A length, looked for from the given one, at which the second half of the series at point i is about the first.

    That is about its radius of convergence; or the largest value if it has no second half.
    """
    cdef double low, high
    cdef int direction = 0
    for _ in range(MOST_STEPS):
        largest_terms(p, i, length, &low, &high)
        if high > low:
            length *= 0.25
            if direction > 0:
                break
            direction = -1
        elif high == 0.0 and length < largest:
            length = largest
        else:
            if direction < 0 or high == 0.0 or not low < HUGE:
                break
            length *= 4.0
            direction = 1
    return length


cdef bint reaches(const Points* p, int64_t i, double length) noexcept nogil:
    """Whether the Taylor series at point i has a second half, which is not larger than the first so far from it."""
    cdef double low, high
    largest_terms(p, i, length, &low, &high)
    return 0.0 < high <= low


cdef bint meets(
    const Points* p, int64_t i, int64_t j, int64_t rows, double length, double shorter, double tolerance
) noexcept nogil:
    """Whether the Taylor series at point i gives so many coefficients at point j.

    Errors are judged beside the largest term of the series at this length, and coefficients compared at a shorter one.
    """
    cdef double gap = p.w[j] - p.w[i]
    cdef double step = length / shorter, power = 1.0, wider = 1.0, size = 0.0, term
    cdef int64_t m, q
    if step < gap:
        step = gap
    for m in range(p.rows):
        p.sums[m] = p.reference[m * p.n + i] * power
        term = fabs(p.sums[m]) * wider
        size = term if not term <= size else size
        power *= step
        wider *= shorter
    gap /= step
    power = 1.0
    for m in range(rows):
        for q in range(p.rows - 2, m - 1, -1):
            p.sums[q] += gap * p.sums[q + 1]
        if not fabs(p.sums[m] - p.reference[m * p.n + j] * power) <= tolerance * size:
            return False
        power *= step
    return True


cdef bint same(const Points* p, int64_t i, int64_t j, double length, double largest, double eps) noexcept nogil:
    """Whether the function at point j is that of the series at point i, which reaches as far as `length`.

    Rounding errors are in proportion to what a function is made of. Its own value may be 0 by cancellation, and so may
    its slope: they are judged beside the largest term within reach. Of what is one analytic function, only branches, as
    of √(w²), are told apart, which do not meet at all; there, all but the highest terms may be rounding errors.
    """
    cdef int64_t half = (p.rows + 1) // 2
    if not p.one:
        return meets(p, i, j, half, length, SHORTER, ROUNDING * eps)
    return meets(p, i, j, half, length, 1.0, BRANCHES) or meets(p, i, j, p.rows, largest, 1.0, BRANCHES)


cdef bint all_finite(const double* x, int64_t size) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        if not isfinite(x[i]):
            return False
    return True


cdef void sort_out(Points* p, int64_t r, int64_t size, double eps) noexcept nogil:
    """Which differences are quotients, which sums of Taylor coefficients, and which are lost.

    Of 2 r singular values of both signs, zeros in between stay zeros, where an odd f is 0.
    """
    cdef int64_t i, j, rows = p.rows, found = -1            # of which point the length is
    cdef double largest = 0.0, gap, length
    cdef bint near, close
    while p.known and rows > p.k and not all_finite(p.reference + (rows - 1) * p.n, p.n):
        rows -= 1                                           # coefficients at small values may overflow
    p.rows = rows if rows > p.k else p.rows
    for i in range(p.n):
        if not fabs(p.w[i]) <= largest:
            largest = fabs(p.w[i])
    length = largest if largest > 0.0 else 1.0
    for i in range(p.n):
        close = True
        for j in range(i, p.n):
            gap = fabs(p.w[j] - p.w[i])
            near = not p.known and (i == j or i >= r and j < p.n - r)
            if p.k < p.rows and p.known:
                near = i == j
                close = close and (not gap > CLOSE * largest or reaches(p, i, gap / CLOSE))
                if not near and close and converges(p, i, gap, eps):
                    if found != i:
                        length, found = reach(p, i, largest, length), i
                    near = same(p, i, j, length, largest, eps)
            p.near[i * p.n + j] = near
            p.lost[i * p.n + j] = not near and (i == j or not gap > HIDDEN_GAPS * size * eps * largest)


cdef int64_t power(int64_t n, int k) noexcept nogil:
    cdef int64_t found = 1
    for _ in range(k):
        found *= n
    return found


cdef bint next_sorted(int64_t* at, int count, int64_t n) noexcept nogil:
    """The next choice of indices in ascending order but for the last one, which the caller runs through."""
    cdef int d = count - 1
    while d >= 0 and at[d] == n - 1:
        d -= 1
    if d < 0:
        return False
    cdef int64_t first = at[d] + 1
    for d in range(d, count):
        at[d] = first
    return True


cdef void symmetric_sums(const Points* p, const int64_t* at, int j) noexcept nogil:
    """The complete homogeneous polynomials of the distances of j + 1 points from the first one, by degree."""
    cdef int64_t degree
    cdef int place
    cdef double step
    p.sums[0] = 1.0
    for degree in range(1, p.rows - j):
        p.sums[degree] = 0.0
    for place in range(1, j + 1):
        step = p.w[at[place]] - p.w[at[0]]
        if step != 0.0:
            for degree in range(1, p.rows - j):
                p.sums[degree] += step * p.sums[degree - 1]


cdef double of_lost(const Points* p, const int64_t* at, int j) noexcept nogil:
    """What becomes of points that rounding hides from each other: nan, or 0 where no point has a part in f."""
    cdef int place
    if p.known or p.reference == NULL:
        return NAN
    for place in range(j + 1):
        if p.reference[at[place]] != 0.0:
            return NAN
    return 0.0


cdef void permute(const Points* p, double* table, double* gathered) noexcept nogil:
    """Fill the table from what is in it for ascending indices; or add all there is to that, in `gathered`."""
    cdef int64_t at[MOST + 1]
    cdef int64_t n = p.n, prefix, count = power(p.n, p.k), rest, before, behind, step, place, i
    cdef int d, e, q
    for prefix in range(count):
        rest = prefix
        for d in range(p.k):                                # its digits, sorted
            i, rest = rest % n, rest // n
            e = d
            while e > 0 and at[e - 1] > i:
                at[e] = at[e - 1]
                e -= 1
            at[e] = i
        for q in range(p.k + 1):                            # of which so many are not above the last index
            before, behind, step = 0, 0, 1
            for d in range(q):
                before = before * n + at[d]
            for d in range(q, p.k):
                behind = behind * n + at[d]
                step *= n
            place = before * n * step + behind
            for i in range(at[q - 1] if q else 0, at[q] if q < p.k else n):
                if gathered == NULL:
                    table[prefix * n + i] = table[place + i * step]
                else:
                    gathered[place + i * step] += table[prefix * n + i]


cdef void of_order(int j, const Points* p, double* c, double* upper, double* lower, char* undefined) noexcept nogil:
    """The differences of order j at ascending points, `upper`, from those of order j - 1, and c.

    With a place for points of which a weight is undefined, the transpose: add to `lower` and c by the weights `upper`.
    """
    cdef int64_t at[MOST + 1]
    cdef int64_t n = p.n, i, m, low, high, flat
    cdef int d
    cdef double gap
    cdef double* item
    memset(at, 0, sizeof(at))
    while True:
        low = high = 0                                      # the places of the first j points, and of the others
        for d in range(j):
            low = low * n + at[d]
            high = (high + (at[d] if d else 0)) * n
        for i in range(at[j - 1], n):
            at[j] = i
            flat, item = at[0] * n + i, upper + low * n + i
            if p.lost[flat]:
                if undefined == NULL:
                    item[0] = of_lost(p, at, j)
                elif item[0] != 0.0:
                    for d in range(j + 1):
                        undefined[at[d]] = True
            elif not p.near[flat]:
                gap = p.w[i] - p.w[at[0]]
                if undefined == NULL:
                    item[0] = (lower[high + i] - lower[low]) / gap
                else:
                    lower[high + i] += item[0] / gap
                    lower[low] -= item[0] / gap
            else:
                if p.known:
                    symmetric_sums(p, at, j)
                if undefined == NULL:
                    item[0] = 0.0
                for m in range(j, p.rows if p.known else j):
                    if undefined != NULL:
                        c[m * n + at[0]] += item[0] * p.sums[m - j]
                    elif p.sums[m - j] != 0.0:
                        item[0] += c[m * n + at[0]] * p.sums[m - j]
        if not next_sorted(at, j, n):
            break


cdef double* differences(const Points* p, double* c, double* table, double* spare) noexcept nogil:
    """f[wᵢ, ..., wₗ] for all choices of k + 1 points, in one of the two tables."""
    cdef int j
    memcpy(table, c, p.n * sizeof(double))
    for j in range(1, p.k + 1):
        of_order(j, p, c, spare, table, NULL)
        table, spare = spare, table
    permute(p, table, NULL)
    return table


cdef void weights_of(const Points* p, double* table, double* spare, double* found, char* undefined) noexcept nogil:
    """Add to the weights of c in the sum of the divided differences times the table: transpose of `differences`."""
    cdef int64_t i, size = power(p.n, p.k + 1)
    cdef int j
    memset(undefined, 0, p.n)
    memset(spare, 0, size * sizeof(double))
    permute(p, table, spare)
    for j in range(p.k, 0, -1):
        table, spare = spare, table
        size //= p.n
        memset(spare, 0, size * sizeof(double))
        of_order(j, p, found, table, spare, undefined)
    for i in range(p.n):
        found[i] = NAN if undefined[i] else found[i] + spare[i]


# ---- matrices --------------------------------------------------------------------------------------------------------


cdef number conjugate(number x) noexcept nogil:
    if number is double:
        return x
    else:
        return x.conjugate()


cdef double real_part(number x) noexcept nogil:
    if number is double:
        return x
    else:
        return x.real


cdef void conjugates(const number* x, int64_t size, number* p) noexcept nogil:
    cdef int64_t i
    for i in range(size):
        p[i] = conjugate(x[i])


cdef void symmetrise(const number* x, int64_t n, double half, number* p) noexcept nogil:
    """The sum of a matrix and its conjugate transpose, times `half`; the two may be one."""
    cdef int64_t i, j
    cdef number a
    for i in range(n):
        for j in range(i, n):
            a = half * (x[i * n + j] + conjugate(x[j * n + i]))
            p[i * n + j], p[j * n + i] = a, conjugate(a)


cdef void complete(number* q, int64_t length, int64_t count, int64_t more) noexcept nogil:
    """Put more rows under so many orthonormal ones, which are orthonormal to these and to each other."""
    cdef int64_t row, other, i, best
    cdef double size, least
    cdef number overlap
    cdef number* v
    for row in range(count, count + more):
        best, least = 0, 2.0
        for i in range(length):
            size = 0.0
            for other in range(row):
                size += real_part(q[other * length + i] * conjugate(q[other * length + i]))
            if size < least:
                best, least = i, size
        v = q + row * length
        for i in range(length):
            v[i] = 0.0
        v[best] = 1.0
        for _ in range(2):                                  # of which the second removes what rounding left
            for other in range(row):
                overlap = 0.0
                for i in range(length):
                    overlap += conjugate(q[other * length + i]) * v[i]
                for i in range(length):
                    v[i] -= overlap * q[other * length + i]
        size = 0.0
        for i in range(length):
            size += real_part(v[i] * conjugate(v[i]))
        size = 1.0 / sqrt(size)
        for i in range(length):
            v[i] *= size


cdef void chains(
    const Points* p, double* table, number** directions, const int32_t* orders, int64_t n_orders, number* core,
    bint collected,
) noexcept nogil:
    """Σ f[wᵢ, ..., wₗ] E₁ᵢⱼ ... Eₖ..ₗ over what is between, and over all orders of the directions.

    Or (`collected`) the weights of the table in its real product with the core.
    """
    cdef int64_t n = p.n, count = power(p.n, p.k - 1), order, i, j, middle, rest, scale, row, between
    cdef number product
    cdef const number* e
    cdef double* found
    cdef int d
    for order in range(n_orders):
        for i in range(n):
            for middle in range(count):
                product, row, rest, scale = 1.0, i, middle, count
                for d in range(p.k - 1):
                    scale //= n
                    between, rest = rest // scale, rest % scale
                    product = product * directions[orders[order * p.k + d]][row * n + between]
                    row = between
                e = directions[orders[order * p.k + p.k - 1]] + row * n
                found = table + (i * count + middle) * n
                for j in range(n):
                    if collected:
                        found[j] += real_part(conjugate(core[i * n + j]) * product * e[j])
                    else:
                        core[i * n + j] = core[i * n + j] + found[j] * (product * e[j])


# ---- singular values -------------------------------------------------------------------------------------------------


cdef void transpose(const number* x, int64_t rows, int64_t columns, number* p) noexcept nogil:
    cdef int64_t i, j
    for i in range(rows):
        for j in range(columns):
            p[j * rows + i] = x[i * columns + j]


cdef void halves(number* q, int64_t length, int64_t r, int64_t n, double sign, number* p) noexcept nogil:
    """Those parts of the eigenvectors that belong to rows, or to columns: [length][n], from r singular vectors.

    What is outside belongs to one side alone.
    """
    cdef double half = sqrt(0.5)
    cdef int64_t i, j
    complete(q, length, r, length - r)
    for i in range(length):
        for j in range(r):
            p[i * n + j], p[i * n + n - 1 - j] = sign * half * q[j * length + i], half * q[j * length + i]
        for j in range(r, n - r):
            p[i * n + j] = q[j * length + i] if j < length else 0.0


cdef double at_zero(double s, int64_t m, int64_t j) noexcept nogil:
    """What coefficient j at s has to do with coefficient m at 0, of which every other one is 0."""
    cdef double factor = 1.0
    cdef int64_t q
    for q in range(m, j):
        factor *= -s * (q + 1) / (q + 1 - m)
    return factor if m % 2 else 0.0


cdef void odd(const double* c, double s, int64_t r, int64_t n, int64_t rows, double* p) noexcept nogil:
    """What is known at -s, 0 and s, from that at the singular values, of which s is the smallest."""
    cdef int64_t m, j
    cdef double found
    for m in range(rows):
        for j in range(r):
            p[m * n + j] = c[m * r + j] if m % 2 else -c[m * r + j]
            p[m * n + n - 1 - j] = c[m * r + j]
        found = 0.0
        if m % 2 and n > 2 * r:
            for j in range(m, rows):
                found += at_zero(s, m, j) * c[j * r + r - 1]
        for j in range(r, n - r):
            p[m * n + j] = found


cdef void odd_weights(const double* x, double s, int64_t r, int64_t n, int64_t rows, double* p) noexcept nogil:
    """The weights of c in half the product of the whole, of which the matrix is a block: the transpose of `odd`."""
    cdef int64_t m, j
    cdef double total
    for m in range(rows):
        for j in range(r):
            p[m * r + j] = 0.5 * (x[m * n + n - 1 - j] + (x[m * n + j] if m % 2 else -x[m * n + j]))
    for m in range(1, rows if n > 2 * r else 0, 2):
        total = 0.0
        for j in range(r, n - r):
            total += x[m * n + j]
        for j in range(m, rows):
            p[j * r + r - 1] += 0.5 * at_zero(s, m, j) * total


# ---- operations ------------------------------------------------------------------------------------------------------

cdef struct Operand:
    int64_t numbers             # of one matrix of a stack
    int64_t place               # of its copy in double precision; -1 where it needs none
    int parts                   # 2 of complex numbers
    int wanted                  # parts of what it is read as
    bint is_single


cdef void in_double(const Operand* operand, const char* at, double* p) noexcept nogil:
    cdef int64_t i, k
    for i in range(operand.numbers):
        for k in range(operand.wanted):
            p[i * operand.wanted + k] = 0.0 if k >= operand.parts else (
                (<const float*>at)[i * operand.parts + k] if operand.is_single
                else (<const double*>at)[i * operand.parts + k])


@cython.final
cdef class Spectral(NativeCall):
    """A derivative of V f(w) Vᴴ along directions, or the weights of c in its product with a matrix."""

    cdef Plan product
    cdef Operand operands[MOST + 7]
    cdef int k, parts
    cdef int reference, c, factors, along               # operands, the first of a kind; `along`: matrices
    cdef bint gives_weights, singular, known, strong, one, is_single
    cdef int64_t stack, m, p, r, n, rows, numbers_out, table_size
    cdef double eps
    cdef object kept                                    # orders of the directions
    cdef const int32_t* orders
    cdef int64_t n_orders
    # What lies where in the memory of a call, in doubles.
    cdef int64_t doubles, at_left, at_right, at_conjugates, at_one, at_two, at_turned, at_core, at_table, at_spare
    cdef int64_t at_w, at_reference, at_c, at_sums, at_found, at_flags

    cdef int64_t allocate(self, size) except -1:
        cdef int64_t at = self.doubles
        self.doubles += size
        return at

    cdef int lay_out(self) except -1:
        """Find out what memory a call takes."""
        n, parts, longer = self.n, self.parts, max(self.m, self.p)
        self.at_left = self.allocate(parts * self.m * n)
        self.at_right = self.allocate(parts * self.p * n)
        self.at_conjugates = self.allocate(parts * (self.m + self.p) * n)
        self.at_one = self.allocate(parts * longer * max(longer, n))
        self.at_two = self.allocate(parts * longer * max(longer, n))
        self.at_found = self.allocate(parts * self.m * self.p + self.rows * n)
        if self.k:
            self.at_turned = self.allocate((self.k + 1) * parts * n * n)
            self.at_core = self.allocate(parts * n * n)
            self.table_size = int(n) ** (self.k + 1)
            self.at_table = self.allocate(self.table_size)
            self.at_spare = self.allocate(self.table_size)
            self.at_w = self.allocate(n)
            self.at_reference = self.allocate(self.rows * n)
            self.at_c = self.allocate(self.rows * n)
            self.at_sums = self.allocate(self.rows)
            self.at_flags = self.allocate((2 * n * n + n) // 8 + 1)
        return 0

    cdef double* read(self, int k, char** operands, int64_t b, double* room) noexcept nogil:
        """An operand of matrix b of the stack."""
        cdef Operand* operand = &self.operands[k]
        cdef char* at = operands[k] + b * operand.numbers * operand.parts * (4 if operand.is_single else 8)
        if operand.place < 0:
            return <double*>at
        in_double(operand, at, room + operand.place)
        return room + operand.place

    cdef void multiply(self, const void* a, const void* b, void* p, int64_t rows, int64_t inner, int64_t columns,
                       bint a_turned, bint b_turned) noexcept nogil:
        """The product of two matrices, or of what they are transposes of."""
        cdef cnp.npy_intp item = self.parts * sizeof(double)
        cdef cnp.npy_intp dims[4]
        cdef cnp.npy_intp steps[9]
        cdef char* at[3]
        at[0], at[1], at[2] = <char*>a, <char*>b, <char*>p
        dims[0], dims[1], dims[2], dims[3] = 1, rows, inner, columns
        steps[0] = steps[1] = steps[2] = 0
        steps[3], steps[4] = (item, rows * item) if a_turned else (inner * item, item)
        steps[5], steps[6] = (item, inner * item) if b_turned else (columns * item, item)
        steps[7], steps[8] = columns * item, item
        self.product.loop(at, dims, steps, self.product.data)

    cdef int call(self, char** operands, char** results, int32_t threads) noexcept nogil:
        cdef int64_t b, i
        cdef double* found
        cdef char* at = results[0]
        if self.numbers == 0:
            return 0
        cdef double* room = <double*>malloc(self.doubles * sizeof(double))
        if room == NULL:
            return no_memory()
        for b in range(self.stack):
            found = room + self.at_found if self.is_single else <double*>at
            if self.parts == 1:
                of_matrix[double](self, operands, b, room, found, NULL)
            else:
                of_matrix[cython.doublecomplex](self, operands, b, room, found, NULL)
            if self.is_single:
                for i in range(self.numbers_out):
                    (<float*>at)[i] = <float>found[i]
            at += self.numbers_out * (4 if self.is_single else 8)
        free(room)
        return 0


cdef void of_matrix(Spectral self, char** operands, int64_t b, double* room, double* found, number* _) noexcept nogil:
    """The operation on one matrix of a stack."""
    cdef int64_t m = self.m, p = self.p, r = self.r, n = self.n
    cdef bint singular = self.singular
    cdef double* values = self.read(self.factors + singular, operands, b, room)
    cdef number* u = <number*>self.read(self.factors + (not singular), operands, b, room)
    cdef number* vh = <number*>self.read(self.factors + 2, operands, b, room) if singular else NULL
    cdef number* left = u
    cdef number* right = u
    cdef number* left_conjugate = <number*>(room + self.at_conjugates)
    cdef number* right_conjugate = left_conjugate
    cdef number* one = <number*>(room + self.at_one)
    cdef number* two = <number*>(room + self.at_two)
    cdef number* core = <number*>(room + self.at_core)
    cdef number* turned[MOST + 1]
    cdef number* e
    cdef double* c
    cdef double* table = room + self.at_table
    cdef Points points
    cdef int64_t i, count = self.k + self.gives_weights
    if self.k == 0:
        without_directions(self, operands, b, room, found, u, vh)
        return
    if singular:
        left, right = <number*>(room + self.at_left), <number*>(room + self.at_right)
        right_conjugate += m * n
        transpose(u, m, r, one)
        halves(one, m, r, n, 1.0, left)
        conjugates(vh, r * p, one)
        halves(one, p, r, n, -1.0, right)
        conjugates(right, p * n, right_conjugate)
    conjugates(left, m * n, left_conjugate)
    for i in range(count):
        turned[i] = <number*>(room + self.at_turned) + i * n * n
        e = <number*>self.read(self.along + i, operands, b, room)
        if singular:
            self.multiply(e, right, two, m, p, n, False, False)
            self.multiply(left_conjugate, two, turned[i], n, m, n, True, False)
            symmetrise(turned[i], n, 1.0, turned[i])
        else:
            symmetrise(e, n, 0.5, one)
            self.multiply(one, right, two, n, n, n, False, False)
            self.multiply(left_conjugate, two, turned[i], n, n, n, True, False)

    points.n, points.rows, points.k, points.known, points.one = n, self.rows, self.k, self.known, self.one
    points.w, points.sums, points.near = values, room + self.at_sums, <char*>(room + self.at_flags)
    points.lost = points.near + n * n
    points.reference = self.read(self.reference, operands, b, room) if self.known or self.strong else NULL
    if singular:
        memset(room + self.at_w, 0, n * sizeof(double))
        for i in range(r):
            room[self.at_w + i], room[self.at_w + n - 1 - i] = -values[i], values[i]
        points.w = room + self.at_w
        if points.reference != NULL:
            odd(points.reference, values[r - 1], r, n, self.rows, room + self.at_reference)
            points.reference = room + self.at_reference
    sort_out(&points, r, max(m, p), self.eps)

    if self.gives_weights:
        memset(table, 0, self.table_size * sizeof(double))
        chains(&points, table, turned + 1, self.orders, self.n_orders, turned[0], True)
        c = room + self.at_c if singular else found
        memset(c, 0, self.rows * n * sizeof(double))
        weights_of(&points, table, room + self.at_spare, c, points.lost + n * n)
        if singular:
            odd_weights(c, values[r - 1], r, n, self.rows, found)
        return
    c = self.read(self.c, operands, b, room)
    if singular:
        odd(c, values[r - 1], r, n, self.rows, room + self.at_c)
        c = room + self.at_c
    table = differences(&points, c, table, room + self.at_spare)
    memset(core, 0, n * n * sizeof(number))
    chains(&points, table, turned, self.orders, self.n_orders, core, False)
    self.multiply(left, core, two, m, n, n, False, False)
    self.multiply(two, right_conjugate, found, m, n, p, False, True)
    if not singular:
        symmetrise(<number*>found, n, 0.5, <number*>found)


cdef void without_directions(
    Spectral self, char** operands, int64_t b, double* room, double* found, const number* u, const number* vh
) noexcept nogil:
    """V f(w) Vᴴ itself, or the diagonal of Vᴴ E V."""
    cdef int64_t m = self.m, p = self.p, r = self.r, i, j
    cdef number* conjugated = <number*>(room + self.at_conjugates)
    cdef number* one = <number*>(room + self.at_one)
    cdef double* given = self.read(self.along if self.gives_weights else self.c, operands, b, room)
    conjugates(u if vh == NULL else vh, r * p, conjugated)
    if self.gives_weights:
        memset(found, 0, self.rows * r * sizeof(double))
        if vh == NULL:
            self.multiply(given, u, one, m, p, r, False, False)
        else:
            self.multiply(given, conjugated, one, m, p, r, False, True)
        for i in range(m):
            for j in range(r):
                found[j] += real_part(conjugate(u[i * r + j]) * one[i * r + j])
        return
    for i in range(m):
        for j in range(r):
            one[i * r + j] = u[i * r + j] * given[j]
    if vh == NULL:
        self.multiply(one, conjugated, found, m, r, p, False, True)
        symmetrise(<number*>found, m, 0.5, <number*>found)
    else:
        self.multiply(one, vh, found, m, r, p, False, False)


def spectral(Primitive matmul not None, str what, bint singular, bint known, bint strong, bint one, avals):
    """What computes the derivative, the weights or the product of operands like these."""
    cdef Spectral made = Spectral.__new__(Spectral)
    cdef AbstractValue x = avals[0]
    cdef Operand* operand
    cdef int32_t numbers[2]
    cdef int i
    count = 3 if singular else 2
    made.gives_weights = what == "weights"
    made.c, made.reference, made.factors = {"derivative": (2, 1, 3), "weights": (-1, 1, 2), "product": (1, 2, 4)}[what]
    made.along = made.factors + count
    made.k = len(avals) - made.along - made.gives_weights
    if made.k > MOST:
        raise ValueError(f"a derivative of order {made.k} of a function of a matrix takes more than there is memory")
    made.singular, made.known, made.strong, made.one, made.may_fail = singular, known, strong, one, True
    made.m, made.p = x.shape[x.ndim - 2], x.shape[x.ndim - 1]
    made.r = min(made.m, made.p)
    made.n = made.m + made.p if singular else made.m
    made.rows = avals[made.reference].shape[x.ndim - 2] if known else 1
    made.parts = 2 if x.is_complex else 1
    made.stack = int(np.prod(x.shape[:x.ndim - 2], dtype=np.int64))
    made.eps = np.finfo(x.dtype).eps
    made.is_single = x.dtype.char in "fF"
    made.numbers_out = made.rows * made.r if made.gives_weights else made.parts * made.m * made.p
    cdef AbstractValue aval = intern_aval(np.dtype("D" if x.is_complex else "d"), (1, 1))
    numbers[0] = numbers[1] = aval.number
    made.product = plan_of(signature(matmul, None, numbers, 2))
    for i in range(len(avals)):
        aval = avals[i]
        operand = &made.operands[i]
        if aval.shape[:x.ndim - 2] != x.shape[:x.ndim - 2]:
            raise ValueError(f"operands of shapes {x.shape} and {aval.shape} do not represent the same matrices")
        operand.numbers = aval.size // max(made.stack, 1)
        operand.parts = 2 if aval.is_complex else 1
        operand.wanted = made.parts if i >= made.factors and aval.ndim == x.ndim else 1
        operand.is_single = aval.dtype.char in "fF"
        operand.place = -1
        if operand.is_single or operand.parts != operand.wanted:
            operand.place = made.allocate(operand.numbers * operand.wanted)
    made.kept = np.array(list(itertools.permutations(range(made.k))), np.int32).reshape(-1)
    made.orders, made.n_orders = <const int32_t*>cnp.PyArray_DATA(made.kept), math.factorial(made.k)
    made.lay_out()
    made.numbers = x.size * max(made.n, made.table_size // max(made.n, 1)) * made.n_orders
    return made
