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
Sparse derivatives of functions of many variables, as matrices of SciPy's
    sparse_jacobian, sparse_hessian
                     the entries that may be other than zero; ``plan`` gives a SparsePlan, to be filled in again
    lagrangian_hessian
                     the Hessian of an objective and constraints with multipliers
    sparse_hessian_derivative
                     the derivative of the Hessian along a direction
    sparse_derivative_tensor
                     derivatives of order k: a SparseTensor of the distinct entries
    jacobian_pattern, hessian_pattern
                     where these entries are
    SparseDerivative what these return; Triplets is a matrix that may hold traced values
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
Optimisers
    minimize         a minimum by SciPy's optimisers, with exact gradients, Hessians and Jacobians of the constraints
    interop          solvers of other packages given exact derivatives: SciPy's fits and roots, IPOPT
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
    GuardError       a replayed program would take a branch that was not recorded (OtherStructureError: a sparse
                     derivative has entries that its plan does not have)
    JitWarning       not an error: a jitted function runs without compilation
    CheckError       a check of derivatives failed

Examples
--------
>>> import numpy as np
>>> import hoad
>>> hoad.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
array([2., 4.])
"""

import _thread
import importlib as _importlib
import sys as _sys

import numpy as _numpy  # noqa: F401  (first: it loads faster than from within a compiled module)

from hoad import _core  # noqa: F401  (where it is not built, the error should come here)

__version__ = "0.1.0"

# Of two threads that import modules which import each other, Python lets one go on with half a module.
_LOADING = _thread.RLock()
_MODULES = ("check", "errors", "implicit", "interop", "ode", "rules", "scipy")

_LATER = {  # what few ask for
    "explain": "hoad._inspect.explain",
    "hessian_pattern": "hoad._sparse.patterns",
    "jacobian_pattern": "hoad._sparse.patterns",
    "lagrangian_hessian": "hoad._sparse.drivers",
    "sparse_derivative_tensor": "hoad._sparse.sparse_tensors",
    "sparse_hessian": "hoad._sparse.drivers",
    "sparse_hessian_derivative": "hoad._sparse.drivers",
    "sparse_jacobian": "hoad._sparse.drivers",
    "SparseDerivative": "hoad._sparse.sparse_plan",
    "SparsePlan": "hoad._sparse.sparse_plan",
    "SparseTensor": "hoad._sparse.sparse_tensors",
    "Triplets": "hoad._sparse.sparse_plan",
}


def __getattr__(name: str) -> object:
    """A module, or a public name, when it is first asked for; with the first of these names come all, to stay."""
    with _LOADING:
        if name in _MODULES:
            return _importlib.import_module(f"hoad.{name}")
        if name in _LATER:
            return getattr(_importlib.import_module(_LATER[name]), name)
        if name == "__all__" or not name.startswith("_"):
            public = vars(_importlib.import_module("hoad._public"))
            globals().update({key: public[key] for key in ("__all__", *public["__all__"]) if key in public})
            if name in globals():
                return globals()[name]
    raise AttributeError(f"module 'hoad' has no attribute {name!r}", name=name, obj=_sys.modules[__name__])


def __dir__() -> list[str]:
    """The public names, and those that every module has."""
    public = _importlib.import_module("hoad._public").__all__
    return sorted({*public, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})


if _sys.modules.pop("hoad._public", None) is not None:  # hoad is reloaded, and so are the names that it has
    __getattr__("__all__")
