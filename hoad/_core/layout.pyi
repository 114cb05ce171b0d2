"""Layouts: in which order the axes of arrays lie in memory."""

from typing import final

@final
class Layouts:
    """The orders of the axes of the arrays of a program."""
