"""Chains: rows of doubles that go block by block through many operations."""

from typing import final

@final
class FusedLoop:
    """A chain, as `schedule` makes it."""
