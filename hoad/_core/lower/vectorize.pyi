"""From the steps of a program to vector operations and the fused loops that they join."""

from typing import final

from hoad._core.lower.fusion import Fusion

@final
class Vectorizer(Fusion):
    """The steps of a program that have no lanes, on their way to vector operations."""
