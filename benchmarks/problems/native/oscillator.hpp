template <class T> void rates(const T *p, const T &x, const T &y, T *k)
{
    k[0] = p[0] * y;
    k[1] = p[1] * (1 - x * x) * y - p[2] * x - p[3] * sin(x);
}

#include "runge_kutta.hpp"
