/* Taylor arithmetic: what is done to find the coefficients of all series of a program, order by order.

A series is a row of coefficients c0, c1, ..., one for each power of t. The rows of a narrow program are numbers side by
side; in a wide one each coefficient is a block of numbers, one a lane or an item. Steps are in such an order that
coefficient k of a row needs coefficients k of rows before it, and any of lower order. See Griewank and Walther (2008),
table 13.2. */

#ifndef HOAD_SERIES_H
#define HOAD_SERIES_H

#include <stdint.h>

typedef enum {
    SERIES_NONE,        /* has no coefficient but the first */
    SERIES_COPY, SERIES_ADD, SERIES_SUBTRACT, SERIES_NEGATE,
    SERIES_SCALE,       /* a b, where b is constant */
    SERIES_SHRINK,      /* a / b, where b is constant */
    SERIES_SQUARE, SERIES_MULTIPLY, SERIES_DIVIDE,
    SERIES_SMUL, SERIES_SDIV,   /* the same, where zeros of the first are strong */
    SERIES_SELECT, SERIES_MASK, /* by the value of c, or of a */
    SERIES_SLOPES,      /* p' = sum of h x' */
    SERIES_PLAN         /* something else: left to the caller */
} SeriesRule;

typedef enum {
    VALUE_GIVEN,        /* a constant, an input */
    VALUE_COPY, VALUE_ADD, VALUE_SUBTRACT, VALUE_MULTIPLY, VALUE_DIVIDE, VALUE_NEGATE, VALUE_SQUARE,
    VALUE_SELECT, VALUE_MASK,
    VALUE_CALL1, VALUE_CALL2,
    VALUE_PLAN          /* left to the caller */
} SeriesValue;

typedef double (*SeriesCall1)(double);
typedef double (*SeriesCall2)(double, double);

typedef struct {
    int32_t value, rule;
    int32_t out, a, b, c;       /* rows; c is that of the sums of a product, a quotient,
                                   slopes; of a copy what is copied, beyond the value */
    int32_t top, top_a, top_b;  /* the highest orders at which out, a and b are not zero */
    int32_t first, count;       /* of its terms */
    int32_t operands, n_operands; /* the caller's: of its plan, where they stand among the terms */
    int32_t n_results;          /* the caller's: of its plan, rows from out on */
    int32_t lag;                /* the caller's: how many orders it is behind the pass */
    void* call;
    void* more;                 /* the caller's */
} SeriesStep;

typedef struct {
    int32_t h, x;               /* rows */
    int32_t top_h, top_x;
    int32_t strong;             /* zeros of h are */
    double sign;                /* 1 or -1 */
} SeriesTerm;

typedef struct {
    const SeriesStep* steps;
    int32_t n_steps;
    const SeriesTerm* terms;
    const double* orders;       /* 0, 1, 2, ..., beyond the degree by a block */
    const int32_t* feedback;    /* pairs of rows: the first is the integral of the second */
    int32_t n_feedback;
    int32_t degree;
    int64_t stride;             /* of rows, in numbers */
} SeriesCode;

enum {
    SERIES_BLOCK = 8,
    SERIES_SHORT = 4,   /* of a series that ends there, products are summed term by term */
    SERIES_SPAN = 16
};

#if defined(__GNUC__)
#define ONE_BLOCK __asm__ volatile("") /* keeps the compiler from making vectors across blocks */
#else
#define ONE_BLOCK
#endif

static inline int32_t series_least(int32_t a, int32_t b) { return a < b ? a : b; }

typedef struct {
    /* All orders, on rows of zeros but for constants and inputs. */
    void (*narrow)(const SeriesCode*, double* rows);
    /* p[i] = (or +=, or -=) the sum over j = first, ..., last of a[j][i] b[k - j][i]. */
    void (*products)(const double* a, const double* b, int32_t first, int32_t last, int32_t k, int64_t n, int mode, double* p);
    /* p[i] += the sum over j = first, ..., last of j x[j][i] h[k - j][i]. */
    void (*slopes)(const double* x, const double* h, int32_t first, int32_t last, int32_t k, int64_t n, double* p);
} SeriesKernels;

#endif
