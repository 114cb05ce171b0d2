"""Runs: operations on rows, and the chains they join."""

class Fusion:
    """The runs of a program, and the chains they join."""

class RowAllocator:
    """Rows of a block, used again."""
