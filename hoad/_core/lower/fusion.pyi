"""Runs: operations on rows, and the fused loops they join."""

class Fusion:
    """The runs of a program, and the fused loops they join."""

class RowAllocator:
    """Rows of a block, used again."""
