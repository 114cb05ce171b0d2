"""Complete elliptic integrals of the parameter m = k²: hypergeometric functions, which have no singularity at m = 0.

References
----------
NIST Digital Library of Mathematical Functions, 15.5.1, 19.5.1 and 19.5.2.
"""

from __future__ import annotations

import numpy as np

from hoad.rules.special.define import define, sc


def _slope(a, b, m):
    """π/8 F(a, b; 2; m), and nan for m > 1, where the integrals have no value."""
    return np.where(np.greater(m, 1.0), np.nan, np.pi / 8.0) * sc.hyp2f1(a, b, 2.0, m)


define(sc.ellipk, lambda g, p, m: (g * _slope(1.5, 1.5, m),))
define(sc.ellipe, lambda g, p, m: (-(g * _slope(0.5, 1.5, m)),))
