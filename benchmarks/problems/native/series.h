/* All derivatives to ORDER of a function of one number, at n points: `series` has the recurrences between Taylor
   coefficients, for WIDTH points at once. A function's file defines it, and then includes this. */
#define WIDTH 8

static void scaled(const double *q, long lanes, double *result, long n, long first)
{
    double factorial = 1.0;
    for (long k = 0; k <= ORDER; k++) {
        factorial *= k ? k : 1;
        for (long l = 0; l < lanes && first + l < n; l++)
            result[k * n + first + l] = factorial * q[k * lanes + l];
    }
}

void derivative(long n, long size, const double *const *arguments, double *result)
{
    const double *x = arguments[0];
    double q[(ORDER + 1) * WIDTH], block[WIDTH];
    if (n == 1) {
        series(1, x, q);
        scaled(q, 1, result, 1, 0);
        return;
    }
    for (long i = 0; i < n; i += WIDTH) {
        for (long l = 0; l < WIDTH; l++)
            block[l] = x[i + l < n ? i + l : n - 1];
        series(WIDTH, block, q);
        scaled(q, WIDTH, result, n, i);
    }
}
