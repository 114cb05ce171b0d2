"""The first nan or infinity of a computation: where it first appears, and how the user is told."""

from hoad._inspect.debug_nans import debug_nans

__all__ = ["debug_nans"]
