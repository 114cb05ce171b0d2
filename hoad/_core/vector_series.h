/* The kernels of series.h. Included once per target, with FN(name) giving its names.

A product of narrow rows is pushed: once coefficient q of both factors is known, what it contributes with those from 1 on to
later coefficients is added to a row of sums. So every loop runs over neighbours, and none ends in a sum across a vector.
It is done a coefficient late: what has just been written one by one cannot be read as a vector at once. */

/* P[j] += x b[j] + y a[j] for j < n. */
INLINE void FN(push)(double* restrict P, double x, const double* restrict b, double y, const double* restrict a, int32_t n)
{
    int32_t j = 0;
    for (; j + SERIES_BLOCK <= n; j += SERIES_BLOCK)
    {
        ONE_BLOCK;
        for (int l = 0; l < SERIES_BLOCK; l++)
            P[j + l] += x * b[j + l] + y * a[j + l];
    }
    for (; j < n; j++)
    {
        ONE_BLOCK;
        P[j] += x * b[j] + y * a[j];
    }
}

/* Coefficient k of a b, where `sums` has those of all pairs of lower orders; it is not 0. */
INLINE double FN(product_at)(double* sums, const double* a, const double* b, int32_t k, int32_t degree)
{
    int32_t q = k - 1, n = series_least(q - 1, degree - q);
    FN(push)(sums + q + 1, a[q], b + 1, b[q], a + 1, n);
    if (q && 2 * q <= degree)
        sums[2 * q] += a[q] * b[q];
    return sums[k] + (a[k] * b[0] + a[0] * b[k]);
}

/* The same for h and the derivative y of x, y[j] = (j + 1) x[j + 1], but for the sums, which terms have in common. */
INLINE double FN(slope_at)(double* sums, const double* h, const double* x, const double* orders, double sign, int32_t k,
                           int32_t degree)
{
    int32_t q = k - 1, n = series_least(q - 1, degree - q);
    if (k == 0)
        return sign * (h[0] * x[1]);
    if (q)
    {
        double y = sign * (orders[k] * x[k]), z = sign * h[q];
        double* P = sums + q + 1;
        int32_t j = 0;
        for (; j + SERIES_BLOCK <= n; j += SERIES_BLOCK)
        {
            ONE_BLOCK;
            for (int l = 0; l < SERIES_BLOCK; l++)
                P[j + l] += y * h[j + l + 1] + z * (orders[j + l + 2] * x[j + l + 2]);
        }
        for (; j < n; j++)
        {
            ONE_BLOCK;
            P[j] += y * h[j + 1] + z * (orders[j + 2] * x[j + 2]);
        }
        if (2 * q <= degree)
            sums[2 * q] += y * h[q];
    }
    return sign * (orders[k + 1] * x[k + 1] * h[0] + x[1] * h[k]);
}

INLINE double FN(slopes_at)(const SeriesCode* code, const SeriesStep* step, double* rows, int32_t k)
{
    double* sums = rows + step->c * code->stride; /* of the derivative */
    double beside = 0.0, linear = 0.0;
    const SeriesTerm* only = &code->terms[step->first];
    if (step->count == 1 && only->top_x == 1 && !only->strong) /* along a line */
        return only->sign * (rows[only->x * code->stride + 1] * rows[only->h * code->stride + k - 1]) / code->orders[k];
    for (int32_t i = 0; i < step->count; i++)
    {
        const SeriesTerm* term = &code->terms[step->first + i];
        const double* h = rows + term->h * code->stride;
        const double* x = rows + term->x * code->stride;
        if (term->top_h == 0)
        {
            if (!(term->strong && h[0] == 0.0))
                linear += term->sign * h[0] * x[k];
        }
        else if (term->top_x <= SERIES_SHORT)
            for (int32_t j = 1; j <= series_least(term->top_x, k); j++)
                beside += term->sign * (code->orders[j] * x[j] * h[k - j]);
        else
            beside += FN(slope_at)(sums, h, x, code->orders, term->sign, k - 1, code->degree - 1);
    }
    return (sums[k - 1] + beside) / code->orders[k] + linear;
}

/* The sum over j >= first of b[j] a[k - j], for a series b that ends soon; beyond their tops both are left out. */
INLINE double FN(short_at)(const SeriesStep* step, const double* a, int32_t top_a, const double* b, int32_t first, int32_t k)
{
    double sum = 0.0;
    for (int32_t j = k - top_a > first ? k - top_a : first; j <= series_least(step->top_b, k); j++)
        sum += b[j] * a[k - j];
    return sum;
}

/* Coefficient k of p = a / b, from those of p b = a. */
INLINE double FN(quotient_at)(double* sums, const double* a, const double* b, const double* p, int32_t k, int32_t degree)
{
    int32_t q = k - 1, n = series_least(q - 1, degree - q);
    FN(push)(sums + q + 1, p[q], b + 1, b[q], p + 1, n);
    if (q && 2 * q <= degree)
        sums[2 * q] += p[q] * b[q];
    return (a[k] - (sums[k] + p[0] * b[k])) / b[0];
}

/* Sums of products in which a zero of p or a absorbs whatever it meets. */
INLINE void FN(strong_at)(const SeriesStep* step, const double* a, const double* b, double* p, int32_t k)
{
    double sum = 0.0;
    if (step->rule == SERIES_SMUL)
        for (int32_t j = 0; j <= k; j++)
            sum += a[j] == 0.0 ? 0.0 : a[j] * b[k - j];
    else
    {
        for (int32_t j = 1; j <= k; j++)
            sum += p[k - j] == 0.0 ? 0.0 : b[j] * p[k - j];
        sum = a[k] - sum == 0.0 ? 0.0 : (a[k] - sum) / b[0];
    }
    p[k] = sum;
}

static void FN(series_values)(const SeriesCode* code, double* rows)
{
    for (int32_t i = 0; i < code->n_steps; i++)
    {
        const SeriesStep* step = &code->steps[i];
        const double* a = rows + step->a * code->stride;
        const double* b = rows + step->b * code->stride;
        const double* c = rows + step->c * code->stride;
        double* p = rows + step->out * code->stride;
        switch (step->value)
        {
        case VALUE_COPY: p[0] = a[0]; break;
        case VALUE_ADD: p[0] = a[0] + b[0]; break;
        case VALUE_SUBTRACT: p[0] = a[0] - b[0]; break;
        case VALUE_MULTIPLY: p[0] = a[0] * b[0]; break;
        case VALUE_DIVIDE: p[0] = a[0] / b[0]; break;
        case VALUE_NEGATE: p[0] = -a[0]; break;
        case VALUE_SQUARE: p[0] = a[0] * a[0]; break;
        case VALUE_SELECT: p[0] = c[0] != 0.0 ? a[0] : b[0]; break;
        case VALUE_MASK: p[0] = a[0] != 0.0 ? b[0] : 0.0; break;
        case VALUE_CALL1: p[0] = ((SeriesCall1)step->call)(a[0]); break;
        case VALUE_CALL2: p[0] = ((SeriesCall2)step->call)(a[0], b[0]); break;
        default: break;
        }
    }
}

static void FN(series_narrow)(const SeriesCode* code, double* rows)
{
    FN(series_values)(code, rows);
    for (int32_t k = 0; k <= code->degree; k++)
    {
        for (int32_t i = 0; i < (k ? code->n_steps : 0); i++)
        {
            const SeriesStep* step = &code->steps[i];
            if (k > step->top)
                continue;
            const double* a = rows + step->a * code->stride;
            const double* b = rows + step->b * code->stride;
            double* p = rows + step->out * code->stride;
            double* sums = rows + step->c * code->stride;
            switch (step->rule)
            {
            case SERIES_COPY: p[k] = sums[k]; break;
            case SERIES_ADD: p[k] = a[k] + b[k]; break;
            case SERIES_SUBTRACT: p[k] = a[k] - b[k]; break;
            case SERIES_NEGATE: p[k] = -a[k]; break;
            case SERIES_SCALE: p[k] = a[k] * b[0]; break;
            case SERIES_SHRINK: p[k] = a[k] / b[0]; break;
            case SERIES_SQUARE:
            case SERIES_MULTIPLY:
                p[k] = step->top_b <= SERIES_SHORT ? FN(short_at)(step, a, step->top_a, b, 0, k)
                                                   : FN(product_at)(sums, a, b, k, code->degree);
                break;
            case SERIES_DIVIDE:
                p[k] = step->top_b <= SERIES_SHORT ? (a[k] - FN(short_at)(step, p, k, b, 1, k)) / b[0]
                                                   : FN(quotient_at)(sums, a, b, p, k, code->degree);
                break;
            case SERIES_SMUL:
            case SERIES_SDIV: FN(strong_at)(step, a, b, p, k); break;
            case SERIES_SELECT: p[k] = rows[step->c * code->stride] != 0.0 ? a[k] : b[k]; break;
            case SERIES_MASK: p[k] = a[0] != 0.0 ? b[k] : 0.0; break;
            case SERIES_SLOPES: p[k] = FN(slopes_at)(code, step, rows, k); break;
            default: break;
            }
        }
        for (int32_t i = 0; i < (k < code->degree ? code->n_feedback : 0); i++)
            rows[code->feedback[2 * i] * code->stride + k + 1] =
                rows[code->feedback[2 * i + 1] * code->stride + k] / code->orders[k + 1];
    }
}

/* ---- wide rows: sums across orders, in registers over as many lanes as these hold */

static void FN(series_products)(const double* a, const double* b, int32_t first, int32_t last, int32_t k, int64_t n,
                                int mode, double* p)
{
    int64_t i = 0;
    for (; i + SERIES_SPAN <= n; i += SERIES_SPAN)
    {
        double sum[SERIES_SPAN] = {0};
        for (int32_t j = first; j <= last; j++)
        {
            const double* x = a + j * n + i;
            const double* y = b + (k - j) * n + i;
            for (int l = 0; l < SERIES_SPAN; l++)
                sum[l] += x[l] * y[l];
        }
        for (int l = 0; l < SERIES_SPAN; l++)
            p[i + l] = mode == 0 ? sum[l] : mode > 0 ? p[i + l] + sum[l] : p[i + l] - sum[l];
    }
    for (; i < n; i++)
    {
        double sum = 0.0;
        for (int32_t j = first; j <= last; j++)
            sum += a[j * n + i] * b[(k - j) * n + i];
        p[i] = mode == 0 ? sum : mode > 0 ? p[i] + sum : p[i] - sum;
    }
}

static void FN(series_slopes)(const double* x, const double* h, int32_t first, int32_t last, int32_t k, int64_t n,
                              double* p)
{
    int64_t i = 0;
    for (; i + SERIES_SPAN <= n; i += SERIES_SPAN)
    {
        double sum[SERIES_SPAN] = {0};
        for (int32_t j = first; j <= last; j++)
        {
            const double* y = x + j * n + i;
            const double* z = h + (k - j) * n + i;
            for (int l = 0; l < SERIES_SPAN; l++)
                sum[l] += (double)j * y[l] * z[l];
        }
        for (int l = 0; l < SERIES_SPAN; l++)
            p[i + l] += sum[l];
    }
    for (; i < n; i++)
    {
        double sum = 0.0;
        for (int32_t j = first; j <= last; j++)
            sum += (double)j * x[j * n + i] * h[(k - j) * n + i];
        p[i] += sum;
    }
}

static const SeriesKernels FN(series) = {FN(series_narrow), FN(series_products), FN(series_slopes)};
