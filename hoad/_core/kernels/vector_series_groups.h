/* The kernels of series.h for narrow rows in groups: like steps that do not ask for each other, done at once. Included
once per target, with FN(name) giving its names.

Products, quotients, powers and slopes of a group are a vector, one lane for each. The coefficients of what they are
made of are kept as vectors too, so that sums run over orders, with nothing to push and no loop that ends early. */

#if SERIES_MEMBERS

typedef double FN(Eight) __attribute__((vector_size(64), aligned(8), may_alias));
typedef double FN(Four) __attribute__((vector_size(32), aligned(8), may_alias));

#define ITEMS4(from, k) {at[0].from[k], at[1].from[k], at[2].from[k], at[3].from[k]}
#define ITEMS8(from, k)                                                                                        \
    {at[0].from[k], at[1].from[k], at[2].from[k], at[3].from[k], at[4].from[k], at[5].from[k], at[6].from[k], at[7].from[k]}

/* The sum of a term over j = 1, ..., last, in two that do not wait for each other. */
#define SUM(last, term)                                                                                        \
    {                                                                                                          \
        int64_t j = 1;                                                                                         \
        for (; j < (last); j++)                                                                                \
        {                                                                                                      \
            sum += term;                                                                                       \
            j++;                                                                                               \
            more += term;                                                                                      \
        }                                                                                                      \
        if (j == (last))                                                                                       \
            sum += term;                                                                                       \
        sum += more;                                                                                           \
    }

/* What a group of at most `width` products and the like keeps of its first coefficients, and coefficient k of them. */
#define GROUP(width, Lanes, ITEMS)                                                                             \
    static void FN(begin_group##width)(const SeriesCode* code, const SeriesGroup* group, const SeriesPlace* at, \
                                       double* kept)                                                           \
    {                                                                                                          \
        Lanes *A = (Lanes*)(kept + group->at), *B = A + code->degree + 1, *C = B + code->degree + 1;           \
        *A = (Lanes)ITEMS(a, 0);                                                                               \
        *B = (Lanes)ITEMS(b, 0);                                                                               \
        if (group->rule == SERIES_DIVIDE || group->rule == SERIES_POWER)                                       \
            *(group->rule == SERIES_POWER ? B : A) = (Lanes)ITEMS(out, 0);                                     \
        if (group->rule == SERIES_POWER)                                                                       \
            *C = (Lanes)ITEMS(b, 0);                                                                           \
        else if (group->rule == SERIES_SLOPES)                                                                 \
            for (int l = 0; l < width; l++)                                                                    \
                ((double*)C)[l] = code->terms[at[l].step->first].sign;                                         \
    }                                                                                                          \
                                                                                                               \
    static void FN(group##width)(const SeriesCode* code, const SeriesGroup* group, const SeriesPlace* at,      \
                                 double* kept, int64_t k)                                                      \
    {                                                                                                          \
        const double* orders = code->orders;                                                                   \
        Lanes *A = (Lanes*)(kept + group->at), *B = A + code->degree + 1, *C = B + code->degree + 1;           \
        Lanes sum = {0}, more = {0};                                                                           \
        switch (group->rule)                                                                                   \
        {                                                                                                      \
        case SERIES_SQUARE:                                                                                    \
            A[k] = (Lanes)ITEMS(a, k);                                                                         \
            SUM((k - 1) / 2, A[j] * A[k - j])                                                                  \
            sum = 2.0 * (sum + A[0] * A[k]);                                                                   \
            if (k % 2 == 0)                                                                                    \
                sum += A[k / 2] * A[k / 2];                                                                    \
            break;                                                                                             \
        case SERIES_MULTIPLY:                                                                                  \
            A[k] = (Lanes)ITEMS(a, k);                                                                         \
            B[k] = (Lanes)ITEMS(b, k);                                                                         \
            SUM(k - 1, A[j] * B[k - j])                                                                        \
            sum += A[k] * B[0] + A[0] * B[k];                                                                  \
            break;                                                                                             \
        case SERIES_DIVIDE: /* A b = a */                                                                      \
            B[k] = (Lanes)ITEMS(b, k);                                                                         \
            SUM(k - 1, A[j] * B[k - j])                                                                        \
            sum = A[k] = ((Lanes)ITEMS(a, k) - (sum + A[0] * B[k])) / B[0];                                    \
            break;                                                                                             \
        case SERIES_POWER: /* k a[0] B[k] is the sum of (j C - (k - j)) a[j] B[k - j] */                       \
            A[k] = (Lanes)ITEMS(a, k);                                                                         \
            SUM(k - 1, (orders[j] * C[0] - orders[k - j]) * A[j] * B[k - j])                                   \
            sum = B[k] = (sum + orders[k] * C[0] * A[k] * B[0]) / (orders[k] * A[0]);                          \
            break;                                                                                             \
        default: /* slopes: t p' = C a b */                                                                    \
            A[k - 1] = (Lanes)ITEMS(a, k - 1);                                                                 \
            B[k] = (Lanes)ITEMS(b, k);                                                                         \
            SUM(k, B[j] * A[k - j])                                                                            \
            sum = C[0] * sum / orders[k];                                                                      \
        }                                                                                                      \
        for (int l = 0; l < width; l++)                                                                        \
            at[l].out[k] = sum[l];                                                                             \
    }
GROUP(4, FN(Four), ITEMS4)
GROUP(8, FN(Eight), ITEMS8)
#undef GROUP
#undef SUM
#undef ITEMS4
#undef ITEMS8

/* Coefficient k of a group of sums and the like. */
INLINE void FN(plain_group)(const SeriesCode* code, const SeriesGroup* group, const SeriesPlace* at, int32_t k)
{
#define FOR_MEMBERS(found)                          \
    for (int32_t i = 0; i < group->count; i++)      \
        at[i].out[k] = found
    switch (group->rule)
    {
    case SERIES_COPY: FOR_MEMBERS(at[i].a[k]); break;
    case SERIES_ADD: FOR_MEMBERS(at[i].a[k] + at[i].b[k]); break;
    case SERIES_SUBTRACT: FOR_MEMBERS(at[i].a[k] - at[i].b[k]); break;
    case SERIES_NEGATE: FOR_MEMBERS(-at[i].a[k]); break;
    case SERIES_SCALE: FOR_MEMBERS(at[i].a[k] * at[i].b[0]); break;
    case SERIES_SHRINK: FOR_MEMBERS(at[i].a[k] / at[i].b[0]); break;
    case SERIES_DERIVE: FOR_MEMBERS(code->orders[k] * at[i].a[k]); break;
    default: break;
    }
#undef FOR_MEMBERS
}

static void FN(series_groups)(const SeriesCode* code, double* rows, SeriesPlace* places, double* kept)
{
    SeriesPlace* fed = places + code->n_members;
    FN(place_fed)(code, rows, fed);
    for (int32_t i = 0; i < code->n_steps; i++)
    {
        SeriesPlace place = FN(place_of)(code, &code->steps[i], rows);
        FN(value_of)(&place);
    }
    for (int32_t i = 0; i < code->n_members; i++)
    {
        const SeriesStep* step = &code->steps[code->members[i]];
        places[i] = FN(place_of)(code, step, rows);
        if (step->rule == SERIES_SLOPES && step->count == 1)
        {
            places[i].a = rows + code->terms[step->first].h * code->stride;
            places[i].b = rows + code->terms[step->first].y * code->stride;
        }
    }
    for (int32_t i = 0; i < code->n_groups; i++)
    {
        const SeriesGroup* group = &code->groups[i];
        if (group->width == 4)
            FN(begin_group4)(code, group, places + group->first, kept);
        else if (group->width == 8)
            FN(begin_group8)(code, group, places + group->first, kept);
    }
    for (int32_t k = 1; k <= code->degree; k++)
    {
        FN(feed_back)(fed, code->n_feedback, code->orders[k], k - 1);
        for (int32_t i = 0; i < (code->n_feedback && k == code->degree ? 0 : code->n_groups); i++)
        {
            const SeriesGroup* group = &code->groups[i];
            const SeriesPlace* at = places + group->first;
            if (k > group->top)
                continue;
            if (group->width == 4)
                FN(group4)(code, group, at, kept, k);
            else if (group->width == 8)
                FN(group8)(code, group, at, kept, k);
            else if (group->rule != SERIES_NONE)
                FN(plain_group)(code, group, at, k);
            else
                for (int32_t j = 0; j < group->count; j++)
                    if (k <= at[j].top)
                        FN(coefficient_of)(code, &at[j], rows, k);
        }
    }
}
#endif
