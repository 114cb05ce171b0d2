"""Sections: the steps of a program on their way to runs."""

from typing import final

from hoad._core.lower.fusion import Fusion

@final
class Slp(Fusion):
    """The steps of a program that have no lanes, on their way to runs."""
