/* Arithmetic on rows of doubles, in the forms in which rows meet: two rows, a row and one number, one number and a row,
   and numbers gathered from anywhere. Included once per target, with FN(name) giving its names. p may be an operand. */

#if defined(__clang__)
#define INDEPENDENT PRAGMA(clang loop vectorize(enable))
#elif defined(__GNUC__)
#define INDEPENDENT PRAGMA(GCC ivdep)
#else
#define INDEPENDENT
#endif

#define FORMS2(name, formula)                                                                                     \
    static void FN(name##_rows)(const double* a, const double* b, double* p, int64_t n)                           \
    {                                                                                                             \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double x = a[i], y = b[i];                                                                            \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }                                                                                                             \
    static void FN(name##_right)(const double* a, const double* b, double* p, int64_t n)                          \
    {                                                                                                             \
        double y = b[0];                                                                                          \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double x = a[i];                                                                                      \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }                                                                                                             \
    static void FN(name##_left)(const double* a, const double* b, double* p, int64_t n)                           \
    {                                                                                                             \
        double x = a[0];                                                                                          \
        INDEPENDENT for (int64_t i = 0; i < n; i++)                                                               \
        {                                                                                                         \
            double y = b[i];                                                                                      \
            p[i] = formula;                                                                                       \
        }                                                                                                         \
    }                                                                                                             \
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

ARITHMETIC2(FORMS2)
ARITHMETIC1(FORMS1)

#define ROW2(name, formula) {#name, {FN(name##_rows), FN(name##_right), FN(name##_left), FN(name##_gathered)}},
#define ROW1(name, formula) {#name, FN(name##_row)},
static const Arithmetic2 FN(arithmetic2)[] = {ARITHMETIC2(ROW2){NULL, {NULL, NULL, NULL, NULL}}};
static const Row1 FN(arithmetic1)[] = {ARITHMETIC1(ROW1){NULL, NULL}};

#undef FORMS1
#undef FORMS2
#undef ROW1
#undef ROW2
#undef INDEPENDENT
