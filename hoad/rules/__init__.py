"""The derivative table, a line per primitive, and the door for rules of one's own."""

from hoad.rules import decompositions, elementwise, fft, linalg, reduction, shaping
from hoad.rules.registry import rule_of, vjp

__all__ = ["decompositions", "elementwise", "fft", "linalg", "reduction", "rule_of", "shaping", "vjp"]
