"""What a function of series has no coefficients for: one rule for all of them.

Where all coefficients that go in are finite numbers, and one that comes out is not, that is a DomainError. Traced ones
are inf or nan there, as derivatives of them are: whoever asked for these is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.traced import is_traced
from hoad._series.shapes import unified
from hoad.errors import DomainError

PLAIN = {float, int, complex, np.float64, np.complex128, np.float32, np.complex64, np.ndarray}  # never traced


def is_finite(c: Any) -> bool:
    """Whether a coefficient, or each item of one, is a finite number."""
    return math.isfinite(c) if isinstance(c, float) and not is_traced(c) else bool(np.all(np.isfinite(c)))


def checked(what: str, made: Callable[[], Iterable[Any]], given: Sequence[Iterable[Any]]) -> tuple[Any, ...]:
    """The coefficients that `made` gives from those given, unified, or a DomainError."""
    types = {kind for series in given for kind in set(map(type, series))}
    if not types <= PLAIN and any(is_traced(c) for series in given for c in series):
        return unified(made())
    with np.errstate(all="ignore"):  # said by the error, or by whoever gave a number that is not finite
        found = unified(made())
    if all(map(is_finite, found)) or not all(is_finite(c) for series in given for c in series):
        return found
    raise _undefined(what, found, next(k for k, c in enumerate(found) if not is_finite(c)))


def _undefined(what: str, found: Sequence[Any], order: int) -> DomainError:
    """The error for a coefficient that comes out as inf or nan."""
    c = np.asarray(found[order])
    at = tuple(int(k) for k in np.argwhere(~np.isfinite(c))[0])
    entry = f" in entry {at if len(at) > 1 else at[0]}" if at else ""
    value = f"{what} comes out as {c[at]:g} at the point{entry} ({here()})"
    if order == 0:
        return DomainError(
            f"{value}, so it has no series there: it is a singular point, outside of the domain, or beyond the largest "
            "float. Expand about another point; where complex values are meant, make s complex, s + 0j."
        )
    return DomainError(
        f"{what} has a value at the point, but its coefficient of order {order} comes out as {c[at]:g}{entry} "
        f"({here()}): either it does not exist, or it is beyond the largest float. The highest order that exists is "
        f"{order - 1}: s.truncate({order - 1}) has the coefficients up to it. Expand about another point, or take "
        "powers of t out first, t * np.sqrt(s / t**2) for np.sqrt(s) of a series that starts with t**2."
    )


def pole(dividend: Any, divisor: Any) -> DomainError:
    """The error for a quotient by a series that starts with 0, where that does not cancel."""
    return DomainError(
        f"a quotient of series has one only where powers of t cancel ({here()}), but the dividend starts with "
        f"{_shown(dividend)}, and the divisor with {_shown(divisor)}: a pole, or entries that differ in it. No order "
        "exists there. Take out powers of t first: TaylorSeries(s[1:], s.point) is s/t for a series that starts with 0."
    )


def _shown(x: Any) -> str:
    return repr(x) if np.ndim(x) else repr(np.asarray(x).item())
