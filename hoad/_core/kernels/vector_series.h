/* The kernels of series.h for narrow rows. Included once per target, with FN(name) giving its names.

A product of narrow rows is pushed: once coefficient q of both factors is known, what it contributes with those from 1
on to later coefficients is added to a row of sums. So every loop runs over neighbours, and none ends in a sum across a
vector. It is done a coefficient late: what has just been written one by one cannot be read as a vector at once. */

/* P[j] = found for j = 0, ..., n - 1, in vectors of lengths that a compiler knows. All is read before anything is
written, so that it sees that these may be read at once. */
#define FOR_NEIGHBOURS(n, P, found)                         \
    do                                                      \
    {                                                       \
        int64_t l = 0;                                      \
        for (; l + 8 <= (n); l += 8)                        \
            NEIGHBOURS(8, P, found)                         \
        if ((n) & 4)                                        \
        {                                                   \
            NEIGHBOURS(4, P, found)                         \
            l += 4;                                         \
        }                                                   \
        if ((n) & 2)                                        \
        {                                                   \
            NEIGHBOURS(2, P, found)                         \
            l += 2;                                         \
        }                                                   \
        if ((n) & 1)                                        \
            NEIGHBOURS(1, P, found)                         \
    } while (0)
#define NEIGHBOURS(count, P, found)                         \
    {                                                       \
        double made[count];                                 \
        for (int i = 0; i < count; i++)                     \
            made[i] = found(l + i);                         \
        for (int i = 0; i < count; i++)                     \
            P[l + i] = made[i];                             \
    }

/* P[j] += x b[j] + y a[j] for j < n. */
INLINE void FN(push)(double* restrict P, double x, const double* restrict b, double y, const double* restrict a, int32_t n)
{
#define PUSHED(j) FN(multiply_add)(x, b[j], FN(multiply_add)(y, a[j], P[j]))
    FOR_NEIGHBOURS(n, P, PUSHED);
#undef PUSHED
}

/* P[j] += x a[j] for j < n. */
INLINE void FN(push_one)(double* restrict P, double x, const double* restrict a, int32_t n)
{
#define PUSHED(j) FN(multiply_add)(x, a[j], P[j])
    FOR_NEIGHBOURS(n, P, PUSHED);
#undef PUSHED
}

/* What coefficients q of a and b, both times a sign, contribute to those beyond it of a b, with those from 1 on. */
INLINE void FN(push_product)(double* sums, const double* a, const double* b, double sign, int32_t q, int32_t degree)
{
    FN(push)(sums + q + 1, sign * a[q], b + 1, sign * b[q], a + 1, series_pushed(q, degree));
    if (q && 2 * q <= degree)
        sums[2 * q] += sign * a[q] * b[q];
}

/* Coefficient k of a b, where `sums` has those of all pairs of lower orders; it is not 0. */
INLINE double FN(product_at)(double* sums, const double* a, const double* b, int32_t k, int32_t degree)
{
    FN(push_product)(sums, a, b, 1.0, k - 1, degree);
    return sums[k] + (a[k] * b[0] + a[0] * b[k]);
}

INLINE double FN(square_at)(double* sums, const double* a, int32_t k, int32_t degree)
{
    int32_t q = k - 1;
    FN(push_one)(sums + q + 1, 2.0 * a[q], a + 1, series_pushed(q, degree));
    if (q && 2 * q <= degree)
        sums[2 * q] += a[q] * a[q];
    return sums[k] + 2.0 * (a[k] * a[0]);
}

/* Coefficient k of p = a / b, from those of p b = a. */
INLINE double FN(quotient_at)(double* sums, const double* a, const double* b, const double* p, int32_t k, int32_t degree)
{
    FN(push_product)(sums, p, b, 1.0, k - 1, degree);
    return (a[k] - (sums[k] + p[0] * b[k])) / b[0];
}

/* Coefficient k of p, where t p' is the sum of h y. */
INLINE double FN(slopes_at)(const SeriesCode* code, const SeriesStep* step, double* rows, int32_t k)
{
    double* sums = rows + step->c * code->stride;
    double beside = 0.0, linear = 0.0;
    const SeriesTerm* only = &code->terms[step->first];
    if (step->count == 1 && only->top_x == 1 && only->top_h) /* along a line */
        return only->sign * (rows[only->y * code->stride + 1] * rows[only->h * code->stride + k - 1]) / code->orders[k];
    for (int32_t i = 0; i < step->count; i++)
    {
        const SeriesTerm* term = &code->terms[step->first + i];
        const double* h = rows + term->h * code->stride;
        const double* y = rows + term->y * code->stride;
        if (term->top_h == 0)
        {
            if (!(term->strong && h[0] == 0.0))
                linear += term->sign * h[0] * rows[term->x * code->stride + k];
        }
        else if (term->top_x <= SERIES_SHORT)
            for (int32_t j = 1; j <= series_least(term->top_x, k); j++)
                beside += term->sign * (y[j] * h[k - j]);
        else
        {
            FN(push_product)(sums, y, h, term->sign, k - 1, code->degree);
            beside += term->sign * (y[k] * h[0]);
        }
    }
    return (sums[k] + beside) / code->orders[k] + linear;
}

/* Coefficient k of p = x^y, where k x[0] p[k] is the sum of (j y - (k - j)) x[j] p[k - j] over j = 1, ..., k. */
INLINE double FN(power_at)(double* sums, const double* x, int32_t top_x, double y, const double* p, const double* orders,
                           int32_t k, int32_t degree)
{
    int32_t q = k - 1, n = series_pushed(q, degree);
    double sum = 0.0;
    if (top_x <= SERIES_SHORT)
    {
        for (int32_t j = 1; j <= series_least(top_x, k); j++)
            sum += (orders[j] * y - orders[k - j]) * x[j] * p[k - j];
        return sum / (orders[k] * x[0]);
    }
    double a = orders[q] * y * x[q], b = -x[q], c = y * p[q], d = -orders[q] * p[q];
    double* P = sums + k;
    const double *along = orders + 1, *u = x + 1, *v = p + 1;
#define PUSHED(j)                                                                                              \
    FN(multiply_add)(FN(multiply_add)(b, along[j], a), v[j], FN(multiply_add)(FN(multiply_add)(c, along[j], d), u[j], P[j]))
    FOR_NEIGHBOURS(n, P, PUSHED);
#undef PUSHED
    if (q && 2 * q <= degree)
        sums[2 * q] += orders[q] * (y - 1.0) * x[q] * p[q];
    return (sums[k] + orders[k] * y * x[k] * p[0]) / (orders[k] * x[0]);
}

/* The sum over j >= first of b[j] a[k - j], for a series b that ends soon; beyond their tops both are left out. */
INLINE double FN(short_at)(const SeriesStep* step, const double* a, int32_t top_a, const double* b, int32_t first, int32_t k)
{
    double sum = 0.0;
    for (int32_t j = k - top_a > first ? k - top_a : first; j <= series_least(step->top_b, k); j++)
        sum += b[j] * a[k - j];
    return sum;
}

/* Sums of products in which a zero of p, of a, or of both factors absorbs whatever it meets. */
INLINE void FN(strong_at)(const SeriesStep* step, const double* a, const double* b, double* p, int32_t k)
{
    double sum = 0.0;
    if (step->rule != SERIES_STRONG_DIVIDE)
    {
        int both = step->rule == SERIES_STRONG_MULTIPLY_BOTH;
        for (int32_t j = 0; j <= k; j++)
            sum += a[j] == 0.0 || (both && b[k - j] == 0.0) ? 0.0 : a[j] * b[k - j];
    }
    else
    {
        for (int32_t j = 1; j <= k; j++)
            sum += p[k - j] == 0.0 ? 0.0 : b[j] * p[k - j];
        sum = a[k] - sum == 0.0 ? 0.0 : (a[k] - sum) / b[0];
    }
    p[k] = sum;
}

INLINE SeriesPlace FN(place_of)(const SeriesCode* code, const SeriesStep* step, double* rows)
{
    SeriesPlace place = {step, rows + step->a * code->stride, rows + step->b * code->stride,
                         rows + step->out * code->stride, rows + step->c * code->stride, step->rule, step->top};
    return place;
}

INLINE void FN(value_of)(const SeriesPlace* place)
{
    const double *a = place->a, *b = place->b, *c = place->c;
    double* p = place->out;
    switch (place->step->value)
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
    case VALUE_CALL1: p[0] = ((SeriesCall1)place->step->call)(a[0]); break;
    case VALUE_CALL2: p[0] = ((SeriesCall2)place->step->call)(a[0], b[0]); break;
    default: break;
    }
}

INLINE void FN(coefficient_of)(const SeriesCode* code, const SeriesPlace* place, double* rows, int32_t k)
{
    const SeriesStep* step = place->step;
    const double *a = place->a, *b = place->b;
    double *p = place->out, *sums = place->c;
    switch (place->rule)
    {
    case SERIES_COPY: p[k] = a[k]; break;
    case SERIES_ADD: p[k] = a[k] + b[k]; break;
    case SERIES_SUBTRACT: p[k] = a[k] - b[k]; break;
    case SERIES_NEGATE: p[k] = -a[k]; break;
    case SERIES_SCALE: p[k] = a[k] * b[0]; break;
    case SERIES_SHRINK: p[k] = a[k] / b[0]; break;
    case SERIES_DERIVE: p[k] = code->orders[k] * a[k]; break;
    case SERIES_SQUARE:
    case SERIES_MULTIPLY:
        p[k] = step->top_b <= SERIES_SHORT ? FN(short_at)(step, a, step->top_a, b, 0, k)
               : a == b                    ? FN(square_at)(sums, a, k, code->degree)
                                           : FN(product_at)(sums, a, b, k, code->degree);
        break;
    case SERIES_DIVIDE:
        p[k] = step->top_b <= SERIES_SHORT ? (a[k] - FN(short_at)(step, p, k, b, 1, k)) / b[0]
                                           : FN(quotient_at)(sums, a, b, p, k, code->degree);
        break;
    case SERIES_STRONG_MULTIPLY:
    case SERIES_STRONG_MULTIPLY_BOTH:
    case SERIES_STRONG_DIVIDE: FN(strong_at)(step, a, b, p, k); break;
    case SERIES_SELECT: p[k] = sums[0] != 0.0 ? a[k] : b[k]; break;
    case SERIES_MASK: p[k] = a[0] != 0.0 ? b[k] : 0.0; break;
    case SERIES_SLOPES: p[k] = FN(slopes_at)(code, step, rows, k); break;
    case SERIES_POWER: p[k] = FN(power_at)(sums, a, step->top_a, b[0], p, code->orders, k, code->degree); break;
    default: break;
    }
}

/* Coefficient k + 1 of rows that are the integrals of others. */
INLINE void FN(feed_back)(const SeriesPlace* places, int32_t n, double order, int32_t k)
{
    for (int32_t i = 0; i < n; i++)
        places[i].out[k + 1] = places[i].a[k] / order;
}

/* Where the rows are that are fed back. */
INLINE void FN(place_fed)(const SeriesCode* code, double* rows, SeriesPlace* fed)
{
    for (int32_t i = 0; i < code->n_feedback; i++)
    {
        fed[i].out = rows + code->feedback[2 * i] * code->stride;
        fed[i].a = rows + code->feedback[2 * i + 1] * code->stride;
    }
}

static void FN(series_narrow)(const SeriesCode* code, double* rows, SeriesPlace* places, double* kept)
{
    SeriesPlace* fed = places + code->n_steps;
    int32_t n = 0;
    (void)kept;
    FN(place_fed)(code, rows, fed);
    for (int32_t i = 0; i < code->n_steps; i++)
    {
        places[n] = FN(place_of)(code, &code->steps[i], rows);
        FN(value_of)(&places[n]);
        n += places[n].rule != SERIES_NONE && places[n].top > 0;
    }
    for (int32_t k = 1; k <= code->degree; k++)
    {
        FN(feed_back)(fed, code->n_feedback, code->orders[k], k - 1);
        for (int32_t i = 0; i < (code->n_feedback && k == code->degree ? 0 : n); i++)
            if (k <= places[i].top)
                FN(coefficient_of)(code, &places[i], rows, k);
    }
}

#undef FOR_NEIGHBOURS
#undef NEIGHBOURS
