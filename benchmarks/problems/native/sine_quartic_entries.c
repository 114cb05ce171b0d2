/* The entries of the Hessian of the perturbed chained function by hand, row by row. */
#include "derivative.h"

void derivative(long n, long size, const double *const *arguments, double *h)
{
    const double *x = arguments[0];
    double carried = 0.0;
    for (long i = 0; i + 1 < n; i++) {
        double a = x[i], b = x[i + 1], d = a - 0.4 * b;
        double s = sin(a * b), square = 84 * d * d;
        h[3 * i] = carried - b * b * s + square;
        h[3 * i + 1] = h[3 * i + 2] = cos(a * b) - a * b * s - 0.4 * square;
        carried = -a * a * s + 0.16 * square;
    }
    h[3 * n - 3] = carried;
}
