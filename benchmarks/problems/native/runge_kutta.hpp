template <class T> T function(long n, const T *z)
{
    const double h = 0.01, reach[4] = {0.0, h / 2, h / 2, h};
    T x = z[4], y = z[5], k[4][2];
    for (long j = 0; j < n; j++) {
        for (int s = 0; s < 4; s++) {
            T a = x, b = y;
            if (s) {
                a += reach[s] * k[s - 1][0];
                b += reach[s] * k[s - 1][1];
            }
            rates(z, a, b, k[s]);
        }
        x += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
        y += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
    }
    return x + y;
}
