"""Functions given by equations: solved by any solver, differentiated by the implicit function theorem.

The solver is called with plain numbers and never traced. If x(θ) solves F(x, θ) = 0, the adjoint of θ is ``-wᵀ ∂F/∂θ``
with ``(∂F/∂x)ᵀ w = x̄``. This rule consists of recorded operations and refers to x itself, so derivatives of any order
and mode follow from it.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.primitive import PYTHON, Primitive, rules_epoch
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import as_numbers, holds_traced
from hoad._core.trace.context import running
from hoad._core.trace.traced import is_traced, plain_value
from hoad._drivers.gradient import grad
from hoad._program.callee import Callee
from hoad._program.pickling import check_travels, refusal, restoring
from hoad._program.program import Program
from hoad._pytree.arguments import check_function, packed
from hoad._pytree.containers import Parts, Structure, flatten, parts_where
from hoad._transform.adjoint import adjoint_of, adjoints_by, extended
from hoad._transform.loops import Loop
from hoad._transform.programs import recorded
from hoad.errors import DTypeError, ShapeError, TracedValueError
from hoad.rules.callee_primitives import declare_family
from hoad.rules.registry import set_rule

Solver = Callable[..., Any]


# ---- vectors and containers -----------------------------------------------------------------------------------------


class Unknown:
    """The container of an unknown, and how it lies in a vector."""

    def __init__(self, structure: Structure, avals: list[AbstractValue]) -> None:
        self.structure = structure
        self.avals = avals
        self.size = sum(aval.size for aval in avals)

    def unravel(self, vector: Any) -> list[Any]:
        """The leaves in a vector."""
        found, at = [], 0
        for aval in self.avals:
            part = vector[at : at + aval.size]
            found.append(np.reshape(part, aval.shape) if aval.shape else part[0])
            at += aval.size
        return found

    def ravel(self, leaves: Any) -> Any:
        """The vector of the leaves."""
        return np.concatenate([np.reshape(x, (aval.size,)) for x, aval in zip(leaves, self.avals, strict=True)])


def _float_leaves(tree: Any, what: str) -> tuple[list[Any], Structure]:
    """The leaves of an unknown, floats and arrays of floats all of them."""
    leaves, structure = flatten(tree)
    for k, x in enumerate(leaves):
        found = x if is_traced(x) else np.asarray(x)
        if found.dtype.kind == "c":
            raise DTypeError(
                f"{what}{structure.path(k)} must be real, but is {found.dtype}. Make real and imaginary parts unknowns "
                "of their own."
            )
        if found.dtype.kind not in "biuf":
            raise DTypeError(
                f"{what}{structure.path(k)} must be made of floats, but holds {type(x).__name__}. "
                "Of a result of SciPy's, give its x."
            )
    return [x if is_traced(x) else np.asarray(x, np.float64)[()] for x in leaves], structure


def _numbers_of(args: tuple[Any, ...]) -> tuple[Parts, list[Any]]:
    """The floats and arrays among arguments: where they stand, and what they are."""
    parts, found = parts_where(args, lambda x: is_traced(x) or isinstance(x, (float, np.floating, np.ndarray)))
    return parts, [x if is_traced(x) else as_numbers(x) for x in map(packed, found)]


def _program(f: Callable[..., Any], values: list[Any], what: str) -> Program:
    """The program of ``f(*values)``, a list of outputs."""
    try:
        return recorded(f, values, valued=True)
    except TracedValueError as failure:
        raise TracedValueError(
            f"{what} cannot be recorded by itself: {failure} Pass everything that it depends on as an argument."
        ) from failure


# ---- roots ----------------------------------------------------------------------------------------------------------


class Root(Callee):
    """An equation at one place: the solver, and the program of the residual, ``(x as a vector, *numbers)``."""

    def __init__(
        self, unknown: Unknown, program: Program, solve: Callable[..., list[Any]], linear: Solver | None, name: str
    ) -> None:
        self.name = name  # of the solver, for messages
        self.unknown = unknown
        self.program = program
        self.solve = solve
        self.linear = linear
        self._adjoints: dict[Any, Program] = {}

    def adjoint(self, by_unknown: bool) -> Program:
        """The adjoint program of the residual for the unknown, or for the numbers that have derivatives."""
        key = (by_unknown, rules_epoch())
        if key not in self._adjoints:
            nodes = self.program._input_nodes()
            avals = self.program.input_types
            by = nodes[:1] if by_unknown else [k for k, aval in zip(nodes[1:], avals[1:], strict=True) if aval.inexact]
            made = extended(self.program, "symbolic", True, by)
            made._linear = 1
            self._adjoints[key] = made
        return self._adjoints[key]

    def __reduce__(self) -> Any:
        raise pickle.PicklingError(
            f"a program that solves an equation of hoad.implicit cannot be pickled: its solver, {self.name}, is a "
            "Python function that runs in this process. Send the function that was recorded, and record it there."
        )

    def _check_operands(self, avals: tuple[AbstractValue, ...]) -> None:
        if avals != self.program.input_types[1:]:
            raise refusal(f"an equation takes {self.program.input_types[1:]}, but is given {avals}")

    def __repr__(self) -> str:
        return f"<equation of {self.unknown.size} unknowns>"


def _root_rule(g: Any, p: Any, *numbers: Any, root: Root) -> tuple[Any, ...]:
    """``-wᵀ ∂F/∂θ`` with ``(∂F/∂x)ᵀ w = g``."""
    unknown = root.unknown
    x = unknown.ravel(p if isinstance(p, tuple) else (p,))
    x_bar = unknown.ravel(g if isinstance(g, tuple) else (g,))
    by_unknown = root.adjoint(True)
    if root.linear is None:
        rows = Loop(by_unknown, "k" * (1 + len(numbers)) + "x", "y", unknown.size)
        (matrix,) = rows(x, *numbers, np.eye(unknown.size))
        w = np.linalg.solve(matrix.T, x_bar)
    else:
        w = _Linear(by_unknown, root.linear, root.linear)(x_bar, x, *numbers)
    inexact = [aval.inexact for aval in root.program.input_types[1:]]
    found: Any = root.adjoint(False)(x, *numbers, -w) if any(inexact) else ()
    bars = iter(found if isinstance(found, tuple) else (found,))
    return tuple(next(bars) if has else None for has in inexact)


declare_root = declare_family(
    "root", "root", lambda root, *numbers: root.unknown.avals, lambda root, numbers: root.solve(numbers), _root_rule
)


def _solved(residual: Callable[..., Any], solver: Solver, linear_solver: Solver | None, name: str) -> Solver:
    """The function of θ that `root`, `fixed_point` and `argmin` give."""
    check_function(name, solver)
    return functools.wraps(solver, updated=())(lambda *args: _solution(residual, solver, linear_solver, name, args))


def _solution(
    residual: Callable[..., Any], solver: Solver, linear_solver: Solver | None, name: str, args: tuple[Any, ...]
) -> Any:
    """What the solver gives for these arguments, on the tape where one of them is traced."""
    given, numbers = _numbers_of(args)
    if running() is None and not any(is_traced(x) for x in numbers):
        return solver(*args)
    plain = [plain_value(x) for x in numbers]
    solved, structure = _float_leaves(solver(*given.filled(plain)), f"what the solver of {name} returns")
    if any(is_traced(x) for x in solved):
        raise TracedValueError(
            f"the solver of {name} uses a traced value that is not among its arguments ({here()}). Pass everything "
            f"that it and the residual depend on as arguments: {name}(residual, solver)(x, ...)."
        )
    unknown = Unknown(structure, [intern_aval(np.asarray(x).dtype, np.shape(x)) for x in solved])
    known = [(plain, solved)]  # the solver ran already, for the numbers at hand

    def solve(numbers: Any) -> list[Any]:
        if known and all(np.array_equal(a, b) for a, b in zip(known[0][0], numbers, strict=True)):
            return known[0][1]
        leaves, found = _float_leaves(solver(*given.filled(list(numbers))), f"what the solver of {name} returns")
        if found != structure or [np.shape(x) for x in leaves] != [aval.shape for aval in unknown.avals]:
            raise ShapeError(f"the solver of {name} returned another structure or shape than before.")
        return leaves

    def flat(vector: Any, *numbers: Any) -> list[Any]:
        x = structure.unflatten(unknown.unravel(vector))
        leaves, found = flatten(residual(x, *given.filled(list(numbers))))
        if found != structure or [np.shape(y) for y in leaves] != [aval.shape for aval in unknown.avals]:
            shapes = [np.shape(y) for y in leaves]
            raise ShapeError(
                f"{name} needs as many equations as unknowns: x is {structure} with shapes "
                f"{[aval.shape for aval in unknown.avals]}, but the residual {found} with shapes {shapes}. Return one "
                "number for each in x."
            )
        if any(np.iscomplexobj(y) for y in leaves):
            raise DTypeError(
                f"{name} needs real equations, but the residual is complex. Return its real and imaginary parts, for "
                "as many real unknowns."
            )
        return [unknown.ravel(leaves)]

    program = _program(flat, [np.asarray(unknown.ravel(solved)), *plain], f"the residual of {name}")
    if not any(is_traced(x) for x in numbers):  # and the residual, recorded, uses nothing else that is traced
        return structure.unflatten(solved)
    root = Root(unknown, program, solve, linear_solver, getattr(solver, "__qualname__", type(solver).__name__))
    found = apply_primitive(declare_root(len(unknown.avals)), (root,), *numbers)
    known.clear()
    return structure.unflatten(list(found) if isinstance(found, tuple) else [found])


def root(
    residual: Callable[..., Any], solver: Callable[..., Any], *, linear_solver: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The function ``θ -> x(θ)`` that solves ``residual(x, θ) = 0``.

    Parameters
    ----------
    residual : callable
        ``residual(x, *args)``, written with NumPy; its result has the structure of x, so that there are as many
        equations as unknowns.
    solver : callable
        ``solver(*args) -> x``: any solver, called with plain numbers. It must solve to the accuracy that derivatives
        are to have. x is a float, an array, or a container of these.
    linear_solver : callable, optional
        ``linear_solver(matvec, b) -> y`` solves ``A y = b`` where ``matvec(y)`` is A y: an iterative solver, for large
        Jacobians. A is the Jacobian of the residual with respect to x, or its transpose. By default, the Jacobian is
        formed and solved by LU.

    Returns
    -------
    callable
        The function ``x(*args)``. Its arguments may be containers.

    Raises
    ------
    ArgumentError
        If a function cannot be called.
    ShapeError
        If there are not as many equations as unknowns.
    DTypeError
        If an unknown or an equation is complex; arguments may be complex.
    TracedValueError
        If the residual or the solver uses a traced value of the enclosing function instead of an argument.
    numpy.linalg.LinAlgError
        If the Jacobian of the residual with respect to x is singular at the root: x(θ) has no derivative there.

    Notes
    -----
    Cost: the solver, once; a derivative takes the n × n Jacobian of the residual with respect to x, in compiled code,
    and one linear solve for each sweep. The solver is not recorded.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 15.1; Blondel et al. (2022), "Efficient and modular
    implicit differentiation".

    Examples
    --------
    >>> import hoad
    >>> import scipy.optimize
    >>> def residual(x, a):
    ...     return x**3 + x - a
    >>> x = hoad.implicit.root(residual, lambda a: scipy.optimize.brentq(residual, -9.0, 9.0, args=(a,), xtol=1e-15))
    >>> round(x(2.0), 12), round(hoad.grad(x)(2.0), 12)
    (1.0, 0.25)
    """
    check_function("implicit.root", residual)
    return _solved(residual, solver, linear_solver, "implicit.root")


def fixed_point(
    f: Callable[..., Any], solver: Callable[..., Any], *, linear_solver: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The function ``θ -> x(θ)`` that solves ``x = f(x, θ)``.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, written with NumPy; its result has the structure of x.
    solver, linear_solver
        As for `root`.

    Returns
    -------
    callable
        The function ``x(*args)``.

    Raises
    ------
    ArgumentError, ShapeError, TracedValueError, numpy.linalg.LinAlgError
        As for `root`.

    Notes
    -----
    Cost: as for `root`.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def iterate(a):
    ...     x = 1.0
    ...     for _ in range(200):
    ...         x = np.cos(a * x)
    ...     return x
    >>> x = hoad.implicit.fixed_point(lambda x, a: np.cos(a * x), iterate)
    >>> float(round(x(1.0), 6)), round(hoad.grad(x)(1.0), 6)
    (0.739085, -0.297474)
    """
    check_function("implicit.fixed_point", f)

    def residual(x: Any, *args: Any) -> Any:
        leaves, structure = flatten(x)
        images, found = flatten(f(x, *args))
        if found != structure:
            raise ShapeError(f"implicit.fixed_point needs f(x) like x, which is {structure}, but it is {found}.")
        return structure.unflatten([a - b for a, b in zip(leaves, images, strict=True)])

    return _solved(residual, solver, linear_solver, "implicit.fixed_point")


def argmin(
    objective: Callable[..., Any], solver: Callable[..., Any], *, linear_solver: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The function ``θ -> argmin_x objective(x, θ)``, for an interior minimum.

    Parameters
    ----------
    objective : callable
        ``objective(x, *args) -> ()``, written with NumPy.
    solver, linear_solver
        As for `root`; the solver returns the minimum (or maximum, or saddle point).

    Returns
    -------
    callable
        The function ``x(*args)``.

    Raises
    ------
    ArgumentError, ShapeError, TracedValueError, numpy.linalg.LinAlgError
        As for `root`, with the gradient of the objective as residual.

    Notes
    -----
    Cost: as for `root`. Derivatives are as accurate as the gradient is small, which takes more than a converged value
    of the objective: let the solver iterate until the gradient is small.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> ridge = hoad.implicit.argmin(
    ...     lambda w, x, y, penalty: np.sum((x @ w - y) ** 2) + penalty * np.sum(w**2),
    ...     lambda x, y, penalty: np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y),
    ... )
    >>> x, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> hoad.jacobian(ridge, argnums=2)(x, y, 0.0).round(6)
    array([ 0.166667, -0.5     ])
    """
    check_function("implicit.argmin", objective)
    return _solved(grad(objective), solver, linear_solver, "implicit.argmin")


# ---- linear equations -----------------------------------------------------------------------------------------------


class _Linear(Callee):
    """A linear equation ``A(θ) y = b``: a program ``(*θ, y) -> A y``, and solvers of it and of its transpose."""

    def __init__(self, program: Program, solver: Solver, transposed: Solver) -> None:
        self.program = program
        self.solver = solver
        self.transposed = transposed

    def __call__(self, b: Any, *numbers: Any) -> Any:
        if not holds_traced((b, *numbers)):
            return self.solve(b, numbers)
        return apply_primitive(LINEAR_SOLVE, (self,), b, *numbers)

    def solve(self, b: Any, numbers: Any) -> Any:
        """The solver's solution for plain numbers."""

        def matvec(y: Any) -> Any:
            found = self.program.evaluate(*numbers, y)
            return found[0] if isinstance(found, tuple) else found

        found = np.asarray(self.solver(matvec, b))
        aval = self.program.input_types[-1]
        if found.shape != aval.shape:
            raise ShapeError(f"a linear solver must return shape {aval.shape}, but returned shape {found.shape}.")
        return np.asarray(found, aval.dtype)[()]

    @property
    def transpose(self) -> _Linear:
        return _Linear(adjoint_of(self.program, True), self.transposed, self.solver)

    def __reduce__(self) -> Any:
        for solver in (self.solver, self.transposed):
            check_travels(solver, "the solver of hoad.implicit.linear_solve")
        return _restored, (self.program, self.solver, self.transposed)

    def _check_operands(self, avals: tuple[AbstractValue, ...]) -> None:
        if avals[1:] != self.program.input_types[:-1] or avals[0].shape != self.program.input_types[-1].shape:
            raise refusal(f"a linear equation is given {avals}")

    def __repr__(self) -> str:
        return f"<linear equation of {self.program.input_types[-1].size} unknowns>"


@restoring
def _restored(program: Program, solver: Any, transposed: Any) -> _Linear:
    """A linear equation out of a pickle."""
    if not callable(solver) or not callable(transposed) or not program.input_types or len(program.output_types) != 1:
        raise refusal("a linear equation has no solver, or other unknowns")
    return _Linear(program, solver, transposed)


def _linear_rule(g: Any, p: Any, b: Any, *numbers: Any, equation: _Linear) -> tuple[Any, ...]:
    """``Aᵀ b̄ = g``, and ``-b̄ᵀ ∂A/∂θ p``."""
    b_bar = equation.transpose(g, *numbers)
    found = adjoints_by(equation.program, False, (*numbers, p, -b_bar))
    return (b_bar, *(found.get(k) for k in range(len(numbers))))


LINEAR_SOLVE = Primitive(
    "linear_solve",
    function=lambda params, b, *numbers: params[0].solve(b, numbers),
    kind=PYTHON,
    nin=-1,
    infer=lambda params, b, *numbers: (params[0].program.input_types[-1],),
    param_names=("equation",),
    linear_in=(0,),
    may_round=True,
)
LINEAR_SOLVE.of_programs = True
set_rule(LINEAR_SOLVE, _linear_rule)


def linear_solve(
    matvec: Callable[..., Any], solver: Callable[..., Any], *, transposed: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The function ``(b, θ) -> y`` that solves ``matvec(y, θ) = b``, where matvec is linear in y.

    Parameters
    ----------
    matvec : callable
        ``matvec(y, *args)``: A(θ) y, of the shape of y, written with NumPy. No matrix is needed.
    solver : callable
        ``solver(matvec, b) -> y``: any solver, iterative or sparse, called with a function of plain arrays and a plain
        array.
    transposed : callable, optional
        The same for Aᵀ, ``transposed(matvec, b)`` with ``matvec(y) = Aᵀ y``; `solver` by default.

    Returns
    -------
    callable
        The function ``y(b, *args)``; y has the shape of b.

    Raises
    ------
    ArgumentError
        If a function cannot be called.
    ShapeError
        If the result of matvec or of the solver does not have the shape of b.
    DTypeError
        If matvec is complex and b is real.
    TracedValueError
        If matvec uses a traced value of the enclosing function instead of an argument.

    Notes
    -----
    Cost: the solver once, and once more for every sweep, with the transpose. Neither A nor its inverse is formed.

    References
    ----------
    Giles (2008), "Collected matrix derivative results for forward and reverse mode algorithmic differentiation",
    section 2.3.1.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> from scipy.sparse.linalg import LinearOperator, cg
    >>> def conjugate_gradients(matvec, b):
    ...     return cg(LinearOperator((b.size, b.size), matvec=matvec), b, rtol=1e-14)[0]
    >>> heat = hoad.implicit.linear_solve(lambda u, k: u + k * (2 * u - np.roll(u, 1) - np.roll(u, -1)),
    ...                                   conjugate_gradients)
    >>> b = np.array([1.0, 0.0, 0.0, 0.0])
    >>> round(hoad.grad(lambda k: heat(b, k)[0])(0.5), 6)
    -0.361111
    """
    check_function("implicit.linear_solve", matvec)
    check_function("implicit.linear_solve", solver)

    @functools.wraps(solver, updated=())
    def solution(b: Any, *args: Any) -> Any:
        given, numbers = _numbers_of(args)
        right = b if is_traced(b) else np.asarray(b, complex if np.iscomplexobj(b) else float)
        plain = [plain_value(x) for x in numbers]
        start = np.zeros(np.shape(right), complex if np.iscomplexobj(right) else float)

        def product(*values: Any) -> list[Any]:
            *known, y = values
            made = matvec(y, *given.filled(known))
            if np.shape(made) != np.shape(right):
                raise ShapeError(
                    f"implicit.linear_solve needs matvec(y) of the shape of b, {np.shape(right)}, but it has shape "
                    f"{np.shape(made)}."
                )
            if np.iscomplexobj(made) and not np.iscomplexobj(right):
                raise DTypeError(
                    "implicit.linear_solve needs a complex b where matvec(y) is complex, but b is "
                    f"{right.dtype}. Write b + 0j."
                )
            return [made]

        program = _program(product, [*plain, start], "the matvec of implicit.linear_solve")
        program._linear = 1
        return _Linear(program, solver, transposed or solver)(right, *numbers)

    return solution


__all__ = ["argmin", "fixed_point", "linear_solve", "root"]
