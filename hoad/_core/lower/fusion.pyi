"""Runs: operations on rows, and the chains they join."""

class Runs:
    """The runs of a program, and the chains they join."""

class Rows:
    """Rows of a block, used again."""
