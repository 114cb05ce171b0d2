template <class T> T function(long n, const T *x)
{
    T s = 0.0;
    for (long i = 0; i + 1 < n; i++) {
        T r = x[i + 1] - x[i] * x[i], d = 1 - x[i];
        s += 100 * r * r + d * d;
    }
    return s;
}
