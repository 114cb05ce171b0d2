"""Steps of a Taylor integrator: the series of a solution, how far it serves, and its sum there.

The series of y' = f(t, y) at a point is found in one run, order by order, by a `Series` whose first inputs are
integrals, and its outputs. Its last two coefficients say how long the step may be. What a step leaves is compared with
the equation: where the slope of the polynomial and that of the solution from there differ, something lies between that
the coefficients do not know of, a kink or a singular point, and a shorter step is taken.

References
----------
Jorba and Zou (2005), A software package for the numerical integration of ODEs by means of high-order Taylor methods,
Experimental Mathematics 14, 99-117: sections 3.1 and 3.2.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals, PyErr_Clear, PyErr_ExceptionMatches
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.math cimport INFINITY, fabs, pow
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport give, required, reserve
from hoad._core.ops.plan cimport FAILED_PYTHON, FAILED_WITHIN
from hoad._core.taylor.event_search cimport EventSearch
from hoad._core.taylor.series cimport Series

cnp.import_array()

cdef uint64_t EXPONENT = 0x7FF0000000000000     # the bits of that of a double, and the lowest of them
cdef uint64_t LOWEST = 0x0010000000000000

cdef double GROSS = 1e3     # tolerances, by which a slope is said to be another

cpdef enum:
    DONE = 0
    NOT_FINITE = 1
    TOO_SHORT = 2
    TOO_MANY = 3
    FAILED = 4          # a branch that would go another way
    NO_VALUE = 5        # an operation that raised, as that of a singular matrix
    ENDED = 6           # a terminal event happened

cdef enum:
    RAISED = 7          # what no shorter step avoids, an interrupt or a mistake: the exception is set
    BETWEEN_SIGNALS = 256       # steps


cdef tuple NO_NUMBERS = (ArithmeticError, np.linalg.LinAlgError)


@cython.final
cdef class Stepper:
    """A solution at a time, and the steps that take it further.

    Parameters
    ----------
    series : Series
        Of the solution, to the order of the steps: its first inputs are y, the next is the time with its slope.
    sizes : list of int
        The items of each input that is part of y.
    y : list of ndarray
        Those, where the solution starts.
    t : float
        When it does.
    factor : float
        By which a step is shorter than the radius of convergence is estimated.
    floor : float
        Errors are relative to the norm of y, or to this where that is smaller.
    tolerance : float
        The relative error that a step may make.
    shortest : float
        A step that need be no shorter.
    longest : float
        The length that no step exceeds.
    """

    cdef readonly int32_t order
    cdef readonly double t          # the time is t + rest
    cdef readonly double rest
    cdef readonly double began      # when the last step did, likewise, and how long it is
    cdef readonly double began_rest
    cdef readonly double h
    cdef readonly int64_t taken     # steps
    cdef readonly int64_t runs      # of the series
    cdef Series series
    cdef double factor, floor, tolerance, shortest, longest
    cdef double limit               # what a step that was too long leaves for those after it
    cdef int64_t n
    cdef int32_t n_blocks
    cdef int64_t* sizes
    cdef double* y
    cdef double* low                # what y lacks
    cdef double* now                # the coefficients from here on, order after order
    cdef double* before             # those of the last step
    cdef double* after              # a state that is tried
    cdef double* after_low
    cdef double* found              # as the series gives them, number after number
    cdef double time[2]
    cdef char** at
    cdef object memory
    cdef bint is_known              # are the coefficients
    cdef double* kept               # of each step when it began, twice, its length, and the coefficients
    cdef int32_t n_kept, cap_kept

    def __init__(self, Series series not None, list sizes, list y, double t, double factor, double floor,
                 double tolerance, double shortest, double longest):
        cdef int32_t i
        cdef int64_t offset = 0
        self.series = series
        self.order = series.degree
        self.n_blocks = len(sizes)
        self.n = sum(sizes)
        self.memory = np.zeros(4 * self.n + 3 * (self.order + 1) * self.n + 1)
        self.y = <double*>cnp.PyArray_DATA(<cnp.ndarray>self.memory)
        self.low = self.y + self.n
        self.after = self.low + self.n
        self.after_low = self.after + self.n
        self.now = self.after_low + self.n
        self.before = self.now + (self.order + 1) * self.n
        self.found = self.before + (self.order + 1) * self.n
        self.at = <char**>required(PyMem_RawCalloc(2 * self.n_blocks + 1, sizeof(char*)))
        self.sizes = <int64_t*>required(PyMem_RawCalloc(self.n_blocks + 1, sizeof(int64_t)))
        for i in range(self.n_blocks):
            self.sizes[i] = sizes[i]
            block = np.ascontiguousarray(y[i], np.float64)
            memcpy(self.y + offset, cnp.PyArray_DATA(<cnp.ndarray>block), self.sizes[i] * sizeof(double))
            self.at[self.n_blocks + 1 + i] = <char*>(self.found + offset * (self.order + 1))
            offset += self.sizes[i]
        self.at[self.n_blocks] = <char*>self.time
        self.t = t
        self.factor, self.floor, self.tolerance = factor, floor, tolerance
        self.shortest, self.longest = shortest, longest
        self.limit = INFINITY
        self.time[1] = 1.0

    def __dealloc__(self):
        PyMem_RawFree(self.at)
        PyMem_RawFree(self.sizes)
        give(self.kept, self.cap_kept * self.width() * sizeof(double))

    # ---- what is known

    @property
    def state(self):
        """y now."""
        return copied(self.y, 1, self.n)[0]

    @property
    def coefficients(self):
        """Those of the last step: axis 0 is the order."""
        return copied(self.before, self.order + 1, self.n)

    @property
    def steps(self):
        """Of the steps that were kept: when each began, what that time lacks, its length, and its coefficients."""
        rows = copied(self.kept, self.n_kept, self.width())
        return rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy(), rows[:, 3:].reshape(-1, self.order + 1, self.n)

    cdef int64_t width(self) noexcept nogil:
        return 3 + (self.order + 1) * self.n

    # ---- going on

    def step(self, double end):
        """Take one step, at most to `end`; 0, or why not."""
        cdef int code
        with nogil:
            code = self.advance(end)
        return checked(code)

    def run(self, times, found, int64_t most, bint keep, EventSearch search=None):
        """Go through rising or falling times, whose values become the rows of `found`: 0, or why it ended before.

        At most so many steps are taken; they are kept if that is asked for, and searched for events.
        """
        cdef int64_t i = 0
        cdef int64_t count = len(times)
        cdef const double* at = <const double*>cnp.PyArray_DATA(<cnp.ndarray>times)
        cdef double* rows = <double*>cnp.PyArray_DATA(<cnp.ndarray>found)
        cdef int code = DONE
        cdef int64_t until
        while i < count and at[i] == self.t and not self.taken:
            memcpy(rows + i * self.n, self.y, self.n * sizeof(double))
            i += 1
        while i < count and not code:
            if keep:
                reserve(<void**>&self.kept, &self.cap_kept, self.n_kept + 1, self.width() * sizeof(double))
            until = self.taken + BETWEEN_SIGNALS
            with nogil:
                while i < count and self.taken < until:
                    code = TOO_MANY if self.taken >= most else self.advance(at[count - 1])
                    if code:
                        break
                    i = self.pass_times(at, i, count, rows)
                    if keep:
                        self.keep()
                    if search is not None and search.follow(self.before, self.now, self.began, self.began_rest,
                                                            self.h, self.t):
                        code = ENDED
                    if code or keep:
                        break
            checked(code)
            PyErr_CheckSignals()
        return code

    cdef int64_t pass_times(self, const double* at, int64_t i, int64_t count, double* rows) noexcept nogil:
        """The values at the times within the last step; the first time beyond."""
        cdef double way
        cdef int64_t j
        while i < count:
            way = (at[i] - self.began) - self.began_rest
            if fabs(way) > fabs(self.h):
                break
            if at[i] == self.t and self.rest == 0.0:
                memcpy(rows + i * self.n, self.y, self.n * sizeof(double))
            else:
                self.gains(way, rows + i * self.n)
                for j in range(self.n):
                    rows[i * self.n + j] += self.before[j]
            i += 1
        return i

    cdef void keep(self) noexcept nogil:
        """Note the last step, for which there is room."""
        cdef double* row = self.kept + self.n_kept * self.width()
        row[0], row[1], row[2] = self.began, self.began_rest, self.h
        memcpy(row + 3, self.before, (self.order + 1) * self.n * sizeof(double))
        self.n_kept += 1

    cdef int advance(self, double end) noexcept nogil:
        """One step, which becomes the last."""
        cdef double way = (end - self.t) - self.rest
        cdef bint again = False
        cdef int code
        if not self.is_known:
            code = self.expand(self.t, self.y, self.now)
            if code:
                return code
            self.is_known = True
        cdef double length = self.reach()
        if not length > 0.0:
            return NOT_FINITE
        if self.t + length == self.t:
            return TOO_SHORT
        self.before, self.now = self.now, self.before
        self.began, self.began_rest = self.t, self.rest
        length = min(length, self.limit, self.longest)
        while True:
            self.h = way if length >= fabs(way) else length if way > 0 else -length
            self.go(end, way)
            code = self.expand(self.t, self.after, self.now)
            if code == DONE and self.agrees():
                break
            if fabs(self.h) <= self.shortest or code == RAISED:
                if code == DONE:
                    break       # a kink is passed
                self.before, self.now = self.now, self.before
                self.t, self.rest = self.began, self.began_rest
                return TOO_SHORT if code == NOT_FINITE else code
            length = 0.5 * fabs(self.h)
            again = True
        self.limit = 2.0 * fabs(self.h) if again else 2.0 * self.limit
        self.y, self.after = self.after, self.y
        self.low, self.after_low = self.after_low, self.low
        self.taken += 1
        return DONE

    cdef int expand(self, double t, double* y, double* found) noexcept nogil:
        """The coefficients of the solution from here."""
        cdef int32_t i, k
        cdef int64_t size
        cdef int64_t n = self.n
        cdef int64_t offset = 0
        cdef double* of_block
        cdef double* row
        self.time[0] = t
        for i in range(self.n_blocks):
            self.at[i] = <char*>(y + offset)
            offset += self.sizes[i]
        cdef int code = self.series.call(self.at, self.at + self.n_blocks + 1, 1)
        if code:
            return failure(code)
        self.runs += 1
        if not all_finite(self.found, (self.order + 1) * self.n):
            return NOT_FINITE
        offset = 0
        for i in range(self.n_blocks):
            size = self.sizes[i]
            of_block = self.found + offset * (self.order + 1)
            row = found + offset
            for k in range(self.order + 1 if size == 1 else 0):
                row[k * n] = of_block[k]
            for k in range(self.order + 1 if size > 1 else 0):
                memcpy(row + k * n, of_block + k * size, size * sizeof(double))
            offset += size
        return DONE

    cdef double reach(self) noexcept nogil:
        """How far the coefficients serve: Jorba and Zou (2005), equation 3-8; of a polynomial, as far as one likes."""
        cdef double scale = max(norm(self.now, self.n), self.floor)
        cdef double found = INFINITY
        cdef double size
        cdef int32_t k
        cdef int32_t counted = 0
        for k in range(self.order, self.order // 2, -1):
            size = norm(self.now + k * self.n, self.n)
            if size > 0.0 and counted < 2:
                found = min(found, pow(scale / size, 1.0 / k))
                counted += 1
        return self.factor * found

    cdef void go(self, double end, double way) noexcept nogil:
        """The state after the step, and its time."""
        cdef double sum, error
        cdef int64_t j
        self.gains(self.h, self.after)
        for j in range(self.n):
            sum = two_sum(self.before[j], self.after[j] + self.low[j], &error)
            self.after[j], self.after_low[j] = sum, error
        if self.h == way:
            self.t, self.rest = end, 0.0
            return
        sum = two_sum(self.began, self.h, &error)
        self.t = two_sum(sum, error + self.began_rest, &self.rest)

    cdef void gains(self, double h, double* found) noexcept nogil:
        """What the polynomial of the last step adds to the state within h."""
        cdef const double* row
        cdef int64_t j
        cdef int32_t k
        memcpy(found, self.before + self.order * self.n, self.n * sizeof(double))
        for k in range(self.order - 1, 0, -1):
            row = self.before + k * self.n
            for j in range(self.n):
                found[j] = found[j] * h + row[j]
        for j in range(self.n):
            found[j] *= h

    cdef bint agrees(self) noexcept nogil:
        """Whether the polynomial of the last step ends with the slope that the equation has there."""
        cdef double* slopes = self.found
        cdef double scale = max(norm(self.before, self.n), norm(self.after, self.n), self.floor)
        cdef double worst = 0.0
        cdef int64_t j
        cdef int32_t k
        cdef const double* row = self.before + self.order * self.n
        for j in range(self.n):
            slopes[j] = self.order * row[j]
        for k in range(self.order - 1, 0, -1):
            row = self.before + k * self.n
            for j in range(self.n):
                slopes[j] = slopes[j] * self.h + k * row[j]
        row = self.now + self.n
        for j in range(self.n):
            worst = max(worst, fabs(slopes[j] - row[j]))
        return fabs(self.h) * worst <= GROSS * self.tolerance * scale


cdef int failure(int code) noexcept nogil:
    """Why the series of a point are not there; that there are no such numbers is dropped, as a shorter step may do."""
    if code == FAILED_WITHIN:
        return FAILED
    if code == FAILED_PYTHON:
        with gil:
            if not PyErr_ExceptionMatches(NO_NUMBERS):
                return RAISED
            PyErr_Clear()
    return NO_VALUE


cdef int checked(int code) except -1:
    """The code of a step; raises what was set, where it says so."""
    return -1 if code == RAISED else code


cdef bint all_finite(const double* x, int64_t n) noexcept nogil:
    """Whether none is infinite or nan, which have all ones for their exponent: integers take no branches."""
    cdef uint64_t bits
    cdef uint64_t carried = 0
    cdef int64_t j
    for j in range(n):
        memcpy(&bits, &x[j], sizeof(double))
        carried |= (bits & EXPONENT) + LOWEST
    return not carried >> 63


cdef double norm(const double* x, int64_t n) noexcept nogil:
    """The largest entry."""
    cdef double found = 0.0
    cdef int64_t j
    for j in range(n):
        found = max(found, fabs(x[j]))
    return found


cdef inline double two_sum(double a, double b, double* error) noexcept nogil:
    """a + b, and what rounding took from it."""
    cdef double sum = a + b
    cdef double other = sum - a
    error[0] = (a - (sum - other)) + (b - other)
    return sum


def value_at(coefficients, double h):
    """Σ cₖ hᵏ, the order along axis 0 of a contiguous array of shape (p + 1, n)."""
    cdef int64_t n = coefficients.shape[1]
    cdef int64_t k, j
    cdef const double* row = <const double*>cnp.PyArray_DATA(<cnp.ndarray>coefficients)
    cdef object made = np.zeros(n)
    cdef double* found = <double*>cnp.PyArray_DATA(<cnp.ndarray>made)
    for k in range(coefficients.shape[0] - 1, -1, -1):
        for j in range(n):
            found[j] = found[j] * h + row[k * n + j]
    return made


cdef copied(const double* rows, int64_t count, int64_t width):
    """An array of these numbers."""
    made = np.empty((count, width))
    if count:
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), rows, count * width * sizeof(double))
    return made
