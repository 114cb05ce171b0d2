/* The gradient of the perturbed sibling of the Rosenbrock function by hand. */
#include "derivative.h"

void derivative(long n, long size, const double *const *arguments, double *g)
{
    const double *x = arguments[0];
    double carried = 0.0;
    for (long i = 0; i + 1 < n; i++) {
        double a = x[i], b = x[i + 1], c = cos(a * b), r = a - 0.4 * b, cube = 28 * r * r * r;
        g[i] = carried + b * c + cube;
        carried = a * c - 0.4 * cube;
    }
    g[n - 1] = carried;
}
