"""Higher-order automatic differentiation of plain NumPy code.

Drivers take a function and return a function. They differentiate with respect to floats, traced as ``np.float64``,
arrays of float64 and float32, and containers of these: nested tuples, lists, dicts and dataclasses. A derivative has
the structure of its argument. ``help(hoad.grad)`` gives the details.

First derivatives
    grad             the gradient of a scalar function
    value_and_grad   its value and its gradient
    jacobian         the matrix of first derivatives of any function
    jvp              value and derivative along a direction, forward
    vjp              value and pullback of adjoints, reverse
    linearize        value and derivative at a point, as a linear function
Second and higher derivatives
    hessian          the matrix of second derivatives of a scalar function
    hvp, vhp         its product with a direction, without the matrix
    derivative       the n-th derivative of a function of one variable, pointwise on arrays
    derivatives      all of them up to the n-th
    taylor           the Taylor series of a function along a direction: a TaylorSeries, with arithmetic
    derivative_tensor
                     the tensor of all derivatives of order k; unpack_tensor makes it from its distinct entries
    partials         chosen mixed partial derivatives, by their multi-indices
    laplacian        the sum of the second derivatives; biharmonic is the Laplacian of that
    hessian_diagonal the diagonal of the Hessian, without the matrix
    directional_derivative
                     the mixed derivative along several directions
    dense_plan       how a Jacobian or a Hessian is computed: a DensePlan (mode, directions) for each block
Many inputs at once
    vmap             a function recorded once and replayed for all inputs
Speed
    jit              a function recorded once and replayed by compiled code
Code of others
    adopt            a function of a package that knows only NumPy, with all that it reaches taking traced values
    adopting         the same for a block of code
Inside a function
    value            the plain number behind a traced value, for printing and for constants
    stop_gradient    the value itself, with derivative zero
Loops recorded once
    scan             carry, y = f(carry, x) over the rows x of arrays, one operation for any number of rows
    fori_loop        a counted loop
    while_loop       a loop with a condition
Equations
    implicit         roots, fixed points, minima, linear systems by any solver
    ode              solutions of differential equations
Functions of SciPy
    scipy            hoad.scipy.linalg, optimize, stats and others, with SciPy's names
Programs
    record           a function as a program: a list of tapes
    gradient         the program with one more tape, its gradient
    tangent          the program with one more tape, its derivative along a direction
    Program, Tape    their classes; ``print(program)`` shows a program, ``program.explore("tape.html")`` in a browser
    TapeNode         a row of a tape; a Constant among its operands
    Address          how C code calls a program, from ``program.address()``; get_include gives the folder of hoad.h
Containers
    register_container  make a class of your own a container, as tuples, lists, dicts and dataclasses are
    ravel            the floats of a container as one vector, and the inverse function: for optimisers
Formulas
    symbols          symbols, from which NumPy functions make expressions
    Expression       a formula: ``e.evaluate({x: 2})``, ``e.gradient``, ``e.derivative(x)``, an expression again
Rules
    defvjp           give a function its derivative rule; rules.rule_of returns it
    primitive        make any function one operation
    custom_vjp       give a composite function a rule of its own
Memory
    checkpoint       a function whose intermediate values a reverse sweep recomputes
    checkpointed_loop
                     a loop that keeps only a few of its states
    checkpoint_schedule
                     which states to keep and which steps to recompute: the binomial schedule
Checks
    check            Taylor tests; checks of derivatives written by hand and of your own rules
    explain          which inputs each output depends on, where a function branches, what it captured
    debug_nans       a block that reports where a nan or an infinity first appears, in values and derivatives
Errors, all of them HoadError
    TracedValueError a value would have been cut off from its derivative
    NoRuleError      an operation has no derivative rule (NoMethodError: a method of arrays has none)
    RuleError        a derivative rule is not valid
    ShapeError       a shape does not fit
    DTypeError       a dtype has no derivative
    ArgumentError    an argument is of the wrong kind
    NanError         a result is nan or infinite, inside debug_nans
    ExecutorError    workers could not compute their part of a map
    DomainError      a derivative is not finite
    GuardError       a replayed program would take a branch that was not recorded
    JitWarning       not an error: a jitted function runs without compilation
    CheckError       a check of derivatives failed

Examples
--------
>>> import numpy as np
>>> import hoad
>>> hoad.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
array([2., 4.])
"""

import importlib as _importlib
import typing as _typing

import numpy as _numpy  # noqa: F401  (first: it loads faster than from within a compiled module)

from hoad import rules
from hoad._adopt.adopt import adopt, adopting
from hoad._display import formats as _formats
from hoad._drivers.checkpoint import checkpoint, checkpointed_loop
from hoad._drivers.custom import custom_vjp
from hoad._drivers.dense import DensePlan, dense_plan
from hoad._drivers.derivative import derivative, derivatives
from hoad._drivers.gradient import grad, value_and_grad
from hoad._drivers.hessian import hessian
from hoad._drivers.jacobian import jacobian
from hoad._drivers.laplacian import biharmonic, directional_derivative, hessian_diagonal, laplacian
from hoad._drivers.products import hvp, jvp, linearize, vhp, vjp
from hoad._drivers.scan import fori_loop, scan, while_loop
from hoad._drivers.taylor import taylor
from hoad._drivers.tensors import derivative_tensor, partials, unpack_tensor
from hoad._drivers.values import stop_gradient, value
from hoad._drivers.vmap import vmap
from hoad._inspect import debug_nans
from hoad._jit.jit import jit
from hoad._program.address import Address, get_include
from hoad._program.program import Program
from hoad._program.record import record
from hoad._program.tape import Constant, Tape, TapeNode
from hoad._pytree.containers import register_container
from hoad._pytree.ravel import ravel
from hoad._series import TaylorSeries
from hoad._symbolic.expression import Expression, symbols
from hoad._transform.adjoint import gradient
from hoad._transform.checkpoint_schedule import checkpoint_schedule
from hoad._transform.tangent import tangent
from hoad.errors import (
    ArgumentError,
    CheckError,
    DomainError,
    DTypeError,
    ExecutorError,
    GuardError,
    HoadError,
    JitWarning,
    NanError,
    NoMethodError,
    NoRuleError,
    RuleError,
    ShapeError,
    TracedValueError,
)
from hoad.rules.registry import defvjp, primitive

if _typing.TYPE_CHECKING:
    from hoad import check, implicit, ode
    from hoad import scipy as scipy
    from hoad._inspect.explain import explain

Program._display = _formats  # how programs are shown; a higher layer

__version__ = "0.1.0"

__all__ = [
    "Address",
    "ArgumentError",
    "CheckError",
    "Constant",
    "DTypeError",
    "DensePlan",
    "DomainError",
    "ExecutorError",
    "Expression",
    "GuardError",
    "HoadError",
    "JitWarning",
    "NanError",
    "NoMethodError",
    "NoRuleError",
    "Program",
    "RuleError",
    "ShapeError",
    "Tape",
    "TapeNode",
    "TaylorSeries",
    "TracedValueError",
    "adopt",
    "adopting",
    "biharmonic",
    "check",
    "checkpoint",
    "checkpoint_schedule",
    "checkpointed_loop",
    "custom_vjp",
    "debug_nans",
    "defvjp",
    "dense_plan",
    "derivative",
    "derivative_tensor",
    "derivatives",
    "directional_derivative",
    "explain",
    "fori_loop",
    "get_include",
    "grad",
    "gradient",
    "hessian",
    "hessian_diagonal",
    "hvp",
    "implicit",
    "jacobian",
    "jit",
    "jvp",
    "laplacian",
    "linearize",
    "ode",
    "partials",
    "primitive",
    "ravel",
    "record",
    "register_container",
    "rules",
    "scan",
    "stop_gradient",
    "symbols",
    "tangent",
    "taylor",
    "unpack_tensor",
    "value",
    "value_and_grad",
    "vhp",
    "vjp",
    "vmap",
    "while_loop",
]

_LATER = ("check", "implicit", "ode", "scipy")  # modules imported when first asked for, as is that of explain


def __getattr__(name: str) -> _typing.Any:
    if name in _LATER:
        return _importlib.import_module(f"hoad.{name}")
    if name == "explain":
        return _importlib.import_module("hoad._inspect.explain").explain
    raise AttributeError(f"module 'hoad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})
