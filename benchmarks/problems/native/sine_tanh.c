/* All derivatives of exp(sin x) tanh x / (1 + x^2) by hand: row k of an array has coefficient k at each of the points. */
#include "derivative.h"

#define ROW(a, k) ((a) + (k) * lanes)
#define EACH for (long l = 0; l < lanes; l++)

static inline __attribute__((always_inline)) void series(long lanes, const double *x, double *q)
{
    double s[(ORDER + 1) * lanes], c[(ORDER + 1) * lanes], e[(ORDER + 1) * lanes], t[(ORDER + 1) * lanes];
    double u[(ORDER + 1) * lanes], below[lanes];
    EACH {
        s[l] = sin(x[l]);
        c[l] = cos(x[l]);
        e[l] = exp(s[l]);
        t[l] = tanh(x[l]);
        u[l] = 1 / (cosh(x[l]) * cosh(x[l]));
        below[l] = 1 / (1 + x[l] * x[l]);
        q[l] = e[l] * t[l] * below[l];
    }
    for (long k = 1; k <= ORDER; k++) {
        double over = 1.0 / k, of_e[lanes], of_u[lanes], of_q[lanes];
        EACH {
            ROW(s, k)[l] = ROW(c, k - 1)[l] * over;
            ROW(c, k)[l] = -ROW(s, k - 1)[l] * over;
            ROW(t, k)[l] = ROW(u, k - 1)[l] * over;
            of_e[l] = of_u[l] = 0.0;
        }
        for (long j = 1; j <= k; j++)
            EACH {
                of_e[l] += j * ROW(s, j)[l] * ROW(e, k - j)[l];
                of_u[l] += ROW(t, j - 1)[l] * ROW(u, k - j)[l];
            }
        EACH {
            ROW(e, k)[l] = of_e[l] * over;
            ROW(u, k)[l] = -2 * of_u[l] * over;
            of_q[l] = -2 * x[l] * ROW(q, k - 1)[l] - (k > 1 ? ROW(q, k - 2)[l] : 0.0);
        }
        for (long j = 0; j <= k; j++)
            EACH of_q[l] += ROW(e, j)[l] * ROW(t, k - j)[l];
        EACH ROW(q, k)[l] = of_q[l] * below[l];
    }
}

#include "series.h"
