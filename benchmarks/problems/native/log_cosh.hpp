template <class T> T function(long n, const T *x)
{
    return log(2.5 + cos(x[0])) * cosh(0.5 * x[0]) / (3 + exp(-x[0]));
}
