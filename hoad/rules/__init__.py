"""The derivative table, a line per primitive. `vjp` is `hoad.defvjp`, which registers your own rules."""

from hoad._core.graph.primitive import TABLES
from hoad.rules import decompositions, elementwise, fft, linalg, reduction, removable, shaping
from hoad.rules.registry import rule_of, vjp

TABLES["scipy.special"] = "hoad.rules.special"  # imported when one of its ufuncs is met: SciPy is an extra

__all__ = ["decompositions", "elementwise", "fft", "linalg", "reduction", "removable", "rule_of", "shaping", "vjp"]
