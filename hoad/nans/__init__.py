"""The first nan or infinity of a computation: where it was born, and how the user is told."""

from hoad.nans.watch import debug_nans

__all__ = ["debug_nans"]
