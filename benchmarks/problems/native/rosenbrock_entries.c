/* The entries of the Hessian of the chained Rosenbrock function by hand, row by row. */
#include "derivative.h"

void derivative(long n, long size, const double *const *arguments, double *h)
{
    const double *x = arguments[0];
    h[0] = 1200 * x[0] * x[0] - 400 * x[1] + 2;
    for (long i = 1; i + 1 < n; i++) {
        h[3 * i - 2] = h[3 * i - 1] = -400 * x[i - 1];
        h[3 * i] = 1200 * x[i] * x[i] - 400 * x[i + 1] + 202;
    }
    h[3 * n - 5] = h[3 * n - 4] = -400 * x[n - 2];
    h[3 * n - 3] = 200;
}
