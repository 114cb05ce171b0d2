/* The entries of a Hessian with one band beside its diagonal, row by row, by ADOL-C with ColPack: taped, pattern and
   colors found at the first call, filled in again at the others. FUNCTION names the header. */
#include "adolc_tape.hpp"
#include "derivative.h"

#ifndef ADOLC_SPARSE
#error "this ADOL-C was compiled without ColPack"
#endif

extern "C" void derivative(long n, long size, const double *const *arguments, double *h)
{
    static int count, options[2] = {0, 0}; /* safe mode, indirect recovery */
    static unsigned int *rows = nullptr, *columns = nullptr;
    static double *entries = nullptr;
    int repeats = taped;
    if (!taped)
        record(n, size, arguments[0]);
    sparse_hess(TAG, (int)size, repeats, arguments[0], &count, &rows, &columns, &entries, options);
    for (int k = 0; k < count; k++) { /* those of one triangle */
        long i = rows[k] < columns[k] ? rows[k] : columns[k];
        if (rows[k] == columns[k])
            h[3 * i] = entries[k];
        else
            h[3 * i + 1] = h[3 * i + 2] = entries[k];
    }
}
