"""Formulas as objects: symbols, what NumPy makes of them, and their derivatives, which are formulas again."""

from hoad._symbolic.expression import Expression, symbols
from hoad._symbolic.tree import ExpressionTree

__all__ = ["Expression", "ExpressionTree", "symbols"]
