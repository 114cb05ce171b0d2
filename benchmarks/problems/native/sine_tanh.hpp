template <class T> T function(long n, const T *x)
{
    return exp(sin(x[0])) * tanh(x[0]) / (1 + x[0] * x[0]);
}
