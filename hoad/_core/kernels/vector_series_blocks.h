/* The kernels of series.h for rows of blocks: sums across orders, in registers. Included once per target, last; FN(name)
gives its names, WIDTH how many numbers a vector has. What is found for a number does not depend on its place. */

#if defined(__GNUC__)
typedef double FN(Numbers) __attribute__((vector_size(WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));
#else
typedef double FN(Numbers);
#endif

/* For all numbers, p = found, where `sum` is that of the terms over j = first, ..., last; NUMBER(x) gives those of
x. */
#define FOR_SUMS(first, last, term, found)                                                  \
    do                                                                                      \
    {                                                                                       \
        int64_t i = 0;                                                                      \
        SUMS(FN(Numbers), 4, first, last, term, found)                                      \
        SUMS(double, 1, first, last, term, found)                                           \
    } while (0)
#define SUMS(type, m, first, last, term, found)                                             \
    for (; i + (int64_t)(m * sizeof(type) / sizeof(double)) <= n; i += m * sizeof(type) / sizeof(double)) \
    {                                                                                       \
        typedef type Number;                                                                \
        Number sums[m] = {0};                                                               \
        for (int32_t j = first; j <= last; j++)                                             \
            for (int l = 0; l < m; l++)                                                     \
                sums[l] += term;                                                            \
        for (int l = 0; l < m; l++)                                                         \
        {                                                                                   \
            Number sum = sums[l];                                                           \
            ((Number*)(p + i))[l] = found;                                                  \
        }                                                                                   \
    }
#define NUMBER(x) (((const Number*)((x) + i))[l])
#define FOR_NUMBERS(found)                                                                  \
    for (int64_t i = 0; i < n; i++)                                                         \
        p[i] = found

/* p[k], where t p' is the sum of h y. */
INLINE void FN(block_slopes)(const SeriesCode* code, const SeriesStep* step, int32_t k, int64_t n, double* restrict p)
{
    const double order = k;
    bool begun = false;
    for (int32_t t = 0; t < step->count; t++)
    {
        const SeriesTerm* term = &code->terms[step->first + t];
        const double* h = code->at[term->h];
        const double* y = code->at[term->y];
        const double sign = term->sign;
        int32_t first = series_most(1, k - term->top_h), last = series_least(k, term->top_x);
        if (term->top_h == 0)
            continue;
        if (begun)
            FOR_SUMS(first, last, NUMBER(y + j * n) * NUMBER(h + (k - j) * n), NUMBER(p) + sign * sum / order);
        else
            FOR_SUMS(first, last, NUMBER(y + j * n) * NUMBER(h + (k - j) * n), sign * sum / order);
        begun = true;
    }
    if (!begun)
        memset(p, 0, n * sizeof(double));
    for (int32_t t = 0; t < step->count; t++)
    {
        const SeriesTerm* term = &code->terms[step->first + t];
        const double* h = code->at[term->h];
        const double* x = code->at[term->x] + k * n;
        if (term->top_h == 0 && k <= term->top_x)
            for (int64_t i = 0; i < n; i++)
                p[i] = term->strong && h[i] == 0.0 ? p[i] : p[i] + term->sign * h[i] * x[i];
    }
}

/* Sums of products in which a zero of p, of a, or of both factors absorbs whatever it meets. */
INLINE void FN(block_strong)(const SeriesStep* step, const double* a, const double* b, int32_t k, int64_t n, double* row)
{
    double* p = row + k * n;
    const double* x = step->rule == SERIES_STRONG_DIVIDE ? row : a;
    int32_t top_x = step->rule == SERIES_STRONG_DIVIDE ? k - 1 : step->top_a;
    int both = step->rule == SERIES_STRONG_MULTIPLY_BOTH;
    memset(p, 0, n * sizeof(double));
    for (int32_t j = series_most(0, k - step->top_b); j <= series_least(k, top_x); j++)
        for (int64_t i = 0; i < n; i++)
        {
            double y = b[(k - j) * n + i];
            p[i] += x[j * n + i] == 0.0 || (both && y == 0.0) ? 0.0 : x[j * n + i] * y;
        }
    if (step->rule == SERIES_STRONG_DIVIDE)
        for (int64_t i = 0; i < n; i++)
        {
            double rest = (k <= step->top_a ? a[k * n + i] : 0.0) - p[i];
            p[i] = rest == 0.0 ? 0.0 : rest / b[i];
        }
}

INLINE void FN(block_value_of)(const SeriesCode* code, const SeriesStep* step, int64_t n)
{
    const double* a = code->at[step->a];
    const double* b = code->at[step->b];
    const double* c = code->at[step->c];
    double* p = code->at[step->out];
    switch (step->value)
    {
    case VALUE_COPY:
        if (step->rule == SERIES_ITEM)
            FOR_NUMBERS(a[i * step->count + step->first]);
        else
            FOR_NUMBERS(a[i]);
        break;
    case VALUE_ADD: FOR_NUMBERS(a[i] + b[i]); break;
    case VALUE_SUBTRACT: FOR_NUMBERS(a[i] - b[i]); break;
    case VALUE_MULTIPLY: FOR_NUMBERS(a[i] * b[i]); break;
    case VALUE_DIVIDE: FOR_NUMBERS(a[i] / b[i]); break;
    case VALUE_NEGATE: FOR_NUMBERS(-a[i]); break;
    case VALUE_SQUARE: FOR_NUMBERS(a[i] * a[i]); break;
    case VALUE_SELECT: FOR_NUMBERS(c[i] != 0.0 ? a[i] : b[i]); break;
    case VALUE_MASK: FOR_NUMBERS(a[i] != 0.0 ? b[i] : 0.0); break;
    case VALUE_CALL1:
        if (step->more)
            ((SeriesKernel1)step->more)(a, p, n);
        else
            FOR_NUMBERS(((SeriesCall1)step->call)(a[i]));
        break;
    case VALUE_CALL2:
        if (step->more)
            ((SeriesKernel2)step->more)(a, b, p, n);
        else
            FOR_NUMBERS(((SeriesCall2)step->call)(a[i], b[i]));
        break;
    default: break;
    }
}

INLINE void FN(block_coefficient_of)(const SeriesCode* code, const SeriesStep* step, int32_t k, int64_t n)
{
    const double* a0 = code->at[step->a];
    const double* b0 = code->at[step->b];
    const double* c0 = code->at[step->c];
    const double* a = k <= step->top_a ? a0 + k * n : code->zeros;
    const double* b = k <= step->top_b ? b0 + k * n : code->zeros;
    double* p0 = code->at[step->out];
    double* restrict p = p0 + k * n;
    const double order = k;
    int32_t first = series_most(0, k - step->top_b), last = series_least(k, step->top_a);
    switch (step->rule)
    {
    case SERIES_COPY: memcpy(p, a, n * sizeof(double)); break;
    case SERIES_ADD: FOR_NUMBERS(a[i] + b[i]); break;
    case SERIES_SUBTRACT: FOR_NUMBERS(a[i] - b[i]); break;
    case SERIES_NEGATE: FOR_NUMBERS(-a[i]); break;
    case SERIES_SCALE: FOR_NUMBERS(a[i] * b0[i]); break;
    case SERIES_SHRINK: FOR_NUMBERS(a[i] / b0[i]); break;
    case SERIES_DERIVE: FOR_NUMBERS(order * a[i]); break;
    case SERIES_ITEM:
        a = a0 + k * n * step->count;
        FOR_NUMBERS(a[i * step->count + step->first]);
        break;
    case SERIES_SQUARE:
        b = a0 + k / 2 * n;
        last = series_least((k - 1) / 2, last);
        if (k % 2)
            FOR_SUMS(first, last, NUMBER(a0 + j * n) * NUMBER(a0 + (k - j) * n), 2.0 * sum);
        else
            FOR_SUMS(first, last, NUMBER(a0 + j * n) * NUMBER(a0 + (k - j) * n), 2.0 * sum + NUMBER(b) * NUMBER(b));
        break;
    case SERIES_MULTIPLY: FOR_SUMS(first, last, NUMBER(a0 + j * n) * NUMBER(b0 + (k - j) * n), sum); break;
    case SERIES_DIVIDE:
        last = series_least(k, step->top_b);
        FOR_SUMS(1, last, NUMBER(b0 + j * n) * NUMBER(p0 + (k - j) * n), (NUMBER(a) - sum) / NUMBER(b0));
        break;
    case SERIES_POWER:
        FOR_SUMS(1, last, ((double)j * NUMBER(b0) - (double)(k - j)) * NUMBER(a0 + j * n) * NUMBER(p0 + (k - j) * n),
                 sum / (order * NUMBER(a0)));
        break;
    case SERIES_STRONG_MULTIPLY:
    case SERIES_STRONG_MULTIPLY_BOTH:
    case SERIES_STRONG_DIVIDE: FN(block_strong)(step, a0, b0, k, n, p0); break;
    case SERIES_SELECT: FOR_NUMBERS(c0[i] != 0.0 ? a[i] : b[i]); break;
    case SERIES_MASK: FOR_NUMBERS(a0[i] != 0.0 ? b[i] : 0.0); break;
    case SERIES_SLOPES: FN(block_slopes)(code, step, k, n, p); break;
    default: break;
    }
}

static void FN(series_blocks)(const SeriesCode* code, int32_t step, int32_t end, int32_t order, int32_t last)
{
    for (int32_t k = order; k <= last; k++)
        for (int32_t i = step; i < end; i++)
        {
            const SeriesStep* at = &code->steps[i];
            if (k == 0)
                FN(block_value_of)(code, at, at->size * code->lanes);
            else if (k <= at->top)
                FN(block_coefficient_of)(code, at, k, at->size * code->lanes);
        }
}

#undef FOR_SUMS
#undef SUMS
#undef NUMBER
#undef FOR_NUMBERS

#if SERIES_MEMBERS
static const SeriesKernels FN(series) = {FN(series_narrow), FN(series_groups), FN(series_blocks)};
#else
static const SeriesKernels FN(series) = {FN(series_narrow), FN(series_narrow), FN(series_blocks)};
#endif
#undef FN
#undef FUSED
#undef WIDTH
