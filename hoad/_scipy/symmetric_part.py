"""The symmetric matrix that SciPy reads in one triangle."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._numpy.triangles import mirrored
from hoad._ops.primitives import as_recorded
from hoad.rules.registry import defvjp, primitive


def _other(a: Any, conjugated: bool) -> Any:
    made = np.swapaxes(a, -1, -2)
    return np.conjugate(made) if conjugated and made.dtype.kind == "c" else made


@primitive(shape=lambda a, **_: a)
def checked_symmetric(a: Any, *, conjugated: bool) -> Any:
    """a itself; raises where it is not symmetric (or Hermitian) but for rounding."""
    return np.array(as_recorded(a, conjugated))


defvjp(checked_symmetric, lambda g, p, a, *, conjugated: (g,))


def symmetric_part(a: Any, *, lower: bool, conjugated: bool = True) -> Any:
    """(a + aᴴ) / 2 or (a + aᵀ) / 2 of a symmetric matrix, or of the one in a triangle of another."""
    a = checked_symmetric(mirrored(a, lower, conjugated), conjugated=bool(conjugated))
    return 0.5 * (a + _other(a, conjugated))
