/* Small matrices, ABREAST of them side by side, by Gaussian elimination with partial pivoting, or with complete pivoting
   for cofactors. Included once per target after vector_formulas.h, and by itself: NAME(name) gives its names, for LANES
   matrices and for one alone, which takes the same operations in the same order.

What is not finite, may leave the range, or has a pivot so small that rounding could make it 0 is rare: there another
loop is asked, LAPACK's, a matrix at a time, so that singular matrices are those of LAPACK. What a matrix gives depends
on that matrix alone. */

#ifndef ABREAST
#define ABREAST 1
#define NAME(name) FN(name##_alone)
#include "vector_matrices.h"
#define ABREAST LANES
#define NAME(name) FN(name)
#endif

/* A loop that is unrolled before it is seen to be one of vectors never becomes one. */
#if ABREAST > 1 && defined(__clang__)
#define EACH PRAGMA(clang loop vectorize(enable) unroll(disable)) for (int l = 0; l < ABREAST; l++)
#elif ABREAST > 1 && defined(__GNUC__)
#define EACH PRAGMA(GCC unroll 1) PRAGMA(GCC ivdep) for (int l = 0; l < ABREAST; l++)
#else
#define EACH for (int l = 0; l < ABREAST; l++)
#endif

typedef struct {
    double x[SMALL_ROWS][2 * SMALL_ROWS][ABREAST]; /* [A | B] */
    double product[ABREAST], good[ABREAST];          /* of the pivots with the sign of the exchanges; 1.0 unless rare */
    double place[SMALL_ROWS][ABREAST];             /* where each column was */
} NAME(Matrices);

/* Exchange columns, so that the largest number from row and column k on is in column k. */
static void NAME(choose_column)(NAME(Matrices)* g, int n, int k)
{
    double best[ABREAST], at[ABREAST];
    EACH best[l] = -1.0, at[l] = k;
    for (int j = k; j < n; j++) {
        double size[ABREAST];
        EACH size[l] = 0.0;
        for (int i = k; i < n; i++)
            EACH size[l] = fabs(g->x[i][j][l]) > size[l] ? fabs(g->x[i][j][l]) : size[l];
        EACH at[l] = size[l] > best[l] ? (double)j : at[l];
        EACH best[l] = size[l] > best[l] ? size[l] : best[l];
    }
    EACH g->product[l] = at[l] != k ? -g->product[l] : g->product[l];
    for (int j = k + 1; j < n; j++)
        for (int i = -1; i < n; i++) {
            double *p = i < 0 ? g->place[k] : g->x[i][k], *q = i < 0 ? g->place[j] : g->x[i][j];
            EACH {
                double a = p[l], b = q[l];
                p[l] = at[l] == j ? b : a;
                q[l] = at[l] == j ? a : b;
            }
        }
}

/* U in place of A, and L⁻¹ P B in place of B, of m columns together. The product is that of so many pivots. */
static void NAME(eliminate)(NAME(Matrices)* g, int n, int m, int pivots, bool is_complete)
{
    double (*x)[2 * SMALL_ROWS][ABREAST] = g->x;
    double limit[ABREAST];
    EACH limit[l] = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            EACH limit[l] += fabs(x[i][j][l]);
    EACH g->good[l] = limit[l] > 1e-250 ? (limit[l] < 1e250 ? 1.0 : 0.0) : 0.0;
    EACH limit[l] *= 0x1p-47;
    EACH g->product[l] = 1.0;
    for (int k = 0; k < n; k++) {
        double best[ABREAST], at[ABREAST];
        if (is_complete)
            NAME(choose_column)(g, n, k);
        EACH best[l] = fabs(x[k][k][l]), at[l] = k;
        for (int i = k + 1; i < n; i++)
            EACH {
                double size = fabs(x[i][k][l]);
                at[l] = size > best[l] ? (double)i : at[l];
                best[l] = size > best[l] ? size : best[l];
            }
        EACH g->good[l] = best[l] > limit[l] ? g->good[l] : 0.0;
        EACH g->product[l] = at[l] != k ? -g->product[l] : g->product[l];
        for (int i = k + 1; i < n; i++)
            for (int j = k; j < m; j++)
                EACH {
                    double a = x[k][j][l], b = x[i][j][l];
                    x[k][j][l] = at[l] == i ? b : a;
                    x[i][j][l] = at[l] == i ? a : b;
                }
        if (k < pivots)
            EACH g->product[l] *= x[k][k][l];
        for (int i = k + 1; i < n; i++) {
            double factor[ABREAST];
            EACH factor[l] = x[i][k][l] / x[k][k][l];
            for (int j = k + 1; j < m; j++)
                EACH x[i][j][l] -= factor[l] * x[k][j][l];
        }
    }
    EACH g->good[l] = fabs(g->product[l]) > 1e-270 ? (fabs(g->product[l]) < 1e270 ? g->good[l] : 0.0) : 0.0;
}

/* U⁻¹ B in place of B, by so many rows of U. */
static void NAME(substitute)(NAME(Matrices)* g, int n, int m, int rows)
{
    double (*x)[2 * SMALL_ROWS][ABREAST] = g->x;
    for (int i = rows - 1; i >= 0; i--)
        for (int j = n; j < m; j++) {
            double sum[ABREAST];
            EACH sum[l] = x[i][j][l];
            for (int k = i + 1; k < rows; k++)
                EACH sum[l] -= x[i][k][l] * x[k][j][l];
            EACH x[i][j][l] = sum[l] / x[i][i][l];
        }
}

/* adj(U) L⁻¹ P in place of L⁻¹ P: see hoad/_core/runtime/elimination.pyx. */
static void NAME(adjugate)(NAME(Matrices)* g, int n)
{
    double (*x)[2 * SMALL_ROWS][ABREAST] = g->x;
    for (int i = 0; i < n - 1; i++)
        for (int j = n; j < 2 * n; j++)
            EACH x[i][j][l] = x[n - 1][n - 1][l] * x[i][j][l] - x[i][n - 1][l] * x[n - 1][j][l];
    NAME(substitute)(g, n, 2 * n, n - 1);
    for (int i = 0; i < n; i++)
        for (int j = n; j < 2 * n; j++)
            EACH x[i][j][l] *= g->product[l];
}

/* m columns of the operands of `count` matrices, with the first once more in place of those that are missing. */
static void NAME(load)(NAME(Matrices)* g, int n, int m, int at, const char* from, int count, intptr_t step,
                       const intptr_t* strides)
{
    for (int l = 0; l < ABREAST; l++) {
        const char* a = from + (l < count ? l : 0) * step;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                g->x[i][at + j][l] = *(const double*)(a + i * strides[0] + j * strides[1]);
    }
}

/* The results of `count` matrices; gives a bit for each that is rare, which has none yet. */
NOCLONE static unsigned NAME(compute)(int what, char** args, const intptr_t* dims, const intptr_t* steps, int count)
{
    NAME(Matrices) g;
    const bool is_solve = what == SMALL_SOLVE, is_adjugate = what == SMALL_COFACTORS;
    const int n = (int)dims[1], columns = is_solve ? (int)dims[2] : what < SMALL_SOLVE ? 0 : n;
    const int last = MATRIX_OPERANDS(what) - 1;
    const intptr_t *strides = steps + last + 1, *to = strides + 2 * last;
    NAME(load)(&g, n, n, 0, args[0], count, steps[0], strides);
    if (is_solve)
        NAME(load)(&g, n, columns, n, args[1], count, steps[1], strides + 2);
    for (int i = 0; i < n; i++) {
        EACH g.place[i][l] = i;
        for (int j = 0; j < columns && !is_solve; j++)
            EACH g.x[i][n + j][l] = i == j;
    }
    NAME(eliminate)(&g, n, n + columns, n - is_adjugate, is_adjugate);
    if (is_adjugate)
        NAME(adjugate)(&g, n);
    else
        NAME(substitute)(&g, n, n + columns, n);
    double size[ABREAST], zero[ABREAST];
    EACH zero[l] = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = n; j < n + columns; j++)
            EACH zero[l] += g.x[i][j][l] - g.x[i][j][l];
    EACH size[l] = fabs(g.product[l]);
    if (what == SMALL_SLOGDET)
        FN(log_loop)(size, size, ABREAST);
    unsigned rare = 0;
    for (int l = 0; l < count; l++) {
        char *out = args[last] + l * steps[last], *sign = args[1] + l * steps[1];
        if (g.good[l] == 0.0 || zero[l] != 0.0)
            rare |= 1u << l;
        else if (what == SMALL_DET)
            *(double*)out = g.product[l];
        else if (what == SMALL_SLOGDET)
            *(double*)sign = g.product[l] < 0.0 ? -1.0 : 1.0, *(double*)out = size[l];
        else
            for (int i = 0; i < n; i++)
                for (int j = 0; j < columns; j++)
                    *(double*)(out + (is_adjugate ? j : i) * to[0] + (is_adjugate ? (int)g.place[i][l] : j) * to[1]) =
                        g.x[i][n + j][l];
    }
    return rare;
}

#if ABREAST > 1
/* A loop as NumPy's generalized ufuncs have it. */
static void FN(matrices)(char** args, const intptr_t* dims, const intptr_t* steps, void* data)
{
    const MatrixLoop* other = data;
    const int what = other->what;
    bool is_invalid = fetestexcept(FE_INVALID) != 0; /* by which NumPy's loops say that a matrix is singular */
    unsigned rare, all = 0;
    for (intptr_t first = 0, left = dims[0], count; left > 0; first += count, left -= count) {
        char* at[3] = {NULL, NULL, NULL};
        count = WIDTH == 2 && dims[1] > LANES - 2 ? 1 : left >= LANES ? LANES : left > LANES / 4 ? left : 1;
        for (int k = 0; k < MATRIX_OPERANDS(what); k++)
            at[k] = args[k] + first * steps[k];
        rare = (count > 1 ? FN(compute) : FN(compute_alone))(what, at, dims, steps, (int)count);
        for (all |= rare; rare; rare >>= 1) {
            const intptr_t one[3] = {1, dims[1], what == SMALL_SOLVE ? dims[2] : 0};
            char* its[3] = {at[0], at[1], at[2]}; /* some loops move the pointers that they are given */
            feclearexcept(FE_INVALID);
            if (rare & 1)
                other->loop(its, one, steps, other->data);
            is_invalid = is_invalid || (rare & 1 && fetestexcept(FE_INVALID));
            for (int k = 0; k < MATRIX_OPERANDS(what); k++)
                at[k] += steps[k];
        }
    }
    if (all)
        feclearexcept(FE_INVALID);
    if (all && is_invalid)
        feraiseexcept(FE_INVALID);
}
#endif

#undef EACH
#undef NAME
#undef ABREAST
