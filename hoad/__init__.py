"""Higher-order automatic differentiation of plain NumPy code."""

from hoad import rules
from hoad.drivers.first import grad, jacobian, jvp, linearize, value_and_grad, vjp
from hoad.drivers.higher import derivative, stop_gradient, value
from hoad.drivers.second import hessian, hvp, vhp
from hoad.errors import (
    DTypeError,
    GuardError,
    HoadError,
    NoRuleError,
    RuleError,
    ShapeError,
    TracedValueError,
)
from hoad.rules.registry import primitive

__version__ = "0.1.0"
