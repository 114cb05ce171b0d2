"""Contractions: sums of products as products of matrices."""

from typing import final

@final
class Contractions:
    """The sums of products among the steps without lanes of a program."""
