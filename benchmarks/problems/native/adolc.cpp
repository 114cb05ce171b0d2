/* The gradient by ADOL-C: taped at the first call, replayed by its driver at the others. FUNCTION names the header. */
#include "adolc_tape.hpp"
#include "derivative.h"

extern "C" void derivative(long n, long size, const double *const *arguments, double *g)
{
    if (!taped)
        record(n, size, arguments[0]);
    gradient(TAG, (int)size, arguments[0], g);
}
