/* Vector kernels: the formulas of vector_formulas.h compiled for several processors, and which of them this one runs.

GCC and Clang make the vectors (with -O3, -fno-math-errno, -fno-trapping-math); whatever a compiler makes of the loops,
they give the same bits, as long as it does not fuse on its own (-ffp-contract=off). */

#ifndef HOAD_VECTOR_H
#define HOAD_VECTOR_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(_MSC_VER)
#pragma fp_contract(off)
#endif
#include <string.h>

#include "library.h"
#include "series.h"

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline)) /* a call in a loop keeps it from becoming vectors */
#else
#define INLINE static inline
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define NOCLONE __attribute__((noinline, noclone)) /* once is enough: the code is long */
#else
#define NOCLONE
#endif

#define LANES 8
enum { BLOCK = 256, MOST_TARGETS = 3 };

#define SIGN ((uint64_t)1 << 63)
#define FRACTION (((uint64_t)1 << 52) - 1)
#define SQRT_HALF 0x3fe6a09e667f3bcdu /* bits of the double above sqrt(1/2) */
#define ROUNDER 0x1.8p+52             /* x + ROUNDER has the integer nearest to x in its last bits */
#define TAN_EIGHTH_PI 0.41421356237309503

typedef struct { double high, low; } Pair;
typedef struct { double first, second; } Both; /* two functions of one number */

typedef void (*Kernel1)(const double*, double*, int64_t);
typedef void (*Kernel2)(const double*, const double*, double*, int64_t);
typedef struct { const char* name; Kernel1 kernel; } Row1;
typedef struct { const char* name; Kernel2 kernel; } Row2;
typedef void (*KernelBoth)(const double*, double*, double*, int64_t);
typedef struct { Kernel1 first, second; KernelBoth both; } RowBoth;
typedef void (*Gathered2)(const double*, const int32_t*, const double*, const int32_t*, double*, int64_t);
typedef void (*Kernel3)(const double*, const double*, const double*, double*, int64_t);
typedef struct { Kernel2 rows, right, left; Gathered2 gathered; } Forms2;
typedef struct { const char* name; Forms2 forms; } Arithmetic2;

/* A loop over a stack of matrices as NumPy's generalized ufuncs have it, and the data of ours: what is computed, and the
   loop to ask where a matrix is rare. */
enum { SMALL_ROWS = 16, SMALL_DET = 0, SMALL_SLOGDET, SMALL_SOLVE, SMALL_INV, SMALL_COFACTORS };
typedef void (*Loop)(char**, const intptr_t*, const intptr_t*, void*);
typedef struct { Loop loop; void* data; int what; } MatrixLoop;
#define MATRIX_OPERANDS(what) (what == SMALL_SOLVE || what == SMALL_SLOGDET ? 3 : 2) /* with results */

/* The functions, and what is asked where a formula does not reach. */
#define FUNCTIONS1(DO)                                                                            \
    DO(exp, exp) DO(expm1, expm1) DO(sinh, sinh) DO(cosh, cosh) DO(tanh, tanh)                    \
    DO(sech_squared, library_sech_squared) DO(logistic, library_logistic) DO(log, log) DO(log1p, log1p)           \
    DO(sin, FN(far_sin)) DO(cos, FN(far_cos)) DO(tan, FN(far_tan)) DO(sqrt, sqrt)                 \
    DO(sqrt_one_minus_square, library_sqrt_one_minus_square)                                      \
    DO(arctan, atan) DO(arcsin, asin) DO(arccos, acos) DO(erf, erf) DO(erfc, erfc)
/* Two that are had for little more than one: a function and its derivative. */
#define FUNCTIONS_BOTH(DO)                                                                        \
    DO(tanh_and_sech_squared, tanh, sech_squared, FN(tanh), library_sech_squared)                 \
    DO(sin_and_cos, sin, cos, FN(far_sin), FN(far_cos))
#define FUNCTIONS2(DO) DO(power, library_power) DO(arctan2, atan2)

/* Arithmetic, where compilers make vectors of the plain formula: primitives by name, as formulas of x and y. */
#define ARITHMETIC2(DO)                                                                                          \
    DO(add, x + y) DO(subtract, x - y) DO(multiply, x * y) DO(divide, x / y)                                      \
    DO(strong_multiply_both, x == 0.0 ? 0.0 : (y == 0.0 ? 0.0 : x * y))                                                          \
    DO(strong_multiply, x == 0.0 ? 0.0 : x * y) DO(strong_divide, x == 0.0 ? 0.0 : x / y) DO(mask, x != 0.0 ? y : 0.0)                \
    DO(maximum, x >= y || x != x ? x : y) DO(minimum, x <= y || x != x ? x : y)                                   \
    DO(less, x < y ? 1.0 : 0.0) DO(less_equal, x <= y ? 1.0 : 0.0) DO(greater, x > y ? 1.0 : 0.0)                 \
    DO(greater_equal, x >= y ? 1.0 : 0.0) DO(equal, x == y ? 1.0 : 0.0) DO(not_equal, x != y ? 1.0 : 0.0)                  \
    DO(logical_and, x != 0.0 ? (y != 0.0 ? 1.0 : 0.0) : 0.0)                                                      \
    DO(logical_or, x != 0.0 ? 1.0 : (y != 0.0 ? 1.0 : 0.0))                                                       \
    DO(logical_xor, x != 0.0 ? (y != 0.0 ? 0.0 : 1.0) : (y != 0.0 ? 1.0 : 0.0))
/* By the first operation (+ - x), then by the second: with z added, taken away, taken from, multiplied. */
#define PAIRS(DO)                                                                                                \
    DO(add_add, (x + y) + z) DO(add_less, (x + y) - z) DO(add_from, z - (x + y)) DO(add_times, (x + y) * z)       \
    DO(less_add, (x - y) + z) DO(less_less, (x - y) - z) DO(less_from, z - (x - y)) DO(less_times, (x - y) * z)   \
    DO(times_add, (x * y) + z) DO(times_less, (x * y) - z) DO(times_from, z - (x * y)) DO(times_times, (x * y) * z)
#define ARITHMETIC1(DO)                                                                                          \
    DO(negative, -x) DO(positive, x) DO(square, x * x) DO(reciprocal, 1.0 / x) DO(absolute, fabs(x))              \
    DO(sign, x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0 + x) DO(logical_not, x == 0.0 ? 1.0 : 0.0)                      \
    DO(isnan, x != x ? 1.0 : 0.0) DO(isinf, fabs(x) == INFINITY ? 1.0 : 0.0)                                      \
    DO(isfinite, x - x == 0.0 ? 1.0 : 0.0)

#if defined(__x86_64__) && defined(__clang__)
#define HAS_TARGETS 1
#define TARGET(features) PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define END_TARGET PRAGMA(clang attribute pop)
#define WIDE ""
#elif defined(__x86_64__) && defined(__GNUC__)
#define HAS_TARGETS 1
#define TARGET(features) PRAGMA(GCC push_options) PRAGMA(GCC target(features))
#define END_TARGET PRAGMA(GCC pop_options)
#define WIDE ",prefer-vector-width=512"
#else
#define HAS_TARGETS 0
#endif
#define PRAGMA(text) _Pragma(#text)

#if HAS_TARGETS
TARGET("avx2,fma")
#define FN(name) name##_v3
#define FUSED 1
#define WIDTH 4
#include "vector_arithmetic.h"
#include "vector_formulas.h"
#include "vector_matrices.h"
#include "vector_series.h"
#include "vector_series_groups.h"
#include "vector_series_blocks.h"
END_TARGET

TARGET("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl" WIDE)
#define FN(name) name##_v4
#define FUSED 1
#define WIDTH 8
#include "vector_arithmetic.h"
#include "vector_formulas.h"
#include "vector_matrices.h"
#include "vector_series.h"
#include "vector_series_groups.h"
#include "vector_series_blocks.h"
END_TARGET
#endif

#define FN(name) name##_portable
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FUSED 1
#else
#define FUSED 0
#endif
#define WIDTH 2
#include "vector_arithmetic.h"
#include "vector_formulas.h"
#include "vector_matrices.h"
#include "vector_series.h"
#include "vector_series_groups.h"
#include "vector_series_blocks.h"

typedef struct {
    const char* name;
    const Row1* rows1;
    const Row2* rows2;
    const RowBoth* rows_both;
    const Row1* arithmetic1;
    const Arithmetic2* arithmetic2;
    const Kernel3 (*pairs)[3][2];
    const Kernel3 (*selections)[2];
    const SeriesKernels* series;
    Loop matrices;
    bool usable;
} Target;

/* Fill `found` with the targets that were compiled, the best last; returns how many they are. */
static int find_targets(Target found[MOST_TARGETS])
{
    int n = 0;
    found[n++] = (Target){"portable", rows1_portable, rows2_portable, rows_both_portable, arithmetic1_portable, arithmetic2_portable, pairs_portable,
                          selections_portable, &series_portable, matrices_portable, true};
#if HAS_TARGETS
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    found[n++] = (Target){"v3", rows1_v3, rows2_v3, rows_both_v3, arithmetic1_v3, arithmetic2_v3, pairs_v3, selections_v3, &series_v3, matrices_v3, v3};
    found[n++] = (Target){"v4", rows1_v4, rows2_v4, rows_both_v4, arithmetic1_v4, arithmetic2_v4, pairs_v4, selections_v4, &series_v4, matrices_v4, v4};
#endif
    return n;
}

#endif
