"""Power series: the arithmetic of truncated Taylor series, and what they tell of a function."""

from hoad._series.pade import PadeApproximant
from hoad._series.taylor_series import TaylorSeries

__all__ = ["PadeApproximant", "TaylorSeries"]
