"""Power series: the arithmetic of truncated Taylor series, and what they tell of a function."""

from hoad.expansion.pade import PadeApproximant
from hoad.expansion.series import TaylorSeries

__all__ = ["PadeApproximant", "TaylorSeries"]
