/* All derivatives of log(2.5 + cos x) cosh(x/2) / (3 + exp(-x)) by hand, in rows as in sine_tanh.c. */
#include "derivative.h"

#define ROW(a, k) ((a) + (k) * lanes)
#define EACH for (long l = 0; l < lanes; l++)

static inline __attribute__((always_inline)) void series(long lanes, const double *x, double *q)
{
    double s[(ORDER + 1) * lanes], a[(ORDER + 1) * lanes], p[(ORDER + 1) * lanes], h[(ORDER + 1) * lanes];
    double g[(ORDER + 1) * lanes], w[(ORDER + 1) * lanes], over_a[lanes], over_w[lanes];
    EACH {
        s[l] = sin(x[l]);
        a[l] = 2.5 + cos(x[l]);
        h[l] = cosh(0.5 * x[l]);
        g[l] = sinh(0.5 * x[l]);
        w[l] = 3 + exp(-x[l]);
        p[l] = log(a[l]);
        over_a[l] = 1 / a[l];
        over_w[l] = 1 / w[l];
        q[l] = p[l] * h[l] * over_w[l];
    }
    for (long k = 1; k <= ORDER; k++) {
        double over = 1.0 / k, of_p[lanes], of_q[lanes];
        EACH {
            ROW(s, k)[l] = (ROW(a, k - 1)[l] - (k == 1 ? 2.5 : 0.0)) * over;
            ROW(a, k)[l] = -ROW(s, k - 1)[l] * over;
            ROW(h, k)[l] = 0.5 * ROW(g, k - 1)[l] * over;
            ROW(g, k)[l] = 0.5 * ROW(h, k - 1)[l] * over;
            ROW(w, k)[l] = -(ROW(w, k - 1)[l] - (k == 1 ? 3.0 : 0.0)) * over;
            of_p[l] = of_q[l] = 0.0;
        }
        for (long j = 1; j < k; j++)
            EACH of_p[l] += j * ROW(p, j)[l] * ROW(a, k - j)[l];
        EACH ROW(p, k)[l] = (ROW(a, k)[l] - of_p[l] * over) * over_a[l];
        for (long j = 0; j <= k; j++)
            EACH of_q[l] += ROW(p, j)[l] * ROW(h, k - j)[l];
        for (long j = 1; j <= k; j++)
            EACH of_q[l] -= ROW(w, j)[l] * ROW(q, k - j)[l];
        EACH ROW(q, k)[l] = of_q[l] * over_w[l];
    }
}

#include "series.h"
