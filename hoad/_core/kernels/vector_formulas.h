/* The functions of the vector kernels, as branch-free formulas of one double.

Included once per target, with FN(name) giving its names and FUSED saying whether it multiplies and adds in one
rounding. Selections are by bits, or by a comparison of doubles for a double with both sides computed, so that a compiler makes
vectors of loops over them on every machine. A function f may be wrong where f_rare is 1.0 and not 0.0; there the loops
ask the C library.

A number that is known to more than a double is a Pair, the sum of a double and a small correction. Sums and products
without error: T. J. Dekker, Numer. Math. 18 (1971) 224-242; D. E. Knuth, The Art of Computer Programming, vol. 2,
4.2.2. Reduction of arguments: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980). The
logarithm by (m - 1)/(m + 1), signs and quadrants: J.-M. Muller, Elementary Functions, 3rd ed. (2016). erfc by one
polynomial: M. M. Shepherd and J. G. Laframboise, Math. Comp. 36 (1981) 249-253. */

/* ---- arithmetic */

/* ab + c, in one rounding where the target has that */
INLINE double FN(multiply_add)(double a, double b, double c)
{
#if FUSED
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* a + b, exactly */
INLINE Pair FN(sum)(double a, double b)
{
    double s = a + b, t = s - a;
    return (Pair){s, (a - (s - t)) + (b - t)};
}

/* a + b, exactly, where |a| >= |b| or a = 0 */
INLINE Pair FN(ordered_sum)(double a, double b)
{
    double s = a + b;
    return (Pair){s, b - (s - a)};
}

/* ab, exactly */
INLINE Pair FN(product)(double a, double b)
{
    double p = a * b;
#if FUSED
    return (Pair){p, fma(a, b, -p)};
#else
    double ca = 0x1.0000002p+27 * a, cb = 0x1.0000002p+27 * b;
    double a1 = ca - (ca - a), b1 = cb - (cb - b);
    double a2 = a - a1, b2 = b - b1;
    return (Pair){p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)};
#endif
}

/* xy to twice the precision of a double */
INLINE Pair FN(multiply)(Pair x, Pair y)
{
    Pair p = FN(product)(x.high, y.high);
    p.low += FN(multiply_add)(x.high, y.low, x.low * y.high);
    return p;
}

/* x/y to nearly twice the precision of a double */
INLINE Pair FN(divide)(Pair x, Pair y)
{
    double r = 1.0 / y.high;
    double q = x.high * r;
    Pair p = FN(product)(q, y.high);
    double rest = ((x.high - p.high) - p.low) + FN(multiply_add)(-q, y.low, x.low);
    return (Pair){q, rest * r};
}

INLINE uint64_t FN(bits)(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

INLINE double FN(from_bits)(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

INLINE double FN(magnitude)(double x)
{
    return FN(from_bits)(FN(bits)(x) & ~SIGN);
}

/* |x| with the sign of y */
INLINE double FN(signed_as)(double x, double y)
{
    return FN(from_bits)((FN(bits)(x) & ~SIGN) | (FN(bits)(y) & SIGN));
}

/* a where the last bit of `odd` is set, else b */
INLINE double FN(choose)(uint64_t odd, double a, double b)
{
    uint64_t mask = 0 - (odd & 1);
    return FN(from_bits)((FN(bits)(a) & mask) | (FN(bits)(b) & ~mask));
}

/* 2^k for an integer k from -1022 to 1023 */
INLINE double FN(power_of_two)(double k)
{
    return FN(from_bits)(FN(bits)(k + (ROUNDER + 1023.0)) << 52);
}

/* 2^k x, for |k| <= 2044: 2^k may overflow where that does not */
INLINE double FN(scaled)(double x, double k)
{
    double half = (0.5 * k + ROUNDER) - ROUNDER;
    return x * FN(power_of_two)(half) * FN(power_of_two)(k - half);
}

/* f_rare, of an f that is right everywhere, or wherever g is */
#define NEVER_RARE(f) INLINE double FN(f##_rare)(double x) { (void)x; return 0.0; }
#define RARE_AS(f, g) INLINE double FN(f##_rare)(double x) { return FN(g##_rare)(x); }

#include "vector_polynomials.h"

/* ---- exponentials */

/* x = k log(2) + r, |r| <= log(2)/2, for |x| < 2000 */
typedef struct { double k; Pair r; } FN(Exponent);

INLINE FN(Exponent) FN(exponent)(double x, double low)
{
    double k = FN(multiply_add)(x, LOG2_E, ROUNDER) - ROUNDER;
    double most = FN(multiply_add)(-k, LN2_1, x); /* exact, fused or not: k has 11 bits, LN2_1 has 42 */
    double rest = FN(multiply_add)(-k, LN2_2, low);
    double r = most + rest;
    return (FN(Exponent)){k, {r, rest - (r - most)}};
}

/* exp(r) */
INLINE Pair FN(exp_reduced)(Pair r)
{
    double tail = FN(multiply_add)(r.high * r.high, FN(exp_polynomial)(r.high), r.low);
    Pair s = FN(ordered_sum)(1.0, r.high);
    s.low += tail;
    return s;
}

INLINE double FN(exp)(double x)
{
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    FN(Exponent) e = FN(exponent)(x, 0.0);
    Pair s = FN(exp_reduced)(e.r);
    return FN(scaled)(s.high + s.low, e.k);
}

NEVER_RARE(exp)

INLINE double FN(expm1)(double x)
{
    FN(Exponent) e = FN(exponent)(x < -40.0 ? -40.0 : x, 0.0);
    Pair s = FN(exp_reduced)(e.r);
    double scale = FN(power_of_two)(e.k);
    Pair p = FN(sum)(scale * s.high, -1.0);
    return FN(signed_as)(p.high + FN(multiply_add)(scale, s.low, p.low), x);
}

INLINE double FN(expm1_rare)(double x)
{
    return x <= 708.0 ? 0.0 : 1.0;
}

/* sinh(a) and cosh(a), 0 <= a <= 690: with a = k log(2) + r and u, v = (2^k -+ 2^-k)/2 they are
   u cosh(r) + v sinh(r) and v cosh(r) + u sinh(r) */
typedef struct { Pair u, v; double r, cosh_tail, sinh_tail; } FN(Hyperbolic);

INLINE FN(Hyperbolic) FN(hyperbolic)(double a)
{
    FN(Exponent) e = FN(exponent)(a, 0.0);
    double up = FN(power_of_two)(e.k - 1.0);
    double down = FN(power_of_two)((e.k > 100.0 ? -100.0 : -e.k) - 1.0);
    double r = e.r.high, z = r * r;
    double cosh_tail = FN(multiply_add)(z, FN(cosh_polynomial)(z), r * e.r.low);
    double sinh_tail = FN(multiply_add)(r * z, FN(sinh_polynomial)(z), e.r.low);
    return (FN(Hyperbolic)){FN(ordered_sum)(up, -down), FN(ordered_sum)(up, down), r, cosh_tail, sinh_tail};
}

/* u (1 + cosh_tail) + v (r + sinh_tail) */
INLINE Pair FN(combined)(Pair u, Pair v, FN(Hyperbolic) h)
{
    Pair p = FN(product)(v.high, h.r);
    Pair s = FN(sum)(u.high, p.high);
    double tails = FN(multiply_add)(u.high, h.cosh_tail, FN(multiply_add)(v.high, h.sinh_tail, p.low));
    double rest = s.low + (tails + FN(multiply_add)(v.low, h.r, u.low));
    return FN(ordered_sum)(s.high, rest);
}

INLINE double FN(sinh)(double x)
{
    FN(Hyperbolic) h = FN(hyperbolic)(FN(magnitude)(x));
    return FN(signed_as)(FN(combined)(h.u, h.v, h).high, x);
}

INLINE double FN(cosh)(double x)
{
    FN(Hyperbolic) h = FN(hyperbolic)(FN(magnitude)(x));
    return FN(combined)(h.v, h.u, h).high;
}

INLINE double FN(sinh_rare)(double x)
{
    return FN(magnitude)(x) <= 690.0 ? 0.0 : 1.0; /* splitting numbers takes 27 bits of the exponent */
}

RARE_AS(cosh, sinh)

/* By u = expm1(2|x|): tanh(|x|) is u/(u + 2), and its derivative 4 (u + 1)/(u + 2)^2. */
INLINE Both FN(tanh_and_sech_squared)(double x)
{
    double a = FN(magnitude)(x);
    FN(Exponent) e = FN(exponent)(a > 22.0 ? 44.0 : a + a, 0.0);
    Pair s = FN(exp_reduced)(e.r);
    double scale = FN(power_of_two)(e.k);
    Pair u = FN(sum)(scale * s.high, -1.0);
    u = FN(ordered_sum)(u.high, FN(multiply_add)(scale, s.low, u.low));
    Pair below = FN(sum)(u.high, 2.0);
    below.low += u.low;
    Pair p = FN(divide)(u, below);
    double r = 1.0 / below.high;
    Pair q = FN(product)(r, below.high);
    double rest = ((1.0 - q.high) - q.low) - r * below.low; /* 1/below is r (1 + rest) */
    double most = (4.0 * scale * (s.high + s.low)) * (r * r);
    return (Both){FN(signed_as)(p.high + p.low, x), FN(multiply_add)(most, rest + rest, most)};
}

INLINE double FN(tanh)(double x)
{
    return FN(tanh_and_sech_squared)(x).first;
}

INLINE double FN(sech_squared)(double x)
{
    return FN(tanh_and_sech_squared)(x).second;
}

NEVER_RARE(tanh)

INLINE double FN(sech_squared_rare)(double x)
{
    return FN(magnitude)(x) <= 22.0 ? 0.0 : 1.0;
}

RARE_AS(tanh_and_sech_squared, sech_squared)

/* 1/(1 + exp(-x)), by the smaller of exp(x) and exp(-x) */
INLINE double FN(logistic)(double x)
{
    FN(Exponent) e = FN(exponent)(-FN(magnitude)(x), 0.0);
    Pair s = FN(exp_reduced)(e.r);
    double scale = FN(power_of_two)(e.k);
    s = FN(ordered_sum)(scale * s.high, scale * s.low);
    Pair below = FN(ordered_sum)(1.0, s.high);
    below.low += s.low;
    Pair above = {x < 0.0 ? s.high : 1.0, x < 0.0 ? s.low : 0.0};
    Pair p = FN(divide)(above, below);
    return p.high + p.low;
}

INLINE double FN(logistic_rare)(double x)
{
    return FN(magnitude)(x) <= 690.0 ? 0.0 : 1.0;
}

/* ---- logarithms */

/* x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for a positive normal x */
typedef struct { double k, f; } FN(Fraction);

INLINE FN(Fraction) FN(fraction)(double x)
{
    uint64_t above = FN(bits)(x) - SQRT_HALF + ((uint64_t)1024 << 52);
    double k = FN(from_bits)((above >> 52) | FN(bits)(0x1p+52)) - (0x1p+52 + 1024.0);
    double m = FN(from_bits)((above & FRACTION) + SQRT_HALF);
    return (FN(Fraction)){k, m - 1.0};
}

/* k log(2) + log(1 + f) + low */
INLINE double FN(log_fraction)(double k, double f, double low)
{
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    Pair p = FN(ordered_sum)(k * LN2_1, f);
    double rest = FN(multiply_add)(k, LN2_2, low);
    rest = FN(multiply_add)(s, FN(multiply_add)(z, FN(log_polynomial)(z), half), rest);
    return p.high + (p.low + (rest - half));
}

INLINE double FN(log)(double x)
{
    FN(Fraction) p = FN(fraction)(x);
    return FN(log_fraction)(p.k, p.f, 0.0);
}

INLINE double FN(log_rare)(double x)
{
    double rare = x >= 0x1p-1022 ? 0.0 : 1.0;
    return x <= 0x1.fffffffffffffp+1023 ? rare : 1.0;
}

INLINE double FN(log1p)(double x)
{
    Pair u = FN(sum)(1.0, x);
    FN(Fraction) p = FN(fraction)(u.high);
    double lost = u.low / u.high;
    return FN(signed_as)(FN(log_fraction)(p.k, p.f, lost), x);
}

INLINE double FN(log1p_rare)(double x)
{
    double rare = x > -1.0 ? 0.0 : 1.0;
    return x <= 0x1p+1000 ? rare : 1.0;
}

/* log(x) to some 66 bits */
INLINE Pair FN(log_pair)(double x)
{
    FN(Fraction) p = FN(fraction)(x);
    Pair s = FN(divide)((Pair){p.f, 0.0}, FN(ordered_sum)(2.0, p.f));
    Pair z = FN(multiply)(s, s);
    Pair t = FN(ordered_sum)(TWO_THIRDS_1, z.high * FN(log_tail_polynomial)(z.high));
    t.low += TWO_THIRDS_2;
    Pair w = FN(multiply)(s, FN(multiply)(z, t));
    Pair m = FN(ordered_sum)(2.0 * s.high, w.high);
    m.low += FN(multiply_add)(2.0, s.low, w.low);
    Pair all = FN(sum)(p.k * LN2_1, m.high);
    all.low += FN(multiply_add)(p.k, LN2_2, m.low);
    return all;
}

/* y log|x| */
INLINE Pair FN(power_exponent)(double x, double y)
{
    Pair l = FN(log_pair)(FN(magnitude)(x));
    Pair p = FN(product)(y, l.high);
    p.low = FN(multiply_add)(y, l.low, p.low);
    return p;
}

/* x^y; x^2 is x x. A negative x asks for an integer y, and its sign is that of (-1)^y. */
INLINE double FN(power)(double x, double y)
{
    Pair p = FN(power_exponent)(x, y);
    FN(Exponent) e = FN(exponent)(p.high, p.low);
    Pair s = FN(exp_reduced)(e.r);
    double r = (s.high + s.low) * FN(power_of_two)(e.k);
    uint64_t odd = FN(bits)(y + ROUNDER) << 63;
    r = FN(from_bits)(FN(bits)(r) ^ (odd & FN(bits)(x)));
    return FN(magnitude)(y - 2.0) > 0.0 ? r : x * x; /* y == 2.0 would be known to be an integer, and become a jump */
}

INLINE double FN(power_rare)(double x, double y)
{
    double a = FN(magnitude)(x);
    double rare = (y + ROUNDER) - ROUNDER == y ? 0.0 : 1.0;
    rare = x > 0.0 ? 0.0 : rare;
    rare = a >= 0x1p-1022 ? rare : 1.0;
    rare = a <= 0x1.fffffffffffffp+1023 ? rare : 1.0;
    rare = FN(magnitude)(y) <= 0x1p+50 ? rare : 1.0;
    return FN(magnitude)(FN(power_exponent)(x, y).high) <= 708.0 ? rare : 1.0;
}

/* ---- sines */

/* a = k π/2 + r for 0 <= a <= 2^20: the three parts of π/2 have 33, 33 and 53 bits, so that k times the first two is
   exact, and the differences are if r is not near 0, or k is 0 */
typedef struct { uint64_t quadrant; Pair r; } FN(Angle);

INLINE FN(Angle) FN(angle)(double a)
{
    double shifted = FN(multiply_add)(a, TWO_OVER_PI, ROUNDER), k = shifted - ROUNDER;
    double most = FN(multiply_add)(-k, HALF_PI_PART_1, a);
    double r = FN(multiply_add)(-k, HALF_PI_PART_2, most);
    double low = FN(multiply_add)(-k, HALF_PI_PART_2, most - r);
    low = FN(multiply_add)(-k, HALF_PI_PART_3, low);
    return (FN(Angle)){FN(bits)(shifted), FN(ordered_sum)(r, low)};
}

INLINE double FN(sin_rare)(double x)
{
    double a = FN(magnitude)(x);
    double k = FN(multiply_add)(a, TWO_OVER_PI, ROUNDER) - ROUNDER;
    double most = FN(magnitude)(FN(multiply_add)(-k, HALF_PI_PART_1, a));
    double rare = most >= 0x1p-12 ? 0.0 : 1.0;
    rare = a < 0.5 ? 0.0 : rare;
    return a <= 0x1p+20 ? rare : 1.0;
}

RARE_AS(cos, sin)
RARE_AS(tan, sin)

/* sin(r) and cos(r) for |r| <= π/4; the low part of the first need not be small */
INLINE Pair FN(sin_reduced)(Pair r)
{
    double z = r.high * r.high;
    double low = FN(multiply_add)(-0.5 * z, r.low, r.low);
    return (Pair){r.high, FN(multiply_add)(r.high * z, FN(sin_polynomial)(z), low)};
}

INLINE Pair FN(cos_reduced)(Pair r)
{
    double z = r.high * r.high, half = 0.5 * z;
    Pair p = FN(ordered_sum)(1.0, -half);
    p.low += FN(multiply_add)(z * z, FN(cos_polynomial)(z), -(r.high * r.low));
    return p;
}

INLINE double FN(sin_at)(FN(Angle) p, double x)
{
    Pair s = FN(sin_reduced)(p.r), c = FN(cos_reduced)(p.r);
    double f = FN(choose)(p.quadrant, c.high + c.low, s.high + s.low);
    return FN(from_bits)(FN(bits)(f) ^ ((p.quadrant << 62) & SIGN) ^ (FN(bits)(x) & SIGN));
}

INLINE double FN(cos_at)(FN(Angle) p, double x)
{
    (void)x;
    Pair s = FN(sin_reduced)(p.r), c = FN(cos_reduced)(p.r);
    double f = FN(choose)(p.quadrant, s.high + s.low, c.high + c.low);
    return FN(from_bits)(FN(bits)(f) ^ (((p.quadrant + 1) << 62) & SIGN));
}

INLINE Both FN(sin_and_cos)(double x)
{
    FN(Angle) p = FN(angle)(FN(magnitude)(x));
    return (Both){FN(sin_at)(p, x), FN(cos_at)(p, x)};
}

RARE_AS(sin_and_cos, sin)

INLINE double FN(tan_at)(FN(Angle) p, double x)
{
    Pair s = FN(sin_reduced)(p.r), c = FN(cos_reduced)(p.r);
    s = FN(ordered_sum)(s.high, s.low);
    c = FN(ordered_sum)(c.high, c.low);
    Pair above = {FN(choose)(p.quadrant, c.high, s.high), FN(choose)(p.quadrant, c.low, s.low)};
    Pair below = {FN(choose)(p.quadrant, s.high, c.high), FN(choose)(p.quadrant, s.low, c.low)};
    Pair t = FN(divide)(above, below);
    return FN(from_bits)(FN(bits)(t.high + t.low) ^ (p.quadrant << 63) ^ (FN(bits)(x) & SIGN));
}

/* The same for any a >= 1/2: a is an integer m times 2^e, and of the bits of 2/π those count that m 2^e does not take
   to multiples of 4; 256 of them leave 190 behind the closest approach of a double to a multiple of π/2. M. H. Payne and
   R. N. Hanek, SIGNUM Newsletter 18 (1983) 19-24. (The C library's own may be 14 ulps off there.) */
static FN(Angle) FN(far_angle)(double a)
{
    static const uint32_t words[] = {TWO_OVER_PI_WORDS}; /* 64 bits of 0, then those of 2/π */
    uint64_t m = (FN(bits)(a) & FRACTION) | (FRACTION + 1), carry = 0;
    int start = (int)(FN(bits)(a) >> 52) - 1075 - 2 + 64;
    uint32_t w[8], f[8]; /* the last bits first; f = m w, which is a in units of 2^-254 π/2 */
    for (int j = 0; j < 8; j++) {
        int at = start + 32 * (7 - j);
        w[j] = (uint32_t)((((uint64_t)words[at / 32] << 32) | words[at / 32 + 1]) >> (32 - at % 32));
        carry += (m & 0xffffffff) * w[j];
        f[j] = (uint32_t)carry;
        carry >>= 32;
    }
    carry = 0;
    for (int j = 0; j < 7; j++) {
        carry += (m >> 32) * w[j] + f[j + 1];
        f[j + 1] = (uint32_t)carry;
        carry >>= 32;
    }
    uint32_t above = f[7] >> 29 & 1; /* the fraction is above 1/2: what is left is negative */
    uint64_t quadrant = (f[7] >> 30) + above;
    Pair r = {0.0, 0.0};
    double unit = 0x1p-30;
    for (int j = 7; j >= 0; j--, unit *= 0x1p-32) {
        uint32_t bits = (above ? ~f[j] : f[j]) & (j == 7 ? 0x3fffffff : 0xffffffff);
        Pair s = FN(sum)(r.high, (above ? -unit : unit) * bits);
        r = (Pair){s.high, r.low + s.low};
    }
    return (FN(Angle)){quadrant, FN(multiply)(r, (Pair){HALF_PI_1, HALF_PI_2})};
}

#define ANGULAR(name)                                                                              \
    INLINE double FN(name)(double x)                                                               \
    {                                                                                              \
        return FN(name##_at)(FN(angle)(FN(magnitude)(x)), x);                                      \
    }                                                                                              \
    static double FN(far_##name)(double x)                                                         \
    {                                                                                              \
        double a = FN(magnitude)(x);                                                               \
        return a <= 0x1.fffffffffffffp+1023 ? FN(name##_at)(FN(far_angle)(a), x) : x - x;          \
    }

ANGULAR(sin)
ANGULAR(cos)
ANGULAR(tan)
#undef ANGULAR

/* ---- inverse functions */

INLINE double FN(sqrt)(double x)
{
    return sqrt(x);
}

NEVER_RARE(sqrt)

INLINE double FN(sqrt_one_minus_square)(double x)
{
    return library_sqrt_one_minus_square(x);
}

NEVER_RARE(sqrt_one_minus_square)

/* The angle between 0 and π/2 whose tangent is y/x, of y and x not negative: 0, π/4 or π/2 and the angle of y/x,
   (y - x)/(y + x) or -x/y, of which the tangent is at most tan(π/8) */
INLINE Pair FN(angle_of)(double y, double x)
{
    uint64_t far = FN(bits)(TAN_EIGHTH_PI * x - y) >> 63, steep = FN(bits)(x - TAN_EIGHTH_PI * y) >> 63;
    Pair difference = FN(sum)(y, -x), total = FN(sum)(y, x);
    Pair above = {FN(choose)(steep, -x, FN(choose)(far, difference.high, y)), 0.0};
    Pair below = {FN(choose)(steep, y, FN(choose)(far, total.high, x)), 0.0};
    above.low = FN(choose)(far ^ steep, difference.low, 0.0);
    below.low = FN(choose)(far ^ steep, total.low, 0.0);
    double from_1 = FN(choose)(steep, HALF_PI_1, FN(choose)(far, QUARTER_PI_1, 0.0));
    double from_2 = FN(choose)(steep, HALF_PI_2, FN(choose)(far, QUARTER_PI_2, 0.0));
    Pair t = FN(divide)(above, below);
    double z = t.high * t.high;
    double tail = FN(multiply_add)(t.high * z, FN(atan_polynomial)(z), t.low);
    Pair p = FN(ordered_sum)(from_1, t.high);
    p.low += tail + from_2;
    return p;
}

INLINE double FN(arctan)(double x)
{
    double a = FN(magnitude)(x);
    Pair p = FN(angle_of)(a > 0x1p+64 ? 0x1p+64 : a, 1.0);
    return FN(signed_as)(p.high + p.low, x);
}

NEVER_RARE(arctan)

INLINE double FN(arctan2)(double y, double x)
{
    Pair p = FN(angle_of)(FN(magnitude)(y), FN(magnitude)(x));
    Pair q = FN(ordered_sum)(PI_1, -p.high);
    return FN(signed_as)(FN(signed_as)(1.0, x) < 0.0 ? q.high + (q.low + (PI_2 - p.low)) : p.high + p.low, y);
}

INLINE double FN(arctan2_rare)(double y, double x)
{
    double a = FN(magnitude)(y), b = FN(magnitude)(x);
    double rare = a >= 0x1p-450 ? 0.0 : 1.0;
    rare = a <= 0x1p+450 ? rare : 1.0;
    rare = b >= 0x1p-450 ? rare : 1.0;
    return b <= 0x1p+450 ? rare : 1.0;
}

/* arcsin(s), as s + tail, for 0 <= s <= 1/2 and z = s² */
INLINE double FN(arcsin_tail)(double s, double z)
{
    return s * z * FN(asin_polynomial)(z);
}

/* What arcsin and arccos share: s and its tail for s = |x|, or s = sqrt((1 - |x|)/2) where |x| > 1/2 */
INLINE Pair FN(half_arcsin)(double a)
{
    double z = a > 0.5 ? 0.5 * (1.0 - a) : a * a;
    double root = sqrt(z);
    Pair p = FN(product)(root, root);
    double lost = ((z - p.high) - p.low) / (root + root + 0x1p-1000);
    double s = a > 0.5 ? root : a;
    return (Pair){s, FN(arcsin_tail)(s, z) + (a > 0.5 ? lost : 0.0)};
}

INLINE double FN(arcsin)(double x)
{
    double a = FN(magnitude)(x);
    Pair s = FN(half_arcsin)(a);
    Pair p = FN(ordered_sum)(HALF_PI_1, -2.0 * s.high);
    double far = p.high + (p.low + (HALF_PI_2 - 2.0 * s.low));
    return FN(signed_as)(a > 0.5 ? far : s.high + s.low, x);
}

INLINE double FN(arccos)(double x)
{
    double a = FN(magnitude)(x);
    Pair s = FN(half_arcsin)(a);
    double end_1 = x > 0.0 ? 0.0 : PI_1, end_2 = x > 0.0 ? 0.0 : PI_2;
    double from_1 = a > 0.5 ? end_1 : HALF_PI_1, from_2 = a > 0.5 ? end_2 : HALF_PI_2;
    double turn = FN(from_bits)(FN(bits)(a > 0.5 ? 2.0 : -1.0) ^ (FN(bits)(x) & SIGN));
    Pair p = FN(ordered_sum)(from_1, turn * s.high);
    return p.high + (p.low + FN(multiply_add)(turn, s.low, from_2));
}

INLINE double FN(arcsin_rare)(double x)
{
    return FN(magnitude)(x) <= 1.0 ? 0.0 : 1.0;
}

RARE_AS(arccos, arcsin)

/* ---- error functions */

/* erfc(a) for 3/4 <= a <= 28, as exp(-a²) P/(1 + 2a) */
INLINE Pair FN(erfc_far)(double a)
{
    Pair square = FN(product)(a, a);
    FN(Exponent) e = FN(exponent)(-square.high, -square.low);
    Pair s = FN(exp_reduced)(e.r);
    double t = (a - 4.0) / (a + 4.0);
    Pair p = FN(ordered_sum)(ERFCX_FIRST_1, t * FN(erfcx_polynomial)(t));
    p.low += ERFCX_FIRST_2;
    Pair q = FN(divide)(FN(multiply)(s, p), FN(sum)(1.0, 2.0 * a));
    return (Pair){FN(scaled)(q.high, e.k), FN(scaled)(q.low, e.k)};
}

INLINE double FN(erfc)(double x)
{
    double a = FN(magnitude)(x);
    Pair p = FN(erfc_far)(a > 28.0 ? 28.0 : a);
    Pair below = FN(ordered_sum)(2.0, -p.high);
    double far = x < 0.0 ? below.high + (below.low - p.low) : p.high + p.low;
    double n = a > 0.75 ? 0.75 : x;
    Pair q = FN(ordered_sum)(1.0, -n);
    double near = q.high + (q.low - n * FN(erf_polynomial)(n * n));
    return a < 0.75 ? near : far;
}

NEVER_RARE(erfc)

INLINE double FN(erf)(double x)
{
    double a = FN(magnitude)(x);
    a = a > 6.0 ? 6.0 : a;
    Pair p = FN(erfc_far)(a);
    double near = FN(multiply_add)(a, FN(erf_polynomial)(a * a), a);
    return FN(signed_as)(a < 0.75 ? near : 1.0 - (p.high + p.low), x);
}

NEVER_RARE(erf)

/* ---- loops over blocks, by vectors of the target: what is rare is found on the way, and computed again by the C
   library. The last elements go through the same loop, padded to LANES. What is rare is put together in a loop of its
   own: of both in one, GCC 13 makes no vectors for sines. */

#define LOOP1(name, library)                                                                       \
    NOCLONE static void FN(name##_block)(const double* x, double* p, int64_t n, int64_t groups)    \
    {                                                                                              \
        double r[BLOCK], is_rare[BLOCK];                                                           \
        uint64_t rare = 0;                                                                         \
        for (int64_t i = 0; i < groups * LANES; i++) {                                             \
            r[i] = FN(name)(x[i]);                                                                 \
            is_rare[i] = FN(name##_rare)(x[i]);                                                    \
        }                                                                                          \
        for (int64_t i = 0; i < groups * LANES; i++)                                               \
            rare |= FN(bits)(is_rare[i]);                                                          \
        for (int64_t i = 0; rare && i < n; i++)                                                    \
            if (FN(name##_rare)(x[i]) != 0.0)                                                      \
                r[i] = library(x[i]);                                                              \
        memcpy(p, r, (size_t)n * sizeof(double));                                                  \
    }                                                                                              \
    static void FN(name##_loop)(const double* x, double* p, int64_t n)                             \
    {                                                                                              \
        for (int64_t m; n >= LANES; x += m, p += m, n -= m) {                                      \
            m = n < BLOCK ? n / LANES * LANES : BLOCK;                                             \
            FN(name##_block)(x, p, m, m / LANES);                                                  \
        }                                                                                          \
        if (n > 0) {                                                                               \
            double padded[LANES];                                                                  \
            for (int64_t i = 0; i < LANES; i++)                                                    \
                padded[i] = x[i < n ? i : 0];                                                      \
            FN(name##_block)(padded, p, n, 1);                                                     \
        }                                                                                          \
    }

#define LOOP2(name, library)                                                                       \
    NOCLONE static void FN(name##_block)(const double* x, const double* y, double* p, int64_t n,   \
                                         int64_t groups)                                           \
    {                                                                                              \
        double r[BLOCK], is_rare[BLOCK];                                                           \
        uint64_t rare = 0;                                                                         \
        for (int64_t i = 0; i < groups * LANES; i++) {                                             \
            r[i] = FN(name)(x[i], y[i]);                                                           \
            is_rare[i] = FN(name##_rare)(x[i], y[i]);                                              \
        }                                                                                          \
        for (int64_t i = 0; i < groups * LANES; i++)                                               \
            rare |= FN(bits)(is_rare[i]);                                                          \
        for (int64_t i = 0; rare && i < n; i++)                                                    \
            if (FN(name##_rare)(x[i], y[i]) != 0.0)                                                \
                r[i] = library(x[i], y[i]);                                                        \
        memcpy(p, r, (size_t)n * sizeof(double));                                                  \
    }                                                                                              \
    static void FN(name##_loop)(const double* x, const double* y, double* p, int64_t n)            \
    {                                                                                              \
        for (int64_t m; n >= LANES; x += m, y += m, p += m, n -= m) {                              \
            m = n < BLOCK ? n / LANES * LANES : BLOCK;                                             \
            FN(name##_block)(x, y, p, m, m / LANES);                                               \
        }                                                                                          \
        if (n > 0) {                                                                               \
            double padded_x[LANES], padded_y[LANES];                                               \
            for (int64_t i = 0; i < LANES; i++) {                                                  \
                padded_x[i] = x[i < n ? i : 0];                                                    \
                padded_y[i] = y[i < n ? i : 0];                                                    \
            }                                                                                      \
            FN(name##_block)(padded_x, padded_y, p, n, 1);                                         \
        }                                                                                          \
    }

/* Two functions of one number: tanh is right where the square of sech is rare, and computed again by the same formula.
   p or q may be x, but not both. */
#define LOOP_BOTH(name, one, two, library1, library2)                                              \
    NOCLONE static void FN(name##_block)(const double* x, double* p, double* q, int64_t n,         \
                                         int64_t groups)                                           \
    {                                                                                              \
        double r[BLOCK], s[BLOCK], is_rare[BLOCK];                                                 \
        uint64_t rare = 0;                                                                         \
        for (int64_t i = 0; i < groups * LANES; i++) {                                             \
            Both found = FN(name)(x[i]);                                                           \
            r[i] = found.first;                                                                    \
            s[i] = found.second;                                                                   \
            is_rare[i] = FN(name##_rare)(x[i]);                                                    \
        }                                                                                          \
        for (int64_t i = 0; i < groups * LANES; i++)                                               \
            rare |= FN(bits)(is_rare[i]);                                                          \
        for (int64_t i = 0; rare && i < n; i++)                                                    \
            if (FN(name##_rare)(x[i]) != 0.0) {                                                    \
                r[i] = library1(x[i]);                                                             \
                s[i] = library2(x[i]);                                                             \
            }                                                                                      \
        memcpy(p, r, (size_t)n * sizeof(double));                                                  \
        memcpy(q, s, (size_t)n * sizeof(double));                                                  \
    }                                                                                              \
    static void FN(name##_loop)(const double* x, double* p, double* q, int64_t n)                  \
    {                                                                                              \
        for (int64_t m; n >= LANES; x += m, p += m, q += m, n -= m) {                              \
            m = n < BLOCK ? n / LANES * LANES : BLOCK;                                             \
            FN(name##_block)(x, p, q, m, m / LANES);                                               \
        }                                                                                          \
        if (n > 0) {                                                                               \
            double padded[LANES];                                                                  \
            for (int64_t i = 0; i < LANES; i++)                                                    \
                padded[i] = x[i < n ? i : 0];                                                      \
            FN(name##_block)(padded, p, q, n, 1);                                                  \
        }                                                                                          \
    }

FUNCTIONS1(LOOP1)
FUNCTIONS2(LOOP2)
FUNCTIONS_BOTH(LOOP_BOTH)

#define ROW(name, library) {#name, FN(name##_loop)},
static const Row1 FN(rows1)[] = {FUNCTIONS1(ROW){NULL, NULL}};
static const Row2 FN(rows2)[] = {FUNCTIONS2(ROW){NULL, NULL}};
#define ROW_BOTH(name, one, two, library1, library2) {FN(one##_loop), FN(two##_loop), FN(name##_loop)},
static const RowBoth FN(rows_both)[] = {FUNCTIONS_BOTH(ROW_BOTH){NULL, NULL, NULL}};

#undef LOOP1
#undef LOOP2
#undef LOOP_BOTH
#undef ROW_BOTH
#undef ROW
#undef NEVER_RARE
#undef RARE_AS
