"""Shared work done once."""

from typing import final

@final
class Sharing:
    """The state of one pass over the steps of a program."""
