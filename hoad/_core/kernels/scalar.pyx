"""C functions of one and two doubles, and of complex numbers, under the names of the NumPy ufuncs they agree with."""

from libc cimport math as m
from libc.math cimport INFINITY, NAN, isfinite, isinf, isnan, signbit

cdef extern from "library.h" nogil:
    double library_power(double, double) noexcept
    double library_sech(double) noexcept
    double library_sech_squared(double) noexcept
    double library_sqrt_one_minus_square(double) noexcept
    double library_logistic(double) noexcept

cdef double LN2 = 0.693147180559945309417232121458176568
cdef double RADIAN = 0.017453292519943295769236907684886127
cdef double DEGREE = 57.295779513082320876798154814105170


cdef double k_negative(double x) noexcept nogil:
    return -x

cdef double k_positive(double x) noexcept nogil:
    return x

cdef double k_square(double x) noexcept nogil:
    return x * x

cdef double k_reciprocal(double x) noexcept nogil:
    return 1.0 / x

cdef double k_sign(double x) noexcept nogil:
    return 1.0 if x > 0 else (-1.0 if x < 0 else x if isnan(x) else 0.0)

cdef double k_degrees(double x) noexcept nogil:
    return x * DEGREE

cdef double k_radians(double x) noexcept nogil:
    return x * RADIAN

cdef double k_spacing(double x) noexcept nogil:
    if isinf(x):
        return NAN
    return m.nextafter(x, m.copysign(INFINITY, x)) - x

cdef double k_isnan(double x) noexcept nogil:
    return isnan(x)

cdef double k_isinf(double x) noexcept nogil:
    return isinf(x) != 0

cdef double k_isfinite(double x) noexcept nogil:
    return isfinite(x) != 0

cdef double k_signbit(double x) noexcept nogil:
    return signbit(x) != 0

cdef double k_logical_not(double x) noexcept nogil:
    return x == 0


cdef double k_add(double x, double y) noexcept nogil:
    return x + y

cdef double k_subtract(double x, double y) noexcept nogil:
    return x - y

cdef double k_multiply(double x, double y) noexcept nogil:
    return x * y

cdef double k_divide(double x, double y) noexcept nogil:
    return x / y

cdef double k_strong_multiply(double x, double y) noexcept nogil:
    return 0.0 if x == 0.0 else x * y

cdef double k_strong_multiply_both(double x, double y) noexcept nogil:
    return 0.0 if x == 0.0 or y == 0.0 else x * y

cdef double k_strong_divide(double x, double y) noexcept nogil:
    return 0.0 if x == 0.0 else x / y

cdef double k_smooth(double x, double y) noexcept nogil:
    return x

cdef double k_powlog1(double x, double y) noexcept nogil:
    cdef double p = library_power(x, y)
    return p if p == 0.0 else p * m.log(x)

cdef double k_powlog2(double x, double y) noexcept nogil:
    cdef double p = k_powlog1(x, y)
    return p if p == 0.0 else p * m.log(x)

cdef double k_powlog3(double x, double y) noexcept nogil:
    cdef double p = k_powlog2(x, y)
    return p if p == 0.0 else p * m.log(x)

cdef double k_mask(double c, double x) noexcept nogil:
    return x if c != 0.0 else 0.0

cdef double k_x_over_hypot(double x, double y) noexcept nogil:
    """x / hypot(x, y): 0 at the origin, and the limit where an operand is infinite."""
    if isinf(x) or isinf(y):
        if isnan(x) or isnan(y):
            return NAN
        x = m.copysign(1.0 if isinf(x) else 0.0, x)
        y = 1.0 if isinf(y) else 0.0
    elif m.fabs(x) > 1e300 or m.fabs(y) > 1e300:
        x *= 0.5
        y *= 0.5
    return x if x == 0.0 else x / m.hypot(x, y)

cdef double k_maximum(double x, double y) noexcept nogil:
    return x if x >= y or isnan(x) else y

cdef double k_minimum(double x, double y) noexcept nogil:
    return x if x <= y or isnan(x) else y

cdef double k_fmax(double x, double y) noexcept nogil:
    return x if x >= y or isnan(y) else y

cdef double k_fmin(double x, double y) noexcept nogil:
    return x if x <= y or isnan(y) else y

cdef double k_heaviside(double x, double at_zero) noexcept nogil:
    return x if isnan(x) else (at_zero if x == 0 else (0.0 if x < 0 else 1.0))

cdef double k_remainder(double x, double y) noexcept nogil:
    cdef double r = m.fmod(x, y)
    if y == 0.0:
        return r
    if r != 0.0:
        return r + y if (y < 0) != (r < 0) else r
    return m.copysign(0.0, y)

cdef double k_floor_divide(double x, double y) noexcept nogil:
    if y == 0.0:
        return x / y
    cdef double r = m.fmod(x, y)
    cdef double q = (x - r) / y
    if r != 0.0 and (y < 0) != (r < 0):
        q -= 1.0
    if q == 0.0:
        return m.copysign(0.0, x / y)
    cdef double f = m.floor(q)
    return f + 1.0 if q - f > 0.5 else f

cdef double k_logaddexp(double x, double y) noexcept nogil:
    cdef double d = x - y
    if x == y:
        return x + LN2
    if d > 0:
        return x + m.log1p(m.exp(-d))
    if d <= 0:
        return y + m.log1p(m.exp(d))
    return d

cdef double k_logaddexp2(double x, double y) noexcept nogil:
    cdef double d = x - y
    if x == y:
        return x + 1.0
    if d > 0:
        return x + m.log1p(m.exp2(-d)) / LN2
    if d <= 0:
        return y + m.log1p(m.exp2(d)) / LN2
    return d

cdef double k_less(double x, double y) noexcept nogil:
    return x < y

cdef double k_less_equal(double x, double y) noexcept nogil:
    return x <= y

cdef double k_greater(double x, double y) noexcept nogil:
    return x > y

cdef double k_greater_equal(double x, double y) noexcept nogil:
    return x >= y

cdef double k_equal(double x, double y) noexcept nogil:
    return x == y

cdef double k_not_equal(double x, double y) noexcept nogil:
    return x != y

cdef double k_logical_and(double x, double y) noexcept nogil:
    return x != 0 and y != 0

cdef double k_logical_or(double x, double y) noexcept nogil:
    return x != 0 or y != 0

cdef double k_logical_xor(double x, double y) noexcept nogil:
    return (x != 0) != (y != 0)


# ---- of one complex number ------------------------------------------------------------------------------------------

cdef void c_sqrt(double x, double y, double* p) noexcept nogil:
    """The principal root; the sign of y, of a zero too, says on which side of the cut it is."""
    cdef double t = m.sqrt(0.5 * m.fabs(x) + 0.5 * m.hypot(x, y))
    if t == 0:
        p[0] = 0.0
        p[1] = y
    elif signbit(x):
        p[0] = m.fabs(y) / (2.0 * t)
        p[1] = m.copysign(t, y)
    else:
        p[0] = t
        p[1] = y / (2.0 * t)

cdef void k_complex_sqrt_one_minus_square(const double* x, double* p) noexcept nogil:
    """sqrt(1 - x) sqrt(1 + x), with the signs of zeros kept, so that each side of a cut has its own value."""
    cdef double[2] a
    cdef double[2] b
    c_sqrt(1.0 - x[0], -x[1], a)
    c_sqrt(1.0 + x[0], x[1], b)
    p[0] = a[0] * b[0] - a[1] * b[1]
    p[1] = a[0] * b[1] + a[1] * b[0]

cdef void k_complex_sech_squared(const double* x, double* p) noexcept nogil:
    """The square of sech(x) / (cos y + i tanh(x) sin y), which neither overflows nor cancels."""
    cdef double s = library_sech(x[0])
    cdef double c = m.cos(x[1])
    cdef double v = m.tanh(x[0]) * m.sin(x[1])
    cdef double d = c * c + v * v
    cdef double a = s * c / d
    cdef double b = -(s * v / d)
    p[0] = (a - b) * (a + b)
    p[1] = 2.0 * a * b


cdef Complex1 complex1(str name):
    """The C function of this name, or NULL."""
    if name == "sech_squared": return k_complex_sech_squared
    if name == "sqrt_one_minus_square": return k_complex_sqrt_one_minus_square
    return NULL


cdef Scalar1 scalar1(str name):
    """The C function of this name, or NULL."""
    if name == "negative": return k_negative
    if name == "positive" or name == "stop_gradient" or name == "identity": return k_positive
    if name == "square": return k_square
    if name == "sqrt": return m.sqrt
    if name == "reciprocal": return k_reciprocal
    if name == "cbrt": return m.cbrt
    if name == "absolute" or name == "fabs": return m.fabs
    if name == "sign" or name == "slope": return k_sign
    if name == "conjugate": return k_positive
    if name == "exp": return m.exp
    if name == "exp2": return m.exp2
    if name == "expm1": return m.expm1
    if name == "log": return m.log
    if name == "log2": return m.log2
    if name == "log10": return m.log10
    if name == "log1p": return m.log1p
    if name == "sin": return m.sin
    if name == "cos": return m.cos
    if name == "tan": return m.tan
    if name == "arcsin": return m.asin
    if name == "arccos": return m.acos
    if name == "arctan": return m.atan
    if name == "sinh": return m.sinh
    if name == "cosh": return m.cosh
    if name == "tanh": return m.tanh
    if name == "sech_squared": return library_sech_squared
    if name == "logistic": return library_logistic
    if name == "sqrt_one_minus_square": return library_sqrt_one_minus_square
    if name == "scipy.special.erf": return m.erf
    if name == "scipy.special.erfc": return m.erfc
    if name == "arcsinh": return m.asinh
    if name == "arccosh": return m.acosh
    if name == "arctanh": return m.atanh
    if name == "degrees" or name == "rad2deg": return k_degrees
    if name == "radians" or name == "deg2rad": return k_radians
    if name == "floor": return m.floor
    if name == "ceil": return m.ceil
    if name == "trunc": return m.trunc
    if name == "rint": return m.rint
    if name == "spacing": return k_spacing
    if name == "isnan": return k_isnan
    if name == "isinf": return k_isinf
    if name == "isfinite": return k_isfinite
    if name == "signbit": return k_signbit
    if name == "logical_not": return k_logical_not
    return NULL


cdef Scalar2 scalar2(str name):
    """The C function of this name, or NULL."""
    if name == "add": return k_add
    if name == "subtract": return k_subtract
    if name == "multiply": return k_multiply
    if name == "divide": return k_divide
    if name == "power" or name == "float_power": return library_power
    if name == "strong_multiply": return k_strong_multiply
    if name == "strong_multiply_both": return k_strong_multiply_both
    if name == "strong_divide": return k_strong_divide
    if name == "mask": return k_mask
    if name == "smooth": return k_smooth
    if name == "powlog1": return k_powlog1
    if name == "powlog2": return k_powlog2
    if name == "powlog3": return k_powlog3
    if name == "maximum": return k_maximum
    if name == "minimum": return k_minimum
    if name == "fmax": return k_fmax
    if name == "fmin": return k_fmin
    if name == "x_over_hypot": return k_x_over_hypot
    if name == "fmod": return m.fmod
    if name == "remainder": return k_remainder
    if name == "floor_divide": return k_floor_divide
    if name == "hypot": return m.hypot
    if name == "arctan2": return m.atan2
    if name == "copysign": return m.copysign
    if name == "nextafter": return m.nextafter
    if name == "heaviside": return k_heaviside
    if name == "logaddexp": return k_logaddexp
    if name == "logaddexp2": return k_logaddexp2
    if name == "less": return k_less
    if name == "less_equal": return k_less_equal
    if name == "greater": return k_greater
    if name == "greater_equal": return k_greater_equal
    if name == "equal": return k_equal
    if name == "not_equal": return k_not_equal
    if name == "logical_and": return k_logical_and
    if name == "logical_or": return k_logical_or
    if name == "logical_xor": return k_logical_xor
    return NULL
