"""Solvers of `scipy.optimize`: roots, fixed points, minima and fits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.optimize as so

from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import running
from hoad._drivers.values import value
from hoad._scipy.bounds import check_bounds, ends_of, free_or_held, two_ends_of
from hoad._scipy.line_bounds import Line, check_line, free_or_held_on_line
from hoad._scipy.registry import IMPLEMENTED, place_of, refused, sections
from hoad._scipy.solutions import Function, Given, Solver, at_rest, declare, first, number, refusal, vector
from hoad.errors import NoRuleError

NOTES = """\
Notes
-----
The function may use traced values around it, and args may be traced. The solver is called with plain numbers, and its
result is differentiated by the implicit function theorem, as `hoad.implicit` does. So derivatives are as accurate as
the solution is: set the tolerances by that. By where the solver starts they are 0. An unknown that a bound
holds stays there, and moves with a traced bound.

Cost: the solver, once; the function is recorded once for each branch that it takes. A derivative takes the Jacobian of
the equation, and one linear solve for each sweep."""


def _root(f: Function, given: Given) -> Function:
    return first(first(f, given, "fprime"), given, "jac")


def _fixed(f: Function, given: Given) -> Function:
    return lambda x: vector(x) - vector(f(x))


def slope_of(f: Function, given: Given) -> Function:
    """The slope of what is minimised."""
    return at_rest(first(f, given, "jac"))


def _minimum(f: Function, given: Given) -> Function:
    return free_or_held(slope_of(f, given), ends_of(given.get("bounds")))


def _line_minimum(f: Function, given: Given) -> Function:
    slope = slope_of(f, given)
    return slope if given.get("bounds") is None else free_or_held_on_line(slope, Line(given))


def found_x(found: Any, given: Given) -> Any:
    return found.x


# ---- results --------------------------------------------------------------------------------------------------------


def _first_of(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


def _put_first(found: Any, given: Given, x: Any, f: Function) -> Any:
    """x, alone or with what else SciPy returned."""
    if not isinstance(found, tuple):
        return x
    if isinstance(found[1], so.RootResults):
        found[1].root = x
    return (x, *found[1:])


def _put_root(found: Any, given: Given, x: Any, f: Function) -> Any:
    found.root = x
    return found


def _put_x(found: Any, given: Given, x: Any, f: Function) -> Any:
    found.x = x
    found.fun = _root(f, given)(x)
    return found


def put_minimum(found: Any, given: Given, x: Any, f: Function) -> Any:
    found.x = x
    found.fun = number(first(f, given, "jac")(x))
    return found


# ---- checks ---------------------------------------------------------------------------------------------------------


def _check_pair(solver: Solver, found: Any, given: Given, f: Function) -> None:
    if isinstance(found, tuple):
        state = found[1]
        if not np.all(getattr(state, "converged", True)) or (
            len(found) > 2 and given.get("full_output") and (isinstance(found[2], int) and found[2] != 1)
        ):
            raise refusal(solver, "the solver did not converge.")


def _check_scalar(solver: Solver, found: Any, given: Given, f: Function) -> None:
    if not found.converged:
        raise refusal(solver, f"the solver did not converge: {found.flag}.")


def _check_success(solver: Solver, found: Any, given: Given, f: Function) -> None:
    if not found.success:
        raise refusal(solver, f"the solver did not converge: {found.message}")


def _check_minimum(solver: Solver, found: Any, given: Given, f: Function) -> None:
    check_bounds(solver, found.x, slope_of(f, given), float(found.fun), ends_of(given.get("bounds")))
    slope = getattr(found, "jac", None)
    flat = slope is not None and np.max(abs(np.asarray(slope)), initial=0.0) <= 1e-5 * max(1.0, abs(float(found.fun)))
    if not found.success and not flat:
        raise refusal(solver, f"the solver did not converge: {found.message}")


def _check_line(solver: Solver, found: Any, given: Given, f: Function) -> None:
    _check_success(solver, found, given, f)
    if given.get("bounds") is not None:
        check_line(solver, float(found.x), slope_of(f, given), Line(given))


# ---- least squares --------------------------------------------------------------------------------------------------

LOSSES: dict[str, Function] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.where(z <= 1.0, 1.0, z)) - 1.0),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def _cost(f: Function, given: Given) -> Function:
    """½ Σ ρ(f²), as SciPy has it."""
    loss, scale = given.get("loss", "linear"), given.get("f_scale", 1.0)
    return lambda x: 0.5 * scale**2 * np.sum(LOSSES[loss]((vector(f(x)) / scale) ** 2))


def _put_squares(found: Any, given: Given, x: Any, f: Function) -> Any:
    found.x = x
    found.fun = vector(f(x))
    found.cost = _cost(f, given)(x)
    return found


def _least(f: Function, given: Given) -> Function:
    return free_or_held(at_rest(_cost(f, given)), two_ends_of(given.get("bounds")))


def _check_squares(solver: Solver, found: Any, given: Given, f: Function) -> None:
    if callable(given.get("loss")):
        raise refusal(solver, "of a loss function, only values are known. Name one of SciPy's, or use hoad.implicit.")
    _check_success(solver, found, given, f)
    check_bounds(solver, found.x, at_rest(_cost(f, given)), float(found.cost), two_ends_of(given.get("bounds")))


# ---- the solvers ----------------------------------------------------------------------------------------------------

MINIMIZE = Solver(so.minimize, "fun", ("jac", "hess", "hessp"), _minimum, found_x, put_minimum, _check_minimum)
for _f in (so.brentq, so.brenth, so.bisect, so.ridder, so.toms748):
    declare(
        Solver(_f, "f", (), _root, lambda found, given: _first_of(found), _put_first, _check_pair),
        "The root of a function of one number in an interval, with its derivatives by what the function depends on.",
        NOTES,
    )
for _solver, _summary in (
    (
        Solver(
            so.newton,
            "func",
            ("fprime", "fprime2"),
            _root,
            lambda found, given: _first_of(found),
            _put_first,
            _check_pair,
        ),
        "A root of a function of one number, or of each item of an array.",
    ),
    (
        Solver(
            so.root_scalar,
            "f",
            ("fprime", "fprime2"),
            _root,
            lambda found, given: found.root,
            _put_root,
            _check_scalar,
        ),
        "The root of a function of one number, by any of SciPy's methods; `root` of what it returns is traced.",
    ),
    (
        Solver(so.root, "fun", ("jac",), _root, found_x, _put_x, _check_success),
        "A root of several functions; `x` and `fun` of what it returns are traced.",
    ),
    (
        Solver(
            so.fsolve,
            "func",
            ("fprime",),
            lambda f, given: f,
            lambda found, given: _first_of(found),
            _put_first,
            _check_pair,
        ),
        "A root of several functions.",
    ),
    (
        Solver(so.fixed_point, "func", (), _fixed, lambda found, given: found, _put_first, lambda *_: None),
        "A point that a function does not move.",
    ),
    (
        MINIMIZE,
        "A minimum of a function of several numbers; `x` and `fun` of what it returns are traced.",
    ),
    (
        Solver(
            so.minimize_scalar,
            "fun",
            (),
            _line_minimum,
            found_x,
            put_minimum,
            _check_line,
        ),
        "A minimum of a function of one number; `x` and `fun` of what it returns are traced.",
    ),
    (
        Solver(
            so.least_squares,
            "fun",
            ("jac",),
            _least,
            found_x,
            _put_squares,
            _check_squares,
        ),
        "A minimum of a sum of squares, or of losses; `x`, `fun` and `cost` of what it returns are traced.",
    ),
):
    declare(_solver, _summary, NOTES)


# ---- what calls functions from C -------------------------------------------------------------------------------------


def _declare_compiled(original: Function, advice: str) -> None:
    """Register a solver without a rule whose compiled code would take a traced value for a mistake of the function."""

    @functools.wraps(original)
    def function(func: Function, *args: Any, **kwargs: Any) -> Any:
        if running() is None:
            return original(func, *args, **kwargs)
        refusals: list[NoRuleError] = []

        def of_numbers(*xs: Any) -> Any:
            found = func(*xs)
            if holds_traced(found) or holds_traced([found]):
                refusals.append(
                    refused(original.__name__, "of a function that uses traced values", advice, "scipy.optimize")
                )
                return value(found)
            return found

        found = original(of_numbers, *args, **kwargs)
        if refusals:
            raise refusals[0]
        return found

    function.__doc__ = sections(
        f"`{place_of(original)}` of functions that use no traced values; it raises for others.",
        original,
        "NoRuleError\n    If the function uses traced values.",
        "Notes\n-----\nCost: that of SciPy's function.",
    )
    IMPLEMENTED[original] = function


_declare_compiled(so.direct, "Use minimize, from where it ends.")
