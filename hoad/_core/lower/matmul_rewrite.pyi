"""Sums of products as products of matrices."""

from typing import final

@final
class MatmulRewrite:
    """The sums of products among the steps without lanes of a program."""
