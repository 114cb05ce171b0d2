template <class T> T function(long n, const T *x)
{
    T s = 0.0;
    for (long i = 0; i + 1 < n; i++) {
        T r = x[i] - 0.4 * x[i + 1], square = r * r;
        s += sin(x[i] * x[i + 1]) + 7 * square * square;
    }
    return s;
}
