/* Functions of one number, or two, that the C library has not, or has otherwise. */

#ifndef HOAD_LIBRARY_H
#define HOAD_LIBRARY_H

#include <math.h>

/* x^y; x^2 is x x, as NumPy's */
static inline double library_power(double x, double y)
{
    return y == 2.0 ? x * x : pow(x, y);
}

/* 1/cosh(x), which is 2 exp(-|x|) long before cosh(x) overflows */
static inline double library_sech(double x)
{
    double a = fabs(x);
    return a > 30.0 ? 2.0 * exp(-a) : 1.0 / cosh(a);
}

/* 1/cosh(x)^2 = 4 t/(1 + t)^2 with t = exp(-2|x|), and with what 1 + t has lost */
static inline double library_sech_squared(double x)
{
    double a = fabs(x), s = 2.0 * exp(-a);
    double t = exp(-a - a), d = 1.0 + t, p = 4.0 * t / (d * d);
    return a > 30.0 ? s * s : p - 2.0 * p * ((t - (d - 1.0)) / d);
}

/* √(1 - x²), which does not cancel */
static inline double library_sqrt_one_minus_square(double x)
{
    return sqrt((1.0 - x) * (1.0 + x));
}

/* 1/(1 + exp(-x)), by whichever exponential does not overflow */
static inline double library_logistic(double x)
{
    double e = exp(-fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

#endif
