"""Formulas as objects: symbols, what NumPy makes of them, and their derivatives, which are formulas again."""

from hoad.symbolic.expression import Expression, symbols
from hoad.symbolic.tree import ExpressionTree

__all__ = ["Expression", "ExpressionTree", "symbols"]
