"""Vector operations, and the fused loops that they join."""

class Fusion:
    """The vector operations of a program, and the fused loops they join."""
