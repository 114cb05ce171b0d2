"""Where the rows of the tables are evaluated: generic points, at which no function has a kink, a tie or a pole."""

from __future__ import annotations

import numpy as np

S = np.array(0.7)
V = np.array([0.5, -1.25, 2.0])
W = np.array([1.5, 0.25, -0.75])
UNIT = np.array([0.5, -0.25, 0.75])
POSITIVE = np.array([0.5, 1.25, 2.5])
SORTED = np.array([0.3, 1.1, 2.6])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
N = np.array([[2.0, 0.5], [-1.0, 1.5], [0.25, 3.0]])
A = np.array([[3.0, 0.5, -1.0], [0.25, 2.0, 0.75], [1.0, -0.5, 4.0]])
B = np.array([[1.3, -0.4], [0.6, 2.1]])
T = np.arange(12.0).reshape(2, 3, 2) / 7 - 0.8
NAN = np.array([[0.5, np.nan, 2.0], [1.5, 0.25, -0.75]])


def symmetric(x):  # type: ignore[no-untyped-def]
    """A symmetric matrix made of any: the functions of such read one of the two triangles."""
    return 0.5 * (x + np.swapaxes(x, -1, -2))
