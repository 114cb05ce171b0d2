/* The adjoint of the classical Runge-Kutta method by hand, for rates() and its adjoint rates_bar(), which adds to
   p_bar and u_bar what w = (adjoint of the rates) brings. */
#include "derivative.h"
#include <stdlib.h>

#define H 0.01

static void stages(const double *p, const double *u, double at[4][2], double k[4][2])
{
    static const double reach[4] = {0.0, H / 2, H / 2, H};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 2; i++)
            at[s][i] = s ? u[i] + reach[s] * k[s - 1][i] : u[i];
        rates(p, at[s], k[s]);
    }
}

void derivative(long n, long size, const double *const *arguments, double *g)
{
    static const double reach[4] = {0.0, H / 2, H / 2, H}, weight[4] = {H / 6, H / 3, H / 3, H / 6};
    static double *states = NULL;
    const double *p = arguments[0];
    double at[4][2], k[4][2], w[2], u_bar[2] = {1.0, 1.0}, p_bar[4] = {0.0, 0.0, 0.0, 0.0};
    if (states == NULL)
        states = malloc((n + 1) * 2 * sizeof(double));
    memcpy(states, p + 4, 2 * sizeof(double));
    for (long j = 0; j < n; j++) {
        double *u = states + 2 * j;
        stages(p, u, at, k);
        for (int i = 0; i < 2; i++)
            u[2 + i] = u[i] + H / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    for (long j = n - 1; j >= 0; j--) {
        double total[2] = {u_bar[0], u_bar[1]}, stage_bar[2] = {0.0, 0.0};
        stages(p, states + 2 * j, at, k);
        for (int s = 3; s >= 0; s--) {
            for (int i = 0; i < 2; i++)
                w[i] = weight[s] * u_bar[i] + (s < 3 ? reach[s + 1] * stage_bar[i] : 0.0);
            stage_bar[0] = stage_bar[1] = 0.0;
            rates_bar(p, at[s], w, p_bar, stage_bar);
            total[0] += stage_bar[0];
            total[1] += stage_bar[1];
        }
        u_bar[0] = total[0];
        u_bar[1] = total[1];
    }
    memcpy(g, p_bar, sizeof p_bar);
    memcpy(g + 4, u_bar, sizeof u_bar);
}
