/* Arithmetic on rows of doubles, in the forms in which rows meet: two rows, a row and one number, one number and a row,
   and numbers gathered from anywhere. Included once per target, with FN(name) giving its names. p may be an operand. */

#if defined(__clang__)
#define INDEPENDENT PRAGMA(clang loop vectorize(enable))
#elif defined(__GNUC__)
#define INDEPENDENT PRAGMA(GCC ivdep)
#else
#define INDEPENDENT
#endif

#define FORM2(name, la, lb, formula)                                                                              \
    static void FN(name)(const double* a, const double* b, double* p, int64_t n)                                  \
    {                                                                                                             \
        double a0 = a[0], b0 = b[0];                                                                              \
        (void)a0, (void)b0;                                                                                       \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double x = la, y = lb;                                                                                \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }
#define FORMS2(name, formula)                                                                                     \
    FORM2(name##_rows, a[i], b[i], formula)                                                                       \
    FORM2(name##_right, a[i], b0, formula)                                                                        \
    FORM2(name##_left, a0, b[i], formula)                                                                         \
    static void FN(name##_gathered)(const double* a, const int32_t* k, const double* b, const int32_t* m,         \
                                    double* p, int64_t n)                                                         \
    {                                                                                                             \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double x = a[k[i]], y = b[m[i]];                                                                      \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }

#define FORMS1(name, formula)                                                                                     \
    static void FN(name##_row)(const double* a, double* p, int64_t n)                                             \
    {                                                                                                             \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double x = a[i];                                                                                      \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }

/* Two operations as one: g of (x f y) and z, with each of a, b, c a row or one number (but not a and b both). */
#define PAIR_FORM(name, la, lb, lc, formula)                                                                      \
    static void FN(name)(const double* a, const double* b, const double* c, double* p, int64_t n)                 \
    {                                                                                                             \
        double a0 = a[0], b0 = b[0], c0 = c[0];                                                                   \
        (void)a0, (void)b0, (void)c0;                                                                             \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double x = la, y = lb, z = lc;                                                                        \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }
#define PAIR_FORMS(name, formula)                                                                                 \
    PAIR_FORM(name##_rrr, a[i], b[i], c[i], formula) PAIR_FORM(name##_rrn, a[i], b[i], c0, formula)               \
    PAIR_FORM(name##_rnr, a[i], b0, c[i], formula) PAIR_FORM(name##_rnn, a[i], b0, c0, formula)                   \
    PAIR_FORM(name##_nrr, a0, b[i], c[i], formula) PAIR_FORM(name##_nrn, a0, b[i], c0, formula)

ARITHMETIC2(FORMS2)
ARITHMETIC1(FORMS1)
PAIRS(PAIR_FORMS)
/* x where y else z: PAIR_FORM with the condition as its second operand. */
#define CHOICE y != 0.0 ? x : z
PAIR_FORM(select_rr, a[i], b[i], c[i], CHOICE) PAIR_FORM(select_rn, a[i], b[i], c0, CHOICE)
PAIR_FORM(select_nr, a0, b[i], c[i], CHOICE) PAIR_FORM(select_nn, a0, b[i], c0, CHOICE)

#define ROW2(name, formula) {#name, {FN(name##_rows), FN(name##_right), FN(name##_left), FN(name##_gathered)}},
#define ROW1(name, formula) {#name, FN(name##_row)},
static const Arithmetic2 FN(arithmetic2)[] = {ARITHMETIC2(ROW2){NULL, {NULL, NULL, NULL, NULL}}};
#define ROW3(name, formula)                                                                                       \
    {{FN(name##_rrr), FN(name##_rrn)}, {FN(name##_rnr), FN(name##_rnn)}, {FN(name##_nrr), FN(name##_nrn)}},
static const Kernel3 FN(pairs)[][3][2] = {PAIRS(ROW3)};
static const Kernel3 FN(selections)[2][2] = {{FN(select_rr), FN(select_rn)}, {FN(select_nr), FN(select_nn)}};
static const Row1 FN(arithmetic1)[] = {ARITHMETIC1(ROW1){NULL, NULL}};

#undef FORM2
#undef FORMS1
#undef FORMS2
#undef ROW1
#undef ROW2
#undef ROW3
#undef CHOICE
#undef PAIR_FORM
#undef PAIR_FORMS
#undef INDEPENDENT
