"""The symmetric part of a matrix, for what reads one triangle only."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._numpy.triangles import both_triangles
from hoad._ops.primitives import symmetric_or_refused
from hoad.rules.registry import defvjp, primitive


def _other(a: Any, conjugated: bool) -> Any:
    made = np.swapaxes(a, -1, -2)
    return np.conjugate(made) if conjugated and made.dtype.kind == "c" else made


@primitive(shape=lambda a, **_: a)
def checked_symmetric(a: Any, *, conjugated: bool) -> Any:
    """a itself; raises where it is not symmetric (or Hermitian) but for rounding."""
    return np.array(symmetric_or_refused("a function of scipy.linalg", a, conjugated))


defvjp(checked_symmetric, lambda g, p, a, *, conjugated: (g,))


def symmetric_part(a: Any, *, conjugated: bool) -> Any:
    """(a + aᴴ) / 2 or (a + aᵀ) / 2 of a matrix that is symmetric: the derivative is that by a symmetric one."""
    a = checked_symmetric(both_triangles("a function of scipy.linalg", a), conjugated=bool(conjugated))
    return 0.5 * (a + _other(a, conjugated))
