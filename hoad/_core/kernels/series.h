/* Taylor arithmetic: what is done to find the coefficients of all series of a program.

A series is a row of coefficients c0, c1, ..., one for each power of t. The rows of a narrow program are numbers side by
side; in any other, each coefficient is a block of numbers, one a lane or an item. Steps come in parts, each of which is
done to the highest order before the next: coefficient k of a row needs coefficients k of rows before it, those of lower
order of its part, and any of parts before. See Griewank and Walther (2008), table 13.2. */

#ifndef HOAD_SERIES_H
#define HOAD_SERIES_H

#include <stdint.h>

typedef enum {
    SERIES_NONE,        /* has no coefficient but the first */
    SERIES_COPY, SERIES_ADD, SERIES_SUBTRACT, SERIES_NEGATE,
    SERIES_SCALE,       /* a b, where b is constant */
    SERIES_SHRINK,      /* a / b, where b is constant */
    SERIES_SQUARE, SERIES_MULTIPLY, SERIES_DIVIDE,
    SERIES_STRONG_MULTIPLY, SERIES_STRONG_MULTIPLY_BOTH, SERIES_STRONG_DIVIDE, /* the same, where zeros of the first are strong, or of both factors */
    SERIES_SELECT, SERIES_MASK, /* by the value of c, or of a */
    SERIES_DERIVE,      /* t a' */
    SERIES_SLOPES,      /* p' = sum of h x' */
    SERIES_POWER,       /* a to the power b, where b is constant */
    SERIES_ITEM,        /* an item of an array */
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
    int32_t out, a, b, c;       /* rows; c is that of the sums of a product, a power, slopes */
    int32_t top, top_a, top_b;  /* the highest orders at which out, a and b are not zero */
    int32_t first, count;       /* of its terms; the item, and how many the array has */
    int64_t size;               /* items of a coefficient */
    int32_t operands, n_operands; /* the caller's: of its plan, where they stand among the terms */
    int32_t n_results;          /* the caller's: of its plan, rows from out on */
    int32_t takes_bytes;        /* the caller's: whether its plan takes booleans as bytes */
    int32_t lag;                /* the caller's: how many orders it is behind the pass */
    void* call;
    void* more;                 /* the caller's */
} SeriesStep;

typedef struct {
    int32_t h, x, y;            /* rows; y is t x' */
    int32_t top_h, top_x;
    int32_t strong;             /* zeros of h are */
    double sign;                /* 1 or -1 */
} SeriesTerm;

/* Steps that are done at once. */
typedef struct {
    int32_t rule, top;          /* those of each; or SERIES_NONE: various ones, and the highest top */
    int32_t first, count;       /* of its members */
    int32_t width;              /* 4 or 8 lanes, filled by the last member again and again; or 0: one after another */
    int64_t at;                 /* where it keeps what it needs of its operands, in numbers */
} SeriesGroup;

typedef struct {
    const SeriesStep* steps;
    int32_t n_steps;
    const SeriesTerm* terms;
    const int32_t* parts;       /* where they end */
    int32_t n_parts;
    const double* orders;       /* 0, 1, 2, ..., beyond the degree by a block */
    const SeriesGroup* groups;  /* in which narrow rows may be found: those that need others of the same order behind */
    int32_t n_groups;
    const int32_t* members;     /* steps */
    int32_t n_members;
    const int32_t* feedback;    /* pairs of rows: the first is the integral of the second */
    int32_t n_feedback;
    int32_t degree;
    int64_t stride;             /* of narrow rows, in numbers */
    double** at;                /* where rows of blocks begin */
    double* zeros;              /* as many as the largest coefficient has numbers */
    int64_t lanes;
} SeriesCode;

enum { SERIES_SHORT = 4 }; /* of a series that ends there, products are summed term by term */

static inline int32_t series_least(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t series_most(int32_t a, int32_t b) { return a > b ? a : b; }

/* With how many coefficients from 1 on, of those below it, coefficient q makes one that is wanted. */
static inline int32_t series_pushed(int32_t q, int32_t degree)
{
    return series_most(0, series_least(q - 1, degree - q));
}

#if defined(__GNUC__)
#define SERIES_MEMBERS 8 /* of a group of products and the like at most; 0: there are none */
#else
#define SERIES_MEMBERS 0
#endif

typedef void (*SeriesKernel1)(const double* x, double* p, int64_t n);
typedef void (*SeriesKernel2)(const double* x, const double* y, double* p, int64_t n);

/* Where the rows of a step are: found once, not at every order. */
typedef struct {
    const SeriesStep* step;
    const double *a, *b;
    double *out, *c;
    int32_t rule, top;
} SeriesPlace;

typedef struct {
    /* All orders, on rows of zeros but for constants and inputs; where there is feedback, the last only of that. There
    is room for a place of each step or member, and one of each row that is fed back; and for what groups keep. */
    void (*narrow)(const SeriesCode*, double* rows, SeriesPlace* places, double* kept);
    void (*groups)(const SeriesCode*, double* rows, SeriesPlace* places, double* kept);
    /* Some orders of the steps from one to before another; none of them is a plan. */
    void (*blocks)(const SeriesCode*, int32_t step, int32_t end, int32_t order, int32_t last);
} SeriesKernels;

#endif
