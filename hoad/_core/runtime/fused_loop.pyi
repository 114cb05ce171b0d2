"""Fused loops: rows of doubles that go block by block through many operations."""

from typing import final

@final
class FusedLoop:
    """A fused loop, as `hoad._core.lower.loop_codegen` makes it."""
