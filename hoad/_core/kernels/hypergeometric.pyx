# cython: wraparound=False
"""Partial derivatives of hypergeometric functions by their parameters, by Taylor series of their equations.

All parameters are truncated power series, a + ε, b + δ, c + γ, so that one solution has the derivatives of all orders
by them. It starts from the series about 0, or of Tricomi's function from that about infinity, and goes on from point to
point by Taylor series of the differential equation. Numbers are sums of two doubles, which outlasts cancellation by 16
digits. The same in plain doubles, along the same points and along others, tells how many digits are lost, and so which
results are right. The others are found again in sums of four doubles, beside those of two; what is not right then is
nan.

References
----------
NIST Digital Library of Mathematical Functions, 13.2.1, 13.2.2, 13.7.3, 15.2.1, 15.10.1, 16.2.1. Dekker, T. J. (1971).
A floating-point technique for extending the available precision. Numerische Mathematik 18.
"""

import math

import numpy as np

from libc.math cimport fabs, isfinite, ldexp, lgamma, log, rint, sqrt
from libc.stdlib cimport free, malloc

cdef enum:
    CONFLUENT_LIMIT = 0         # 0F1(; c; x)
    KUMMER = 1                  # 1F1(a; c; x)
    GAUSS = 2                   # 2F1(a, b; c; x)
    TRICOMI = 3                 # U(a, c, x)
    MOST_TERMS = 20000
    MOST_STEPS = 1500

cdef double NAN = math.nan
cdef double SPLITTER = 134217729.0      # 2²⁷ + 1
cdef double LN2 = 0.6931471805599453         # and what log 2 is beyond it
cdef double LN2_1 = 2.3190468138462996e-17
cdef double LN2_2 = 5.707708438416212e-34
cdef double LN2_3 = -3.5824322106018114e-50
cdef double TOLERANCE = 1e-11           # of results, beside what a relative change of x changes them by
cdef double ROUNDING = 2.0 ** -53
cdef double MARGIN = 256.0              # by which the error that doubles predict is multiplied


# ---- numbers of two and of four doubles -----------------------------------------------------------------------------

cdef struct Twofold:
    double head
    double rest

cdef struct Fourfold:
    double head, x1, x2, x3

ctypedef fused number:
    double
    Twofold
    Fourfold

ctypedef fused rough_number:
    double
    Twofold


cdef inline Twofold _sum_of(double x, double y) noexcept nogil:
    """x + y, exactly."""
    cdef Twofold p
    cdef double part
    p.head = x + y
    part = p.head - x
    p.rest = (x - (p.head - part)) + (y - part)
    return p


cdef inline Twofold _normal(double head, double rest) noexcept nogil:
    """head + rest, exactly, where the rest is the smaller one."""
    cdef Twofold p
    p.head = head + rest
    p.rest = rest - (p.head - head)
    return p


cdef inline Twofold _product_of(double x, double y) noexcept nogil:
    """x y, exactly."""
    cdef Twofold p
    cdef double t = SPLITTER * x
    cdef double x0 = t - (t - x)
    cdef double x1 = x - x0
    cdef double y0, y1
    t = SPLITTER * y
    y0 = t - (t - y)
    y1 = y - y0
    p.head = x * y
    p.rest = ((x0 * y0 - p.head) + x0 * y1 + x1 * y0) + x1 * y1
    return p


cdef inline Fourfold _carried(double x0, double x1, double x2, double x3, double x4) noexcept nogil:
    """The sum of five numbers, each much smaller than the one before: carried upwards twice, and then downwards."""
    cdef Fourfold p
    cdef Twofold s
    for _ in range(2):
        s = _sum_of(x3, x4)
        x3, x4 = s.head, s.rest
        s = _sum_of(x2, x3)
        x2, x3 = s.head, s.rest
        s = _sum_of(x1, x2)
        x1, x2 = s.head, s.rest
        s = _sum_of(x0, x1)
        x0, x1 = s.head, s.rest
    s = _normal(x1, x2)
    x1, x2 = s.head, s.rest
    s = _normal(x2, x3)
    p.head, p.x1, p.x2, p.x3 = x0, x1, s.head, s.rest + x4
    return p


cdef inline number _of(double head, double rest, number like) noexcept nogil:
    cdef Twofold p
    cdef Fourfold q
    if number is double:
        return head + rest
    elif number is Twofold:
        return _normal(head, rest)
    else:
        p = _normal(head, rest)
        q.head, q.x1, q.x2, q.x3 = p.head, p.rest, 0.0, 0.0
        return q


cdef inline number _minus_log_2(number like) noexcept nogil:
    cdef Fourfold q
    if number is Fourfold:
        q.head, q.x1, q.x2, q.x3 = -LN2, -LN2_1, -LN2_2, -LN2_3
        return q
    else:
        return _of[number](-LN2, -LN2_1, like)


cdef inline double _head(number x) noexcept nogil:
    if number is double:
        return x
    else:
        return x.head


cdef inline double _negligible(number like) noexcept nogil:
    """The part of a sum that does not count."""
    if number is Fourfold:
        return 1e-66
    else:
        return 1e-34


cdef inline number _plus(number x, number y) noexcept nogil:
    cdef Twofold s, t, u, v
    if number is double:
        return x + y
    elif number is Twofold:
        s = _sum_of(x.head, y.head)
        t = _sum_of(x.rest, y.rest)
        s = _normal(s.head, s.rest + t.head)
        return _normal(s.head, s.rest + t.rest)
    else:
        s = _sum_of(x.head, y.head)
        t = _sum_of(x.x1, y.x1)
        u = _sum_of(x.x2, y.x2)
        v = _sum_of(x.x3, y.x3)
        return _summed(s.head, s.rest, t.head, t.rest, u.head, u.rest, v.head, v.rest)


cdef inline Fourfold _summed(double s, double s1, double t1, double t2, double u2, double u3, double v3,
                             double v4) noexcept nogil:
    """Of parts that are ordered by their size, the number at the end of each name."""
    cdef Twofold p = _sum_of(s1, t1)
    cdef Twofold q = _sum_of(t2, u2)
    cdef Twofold r = _sum_of(p.rest, q.head)
    cdef Twofold w = _sum_of(u3, v3)
    cdef Twofold z = _sum_of(q.rest, r.rest)
    cdef Twofold y = _sum_of(w.head, z.head)
    return _carried(s, p.head, r.head, y.head, y.rest + w.rest + z.rest + v4)


cdef inline number _times(number x, number y) noexcept nogil:
    cdef Twofold p, q, r, a, b, c, s, t
    cdef double last
    if number is double:
        return x * y
    elif number is Twofold:
        p = _product_of(x.head, y.head)
        return _normal(p.head, p.rest + (x.head * y.rest + x.rest * y.head))
    else:
        p = _product_of(x.head, y.head)
        q = _product_of(x.head, y.x1)
        r = _product_of(x.x1, y.head)
        a = _product_of(x.head, y.x2)
        b = _product_of(x.x1, y.x1)
        c = _product_of(x.x2, y.head)
        last = x.head * y.x3 + x.x1 * y.x2 + x.x2 * y.x1 + x.x3 * y.head
        s = _sum_of(q.head, r.head)                 # of the first order
        t = _sum_of(q.rest, r.rest)                 # of the second
        q = _sum_of(a.head, b.head)
        r = _sum_of(t.head, c.head)
        last += t.rest + q.rest + r.rest + a.rest + b.rest + c.rest
        t = _sum_of(q.head, r.head)
        return _summed(p.head, p.rest, s.head, s.rest, t.head, t.rest, last, 0.0)


cdef inline number _scaled(number x, double y) noexcept nogil:
    cdef Twofold p, q, r
    if number is double:
        return x * y
    elif number is Twofold:
        p = _product_of(x.head, y)
        return _normal(p.head, p.rest + x.rest * y)
    else:
        p = _product_of(x.head, y)
        q = _product_of(x.x1, y)
        r = _product_of(x.x2, y)
        return _summed(p.head, p.rest, q.head, q.rest, r.head, r.rest, x.x3 * y, 0.0)


cdef inline number _negative(number x) noexcept nogil:
    if number is double:
        return -x
    elif number is Twofold:
        x.head = -x.head
        x.rest = -x.rest
        return x
    else:
        x.head, x.x1, x.x2, x.x3 = -x.head, -x.x1, -x.x2, -x.x3
        return x


cdef inline number _inverse(number x) noexcept nogil:
    """1 / x by Newton's steps from that of doubles."""
    cdef double q
    cdef Twofold p
    cdef Fourfold y
    if number is double:
        return 1.0 / x
    elif number is Twofold:
        q = 1.0 / x.head
        p = _product_of(x.head, q)
        return _normal(q, q * (((1.0 - p.head) - p.rest) - x.rest * q))
    else:
        y.head, y.x1, y.x2, y.x3 = 1.0 / x.head, 0.0, 0.0, 0.0
        for _ in range(2):
            y = _plus[Fourfold](y, _times[Fourfold](y, _plus[Fourfold](
                _of[Fourfold](1.0, 0.0, x), _negative[Fourfold](_times[Fourfold](x, y)))))
        return y


# ---- the equation ----------------------------------------------------------------------------------------------------

cdef struct Equation:
    int kind
    double a, b, c
    int na, nb, nc                      # orders of derivatives by a, b and c
    int size                            # of a series in the parameters: (na + 1) (nb + 1) (nc + 1)
    double slack                        # a factor of the steps, 1 but to find out how many digits are lost


cdef inline bint _is_degree(double a, int order) noexcept nogil:
    """Whether -a is the degree of a polynomial, as it stays where there is no derivative by a."""
    return order == 0 and a <= 0.0 and a == rint(a)


cdef inline number _shifted(double a, double n, number like) noexcept nogil:
    """a + n."""
    cdef Twofold p = _sum_of(a, n)
    return _of[number](p.head, p.rest, like)


cdef inline bint _falls(const number* d, const double* sums, int size, double factor) noexcept nogil:
    """Whether terms no longer count beside the sums of all magnitudes."""
    cdef int k
    for k in range(size):
        if fabs(_head[number](d[k])) * factor > _negligible[number](d[k]) * sums[k]:
            return False
    return True


cdef void _by_factor(Equation* e, number f, int stride, number* d) noexcept nogil:
    """Multiply a series by f + ε, where ε is a, whose stride is the largest."""
    cdef int k
    for k in range(e.size - 1, -1, -1):
        d[k] = _times[number](d[k], f)
        if k >= stride:
            d[k] = _plus[number](d[k], d[k - stride])


cdef void _next_term(Equation* e, double n, double scale, number* d) noexcept nogil:
    """Multiply a series by scale (a + n)(b + n) / (c + n)."""
    cdef int k, sb = e.nc + 1, sa = (e.nb + 1) * (e.nc + 1)
    cdef number f, g
    if e.kind == KUMMER or e.kind == GAUSS:
        _by_factor[number](e, _shifted[number](e.a, n, d[0]), sa, d)
    if e.kind == GAUSS:
        f = _shifted[number](e.b, n, d[0])
        for k in range(e.size - 1, -1, -1):
            g = _times[number](d[k], f)
            if k % sa >= sb:
                g = _plus[number](g, d[k - sb])
            d[k] = g
    f = _inverse[number](_shifted[number](e.c, n, d[0]))
    for k in range(e.size):
        g = _scaled[number](d[k], scale)
        if k % sb:
            g = _plus[number](g, _negative[number](d[k - 1]))
        d[k] = _times[number](g, f)


cdef bint _about_zero(Equation* e, double x, int order, number* y, number* d, double* sums) noexcept nogil:
    """The derivative of an order by x from the series about 0; False if that is too long."""
    cdef int k, n, size = e.size
    cdef bint ended, lost = False
    cdef double m, growth, largest
    for k in range(size):
        d[k] = _of[number](0.0, 0.0, d[0])
    d[0] = _of[number](1.0, 0.0, d[0])
    for n in range(order):
        _next_term[number](e, n, 1.0, d)
    for k in range(size):
        y[k] = d[k]
        sums[k] = fabs(_head[number](d[k]))
    for n in range(MOST_TERMS):
        m = n + order
        _next_term[number](e, m, x, d)
        growth = fabs(x)
        largest = 0.0
        ended = True
        for k in range(size):
            d[k] = _times[number](d[k], _inverse[number](_of[number](n + 1.0, 0.0, d[0])))
            y[k] = _plus[number](y[k], d[k])
            sums[k] += fabs(_head[number](d[k]))
            largest = max(largest, fabs(_head[number](d[k])))
            ended = ended and _head[number](d[k]) == 0.0
        if ended:
            return not lost or m + e.c > 0.0 or fabs(x) < 1e-3
        if largest < 1e-240:
            lost = True         # digits, and so from now on, should terms become large again
        elif lost:
            return False
        m += 1.0
        if m + e.c <= 0.0:
            continue
        # from here on the ratio of terms falls, or is at most that of powers of x
        if e.kind == CONFLUENT_LIMIT:
            growth /= (m + e.c) * (n + 2.0)
        else:
            if m + e.a <= 0.0:
                continue
            growth *= max(1.0, (m + e.a) / (m + e.c))
            if e.kind == KUMMER:
                growth /= n + 2.0
            else:
                if m + e.b <= 0.0:
                    continue
                growth *= max(1.0, (m + e.b) / (n + 2.0))
        if growth <= 0.8 and _falls[number](d, sums, size, 1.0):
            return True
    return False


cdef void _recurrence(Equation* e, double x, number t, int n, number* d0, number* d1, number* d2) noexcept nogil:
    """The term of order n + 2 of the Taylor series about x of a solution from those of orders n and n + 1."""
    cdef int k, sb = e.nc + 1, sa = (e.nb + 1) * (e.nc + 1)
    cdef number like = t, p, q, r, f, fa, fb, fab, g, gc, gx, an, bn, total, t2
    cdef bint by_a, by_b, gauss = e.kind == GAUSS
    an = _shifted[number](e.a, n, like)
    bn = _shifted[number](e.b, n, like)
    t2 = _times[number](t, t)
    # r = 1 / (p₀ (n + 1) (n + 2)); p₀ = x, of Gauss's equation x (1 - x)
    p = _of[number](x, 0.0, like)
    q = _shifted[number](e.c, n, like)
    if gauss:
        p = _times[number](p, _shifted[number](-x, 1.0, like))
        # c + n - (a + b + 1 + 2n) x
        f = _plus[number](_plus[number](an, bn), _of[number](1.0, 0.0, like))
        q = _plus[number](q, _negative[number](_scaled[number](f, x)))
    elif e.kind != CONFLUENT_LIMIT:
        q = _plus[number](q, _of[number](-x, 0.0, like))
    r = _inverse[number](_scaled[number](p, (n + 1.0) * (n + 2.0)))
    gc = _negative[number](_scaled[number](_times[number](t, r), n + 1.0))
    gx = _negative[number](_scaled[number](gc, x))
    g = _times[number](gc, q)
    fab = _times[number](t2, r)
    f = fab
    fa = fab
    fb = fab
    if e.kind != CONFLUENT_LIMIT:
        f = _times[number](f, an)
        fb = f
    if gauss:
        f = _times[number](f, bn)
        fa = _times[number](fab, bn)
    for k in range(e.size):
        total = _plus[number](_times[number](g, d1[k]), _times[number](f, d0[k]))
        by_a = k >= sa
        by_b = k % sa >= sb
        if k % sb:
            total = _plus[number](total, _times[number](gc, d1[k - 1]))
        if by_a:
            total = _plus[number](total, _times[number](fa, d0[k - sa]))
        if gauss:
            if by_a:
                total = _plus[number](total, _times[number](gx, d1[k - sa]))
            if by_b:
                total = _plus[number](total, _times[number](gx, d1[k - sb]))
                total = _plus[number](total, _times[number](fb, d0[k - sb]))
                if by_a:
                    total = _plus[number](total, _times[number](fab, d0[k - sa - sb]))
        d2[k] = total


cdef bint _step(Equation* e, double x, double after, number* y, number* slope, number* work,
                double* sums) noexcept nogil:
    """Take a solution and its slope from one point to another; False if the series is too long."""
    cdef int k, n, quiet = 0, size = e.size
    cdef Twofold s = _sum_of(after, -x)
    cdef number t = _of[number](s.head, s.rest, y[0])
    cdef number u = _inverse[number](t)
    cdef number* d0 = work
    cdef number* d1 = work + size
    cdef number* d2 = work + 2 * size
    cdef number* other
    for k in range(size):
        d0[k] = y[k]
        d1[k] = _times[number](slope[k], t)
        y[k] = _plus[number](d0[k], d1[k])
        slope[k] = d1[k]
        sums[k] = fabs(_head[number](d0[k])) + fabs(_head[number](d1[k]))
    for n in range(MOST_TERMS):
        _recurrence[number](e, x, t, n, d0, d1, d2)
        for k in range(size):
            y[k] = _plus[number](y[k], d2[k])
            slope[k] = _plus[number](slope[k], _scaled[number](d2[k], n + 2.0))
            sums[k] += fabs(_head[number](d2[k]))
        quiet = quiet + 1 if _falls[number](d2, sums, size, n + 2.0) else 0
        if quiet == 3 and n >= 8:
            for k in range(size):
                slope[k] = _times[number](slope[k], u)
            return True
        other = d0
        d0 = d1
        d1 = d2
        d2 = other
    return False


cdef number _exp(number y) noexcept nogil:
    """eʸ."""
    cdef int k
    cdef double whole = rint(_head[number](y) / LN2)
    cdef number one = _of[number](1.0, 0.0, y), total = one
    y = _plus[number](y, _scaled[number](_minus_log_2[number](y), whole))
    for k in range(46, 0, -1):
        total = _plus[number](one, _times[number](_times[number](total, y), _inverse[number](_of[number](k, 0.0, y))))
    return _scaled[number](total, ldexp(1.0, <int>whole))


cdef bint _about_infinity(Equation* e, double z, double sign, int order, number* y, number* d,
                          double* sums) noexcept nogil:
    """(a)ₘ z^-(a + m) Σ (a + m)ₙ (a - c + 1)ₙ / n! (sign / z)ⁿ of an order m.

    False if its terms do not get small, or the power is out of range.
    """
    cdef int k, n, m, size = e.size, sa = e.nc + 1
    cdef bint ended, finite = _is_degree(e.a, e.na)
    cdef number f, g, r, u, like = d[0]
    cdef number ln = _of[number](-log(z), 0.0, like)        # -log z, by steps of Newton's from that of doubles
    for _ in range(2):
        g = _plus[number](_scaled[number](_exp[number](ln), z), _of[number](-1.0, 0.0, like))
        ln = _plus[number](ln, _negative[number](g))
    for k in range(size):
        d[k] = _of[number](0.0, 0.0, like)
    d[0] = _exp[number](_times[number](ln, _shifted[number](e.a, order, like)))
    if not 1e-200 < _head[number](d[0]) < 1e250:        # beyond that products of their parts are out of range
        return False
    for k in range(1, e.na + 1):
        g = _times[number](d[(k - 1) * sa], ln)
        d[k * sa] = _times[number](g, _inverse[number](_of[number](k, 0.0, like)))
    u = _scaled[number](_inverse[number](_of[number](z, 0.0, like)), sign)
    for m in range(order):
        _by_factor[number](e, _shifted[number](e.a, m, like), sa, d)
    for k in range(size):
        y[k] = d[k]
        sums[k] = fabs(_head[number](d[k]))
    for n in range(MOST_TERMS):
        _by_factor[number](e, _shifted[number](e.a, order + n, like), sa, d)
        f = _plus[number](_shifted[number](e.a, n + 1.0, like), _of[number](-e.c, 0.0, like))
        r = _times[number](u, _inverse[number](_of[number](n + 1.0, 0.0, like)))
        ended = True
        for k in range(size - 1, -1, -1):
            g = _times[number](d[k], f)
            if k >= sa:
                g = _plus[number](g, d[k - sa])
            if k % sa:
                g = _plus[number](g, _negative[number](d[k - 1]))
            d[k] = _times[number](g, r)
            y[k] = _plus[number](y[k], d[k])
            sums[k] += fabs(_head[number](d[k]))
            ended = ended and _head[number](d[k]) == 0.0
        if n > z and not finite:        # terms are smallest about there
            return False
        if ended:
            return True
        if n + order + e.a > 0.0 and n + e.a - e.c + 1.0 > 0.0 and _falls[number](d, sums, size, 1.0):
            return True
    return False


cdef void _by_series(Equation* e, number* p, number* q, number* y) noexcept nogil:
    """y = p q, for series in a and c."""
    cdef int i, j, k, m, sa = e.nc + 1
    for i in range(e.na, -1, -1):
        for j in range(e.nc, -1, -1):
            y[i * sa + j] = _of[number](0.0, 0.0, p[0])
            for k in range(i + 1):
                for m in range(j + 1):
                    y[i * sa + j] = _plus[number](
                        y[i * sa + j], _times[number](p[k * sa + m], q[(i - k) * sa + j - m]))


cdef void _over_series(Equation* e, number* p, number* q, number* y) noexcept nogil:
    """y = p / q, for series in a and c."""
    cdef int i, j, k, m, sa = e.nc + 1
    cdef number total, over = _inverse[number](q[0])
    for i in range(e.na + 1):
        for j in range(e.nc + 1):
            total = p[i * sa + j]
            for k in range(i + 1):
                for m in range(j + 1):
                    if k or m:
                        total = _plus[number](
                            total, _negative[number](_times[number](q[k * sa + m], y[(i - k) * sa + j - m])))
            y[i * sa + j] = _times[number](total, over)


cdef double _next_point(Equation* e, double x, double end) noexcept nogil:
    """The point to which the series about x goes, on the way to the end.

    So near that no solution, of those that go as powers, exponentials and waves, changes by more than about 10⁶.
    """
    cdef double t, after
    if e.kind == GAUSS:
        if x > 0.0:
            t = (1.0 - x) * min(0.5, 15.0 / (1.0 + fabs(e.c - e.a - e.b)))
        else:
            t = x * min(0.5, 15.0 / (1.0 + fabs(e.c)))
    else:
        t = fabs(x) * min(0.5, 15.0 / (1.0 + fabs(e.c)))
        if e.kind == CONFLUENT_LIMIT:
            t = min(t, 12.0 * sqrt(fabs(x)))
        else:
            t = min(t, min(16.0, 12.0 * sqrt(fabs(x) / (1.0 + fabs(e.a)))))
        if end < x:
            t = -t
    t *= e.slack
    after = x + t
    return after if fabs(end - x) > 1.2 * fabs(t) else end


cdef bint _at_once(Equation* e, double x, int count, number* y, number* work, double* sums) noexcept nogil:
    """The derivatives of orders 0 to count - 1 by x, and of all orders by the parameters, by the series about 0."""
    cdef int n
    for n in range(count):
        if not _about_zero[number](e, x, n, y + n * e.size, work, sums):
            return False
    return True


cdef bint _onwards(Equation* e, double x, double end, number* y, number* work, double* sums) noexcept nogil:
    """Take y and the slope behind it from x to the end."""
    cdef double after
    for _ in range(MOST_STEPS):
        if x == end:
            return True
        after = _next_point(e, x, end)
        if after == x or not _step[number](e, x, after, y, y + e.size, work, sums):
            return False
        x = after
    return False


cdef void _further_orders(Equation* e, double x, int count, number* y) noexcept nogil:
    """The derivatives from order 2 on, from the first two."""
    cdef int k, n, size = e.size
    cdef double factorial = 1.0
    cdef number one = _of[number](1.0, 0.0, y[0])
    for n in range(count - 2):
        _recurrence[number](e, x, one, n, y + n * size, y + (n + 1) * size, y + (n + 2) * size)
    for n in range(2, count):
        factorial *= n
        for k in range(size):
            y[n * size + k] = _scaled[number](y[n * size + k], factorial)


cdef bint _from_infinity(Equation* e, double z, double sign, int count, number* y, number* work,
                         double* sums) noexcept nogil:
    """The derivatives of orders 0 to count - 1 by z of the solution whose series about infinity is in sign / z."""
    cdef int k, n, size = e.size
    for n in range(count):
        if not _about_infinity[number](e, z, sign, n, y + n * size, work, sums):
            return False
        if n % 2:
            for k in range(size):
                y[n * size + k] = _negative[number](y[n * size + k])
    return True


cdef bint _of_tricomi(Equation* e, double x, int count, number* y, number* work, double* sums) noexcept nogil:
    """U(a, c, x) from the point where its series about infinity has all digits."""
    cdef double at = 32.0 * e.slack
    if not x > 0.0:
        return False
    if _from_infinity[number](e, x, -1.0, count, y, work, sums):
        return True
    while at <= x or not _from_infinity[number](e, at, -1.0, 2, y, work, sums):
        at *= 1.5
        if at > 1e6:
            return False
    if not _onwards[number](e, at, x, y, work, sums):
        return False
    _further_orders[number](e, x, count, y)
    return True


cdef bint _far_left(Equation* e, double x, double start, int count, number* y, number* work,
                    double* sums) noexcept nogil:
    """1F1 far to the left, in proportion to the solution without exponential growth (DLMF 13.7.2).

    False if the series about infinity of that has not all digits, or the other part of 1F1 counts, where that is
    easily reached.
    """
    cdef int n, size = e.size
    cdef double at = 100.0 * e.slack, digits = 10.0 - log(_negligible[number](y[0]))
    cdef double other_part = lgamma(e.c - e.a) - lgamma(e.a) + digits       # its logarithm, without those of powers
    cdef number* other = work + 3 * size
    while not (other_part + (2.0 * e.a - e.c) * log(at) < at and 2.0 * e.a - e.c < at
               and _about_infinity[number](e, at, 1.0, 0, other, work, sums)):
        at *= 1.5
        if at >= -x:
            return False
    if not _at_once[number](e, -start, 2, y, work, sums) or not _onwards[number](e, -start, -at, y, work, sums):
        return False
    _over_series[number](e, y, other, other + size)
    for n in range(count):
        if not _about_infinity[number](e, -x, 1.0, n, other, work, sums):
            return False
        _by_series[number](e, other, other + size, y + n * size)
    return True


cdef bint _by_steps(Equation* e, double x, int count, number* y, number* work, double* sums) noexcept nogil:
    """The same from point to point."""
    cdef double start = e.slack
    if e.kind == TRICOMI:
        return _of_tricomi[number](e, x, count, y, work, sums)
    if e.kind == GAUSS:
        start *= 0.5
    elif e.kind == KUMMER:
        start *= 8.0
    else:
        start *= 64.0
    if fabs(x) <= start:
        return _at_once[number](e, x, count, y, work, sums)
    if e.kind == GAUSS and x >= 1.0:
        return False
    if e.kind == KUMMER and x < -150.0 and _far_left[number](e, x, start, count, y, work, sums):
        return True
    if x < 0.0:
        start = -start
    if not _at_once[number](e, start, 2, y, work, sums) or not _onwards[number](e, start, x, y, work, sums):
        return False
    _further_orders[number](e, x, count, y)
    return True


cdef bint _is_short(Equation* e, double x) noexcept nogil:
    """Whether the series about 0 is tried first: it is not long, and may have all digits."""
    if e.kind == GAUSS:
        # where it ends, and stays a polynomial as there is no derivative by its degree, at all x
        return fabs(x) <= 0.8 or _is_degree(e.a, e.na) or _is_degree(e.b, e.nb)
    if e.kind == KUMMER:
        return x < 1000.0 and x > -40.0 - fabs(e.c) or _is_degree(e.a, e.na)
    return e.kind == CONFLUENT_LIMIT and x < 1e6 and x > -400.0 - fabs(e.c)


cdef bint _solve(Equation* e, double x, int count, bint at_once, number* y, number* work, double* sums) noexcept nogil:
    if at_once:
        return _at_once[number](e, x, count, y, work, sums)
    return _by_steps[number](e, x, count, y, work, sums)


cdef struct Results:
    double* at
    Py_ssize_t stride               # from one to the next
    int first                       # of the items of a series in the parameters, up to the last
    int total                       # of the orders by all operands; those above it are not asked for
    double factor


cdef inline int _order(Equation* e, int k) noexcept nogil:
    """Of derivatives by parameters in all, for item k of a series in them."""
    return k // ((e.nb + 1) * (e.nc + 1)) + k // (e.nc + 1) % (e.nb + 1) + k % (e.nc + 1)


cdef bint _is_right(Equation* e, double x, int count, bint at_once, double tolerance, Results* results, number* exact,
                    rough_number* rough, double rounding, double* sums) noexcept nogil:
    """Whether the derivatives of orders 0 to count - 2 by x are right, all of them; those that are not are nan.

    `rounding` is the ratio of the errors of both kinds of numbers.
    """
    cdef int n, k, trial, size = e.size, width = e.size - results.first
    cdef bint known, right = True
    cdef double y, slope, error
    cdef double* out
    e.slack = 1.0
    known = _solve[number](e, x, count, at_once, exact, exact + count * size, sums)
    for trial in range(2):
        e.slack = 1.0 if trial == 0 else 0.97       # along the same points, and beside them, against luck
        known = known and _solve[rough_number](e, x, count, at_once, rough, rough + count * size, sums)
        for n in range(count - 1):
            for k in range(results.first, size):
                out = results.at + (n * width + k - results.first) * results.stride
                y = _head[number](exact[n * size + k])
                if trial == 0:
                    out[0] = y * results.factor
                if _order(e, k) + n > results.total:
                    continue
                slope = x * _head[number](exact[(n + 1) * size + k])
                error = fabs(_distance[number, rough_number](exact[n * size + k], rough[n * size + k]))
                if not (known and isfinite(y) and error * rounding * MARGIN <= tolerance * (fabs(y) + fabs(slope))):
                    out[0] = NAN
                    right = False
    return right


cdef inline double _distance(number x, rough_number y) noexcept nogil:
    if rough_number is double:
        return y - _head[number](x)
    elif number is Fourfold:
        return (y.head - x.head) + (y.rest - x.x1)
    else:
        return y.head - _head[number](x)


cdef void _item(Equation* e, double x, int count, Results* results, Fourfold* finest, Twofold* fine, double* coarse,
                double* sums) noexcept nogil:
    """The derivatives of orders 0 to count - 2 by x, nan where they are not right."""
    cdef int n
    if not (isfinite(x) and isfinite(e.a) and isfinite(e.b) and isfinite(e.c)):
        for n in range((count - 1) * (e.size - results.first)):
            results.at[n * results.stride] = NAN
        return
    if _is_short(e, x) and _is_right[Twofold, double](
            e, x, count, True, ROUNDING, results, fine, coarse, ROUNDING, sums):
        return
    if _is_right[Twofold, double](e, x, count, False, TOLERANCE, results, fine, coarse, ROUNDING, sums):
        return
    _is_right[Fourfold, Twofold](e, x, count, False, TOLERANCE, results, finest, fine, ROUNDING * ROUNDING, sums)


def partials(int kind, const double[::1] a, const double[::1] b, const double[::1] c, const double[::1] x, orders,
             int degree, total=None):
    """∂^(i + j + k) / ∂aⁱ ∂bʲ ∂cᵏ of the derivatives of orders 0 to degree by x, for the orders (i, j, k).

    With a total, the Taylor coefficients by a, b and c up to these orders, of the derivatives by x, where the sum of
    all orders is at most that; others may have any value.
    """
    cdef Equation e
    cdef Results results
    cdef Py_ssize_t i, items = x.shape[0]
    cdef int count = degree + 2
    e.kind = kind
    e.na, e.nb, e.nc = orders
    e.size = (e.na + 1) * (e.nb + 1) * (e.nc + 1)
    if total is None:
        results.first, results.total = e.size - 1, degree + e.na + e.nb + e.nc
        results.factor = math.factorial(e.na) * math.factorial(e.nb) * math.factorial(e.nc)
    else:
        results.first, results.total, results.factor = 0, total, 1.0
    results.stride = items
    found = np.empty((degree + 1, e.size - results.first, items))
    cdef double[:, :, ::1] out = found
    cdef Py_ssize_t each = (count + 5) * e.size     # and 5 to work with
    cdef Fourfold* finest = <Fourfold*>malloc(each * sizeof(Fourfold))
    cdef Twofold* fine = <Twofold*>malloc(each * sizeof(Twofold))
    cdef double* coarse = <double*>malloc(each * sizeof(double))
    cdef double* sums = <double*>malloc(e.size * sizeof(double))
    try:
        if finest == NULL or fine == NULL or coarse == NULL or sums == NULL:
            raise MemoryError
        with nogil:
            for i in range(items):
                e.a, e.b, e.c = a[i], b[i], c[i]
                results.at = &out[0, 0, i]
                _item(&e, x[i], count, &results, finest, fine, coarse, sums)
    finally:
        free(finest)
        free(fine)
        free(coarse)
        free(sums)
    if total is None:
        return found[:, 0]
    return found.reshape(degree + 1, e.na + 1, e.nb + 1, e.nc + 1, items)
