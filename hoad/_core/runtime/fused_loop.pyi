"""Fused loops: rows of doubles that go block by block through many operations."""

from typing import final

@final
class FusedLoop:
    """A fused loop, as `schedule` makes it."""
