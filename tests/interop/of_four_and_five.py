"""Test problems of Hock and Schittkowski of four and five unknowns."""

from __future__ import annotations

import numpy as np
from interop.published import Problem
from numpy import exp, sin, sqrt
from scipy.special import ndtr


def inspection(number, scale, price, n, optimum):
    """The cost of sampling n items, 68 and 69."""
    return Problem(
        number,
        (1, 1, 1, 1),
        lambda a, b, c, d: (scale * n - (price * (exp(a) - 1) - c) / (exp(a) - 1 + d) * d) / a,
        optimum,
        lambda a, b, c, d: [c - 2 * ndtr(-b), d - ndtr(-b + sqrt(n)) - ndtr(-b - sqrt(n))],
        None,
        (1e-4, 0, 0, 0),
        (100, 100, 2, 2),
    )


def with_two_angles(limit, optimum, number):
    """Two generators in a net, 74 and 75."""
    return Problem(
        number,
        (0, 0, 0, 0),
        lambda a, b, c, d: 3 * a + 1e-6 * a**3 + 2 * b + 2e-6 / 3 * b**3,
        optimum,
        lambda a, b, c, d: [
            1000 * sin(-c - 0.25) + 1000 * sin(-d - 0.25) + 894.8 - a,
            1000 * sin(c - 0.25) + 1000 * sin(c - d - 0.25) + 894.8 - b,
            1000 * sin(d - 0.25) + 1000 * sin(d - c - 0.25) + 1294.8,
        ],
        lambda a, b, c, d: [d - c + limit, c - d + limit],
        (0, 0, -limit, -limit),
        (1200, 1200, limit, limit),
    )


OF_FOUR = [
    Problem(
        38,
        (-3, -1, -3, -1),
        lambda a, b, c, d: (
            100 * (b - a**2) ** 2
            + (1 - a) ** 2
            + 90 * (d - c**2) ** 2
            + (1 - c) ** 2
            + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2)
            + 19.8 * (b - 1) * (d - 1)
        ),
        0,
        low=-10,
        high=10,
    ),
    Problem(39, (2, 2, 2, 2), lambda a, b, c, d: -a, -1, lambda a, b, c, d: [b - a**3 - c**2, a**2 - b - d**2]),
    Problem(
        40,
        (0.8, 0.8, 0.8, 0.8),
        lambda a, b, c, d: -a * b * c * d,
        -0.25,
        lambda a, b, c, d: [a**3 + b**2 - 1, a**2 * d - c, d**2 - b],
    ),
    Problem(
        41,
        (2, 2, 2, 2),
        lambda a, b, c, d: 2 - a * b * c,
        52 / 27,
        lambda a, b, c, d: a + 2 * b + 2 * c - d,
        None,
        0,
        (1, 1, 1, 2),
    ),
    Problem(
        42,
        (1, 1, 1, 1),
        lambda a, b, c, d: (a - 1) ** 2 + (b - 2) ** 2 + (c - 3) ** 2 + (d - 4) ** 2,
        28 - 10 * sqrt(2),
        lambda a, b, c, d: [a - 2, c**2 + d**2 - 2],
    ),
    Problem(
        43,
        (0, 0, 0, 0),
        lambda a, b, c, d: a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d,
        -44,
        None,
        lambda a, b, c, d: [
            8 - a**2 - b**2 - c**2 - d**2 - a + b - c + d,
            10 - a**2 - 2 * b**2 - c**2 - 2 * d**2 + a + d,
            5 - 2 * a**2 - b**2 - c**2 - 2 * a + b + d,
        ],
    ),
    Problem(
        44,
        (0, 0, 0, 0),
        lambda a, b, c, d: a - b - c - a * c + a * d + b * c - b * d,
        -15,
        None,
        lambda a, b, c, d: [
            8 - a - 2 * b,
            12 - 4 * a - b,
            12 - 3 * a - 4 * b,
            8 - 2 * c - d,
            8 - c - 2 * d,
            5 - c - d,
        ],
        0,
    ),
    inspection(68, 1e-4, 1, 24, -0.920425026),
    inspection(69, 0.1, 1000, 4, -956.71288),
    Problem(
        71,
        (1, 5, 5, 1),
        lambda a, b, c, d: a * d * (a + b + c) + c,
        17.0140173,
        lambda a, b, c, d: a**2 + b**2 + c**2 + d**2 - 40,
        lambda a, b, c, d: a * b * c * d - 25,
        1,
        5,
    ),
    Problem(
        72,
        (1, 1, 1, 1),
        lambda a, b, c, d: 1 + a + b + c + d,
        727.67937,
        None,
        lambda a, b, c, d: [
            0.0401 - 4 / a - 2.25 / b - 1 / c - 0.25 / d,
            0.010085 - 0.16 / a - 0.36 / b - 0.64 / c - 0.64 / d,
        ],
        0.001,
        (4e5, 3e5, 2e5, 1e5),
    ),
    Problem(
        73,
        (1, 1, 1, 1),
        lambda a, b, c, d: 24.55 * a + 26.75 * b + 39 * c + 40.5 * d,
        29.894378,
        lambda a, b, c, d: a + b + c + d - 1,
        lambda a, b, c, d: [
            2.3 * a + 5.6 * b + 11.1 * c + 1.3 * d - 5,
            12 * a
            + 11.9 * b
            + 41.8 * c
            + 52.1 * d
            - 1.645 * sqrt(0.28 * a**2 + 0.19 * b**2 + 20.5 * c**2 + 0.62 * d**2)
            - 21,
        ],
        0,
    ),
    with_two_angles(0.55, 5126.4981, 74),
    with_two_angles(0.48, 5174.4129, 75),
    Problem(
        76,
        (0.5, 0.5, 0.5, 0.5),
        lambda a, b, c, d: a**2 + 0.5 * b**2 + c**2 + 0.5 * d**2 - a * c + c * d - a - 3 * b + c - d,
        -4.681818181,
        None,
        lambda a, b, c, d: [5 - a - 2 * b - c - d, 4 - 3 * a - b - 2 * c + d, b + 4 * c - 1.5],
        0,
    ),
]


def two_sums(a, b, c, d, e):
    """The constraints of 52 and 53."""
    return [a + 3 * b, c + d - 2 * e, b - e]


def four_squares(a, b, c, d, e):
    """The function of 51 and 53."""
    return (a - b) ** 2 + (b + c - 2) ** 2 + (d - 1) ** 2 + (e - 1) ** 2


def of_powell(a, b, c, d, e):
    """The constraints of 78, 80 and 81."""
    return [a**2 + b**2 + c**2 + d**2 + e**2 - 10, b * c - 5 * d * e, a**3 + b**3 + 1]


def within(values, ends):
    """The values less the lower ends, and the upper ends less the values."""
    low, high = np.transpose(ends)
    values = np.stack(values)
    return np.concatenate([values - low, high - values])


def of_colville(a, b, c, d, e):
    """The constraints of 83."""
    return within(
        [
            85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e,
            80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c**2,
            9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d,
        ],
        [(0, 92), (90, 110), (20, 25)],
    )


LOW_80, HIGH_80 = (-2.3, -2.3, -3.2, -3.2, -3.2), (2.3, 2.3, 3.2, 3.2, 3.2)

OF_FIVE = [
    Problem(
        45,
        (2, 2, 2, 2, 2),
        lambda a, b, c, d, e: 2 - a * b * c * d * e / 120,
        1,
        low=0,
        high=(1, 2, 3, 4, 5),
    ),
    Problem(
        46,
        (sqrt(2) / 2, 1.75, 0.5, 2, 2),
        lambda a, b, c, d, e: (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6,
        0,
        lambda a, b, c, d, e: [a**2 * d + sin(d - e) - 1, b + c**4 * d**2 - 2],
    ),
    Problem(
        48,
        (3, 5, -3, 2, -2),
        lambda a, b, c, d, e: (a - 1) ** 2 + (b - c) ** 2 + (d - e) ** 2,
        0,
        lambda a, b, c, d, e: [a + b + c + d + e - 5, c - 2 * (d + e) + 3],
    ),
    Problem(
        49,
        (10, 7, 2, -3, 0.8),
        lambda a, b, c, d, e: (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6,
        0,
        lambda a, b, c, d, e: [a + b + c + 4 * d - 7, c + 5 * e - 6],
    ),
    Problem(
        50,
        (35, -31, 11, 5, -5),
        lambda a, b, c, d, e: (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 2,
        0,
        lambda a, b, c, d, e: [a + 2 * b + 3 * c - 6, b + 2 * c + 3 * d - 6, c + 2 * d + 3 * e - 6],
    ),
    Problem(
        51,
        (2.5, 0.5, 2, -1, 0.5),
        four_squares,
        0,
        lambda a, b, c, d, e: [a + 3 * b - 4, c + d - 2 * e, b - e],
    ),
    Problem(
        52,
        (2, 2, 2, 2, 2),
        lambda a, b, c, d, e: (4 * a - b) ** 2 + (b + c - 2) ** 2 + (d - 1) ** 2 + (e - 1) ** 2,
        1859 / 349,
        two_sums,
    ),
    Problem(53, (2, 2, 2, 2, 2), four_squares, 176 / 43, two_sums, None, -10, 10),
    Problem(
        77,
        (2, 2, 2, 2, 2),
        lambda a, b, c, d, e: (a - 1) ** 2 + (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6,
        0.24150513,
        lambda a, b, c, d, e: [a**2 * d + sin(d - e) - 2 * sqrt(2), b + c**4 * d**2 - 8 - sqrt(2)],
    ),
    Problem(78, (-2, 1.5, 2, -1, -1), lambda a, b, c, d, e: a * b * c * d * e, -2.91970041, of_powell),
    Problem(
        79,
        (2, 2, 2, 2, 2),
        lambda a, b, c, d, e: (a - 1) ** 2 + (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 4,
        0.0787768209,
        lambda a, b, c, d, e: [
            a + b**2 + c**3 - 2 - 3 * sqrt(2),
            b - c**2 + d + 2 - 2 * sqrt(2),
            a * e - 2,
        ],
    ),
    Problem(
        80,
        (-2, 2, 2, -1, -1),
        lambda a, b, c, d, e: exp(a * b * c * d * e),
        0.0539498478,
        of_powell,
        None,
        LOW_80,
        HIGH_80,
    ),
    Problem(
        81,
        (-2, 2, 2, -1, -1),
        lambda a, b, c, d, e: exp(a * b * c * d * e) - 0.5 * (a**3 + b**3 + 1) ** 2,
        0.0539498478,
        of_powell,
        None,
        LOW_80,
        HIGH_80,
    ),
    Problem(
        83,
        (78, 33, 27, 27, 27),
        lambda a, b, c, d, e: 5.3578547 * c**2 + 0.8356891 * a * e + 37.293239 * a - 40792.141,
        -30665.53867,
        None,
        of_colville,
        (78, 33, 27, 27, 27),
        (102, 45, 45, 45, 45),
    ),
]
