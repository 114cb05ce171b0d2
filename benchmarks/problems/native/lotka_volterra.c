/* Prey and predators. */
static void rates(const double *p, const double *u, double *k)
{
    k[0] = p[0] * u[0] - p[1] * u[0] * u[1];
    k[1] = p[2] * u[0] * u[1] - p[3] * u[1];
}

static void rates_bar(const double *p, const double *u, const double *w, double *p_bar, double *u_bar)
{
    double xy = u[0] * u[1];
    p_bar[0] += w[0] * u[0];
    p_bar[1] -= w[0] * xy;
    p_bar[2] += w[1] * xy;
    p_bar[3] -= w[1] * u[1];
    u_bar[0] += w[0] * (p[0] - p[1] * u[1]) + w[1] * p[2] * u[1];
    u_bar[1] += w[1] * (p[2] * u[0] - p[3]) - w[0] * p[1] * u[0];
}

#include "runge_kutta.h"
