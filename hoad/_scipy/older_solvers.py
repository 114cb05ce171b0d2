"""The solvers of `scipy.optimize` that have a function each: those that follow slopes to where they are 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as so

from hoad._scipy.bounds import check_bounds, ends_of, free_or_held
from hoad._scipy.roots_and_minima import NOTES
from hoad._scipy.solutions import Function, Given, Solver, at_rest, declare, number, refusal, vector

FLAT = 1e-4  # the slope, by the size of the cost, at a minimum that was found


def _put_first(found: Any, given: Given, x: Any, f: Function) -> Any:
    """x, alone or with what else SciPy returned."""
    return (x, *found[1:]) if isinstance(found, tuple) else x


def _first_of(found: Any, given: Given) -> Any:
    return found[0] if isinstance(found, tuple) else found


# ---- least squares ---------------------------------------------------------------------------------------------------


def _squares(f: Function) -> Function:
    return lambda x: 0.5 * np.sum(vector(f(x)) ** 2)


def _check_squares(solver: Solver, found: Any, given: Given, f: Function) -> None:
    if found[-1] not in (1, 2, 3, 4):
        raise refusal(solver, "the solver did not converge.")
    _check_flat(solver, found[0], f=_squares(f))


def _check_flat(solver: Solver, x: Any, f: Function) -> None:
    steepest = np.max(abs(np.asarray(at_rest(f)(x))), initial=0.0)
    if not steepest <= FLAT * max(1.0, abs(float(number(f(x))))):
        raise refusal(solver, f"the solver stopped where the slope is {steepest:.2g}.")


declare(
    Solver(
        so.leastsq,
        "func",
        ("Dfun",),
        lambda f, given: at_rest(_squares(f)),
        _first_of,
        _put_first,
        _check_squares,
    ),
    "A minimum of a sum of squares; what is returned beside it is plain.",
    NOTES,
)

# ---- minima ----------------------------------------------------------------------------------------------------------

for _solver in (so.fmin_bfgs, so.fmin_cg, so.fmin_ncg):
    declare(
        Solver(
            _solver,
            "f",
            ("fprime", "fhess", "fhess_p") if _solver is so.fmin_ncg else ("fprime",),
            lambda f, given: at_rest(f),
            _first_of,
            _put_first,
            lambda solver, found, given, f: _check_flat(solver, _first_of(found, given), f),
        ),
        "A minimum of a function of several numbers; what is returned beside it is plain.",
        NOTES,
    )


def _cost(f: Function) -> Function:
    """The function, which returns its slope too where that is not given by itself."""

    def cost(x: Any) -> Any:
        found = f(x)
        return found[0] if isinstance(found, (tuple, list)) else found

    return cost


def _put_three(found: Any, given: Given, x: Any, f: Function) -> Any:
    return x, number(_cost(f)(x)), found[2]


def _check_within(solver: Solver, found: Any, given: Given, f: Function) -> None:
    if found[2]["warnflag"]:
        raise refusal(solver, f"the solver did not converge: {found[2]['task']}")
    check_bounds(solver, found[0], at_rest(_cost(f)), float(found[1]), ends_of(given.get("bounds")))


declare(
    Solver(
        so.fmin_l_bfgs_b,
        "func",
        ("fprime",),
        lambda f, given: free_or_held(at_rest(_cost(f)), ends_of(given.get("bounds"))),
        _first_of,
        _put_three,
        _check_within,
    ),
    "A minimum of a function of several numbers, and its value there; what is returned beside them is plain.",
    NOTES,
)
