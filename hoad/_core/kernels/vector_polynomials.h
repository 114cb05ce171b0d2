/* Made by tools/minimax.py: change that, not this. */

#define LOG2_E 0x1.71547652b82fep+0
#define LN2_1 0x1.62e42fefa3800p-1
#define LN2_2 0x1.ef35793c76730p-45
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_1 0x1.921fb54442d18p+0
#define HALF_PI_2 0x1.1a62633145c07p-54
#define HALF_PI_PART_1 0x1.921fb54400000p+0
#define HALF_PI_PART_2 0x1.0b4611a600000p-34
#define HALF_PI_PART_3 0x1.3198a2e037073p-69
#define PI_1 0x1.921fb54442d18p+1
#define PI_2 0x1.1a62633145c07p-53
#define QUARTER_PI_1 0x1.921fb54442d18p-1
#define QUARTER_PI_2 0x1.1a62633145c07p-55
#define TWO_THIRDS_1 0x1.5555555555555p-1
#define TWO_THIRDS_2 0x1.5555555555555p-55

#define TWO_OVER_PI_WORDS \
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, \
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, \
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, \
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, \
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, \
    0xf0cfbc20, 0x9af4361d, 0xa9e39161, 0x5ee61b08

#define HORNER2(a, b) FN(multiply_add)(a, w, b)
#define HORNER3(a, b, c) HORNER2(HORNER2(a, b), c)
#define HORNER4(a, b, c, d) HORNER3(HORNER2(a, b), c, d)
#define HORNER5(a, b, c, d, e) HORNER4(HORNER2(a, b), c, d, e)
#define HORNER6(a, b, c, d, e, f) HORNER5(HORNER2(a, b), c, d, e, f)
#define HORNER10(a, b, c, d, e, f, g, h, i, j) HORNER6(HORNER5(a, b, c, d, e), f, g, h, i, j)

/* exp(r) = 1 + r + r² P(r), |r| <= log(2)/2: error 2^-60.32 */
INLINE double FN(exp_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER6(0x1.1e3cc97d6c6aep-29, 0x1.27e5b484a4cbep-22, 0x1.a01a013675a76p-16, 0x1.6c16c16c304c4p-10,
                          0x1.5555555555503p-5, 0x1.0000000000000p-1);
    double odd = HORNER5(0x1.af6be94133f97p-26, 0x1.71ddf0201153fp-19, 0x1.a01a01b37e7cap-13, 0x1.111111110ec5dp-7,
                         0x1.555555555555bp-3);
    return FN(multiply_add)(odd, z, even);
}

/* cosh(r) = 1 + z P(z), z = r², |r| <= log(2)/2: error 2^-64.42 */
INLINE double FN(cosh_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER3(0x1.27e4c53f359b7p-22, 0x1.6c16c16c13fa3p-10, 0x1.0000000000000p-1);
    double odd = HORNER3(0x1.1f94eea12c67dp-29, 0x1.a01a01b15eac9p-16, 0x1.555555555555cp-5);
    return FN(multiply_add)(odd, z, even);
}

/* sinh(r) = r + r z P(z), z = r², |r| <= log(2)/2: error 2^-60.72 */
INLINE double FN(sinh_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER3(0x1.af5ec65cc2914p-26, 0x1.a01a01afe6a92p-13, 0x1.5555555555559p-3);
    double odd = HORNER2(0x1.71ddf84f959bap-19, 0x1.111111110f6abp-7);
    return FN(multiply_add)(odd, z, even);
}

/* sin(r) = r + r z P(z), z = r², |r| <= π/4: error 2^-57.25 */
INLINE double FN(sin_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER3(-0x1.ae5e666b7d17cp-26, -0x1.a01a019c11eebp-13, -0x1.5555555555549p-3);
    double odd = HORNER3(0x1.5d930de128ef4p-33, 0x1.71de3577facb0p-19, 0x1.111111110f87dp-7);
    return FN(multiply_add)(odd, z, even);
}

/* cos(r) = 1 - z/2 + z² P(z), z = r², |r| <= π/4: error 2^-59.91 */
INLINE double FN(cos_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER3(0x1.1ee9ebedc1fa2p-29, 0x1.a01a019cb1cabp-16, 0x1.555555555554cp-5);
    double odd = HORNER3(-0x1.8fae9e8512a01p-37, -0x1.27e4f809f87f9p-22, -0x1.6c16c16c1517ep-10);
    return FN(multiply_add)(odd, z, even);
}

/* log((1 + s)/(1 - s)) = 2s + s z P(z), z = s², |s| <= (√2 - 1)/(√2 + 1): error 2^-58.94 */
INLINE double FN(log_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER4(0x1.2f06a9c9b64eep-3, 0x1.74663ffb2f024p-3, 0x1.24924941f671ep-2, 0x1.5555555555592p-1);
    double odd = HORNER3(0x1.39a19ca11d3dap-3, 0x1.c71c520499237p-3, 0x1.999999997fd60p-2);
    return FN(multiply_add)(odd, z, even);
}

/* log((1 + s)/(1 - s)) = 2s + s z (2/3 + z P(z)), z = s², |s| <= (√2 - 1)/(√2 + 1): error 2^-66.3 */
INLINE double FN(log_tail_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER4(0x1.de332e8849196p-4, 0x1.3b1362abca988p-3, 0x1.c71c71c580223p-3, 0x1.9999999999996p-2);
    double odd = HORNER4(0x1.eb135181bd72cp-4, 0x1.1120b7393401ap-3, 0x1.745d1832774c4p-3, 0x1.2492492493037p-2);
    return FN(multiply_add)(odd, z, even);
}

/* arctan(t) = t + t z P(z), z = t², |t| <= √2 - 1: error 2^-58.54 */
INLINE double FN(atan_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER6(-0x1.2597e86a1adc4p-6, -0x1.9cdb3dd30b533p-5, -0x1.10ebda52af4d6p-4, -0x1.745cf9075759dp-4,
                          -0x1.24924922b0d78p-3, -0x1.555555555553dp-2);
    double odd = HORNER5(0x1.37eadd45dc8a5p-5, 0x1.df113591c2306p-5, 0x1.3b111c1db8e04p-4, 0x1.c71c70e7830d2p-4,
                         0x1.99999999958e1p-3);
    return FN(multiply_add)(odd, z, even);
}

/* arcsin(s) = s + s z P(z), z = s², |s| <= 1/2: error 2^-55.59 */
INLINE double FN(asin_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER6(-0x1.0b7a3269aebfep-6, 0x1.aa3c24277b49cp-8, 0x1.c6f67a351d7c6p-7, 0x1.6e89edd540084p-6,
                          0x1.6db6db41a0950p-5, 0x1.5555555555384p-3);
    double odd = HORNER6(0x1.05fcded4e8208p-5, 0x1.41054c7e44cd4p-6, 0x1.8ef22dd342423p-7, 0x1.1c6c4133117b8p-6,
                         0x1.f1c72c7e57e05p-6, 0x1.333333336fd5ap-4);
    return FN(multiply_add)(odd, z, even);
}

/* erf(x) = x + x P(z), z = x², |x| <= 3/4: error 2^-55.09 */
INLINE double FN(erf_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER6(0x1.8a45eff78c0b8p-27, 0x1.b90f5c27c0ec9p-20, 0x1.f9a2b03e64e7fp-14, 0x1.565bcd037d196p-8,
                          0x1.ce2f21a0424dap-4, 0x1.06eba8214db69p-3);
    double odd = HORNER5(-0x1.565322f0127d0p-23, -0x1.f4c5eab34be77p-17, -0x1.c02db126e4943p-11, -0x1.b82ce31257c57p-6,
                         -0x1.812746b0379e0p-2);
    return FN(multiply_add)(odd, z, even);
}

/* (1 + 2x) exp(x²) erfc(x) = FIRST + t P(t), t = (x - 4)/(x + 4), 3/4 <= x <= 28: error 2^-56.04 */
#define ERFCX_FIRST_1 0x1.3ba5916e9fd7fp+0
#define ERFCX_FIRST_2 -0x1.d44b9528128aap-55
INLINE double FN(erfcx_polynomial)(double z)
{
    double w = z * z;
    double even = HORNER10(0x1.5443fbb5609f1p-24, -0x1.aa255a4d4228cp-21, 0x1.7dea42605d6a6p-18, -0x1.993c18cbec854p-16,
                           -0x1.a1dfffed1b302p-13, 0x1.49c67389377d7p-8, 0x1.3079edf399285p-5, 0x1.7fee004e24ee2p-4,
                           0x1.16ecefcfa4cb6p-4, -0x1.1df1ad154a288p-3);
    double odd = HORNER10(-0x1.4155db6c4d04ap-26, 0x1.622edccc94b53p-24, 0x1.30dd5a4c67bddp-22, -0x1.785882fda8947p-17,
                          0x1.3bdf3f3c24cb8p-13, -0x1.8d4a8c2f45a82p-11, -0x1.0962389341c07p-6, -0x1.0fb06dfe06bd8p-4,
                          -0x1.9ddb23c3eb806p-4, 0x1.f7f5df66fdc29p-7);
    return FN(multiply_add)(odd, z, even);
}
