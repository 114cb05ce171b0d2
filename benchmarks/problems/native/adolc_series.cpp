/* All derivatives to ORDER by ADOL-C's forward mode: taped at the first call, replayed for each of n points. FUNCTION
   names the header. */
#include <adolc/adolc.h>
#include FUNCTION
#include "derivative.h"

static const short TAG = 1;
static bool taped = false;

static void record(double point)
{
    double value;
    trace_on(TAG);
    adouble x;
    x <<= point;
    adouble y = function<adouble>(1, &x);
    y >>= value;
    trace_off();
    taped = true;
}

extern "C" void derivative(long n, long size, const double *const *arguments, double *result)
{
    double in[ORDER + 1] = {0.0, 1.0}, out[ORDER + 1];
    double *rows_in[] = {in}, *rows_out[] = {out};
    if (!taped)
        record(arguments[0][0]);
    for (long i = 0; i < n; i++) {
        double factorial = 1.0;
        in[0] = arguments[0][i];
        forward(TAG, 1, 1, ORDER, 0, rows_in, rows_out);
        for (long k = 0; k <= ORDER; k++) {
            factorial *= k ? k : 1;
            result[k * n + i] = factorial * out[k];
        }
    }
}
