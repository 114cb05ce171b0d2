/* What each derivative by hand exports, and the clock around its calls: entering C from Python takes longer than the
   shortest of them. n is the size in the table, size the length of the first argument. */
#include <math.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

void derivative(long n, long size, const double *const *arguments, double *result);

double seconds(long calls, long n, long size, const double *const *const *arguments, double *result)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < calls; i++)
        derivative(n, size, arguments[i], result);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

#ifdef __cplusplus
}
#endif
