template <class T> void rates(const T *p, const T &x, const T &y, T *k)
{
    T xy = x * y;
    k[0] = p[0] * x - p[1] * xy;
    k[1] = p[2] * xy - p[3] * y;
}

#include "runge_kutta.hpp"
