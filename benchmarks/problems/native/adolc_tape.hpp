/* The function that the header FUNCTION gives, taped by ADOL-C. */
#include <adolc/adolc.h>
#include <vector>
#include FUNCTION

#if __has_include(<adolc/tape_interface.h>) /* newer than release 2.7.2: a tape is made before it is written */
static const short TAG = createNewTape();
#else
static const short TAG = 1;
#endif
static bool taped = false;

static void record(long n, long size, const double *point)
{
    std::vector<adouble> x(size);
    double value;
    trace_on(TAG);
    for (long i = 0; i < size; i++)
        x[i] <<= point[i];
    adouble y = function<adouble>(n, x.data());
    y >>= value;
    trace_off();
    taped = true;
}
