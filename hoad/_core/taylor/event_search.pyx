"""Events: where a function of the solution changes sign, found on its own Taylor series along each step.

The series of g(t, y(t)) is a polynomial on the step, compared with g itself at the end. Where it does not serve, as
when g has a kink, the step is halved. A polynomial whose constant term is larger than all others together has no root,
and one whose slope is that of its linear term, in the same way, at most one. The coefficients of any other in
Bernstein's basis change sign at least as often as it has roots (Descartes' rule), so that halving intervals until there
is one change, or none, misses no root.

References
----------
Farouki (2012), The Bernstein polynomial basis: a centennial retrospective, Computer Aided Geometric Design 29, 379-419,
section 5.
"""

import numpy as np

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

cimport cython
cimport numpy as cnp

from hoad._core.base.blocks cimport appended, give, required
from hoad._core.ops.plan cimport FAILED_SINGULAR, FAILED_WITHIN
from hoad._core.taylor.series cimport Series
from hoad.errors import ArgumentError, GuardError

cnp.import_array()

cdef enum:
    MOST_HALVINGS = 40      # of a step, where a series does not serve; then of its intervals

cdef double NARROW = 2.0 ** -MOST_HALVINGS
cdef double NOISE = 2.0 ** -50      # of all terms: a value that may be zero
cdef double GROSS = 1e4 * 2.0 ** -52    # a series that misses the value at the end by more does not serve
cdef double ROUNDING = 1.0 + 1e-12      # of a sum


@cython.final
cdef class EventSearch:
    """Event functions along a solution, step by step.

    Parameters
    ----------
    series : Series
        Of the functions, to the order of the steps; its inputs are blocks of y, and the time with its slope.
    n : int
        The numbers in y.
    offsets, sizes : list of int
        Where in y each block begins, and its items.
    directions : list of int
        For each function, the sign of the changes that are events, or 0 for both.
    lefts : list of int
        After how many events the solution ends, or -1.
    """

    def __init__(self, Series series not None, int64_t n, list offsets, list sizes, list directions, list lefts):
        cdef int32_t k
        cdef int64_t total = sum(sizes)
        cdef int64_t width = series.degree + 1
        cdef double* free
        self.series, self.order, self.n = series, series.degree, n
        self.n_blocks, self.n_events = len(sizes), len(lefts)
        self.memory = np.zeros((total + 2 * self.n_events + 2 + MOST_HALVINGS) * width)
        self.given = <double*>cnp.PyArray_DATA(<cnp.ndarray>self.memory)
        self.now = self.given + total * width
        self.before = self.now + self.n_events * width
        self.scaled = self.before + self.n_events * width
        self.pending = self.scaled + width
        self.events = <Event*>required(PyMem_RawCalloc(self.n_events, sizeof(Event)))
        self.offsets = <int64_t*>required(PyMem_RawCalloc(2 * self.n_blocks + 1, sizeof(int64_t)))
        self.sizes = self.offsets + self.n_blocks
        self.at = <char**>required(PyMem_RawCalloc(self.n_blocks + 1 + self.n_events, sizeof(char*)))
        free = self.given
        for k in range(self.n_blocks):
            self.offsets[k], self.sizes[k] = offsets[k], sizes[k]
            self.at[k] = <char*>free
            free += self.sizes[k] * width
        self.at[self.n_blocks] = <char*>self.time
        self.time[1] = 1.0
        for k in range(self.n_events):
            self.events[k].direction, self.events[k].left = directions[k], lefts[k]

    def __dealloc__(self):
        cdef int32_t k
        for k in range(self.n_events if self.events != NULL else 0):
            give(self.events[k].times, self.events[k].cap_times * sizeof(double))
        PyMem_RawFree(self.events)
        PyMem_RawFree(self.offsets)
        PyMem_RawFree(self.at)

    @property
    def times(self):
        """For each function, when its events happened."""
        cdef int32_t k
        cdef list found = []
        for k in range(self.n_events):
            made = np.empty(self.events[k].n_times)
            if len(made):
                memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), self.events[k].times, made.nbytes)
            found.append(made)
        return found

    cdef int follow(self, const double* y, const double* after, double began, double rest, double h,
                    double t) except -1 nogil:
        """Note the events of a step, from the coefficients of y at its beginning and at its end, `after`.

        It begins at began + rest and ends at t. 1 if a terminal event ends the solution, else 0.
        """
        cdef int32_t k
        if not self.is_known:
            self.expand(y, began, self.now)
            self.is_known = True
        self.before, self.now = self.now, self.before
        self.expand(after, t, self.now)
        for k in range(self.n_events):
            self.between(k, y, began, h, self.before + k * (self.order + 1), self.now[k * (self.order + 1)], 0.0, 0)
        return self.settle(began, rest)

    cdef int expand(self, const double* y, double t, double* found) except -1 nogil:
        """The coefficients of the functions about t, from those of y."""
        cdef int32_t i, k
        cdef int code
        cdef int64_t size
        cdef double* to
        cdef const double* row
        for i in range(self.n_blocks):
            to, row, size = <double*>self.at[i], y + self.offsets[i], self.sizes[i]
            for k in range(self.order + 1 if size == 1 else 0):
                to[k] = row[k * self.n]
            for k in range(self.order + 1 if size > 1 else 0):
                memcpy(to + k * size, row + k * self.n, size * sizeof(double))
        for k in range(self.n_events):
            self.at[self.n_blocks + 1 + k] = <char*>(found + k * (self.order + 1))
        self.time[0] = t
        code = self.series.call(self.at, self.at + self.n_blocks + 1, 1)
        if code == FAILED_SINGULAR:
            raise np.linalg.LinAlgError("Singular matrix")
        if code == FAILED_WITHIN:
            with gil:
                raise GuardError(
                    "an event function branches on y or t, and takes another branch along the solution. Use np.where, "
                    "or a function without a branch."
                )
        return code     # if -1, what was raised is set

    cdef int between(self, int32_t k, const double* y, double t, double h, const double* c, double end, double offset,
                     int depth) except -1 nogil:
        """Note where function k, with the coefficients c and so much at its end, changes sign."""
        cdef double power = 1.0
        cdef double size = 0.0
        cdef double slopes = 0.0
        cdef double sum = 0.0
        cdef int32_t j
        cdef bint serves
        if not isfinite(end):
            with gil:
                raise ArgumentError(
                    f"taylor_solution: an event function is {end} at t = {t + h:.6g}, where the solution has a value. "
                    "Let it give a number wherever the solution goes."
                )
        for j in range(self.order + 1):
            self.scaled[j] = c[j] * power
            power *= h
            sum += self.scaled[j]
            size += fabs(self.scaled[j])
            slopes += j * fabs(self.scaled[j])
        serves = size < INFINITY and fabs(sum - end) <= GROSS * size
        if not serves and depth <= MOST_HALVINGS:
            return self.halve(k, y, t, h, c, end, offset, depth)
        cdef Event* event = &self.events[k]
        if not serves:
            return passed(event, sign(end), offset + h)
        if 2.0 * fabs(c[0]) > ROUNDING * size:
            return passed(event, sign(c[0]), offset)
        if 2.0 * fabs(self.scaled[1]) > ROUNDING * slopes and min(fabs(c[0]), fabs(sum)) > NOISE * size:
            passed(event, sign(c[0]), offset)
            if sign(sum) != sign(c[0]):
                passed(event, sign(sum), offset + h * root(self.scaled, self.order, 0.0, 1.0, sign(sum)))
            return 0
        return self.roots(event, offset, h, NOISE * size)

    cdef int halve(self, int32_t k, const double* y, double t, double h, const double* c, double end, double offset,
                   int depth) except -1 nogil:
        """The same, for either half of the step."""
        cdef int64_t width = self.order + 1
        cdef double half = 0.5 * h
        cdef double* moved = <double*>PyMem_RawMalloc(width * (self.n + self.n_events) * sizeof(double))
        cdef double* middle = moved + width * self.n
        if moved == NULL:
            raise MemoryError
        try:
            shift(y, self.order, self.n, half, moved)
            self.expand(moved, t + half, middle)
            middle += k * width
            self.between(k, y, t, half, c, middle[0], offset, depth + 1)
            return self.between(k, moved, t + half, h - half, middle, end, offset + half, depth + 1)
        finally:
            PyMem_RawFree(moved)

    cdef int roots(self, Event* event, double offset, double h, double noise) except -1 nogil:
        """Note where the polynomial, known for a step of length 1, changes sign by more than noise."""
        cdef int64_t width = self.order + 1
        cdef double* b = self.pending       # of one interval after another, the first of them last
        cdef double low[1 + MOST_HALVINGS]
        cdef double high[1 + MOST_HALVINGS]
        cdef double begin = -1.0            # of a stretch of zeros
        cdef int32_t top = 0
        cdef int32_t j, changes, first, last, side
        bernstein(self.scaled, self.order, b)
        low[0], high[0] = 0.0, 1.0
        while top >= 0:
            changes = first = last = 0
            for j in range(width):
                side = sign(b[j]) if fabs(b[j]) > noise else 0
                changes += side * last < 0
                last = side if side else last
                first = first if first else side
            if changes > 1 and high[top] - low[top] > NARROW:
                low[top + 1], high[top + 1] = low[top], 0.5 * (low[top] + high[top])
                low[top] = high[top + 1]
                divide(b, self.order, b + width)
                b, top = b + width, top + 1
                continue
            if first:
                passed(event, first, offset + h * (low[top] if begin < 0.0 else begin))
                if last != first:
                    passed(event, last, offset + h * root(self.scaled, self.order, low[top], high[top], last))
                begin = -1.0
            elif begin < 0.0:
                begin = low[top]
            b, top = b - width, top - 1
        return 0

    cdef bint settle(self, double began, double rest) noexcept nogil:
        """Find the times of the events of a step, in their order, up to the first that is terminal: whether one is."""
        cdef int32_t k
        cdef Event* event
        cdef Event* first
        while True:
            first = NULL
            for k in range(self.n_events):
                event = &self.events[k]
                if event.n_times < event.n_found and (first == NULL or fabs(event.times[event.n_times])
                                                      < fabs(first.times[first.n_times])):
                    first = event
            if first == NULL:
                return False
            self.ended = first.times[first.n_times] = began + (rest + first.times[first.n_times])
            first.n_times += 1
            first.left -= 1
            if first.left == 0:
                return True


cdef inline int32_t sign(double x) noexcept nogil:
    return (x > 0.0) - (x < 0.0)


cdef int passed(Event* event, int32_t side, double offset) except -1 nogil:
    """From this offset into the step on, g has that sign: note the event, if the sign changed."""
    if event.side * side < 0 and event.direction * side >= 0:
        with gil:
            (<double*>appended(<void**>&event.times, &event.cap_times, &event.n_found, sizeof(double)))[0] = offset
    event.side = side if side else event.side
    return 0


cdef void shift(const double* y, int32_t order, int64_t n, double h, double* found) noexcept nogil:
    """The coefficients of the same polynomials around h."""
    cdef int32_t i, k
    cdef int64_t j
    memcpy(found, y, (order + 1) * n * sizeof(double))
    for i in range(order):
        for k in range(order - 1, i - 1, -1):
            for j in range(n):
                found[k * n + j] += h * found[(k + 1) * n + j]


cdef void bernstein(const double* c, int32_t p, double* b) noexcept nogil:
    """Coefficients in Bernstein's basis of Σ cₖ sᵏ, k ≤ p: bⱼ = c₀ + j/p (c₁ + (j - 1)/(p - 1) (c₂ + ...))."""
    cdef int32_t j, k
    cdef double part
    for j in range(p + 1):
        b[j] = c[p]
    for k in range(p - 1, -1, -1):
        part = 1.0 / (p - k)
        for j in range(k, p + 1):
            b[j] = c[k] + b[j] * ((j - k) * part)


cdef void divide(double* b, int32_t p, double* left) noexcept nogil:
    """Coefficients in Bernstein's basis for either half, the right one in place: de Casteljau's scheme."""
    cdef int32_t j, k
    for k in range(p + 1):
        left[k] = b[0]
        for j in range(p - k):
            b[j] = 0.5 * (b[j] + b[j + 1])


cdef double root(const double* c, int32_t p, double low, double high, int32_t side) noexcept nogil:
    """The root of Σ cₖ sᵏ between, beyond which the sign is `side`: by Newton's steps, or halves where these leave."""
    cdef double s = 0.5 * (low + high)
    cdef double value, slope, after
    cdef int32_t k, _i
    for _i in range(200):
        value, slope = c[p], 0.0
        for k in range(p - 1, -1, -1):
            slope = slope * s + value
            value = value * s + c[k]
        if value == 0.0:
            return s
        if sign(value) == side:
            high = s
        else:
            low = s
        after = s - value / slope if slope else low
        if not low < after < high:
            after = 0.5 * (low + high)
        if after == s or not low < after < high:
            return after
        s = after
    return s
