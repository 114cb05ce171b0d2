"""`scipy.integrate.odeint`: ODEPACK's solution where all is plain, else that of `hoad.ode.odeint`, beside it."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import scipy.integrate

import hoad.ode
from hoad._core.base.frame_globals import Apart
from hoad._core.trace.context import running
from hoad._core.trace.traced import plain_value
from hoad._pytree.arguments import packed_list
from hoad._scipy.plain_functions import Branches, Surroundings
from hoad._scipy.registry import IMPLEMENTED, refused, sections
from hoad._scipy.solutions import with_args

original = scipy.integrate.odeint

TOLERANCE = 1.49012e-8  # SciPy's
APART = 1e-3  # relative to the largest value: how far two solutions may be from each other


@functools.wraps(original)
def odeint(*args: Any, **kwargs: Any) -> Any:
    if running() is None:
        return original(*args, **kwargs)
    given = dict(inspect.signature(original).bind(*args, **kwargs).arguments)
    more, jacobian = given.pop("args", ()), given.pop("Dfun", None)
    f = with_args(given.pop("func"), more)
    around = Surroundings(given)
    branches = Branches(f, around)
    with Apart():
        found = original(branches.bound(around.known), **around.arguments(around.known))
    if not around.values:
        if jacobian is None:
            return found
        with Apart():
            return original(branches.bound(around.known), Dfun=with_args(jacobian, more), **given)
    values, *info = found if given.get("full_output") else (found,)
    solution = _solution(branches, given)
    distance = np.max(np.abs(plain_value(solution) - values), initial=0.0)
    if not distance <= APART * np.max(np.abs(values), initial=0.0):
        raise refused(
            "odeint",
            f"gives another solution than hoad.ode.odeint, {distance:.1e} apart, and",
            "Make rtol and atol smaller, or integrate from one jump of func to the next.",
            "scipy.integrate",
        )
    return (solution, *info) if info else solution


def _solution(branches: Branches, given: dict[str, Any]) -> Any:
    def slopes(*at: Any) -> Any:
        y = at[1 if given.get("tfirst") else 0]
        return np.reshape(packed_list(branches.called(*at)), np.shape(y))

    asked = [given.get(name) for name in ("rtol", "atol")]
    rtol, atol = [TOLERANCE if x is None else float(np.min(x)) for x in asked]
    y0, t = np.atleast_1d(packed_list(given["y0"])), packed_list(given["t"])
    return hoad.ode.odeint(slopes, y0, t, rtol=rtol, atol=atol, tfirst=bool(given.get("tfirst")))


odeint.__doc__ = sections(
    "The solution of ``y' = func(y, t, *args)``, y(t[0]) = y0, at the times t.",
    original,
    "ValueError\n    As SciPy's function, which is called with the plain values.\n"
    "NoRuleError\n    If hoad's solution is another one, as where func has a short pulse.",
    "Notes\n-----\nCost: SciPy's solution, and that of `hoad.ode.odeint`, an explicit method of order 5 with the same "
    "tolerances, whose derivatives these are.\n",
)
IMPLEMENTED[original] = odeint
