"""Slow, obvious implementations of what hoad's core does, in plain Python on the same rule templates.

Nothing here is simplified, folded or found again, and nothing is shared with the core but the templates that the rules
record: the compiled interpreter, sweeps and lanes are compared with these, rule by rule.
"""

from reference.adjoint import adjoint
from reference.interpreter import evaluate
from reference.lanes import evaluate_lanes
from reference.listing import Constant, Listing, primal, template
from reference.tangent import tangent, transposed
from reference.taylor import NotClosedError, taylor

__all__ = [
    "Constant",
    "Listing",
    "NotClosedError",
    "adjoint",
    "evaluate",
    "evaluate_lanes",
    "primal",
    "tangent",
    "taylor",
    "template",
    "transposed",
]
