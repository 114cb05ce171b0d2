"""What SciPy's solvers find, with the derivatives that the implicit function theorem gives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoad._core.base.frame_globals import Apart
from hoad._core.graph.tape import intern_aval
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.context import running
from hoad._drivers.gradient import grad
from hoad._pytree.containers import flatten
from hoad._scipy.plain_functions import Branch, Branches, Surroundings, are_constants
from hoad._scipy.registry import IMPLEMENTED, place_of, refused, sections
from hoad._transform.programs import recorded
from hoad.errors import NoRuleError
from hoad.implicit import Root, Unknown, declare_root

Given = dict[str, Any]
Function = Callable[..., Any]


@dataclass
class Solver:
    """A solver of SciPy's: what its arguments and results are."""

    original: Function
    function: str  # the argument whose root or minimum is found
    others: tuple[str, ...]  # that are functions of the same, or may be
    equation: Callable[[Function, Given], Function]  # of the function: what is 0 at the solution
    solution: Callable[[Any, Given], Any]  # in what SciPy returns
    result: Callable[[Any, Given, Any, Function], Any]  # what SciPy returned, with a traced solution
    check: Callable[[Solver, Any, Given, Function], None]  # that there is a derivative


def vector(x: Any) -> Any:
    """All numbers of a result in one vector."""
    leaves = flatten(x)[0]
    return np.concatenate([np.reshape(np.asarray(leaf) if isinstance(leaf, float) else leaf, (-1,)) for leaf in leaves])


def number(x: Any) -> Any:
    """The one number that a cost is."""
    return x if np.ndim(x) == 0 else np.reshape(x, ())[()]


def first(f: Function, given: Given, derivative: str) -> Function:
    """The value alone, of a function that returns its derivative, too."""
    return (lambda x: f(x)[0]) if given.get(derivative) is True else f


def refusal(solver: Solver, why: str) -> NoRuleError:
    return NoRuleError(f"{place_of(solver.original)} has no derivative here: {why}")


def solution(solver: Solver, args: Any, kwargs: Any) -> Any:
    """What a solver returns while something is recorded."""
    given = with_arguments(dict(inspect.signature(solver.original).bind(*args, **kwargs).arguments), solver)
    names = [name for name in (solver.function, *solver.others) if callable(given.get(name))]
    functions = {name: given.pop(name) for name in names}
    around = Surroundings(given)
    branches = {name: Branches(f, around) for name, f in functions.items()}

    def run(numbers: Sequence[Any]) -> tuple[Any, Given, Any]:
        now = around.arguments(numbers)
        with Apart():
            bound = {name: f.bound(numbers) for name, f in branches.items()}
            found = called(solver.original, now | bound)
        x = solver.solution(found, now)
        return found, now, x if np.iscomplexobj(x) else np.array(x, float) if np.ndim(x) else float(x)

    found, now, x = run(around.known)
    if are_constants(around.values):
        return found
    if np.iscomplexobj(x):
        name = place_of(solver.original).rpartition(".")[2]
        raise refused(
            name,
            "with a complex solution",
            "Solve for its real and imaginary parts, as two unknowns.",
            "scipy.optimize",
        )
    branch = branches[solver.function].at(around.known, x)
    assert branch is not None
    solver.check(solver, found, now, functools.partial(branch, around.known))
    try:
        return traced_solution(solver, around, branch, run, (found, x))
    finally:  # a replay has its own numbers, and must not keep these alive
        around.forget()
        for held in branches.values():
            held.forget()


def called(original: Function, given: Given) -> Any:
    """A call by names; what the signature has under ** goes as keywords."""
    parameters = inspect.signature(original).parameters
    keywords = {name: x for name, x in given.items() if parameters[name].kind is not inspect.Parameter.VAR_KEYWORD}
    more = [x for name, x in given.items() if name not in keywords]
    return original(**keywords, **(more[0] if more else {}))


UNPACKING = ("fixed_point", "least_squares", "newton")  # solvers that take any sequence for args


def with_arguments(given: Given, solver: Solver) -> Given:
    """The call without further arguments of its functions, which become part of these."""
    more = given.pop("args", ())
    keywords: Given = {}
    if "kwargs" in inspect.signature(solver.original).parameters and solver.function == "fun":
        keywords = given.pop("kwargs", None) or {}
    if not isinstance(more, tuple):  # others take it for one argument
        more = tuple(more) if solver.original.__name__ in UNPACKING else (more,)
    if more or keywords:
        for name in (solver.function, *solver.others):
            if callable(given.get(name)):
                given[name] = functools.partial(with_more, given[name], more, keywords)
    return given


def with_args(f: Function, args: Any) -> Function:
    """f of its first arguments alone, the others being these; what is no tuple is one argument."""
    args = args if isinstance(args, tuple) else (args,)
    return functools.partial(with_more, f, args, {}) if args else f


def with_more(f: Function, more: tuple[Any, ...], keywords: dict[str, Any], *xs: Any) -> Any:
    """f, with further arguments behind its own."""
    return f(*xs, *more, **keywords)


def traced_solution(
    solver: Solver, around: Surroundings, branch: Branch, run: Callable[..., Any], solved: tuple[Any, Any]
) -> Any:
    found, x = solved
    unknown = Unknown(flatten(x)[1], [intern_aval(np.asarray(x).dtype, np.shape(x))])
    known = [(list(around.known), x)]  # it was solved already for the numbers at hand

    def flat(v: Any, *numbers: Any) -> list[Any]:
        f = functools.partial(branch, numbers)
        zero = solver.equation(f, around.arguments(numbers))
        return [np.reshape(vector(zero(unknown.unravel(v)[0])), (unknown.size,))]

    program = recorded(flat, [np.reshape(np.asarray(x), (-1,)), *around.known], valued=True)

    def solve(numbers: Any) -> list[Any]:
        if known and all(np.array_equal(a, b) for a, b in zip(known[0][0], numbers, strict=True)):
            return [known[0][1]]
        found, now, again = run(list(numbers))
        program.evaluate(np.reshape(np.asarray(again), (-1,)), *numbers)  # raises where it takes another branch
        solver.check(solver, found, now, functools.partial(branch, numbers))
        return [again]

    root = Root(unknown, program, solve, None, place_of(solver.original))
    made = apply_primitive(declare_root(1), (root,), *around.values)
    known.clear()
    x = made[0] if isinstance(made, tuple) else made
    return solver.result(found, around.arguments(around.values), x, functools.partial(branch, around.values))


def declare(solver: Solver, summary: str, notes: str) -> None:
    """Register the implementation of a solver."""
    original = solver.original

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if running() is None else solution(solver, args, kwargs)

    function.__doc__ = sections(summary, original, RAISES, notes)
    IMPLEMENTED[original] = function


RAISES = """\
NoRuleError
    If the solver did not converge, or it is not certain whether a bound holds the solution.
numpy.linalg.LinAlgError
    If the derivative of the equation is singular there."""


# ---- equations ------------------------------------------------------------------------------------------------------


def at_rest(cost: Function) -> Function:
    """The gradient of a cost."""
    return grad(lambda x: number(cost(x)))
