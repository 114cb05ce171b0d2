/* The sum of neighbouring doubles in the order in which NumPy adds them up. */
#ifndef HOAD_SUMS_H
#define HOAD_SUMS_H

#include <stdint.h>

enum { SUMS_TOGETHER = 128 }; /* so many at most go through eight sums; more are halved */

static double sums_total(const double *x, int64_t n)
{
    if (n < 8) {
        double found = -0.0; /* the neutral element */
        for (int64_t i = 0; i < n; i++)
            found += x[i];
        return found;
    }
    if (n > SUMS_TOGETHER) {
        int64_t half = n / 2 - n / 2 % 8;
        return sums_total(x, half) + sums_total(x + half, n - half);
    }
    double s[8];
    int64_t i = 8;
    for (int k = 0; k < 8; k++)
        s[k] = x[k];
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            s[k] += x[i + k];
    double found = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++)
        found += x[i];
    return found;
}

#endif
