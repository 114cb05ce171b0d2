/* The gradient of the chained Rosenbrock function by hand. */
#include "derivative.h"

void derivative(long n, long size, const double *const *arguments, double *g)
{
    const double *x = arguments[0];
    double carried = 0.0;
    for (long i = 0; i + 1 < n; i++) {
        double r = x[i + 1] - x[i] * x[i];
        g[i] = carried - 400 * x[i] * r - 2 * (1 - x[i]);
        carried = 200 * r;
    }
    g[n - 1] = carried;
}
