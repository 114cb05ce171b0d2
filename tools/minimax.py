"""The polynomials of the vector kernels: `python tools/minimax.py > hoad/_core/kernels/vector_coefficients.h`.

Each is the polynomial of least error by the second algorithm of Remez [1]_, found at 50 digits and rounded to doubles.
The error that the header states is that of the rounded coefficients, evaluated exactly, in the scale that counts: the
distance from the function divided by the function.

References
----------
.. [1] J.-M. Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., 2018, section 10.3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from mpmath import mp, mpf

mp.dps = 50

Real = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Fit:
    """The polynomial P in z of `terms` coefficients closest to f on [low, high], where an error counts by `weight`."""

    name: str
    says: str
    f: Real
    weight: Real
    low: mpf
    high: mpf
    terms: int
    first_in_two: bool = False  # whether the constant is a sum of two doubles


def remez(fit: Fit) -> list[mpf]:
    """Coefficients, from the constant up."""
    n = fit.terms
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    points = [middle - half * mp.cos(mp.pi * k / n) for k in range(n + 1)]
    grid = [middle - half * mp.cos(mp.pi * k / (20 * n)) for k in range(20 * n + 1)]
    floor = (
        max(map(fit.weight, grid)) / 10**4
    )  # where the weight vanishes, the error is free, but not the matrix regular
    sampled = {x: (fit.f(x), max(fit.weight(x), floor)) for x in [*grid, *points]}
    for _ in range(12):
        signs = [(-1) ** k / sampled[x][1] for k, x in enumerate(points)]
        rows = [[*((x - middle) ** j for j in range(n)), sign] for x, sign in zip(points, signs, strict=True)]
        solved = list(mp.lu_solve(mp.matrix(rows), mp.matrix([sampled[x][0] for x in points])))
        shifted, level = solved[:n], abs(solved[n])
        errors = [(w * (f - mp.polyval(shifted[::-1], x - middle)), x) for x, (f, w) in sorted(sampled.items())]
        points, worst = extrema(errors, n + 1)
        if worst < level * (1 + mpf("1e-3")):
            break
    return expanded(shifted, middle)


def extrema(errors: list[tuple[mpf, mpf]], count: int) -> tuple[list[mpf], mpf]:
    """Where the error is greatest between its changes of sign, and how great it is at most."""
    found: list[tuple[mpf, mpf]] = []
    for error, x in errors:
        if found and (error > 0) == (found[-1][0] > 0):
            if abs(error) > abs(found[-1][0]):
                found[-1] = (error, x)
        else:
            found.append((error, x))
    while len(found) > count:
        found.pop(0 if abs(found[0][0]) < abs(found[-1][0]) else -1)
    assert len(found) == count, "the error does not alternate"
    return [x for _, x in found], max(abs(error) for error, _ in found)


def expanded(shifted: list[mpf], middle: mpf) -> list[mpf]:
    """Coefficients in x of a polynomial in x - middle, by Horner's rule."""
    out = [shifted[-1]]
    for c in reversed(shifted[:-1]):
        out = [a - middle * b for a, b in zip([mpf(0), *out], [*out, mpf(0)], strict=True)]
        out[0] += c
    return out


def series(z: mpf, coefficient: Callable[[int], mpf]) -> mpf:
    """Σ coefficient(k) zᵏ, for z below 0.7: closed forms cancel near 0."""
    return mp.fsum(coefficient(k) * z**k for k in range(400 if abs(z) > 0.3 else 120))


def erfcx(t: mpf) -> mpf:
    """(1 + 2x) exp(x²) erfc(x) at t = (x - 4)/(x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


HALF_LN2 = mp.log(2) / 2 * mpf("1.0001")
QUARTER_PI = mp.pi / 4 * mpf("1.0001")
S_MAX = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mpf("1.0001")
T_MAX = (mp.sqrt(2) - 1) * mpf("1.0001")

FITS = [
    Fit(
        "exp",
        "exp(r) = 1 + r + r² P(r), |r| <= log(2)/2",
        lambda r: series(r, lambda k: 1 / mp.factorial(k + 2)),
        lambda r: r * r / mp.exp(r),
        -HALF_LN2,
        HALF_LN2,
        11,
    ),
    Fit(
        "cosh",
        "cosh(r) = 1 + z P(z), z = r², |r| <= log(2)/2",
        lambda z: series(z, lambda k: 1 / mp.factorial(2 * k + 2)),
        lambda z: z / mp.cosh(mp.sqrt(z)),
        mpf(0),
        HALF_LN2**2,
        6,
    ),
    Fit(
        "sinh",
        "sinh(r) = r + r z P(z), z = r², |r| <= log(2)/2",
        lambda z: series(z, lambda k: 1 / mp.factorial(2 * k + 3)),
        lambda z: z,
        mpf(0),
        HALF_LN2**2,
        5,
    ),
    Fit(
        "sin",
        "sin(r) = r + r z P(z), z = r², |r| <= π/4",
        lambda z: series(z, lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3)),
        lambda z: z,
        mpf(0),
        QUARTER_PI**2,
        6,
    ),
    Fit(
        "cos",
        "cos(r) = 1 - z/2 + z² P(z), z = r², |r| <= π/4",
        lambda z: series(z, lambda k: (-1) ** k / mp.factorial(2 * k + 4)),
        lambda z: z * z,
        mpf(0),
        QUARTER_PI**2,
        6,
    ),
    Fit(
        "log",
        "log((1 + s)/(1 - s)) = 2s + s z P(z), z = s², |s| <= (√2 - 1)/(√2 + 1)",
        lambda z: series(z, lambda k: mpf(2) / (2 * k + 3)),
        lambda z: z / 2,
        mpf(0),
        S_MAX**2,
        7,
    ),
    Fit(
        "log_tail",
        "log((1 + s)/(1 - s)) = 2s + s z (2/3 + z P(z)), z = s², |s| <= (√2 - 1)/(√2 + 1)",
        lambda z: series(z, lambda k: mpf(2) / (2 * k + 5)),
        lambda z: z * z / 2,
        mpf(0),
        S_MAX**2,
        8,
    ),
    Fit(
        "atan",
        "arctan(t) = t + t z P(z), z = t², |t| <= √2 - 1",
        lambda z: series(z, lambda k: (-1) ** (k + 1) / mpf(2 * k + 3)),
        lambda z: z,
        mpf(0),
        T_MAX**2,
        11,
    ),
    Fit(
        "asin",
        "arcsin(s) = s + s z P(z), z = s², |s| <= 1/2",
        lambda z: series(z, lambda k: mp.binomial(2 * k + 2, k + 1) / mpf(4) ** (k + 1) / (2 * k + 3)),
        lambda z: z,
        mpf(0),
        mpf("0.2501"),
        12,
    ),
    Fit(
        "erf",
        "erf(x) = x + x P(z), z = x², |x| <= 3/4",
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z else 2 / mp.sqrt(mp.pi) - 1,
        lambda z: mpf(1),
        mpf(0),
        mpf("0.5626"),
        11,
    ),
    Fit(
        "erfcx",
        "(1 + 2x) exp(x²) erfc(x) = FIRST + t P(t), t = (x - 4)/(x + 4), 3/4 <= x <= 28",
        erfcx,
        lambda t: mpf(1),
        mpf(-13) / 19,
        mpf(3) / 4,
        21,
        first_in_two=True,
    ),
]


CONSTANTS = {
    "LOG2_E": (1 / mp.log(2), (53,)),
    "LN2": (mp.log(2), (42, 53)),
    "TWO_OVER_PI": (2 / mp.pi, (53,)),
    "HALF_PI": (mp.pi / 2, (53, 53)),
    "HALF_PI_PART": (mp.pi / 2, (33, 33, 53)),
    "PI": (mp.pi, (53, 53)),
    "QUARTER_PI": (mp.pi / 4, (53, 53)),
    "TWO_THIRDS": (mpf(2) / 3, (53, 53)),
}


def parts(value: mpf, bits: tuple[int, ...]) -> list[float]:
    """Doubles of so many bits each (cut off, but the last rounded), that sum to the value."""
    out = []
    for n in bits:
        scale = mpf(2) ** (n - 1 - mp.floor(mp.log(abs(value), 2)))
        out.append(float(value if n == 53 else mp.floor(value * scale) / scale))
        value -= out[-1]
    return out


def constant(name: str) -> str:
    found = parts(*CONSTANTS[name])
    names = [name] if len(found) == 1 else [f"{name}_{k}" for k in range(1, len(found) + 1)]
    return "\n".join(f"#define {n} {c.hex()}" for n, c in zip(names, found, strict=True))


def words(value: Callable[[], mpf], zeros: int, count: int) -> str:
    """`count` words of 32 bits: `zeros` bits of 0, then the bits of a number below 1."""
    with mp.workprec(32 * count + 64):
        bits = int(mp.floor(value() * mpf(2) ** (32 * count - zeros)))
    found = [f"0x{(bits >> 32 * (count - 1 - k)) & 0xFFFFFFFF:08x}" for k in range(count)]
    lines = [", ".join(found[k : k + 8]) for k in range(0, count, 8)]
    return ", \\\n    ".join(lines)


def function(fit: Fit) -> str:
    """The C function of one polynomial, with its error: even and odd powers by Horner's rule.

    The two do not wait for each other, so a processor that looks ahead over 100 instructions is kept busy.
    The error is that of the coefficients as they are rounded, in `points` between those of the fit.
    """
    exact = remez(fit)
    coefficients = [float(c) for c in exact]
    used = [mpf(c) for c in coefficients]
    out = []
    if fit.first_in_two:
        low = float(exact[0] - coefficients[0])
        used[0] += low
        first = coefficients.pop(0)
        out += [f"#define {fit.name.upper()}_FIRST_1 {first.hex()}", f"#define {fit.name.upper()}_FIRST_2 {low.hex()}"]
    points = [fit.low + (fit.high - fit.low) * (k + mpf("0.37")) / 500 for k in range(500)]
    error = max(abs(fit.weight(x) * (fit.f(x) - mp.polyval(used[::-1], x))) for x in points)
    return "\n".join(
        [
            f"/* {fit.says}: error 2^{mp.nstr(mp.log(error, 2), 4)} */",
            *out,
            f"INLINE double FN({fit.name}_polynomial)(double z)",
            "{",
            "    double w = z * z;",
            *horner("even", coefficients[0::2]),
            *horner("odd", coefficients[1::2]),
            "    return FN(multiply_add)(odd, z, even);",
            "}",
        ]
    )


def horner(name: str, coefficients: list[float]) -> list[str]:
    """The statement for a polynomial in w, four coefficients in a line."""
    start = f"    double {name} = HORNER{len(coefficients)}("
    texts = [c.hex() for c in reversed(coefficients)]
    lines = [", ".join(texts[k : k + 4]) for k in range(0, len(texts), 4)]
    return [start + f",\n{' ' * len(start)}".join(lines) + ");"]


# By Horner's rule, of as many coefficients as polynomials in w have here.
HORNER = """\
#define HORNER2(a, b) FN(multiply_add)(a, w, b)
#define HORNER3(a, b, c) HORNER2(HORNER2(a, b), c)
#define HORNER4(a, b, c, d) HORNER3(HORNER2(a, b), c, d)
#define HORNER5(a, b, c, d, e) HORNER4(HORNER2(a, b), c, d, e)
#define HORNER6(a, b, c, d, e, f) HORNER5(HORNER2(a, b), c, d, e, f)
#define HORNER10(a, b, c, d, e, f, g, h, i, j) HORNER6(HORNER5(a, b, c, d, e), f, g, h, i, j)"""


def main() -> None:
    out = ["/* Made by tools/minimax.py: change that, not this. */", "\n".join(map(constant, CONSTANTS))]
    out.append("#define TWO_OVER_PI_WORDS \\\n    " + words(lambda: 2 / mp.pi, 64, 44))
    out.append(HORNER)
    out += [function(fit) for fit in FITS]
    sys.stdout.write("\n\n".join(out) + "\n")


if __name__ == "__main__":
    main()
