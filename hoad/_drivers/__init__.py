"""The functions that users call, a file for each kind of derivative."""

from hoad import _transform  # noqa: F401  (with all rules: a pickle may name a driver before all else)
