"""Higher-order automatic differentiation of plain NumPy code.

Drivers (`grad`, `jacobian`, `hessian`, ...) take a function of floats and arrays and return a function. The arguments
differentiated with respect to are floats, traced as ``np.float64``, and arrays of float64 and float32.
"""

import importlib as _importlib
import typing as _typing

from hoad import display, rules
from hoad.drivers.first import grad, jacobian, jvp, linearize, value_and_grad, vjp
from hoad.drivers.higher import derivative, stop_gradient, value
from hoad.drivers.second import hessian, hvp, vhp
from hoad.errors import (
    CheckError,
    DTypeError,
    GuardError,
    HoadError,
    NoRuleError,
    RuleError,
    ShapeError,
    TracedValueError,
)
from hoad.program import Program, Tape, record
from hoad.rules.registry import primitive
from hoad.transform.adjoint import gradient

if _typing.TYPE_CHECKING:
    from hoad import check

__version__ = "0.1.0"

__all__ = [
    "CheckError",
    "DTypeError",
    "GuardError",
    "HoadError",
    "NoRuleError",
    "Program",
    "RuleError",
    "ShapeError",
    "Tape",
    "TracedValueError",
    "check",
    "derivative",
    "display",
    "grad",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
    "primitive",
    "record",
    "rules",
    "stop_gradient",
    "value",
    "value_and_grad",
    "vhp",
    "vjp",
]

_LATER = ("check",)  # modules imported when first asked for


def __getattr__(name: str) -> _typing.Any:
    if name in _LATER:
        return _importlib.import_module(f"hoad.{name}")
    raise AttributeError(f"module 'hoad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
