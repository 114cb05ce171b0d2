/* Van der Pol's oscillator with a pendulum for its spring. */
#include <math.h>

static void rates(const double *p, const double *u, double *k)
{
    k[0] = p[0] * u[1];
    k[1] = p[1] * (1 - u[0] * u[0]) * u[1] - p[2] * u[0] - p[3] * sin(u[0]);
}

static void rates_bar(const double *p, const double *u, const double *w, double *p_bar, double *u_bar)
{
    double damping = 1 - u[0] * u[0];
    p_bar[0] += w[0] * u[1];
    p_bar[1] += w[1] * damping * u[1];
    p_bar[2] -= w[1] * u[0];
    p_bar[3] -= w[1] * sin(u[0]);
    u_bar[0] -= w[1] * (2 * p[1] * u[0] * u[1] + p[2] + p[3] * cos(u[0]));
    u_bar[1] += w[0] * p[0] + w[1] * p[1] * damping;
}

#include "runge_kutta.h"
