"""What the families of `scipy.special` share: its ufuncs, and how one is given its rule and its Taylor series."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from hoad._core.base.where import here, name_of
from hoad._ops.primitives import declare_ufunc, known_primitive, within
from hoad.errors import DTypeError, NoRuleError
from hoad.rules.registry import vjp

# SciPy's functions: the ufuncs themselves, where it has put others around them (SCIPY_ARRAY_API).
sc: Any = SimpleNamespace(**{name: within(function) for name, function in vars(scipy.special).items()})

Coefficients = list[Any]
Kernel = Callable[..., Coefficients]


def define(
    function: Any,
    rule: Callable[..., Any],
    *,
    name: str | None = None,
    expansion: Callable[..., Any] | None = None,
    kernel: Kernel | None = None,
    is_constant: bool = False,
) -> None:
    """Give a ufunc its rule, and what its Taylor series comes from where the rule does not close, or loses digits.

    Parameters
    ----------
    function : ufunc or callable
        One of `sc`, or a primitive that a family has made.
    rule : callable
        As for `vjp`.
    name : str, optional
        What its primitive is called where SciPy's name of the ufunc is another than that of its function.
    expansion : callable, optional
        The same function written in traced operations that close: its series by the series of these operations keeps
        its digits inside of other functions too. Orders are plain numbers.
    kernel : callable, optional
        ``kernel(*orders, x, degree)``, the list of c₀ … c_degree in ``φ(x + t) = Σ cₖ tᵏ``, arrays like x.
    is_constant : bool, optional
        True of a function that is constant almost everywhere.
    """
    if known_primitive(function) is None:
        series = "constant" if is_constant else None
        full = name or name_of(function)
        made = declare_ufunc(function, full, costly=True, zero_derivative=is_constant, series=series)
        if name is None and not any(set(types.partition("->")[0]) <= set("dl") for types in function.types):
            made.infer = _of_complex(function.__name__, made.infer)
    vjp(function, rule)
    primitive = known_primitive(function)
    assert primitive is not None
    primitive.expansion, primitive.kernel = expansion, kernel


def _of_complex(name: str, infer: Any) -> Callable[..., Any]:
    """What is inferred of a ufunc that has loops for complex numbers only, to which NumPy would cast."""

    def checked(params: Any, *operands: Any) -> Any:
        if operands[-1].dtype.kind != "c":
            raise DTypeError(
                f"scipy.special.{name} of a traced real number has no derivative rule ({here()}): it is a function of "
                "complex ones. Give it x + 0j."
            )
        return infer(params, *operands)

    return checked


def scaled(g, slopes):
    """The adjoints of the operands of a function with these slopes."""
    return tuple(g * slope for slope in slopes)


def solved(g, slopes, sign=1.0):
    """The adjoints where the last operand of a function with these slopes is solved for; it is y, or 1 - y with -1."""
    g = g / slopes[-1]
    return (*[-(g * slope) for slope in slopes[:-1]], sign * g)


def unknown(name, parameter, known="its last argument"):
    """The error in place of an adjoint: no formula for the derivative of a function with respect to a parameter."""
    return NoRuleError(
        f"scipy.special.{name} has no derivative with respect to {parameter} ({here()}), only with respect to {known}. "
        f"Give it hoad.value({parameter}) if it is constant, or hoad.primitive a rule of your own."
    )


# ---- integrals over the line -----------------------------------------------------------------------------------------

STEP = 0.1
NODES = STEP * np.arange(-120, 121)  # of the trapezoidal rule, for what falls off as exp(-s²)
BLOCK = 256


def integral(integrand: Callable[..., Any], *xs: Any) -> Any:
    """∫ integrand(s, *xs) ds over all s by the trapezoidal rule, for each item of the xs."""
    arrays = np.broadcast_arrays(*xs)
    flat = [x.reshape(-1, 1) for x in arrays]
    with np.errstate(all="ignore"):
        sums = [
            np.sum(integrand(NODES, *[x[k : k + BLOCK] for x in flat]), axis=-1)
            for k in range(0, max(1, flat[0].size), BLOCK)
        ]
    return STEP * np.concatenate(sums).reshape(arrays[0].shape)
