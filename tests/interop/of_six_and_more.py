"""Test problems of Hock and Schittkowski of six unknowns and more, and 86 of five that 117 is dual to."""

from __future__ import annotations

import numpy as np
from interop.published import Problem
from numpy import arcsin, exp, log, sin, sqrt

A_86 = np.array(
    [
        [-16, 2, 0, 1, 0],
        [0, -2, 0, 4, 2],
        [-3.5, 0, 2, 0, 0],
        [0, -2, 0, -4, -1],
        [0, -9, -2, 1, -2.8],
        [2, 0, -4, 0, 0],
        [-1, -1, -1, -1, -1],
        [-1, -2, -3, -2, -1],
        [1, 2, 3, 4, 5],
        [1, 1, 1, 1, 1],
    ]
)
B_86 = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])
C_86 = np.array(
    [
        [30, -20, -10, 32, -10],
        [-20, 39, -6, -31, 32],
        [-10, -6, 10, -6, -10],
        [32, -31, -6, 39, -20],
        [-10, 32, -10, -20, 30],
    ]
)
D_86, E_86 = np.array([4, 8, 10, 6, 2]), np.array([-15, -27, -36, -18, -12])


def of_86(*x):
    x = np.stack(x)
    return E_86 @ x + x @ C_86 @ x + D_86 @ x**3


def of_117(*x):
    x, y = np.stack(x[:10]), np.stack(x[10:])
    return -B_86 @ x + y @ C_86 @ y + 2 * D_86 @ y**3


def dual_of_117(*x):
    x, y = np.stack(x[:10]), np.stack(x[10:])
    return 2 * C_86 @ y + 3 * D_86 * y**2 + E_86 - A_86.T @ x


def transformer(a, b, c, d, e, f):
    """The constraints of 93."""
    return [
        0.001 * a * b * c * d * e * f - 2.07,
        1 - 0.00062 * a * d * e**2 * (a + b + c) - 0.00058 * b * c * f**2 * (a + 1.57 * b + d),
    ]


def blended(number, right, optimum):
    """The problems 95 to 98."""

    def left(a, b, c, d, e, f):
        return [
            17.1 * a
            + 38.2 * b
            + 204.2 * c
            + 212.3 * d
            + 623.4 * e
            + 1495.5 * f
            - 169 * a * c
            - 3580 * c * e
            - 3810 * d * e
            - 18500 * d * f
            - 24300 * e * f
            - right[0],
            17.9 * a
            + 36.8 * b
            + 113.9 * c
            + 169.7 * d
            + 337.8 * e
            + 1385.2 * f
            - 139 * a * c
            - 2450 * d * e
            - 16600 * d * f
            - 17200 * e * f
            - right[1],
            -273 * b - 70 * d - 819 * e + 26000 * d * e - right[2],
            159.9 * a - 311 * b + 587 * d + 391 * e + 2198 * f - 14000 * a * f - right[3],
        ]

    return Problem(
        number,
        (0,) * 6,
        lambda a, b, c, d, e, f: 4.3 * a + 31.8 * b + 63.3 * c + 15.8 * d + 68.5 * e + 4.7 * f,
        optimum,
        None,
        left,
        0,
        (0.31, 0.046, 0.068, 0.042, 0.028, 0.0134),
    )


def of_100(a, b, c, d, e, f, g):
    return (
        (a - 10) ** 2
        + 5 * (b - 12) ** 2
        + c**4
        + 3 * (d - 11) ** 2
        + 10 * e**6
        + 7 * f**2
        + g**4
        - 4 * f * g
        - 10 * f
        - 8 * g
    )


def reactors(a, b, c, d, e, f, g, h):
    """The function of 104."""
    return 0.4 * (a / g) ** 0.67 + 0.4 * (b / h) ** 0.67 + 10 - a - b


def exchangers(a, b, c, d, e, f, g, h):
    """The constraints of 106."""
    return [
        1 - 0.0025 * (d + f),
        1 - 0.0025 * (e + g - d),
        1 - 0.01 * (h - e),
        a * f - 833.33252 * d - 100 * a + 83333.333,
        b * g - 1250 * e - b * d + 1250 * d,
        c * h - 1250000 - c * e + 2500 * e,
    ]


def hexagon(a, b, c, d, e, f, g, h, i):
    """The constraints of 108."""
    return [
        1 - c**2 - d**2,
        1 - i**2,
        1 - e**2 - f**2,
        1 - a**2 - (b - i) ** 2,
        1 - (a - e) ** 2 - (b - f) ** 2,
        1 - (a - g) ** 2 - (b - h) ** 2,
        1 - (c - e) ** 2 - (d - f) ** 2,
        1 - (c - g) ** 2 - (d - h) ** 2,
        1 - g**2 - (h - i) ** 2,
        a * d - b * c,
        c * i,
        -e * i,
        e * h - f * g,
    ]


POTENTIALS = np.array([-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.1, -10.708, -26.662, -22.179])


def free_energy(*x):
    """The function of 112: chemical equilibrium."""
    x = np.stack(x)
    return np.sum(x * (POTENTIALS + log(x / np.sum(x))))


def elements(a, b, c, d, e, f, g, h, i, j):
    return [a + 2 * b + 2 * c + f + j - 2, d + 2 * e + f + g - 1, c + g + h + 2 * i + j - 1]


def of_113(*x):
    a, b, *others = x
    middle, size = np.array([10, 5, 3, 1, 0, 11, 10, 7]), np.array([1, 4, 1, 2, 5, 7, 2, 1])
    return a**2 + b**2 + a * b - 14 * a - 16 * b + np.sum(size * (np.stack(others) - middle) ** 2) + 45


def wong(a, b, c, d, e, f, g, h, i, j):
    """The constraints of 113."""
    return [
        105 - 4 * a - 5 * b + 3 * g - 9 * h,
        -10 * a + 8 * b + 17 * g - 2 * h,
        8 * a - 2 * b - 5 * i + 2 * j + 12,
        -3 * (a - 2) ** 2 - 4 * (b - 3) ** 2 - 2 * c**2 + 7 * d + 120,
        -5 * a**2 - 8 * b - (c - 6) ** 2 + 2 * d + 40,
        -0.5 * (a - 8) ** 2 - 2 * (b - 4) ** 2 - 3 * e**2 + f + 30,
        -(a**2) - 2 * (b - 2) ** 2 + 2 * a * b - 14 * e + 6 * f,
        3 * a - 6 * b - 12 * (i - 8) ** 2 + 7 * j,
    ]


def of_118(*x):
    x = np.reshape(np.stack(x), (5, 3))
    return np.sum(np.array([2.3, 1.7, 2.2]) * x + np.array([1e-4, 1e-4, 1.5e-4]) * x**2)


def months(*x):
    """The constraints of 118: rises of the output, and demand."""
    x = np.reshape(np.stack(x), (5, 3))
    rise = np.ravel(x[1:] - x[:-1])
    return np.concatenate([rise + 7, np.tile([6, 7, 6], 4) - rise, np.sum(x, 1) - np.array([60, 50, 70, 85, 100])])


OF_SIX_AND_MORE = [
    Problem(86, (0, 0, 0, 0, 1), of_86, -32.34867897, None, lambda *x: A_86 @ np.stack(x) - B_86, 0),
    Problem(
        56,
        (1, 1, 1, *3 * [arcsin(sqrt(1 / 4.2))], arcsin(sqrt(5 / 7.2))),
        lambda a, b, c, d, e, f, g: -a * b * c,
        -3.456,
        lambda a, b, c, d, e, f, g: [
            a - 4.2 * sin(d) ** 2,
            b - 4.2 * sin(e) ** 2,
            c - 4.2 * sin(f) ** 2,
            a + 2 * b + 2 * c - 7.2 * sin(g) ** 2,
        ],
    ),
    Problem(
        93,
        (5.54, 4.4, 12.02, 11.82, 0.702, 0.852),
        lambda a, b, c, d, e, f: (
            0.0204 * a * d * (a + b + c)
            + 0.0187 * b * c * (a + 1.57 * b + d)
            + 0.0607 * a * d * e**2 * (a + b + c)
            + 0.0437 * b * c * f**2 * (a + 1.57 * b + d)
        ),
        135.075961,
        None,
        transformer,
        0,
    ),
    blended(95, (4.97, -1.88, -29.08, -78.02), 0.015619514),
    blended(96, (4.97, -1.88, -69.08, -118.02), 0.015619514),
    blended(97, (32.97, 25.12, -29.08, -78.02), 3.1358091),
    blended(98, (32.97, 25.12, -124.08, -173.02), 3.1358091),
    Problem(
        100,
        (1, 2, 0, 4, 0, 1, 1),
        of_100,
        680.6300573,
        None,
        lambda a, b, c, d, e, f, g: [
            127 - 2 * a**2 - 3 * b**4 - c - 4 * d**2 - 5 * e,
            282 - 7 * a - 3 * b - 10 * c**2 - d + e,
            196 - 23 * a - b**2 - 6 * f**2 + 8 * g,
            -4 * a**2 - b**2 + 3 * a * b - 2 * c**2 - 5 * f + 11 * g,
        ],
    ),
    Problem(
        104,
        (6, 3, 0.4, 0.2, 6, 6, 1, 0.5),
        reactors,
        3.9511634396,
        None,
        lambda a, b, c, d, e, f, g, h: [
            1 - 0.0588 * e * g - 0.1 * a,
            1 - 0.0588 * f * h - 0.1 * a - 0.1 * b,
            1 - 4 * c / e - 2 * c**-0.71 / e - 0.0588 * c**-1.3 * g,
            1 - 4 * d / f - 2 * d**-0.71 / f - 0.0588 * d**-1.3 * h,
            reactors(a, b, c, d, e, f, g, h) - 1,
            4.2 - reactors(a, b, c, d, e, f, g, h),
        ],
        0.1,
        10,
    ),
    Problem(
        106,
        (5000, 5000, 5000, 200, 350, 150, 225, 425),
        lambda a, b, c, *_: a + b + c,
        7049.2480205,
        None,
        exchangers,
        (100, 1000, 1000, 10, 10, 10, 10, 10),
        (10000, 10000, 10000, 1000, 1000, 1000, 1000, 1000),
    ),
    Problem(
        108,
        (1,) * 9,
        lambda a, b, c, d, e, f, g, h, i: -0.5 * (a * d - b * c + c * i - e * i + e * h - f * g),
        -sqrt(3) / 2,
        None,
        hexagon,
        (*8 * [-np.inf], 0),
    ),
    Problem(
        110,
        (9,) * 10,
        lambda *x: np.sum(log(np.stack(x) - 2) ** 2 + log(10 - np.stack(x)) ** 2) - np.prod(np.stack(x)) ** 0.2,
        -45.77846971,
        low=2.001,
        high=9.999,
    ),
    Problem(
        111,
        (-2.3,) * 10,
        lambda *x: free_energy(*[exp(y) for y in x]),
        -47.76109026,
        lambda *x: elements(*[exp(y) for y in x]),
        None,
        -100,
        100,
    ),
    Problem(112, (0.1,) * 10, free_energy, -47.76109086, elements, None, 1e-6),
    Problem(113, (2, 3, 5, 5, 1, 2, 7, 3, 6, 10), of_113, 24.3062091, None, wong),
    Problem(117, (*6 * [0.001], 60, *8 * [0.001]), of_117, 32.348679, None, dual_of_117, 0),
    Problem(
        118,
        (20, 55, 15, *4 * [20, 60, 20]),
        of_118,
        664.82045,
        None,
        months,
        (8, 43, 3, *12 * [0]),
        (21, 57, 16, *4 * [90, 120, 60]),
    ),
]
