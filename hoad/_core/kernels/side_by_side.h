/* Rows written side by side, rows[k][i] to out[i stride + k], columns read to rows, and results that are written past
the cache. Where a processor has registers of four doubles, four rows are turned at four coordinates at a time. */

#ifndef HOAD_SIDE_BY_SIDE_H
#define HOAD_SIDE_BY_SIDE_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_QUADS __builtin_cpu_supports("avx")

/* Four rows, at as many whole fours of n coordinates as there are; returns how many coordinates these are. */
__attribute__((target("avx"))) static int64_t store_quads(double** rows, double* out, int64_t stride, int64_t n)
{
    int64_t i;
    for (i = 0; i + 4 <= n; i += 4, out += 4 * stride) {
        __m256d a = _mm256_loadu_pd(rows[0] + i), b = _mm256_loadu_pd(rows[1] + i);
        __m256d c = _mm256_loadu_pd(rows[2] + i), d = _mm256_loadu_pd(rows[3] + i);
        __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
        __m256d cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
        _mm256_storeu_pd(out, _mm256_permute2f128_pd(ab_even, cd_even, 0x20));
        _mm256_storeu_pd(out + stride, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20));
        _mm256_storeu_pd(out + 2 * stride, _mm256_permute2f128_pd(ab_even, cd_even, 0x31));
        _mm256_storeu_pd(out + 3 * stride, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31));
    }
    return i;
}

/* The other way round: rows[k][i] = x[i stride + k]. */
__attribute__((target("avx"))) static int64_t load_quads(const double* x, int64_t stride, double** rows, int64_t n)
{
    int64_t i;
    for (i = 0; i + 4 <= n; i += 4, x += 4 * stride) {
        __m256d a = _mm256_loadu_pd(x), b = _mm256_loadu_pd(x + stride);
        __m256d c = _mm256_loadu_pd(x + 2 * stride), d = _mm256_loadu_pd(x + 3 * stride);
        __m256d ac_low = _mm256_permute2f128_pd(a, c, 0x20), ac_high = _mm256_permute2f128_pd(a, c, 0x31);
        __m256d bd_low = _mm256_permute2f128_pd(b, d, 0x20), bd_high = _mm256_permute2f128_pd(b, d, 0x31);
        _mm256_storeu_pd(rows[0] + i, _mm256_unpacklo_pd(ac_low, bd_low));
        _mm256_storeu_pd(rows[1] + i, _mm256_unpackhi_pd(ac_low, bd_low));
        _mm256_storeu_pd(rows[2] + i, _mm256_unpacklo_pd(ac_high, bd_high));
        _mm256_storeu_pd(rows[3] + i, _mm256_unpackhi_pd(ac_high, bd_high));
    }
    return i;
}

/* Copy n doubles to memory, whole lines of it past the cache: what is written need not be read first. */
__attribute__((target("avx"))) static void stream(const double* from, double* to, int64_t n)
{
    int64_t i = 0;
    for (; i < n && ((uintptr_t)(to + i) & 63); i++)
        to[i] = from[i];
    for (; i + 8 <= n; i += 8) {
        _mm256_stream_pd(to + i, _mm256_loadu_pd(from + i));
        _mm256_stream_pd(to + i + 4, _mm256_loadu_pd(from + i + 4));
    }
    for (; i < n; i++)
        to[i] = from[i];
}

static void finish_streams(void) { _mm_sfence(); }
#else
#define HAS_QUADS 0
static int64_t store_quads(double** rows, double* out, int64_t stride, int64_t n) { return 0; }
static int64_t load_quads(const double* x, int64_t stride, double** rows, int64_t n) { return 0; }
static void stream(const double* from, double* to, int64_t n) { memcpy(to, from, n * sizeof(double)); }
static void finish_streams(void) {}
#endif

/* Fours of rows, the last four of which may have been among others before. */
static void store_rows(double** rows, int32_t n_rows, double* out, int64_t stride, int64_t n)
{
    int32_t many = n_rows >= 4 && HAS_QUADS ? 4 : 1;
    for (int32_t k = 0; k < n_rows; k += many) {
        int32_t first = k + many <= n_rows ? k : n_rows - many;
        for (int64_t i = many == 4 ? store_quads(rows + first, out + first, stride, n) : 0; i < n; i++)
            for (int32_t j = first; j < first + many; j++)
                out[i * stride + j] = rows[j][i];
    }
}

static void load_rows(const double* x, int64_t stride, double** rows, int32_t n_rows, int64_t n)
{
    int32_t many = n_rows >= 4 && HAS_QUADS ? 4 : 1;
    for (int32_t k = 0; k < n_rows; k += many) {
        int32_t first = k + many <= n_rows ? k : n_rows - many;
        for (int64_t i = many == 4 ? load_quads(x + first, stride, rows + first, n) : 0; i < n; i++)
            for (int32_t j = first; j < first + many; j++)
                rows[j][i] = x[i * stride + j];
    }
}

#endif
