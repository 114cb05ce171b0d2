"""Which argument of a right side comes first: SciPy has rhs(t, y) for solve_ivp, and rhs(y, t) for odeint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hoad._program.trace import plain, raised_at
from hoad._pytree.arguments import parameters
from hoad._pytree.containers import flatten
from hoad.errors import ArgumentError, HoadError, NoMethodError, ShapeError

TIMES = ("t", "time")
TIME_FIRST, TIME_SECOND = "f(t, y, *args)", "f(y, t, *args)"
# What to do with a function of the other order, by how the driver calls it.
SWAP = {
    TIME_FIRST: "write it with t first, or give lambda t, y, *args: f(y, t, *args)",
    TIME_SECOND: "give tfirst=True, or write it with y first",
}


def check_names(driver: str, called: str, f: Callable[..., Any]) -> None:
    """Raise where the names of the parameters say that f takes the time behind y.

    With one number for y it would be integrated all the same, and wrongly.
    """
    names = parameters(f).positional
    if len(names) > 1 and names[1] in TIMES and names[0] not in TIMES:
        raise ArgumentError(
            f"{driver} calls {called} as f(t, y, *args), as solve_ivp does, but its parameters are named "
            f"({', '.join(names)}), as for odeint. Write it as f({names[1]}, {names[0]}, ...), or give "
            f"lambda t, y, *args: f(y, t, *args). If {names[0]} is the time, give it another name than {names[1]}'s."
        )


def check_names_of_odeint(f: Callable[..., Any], tfirst: bool) -> None:
    """The same for `odeint`, which takes the time behind y unless it is told otherwise."""
    names = parameters(f).positional
    if len(names) < 2 or (names[0] in TIMES) == (names[1] in TIMES) or (names[0] in TIMES) == tfirst:
        return
    form, other, advice = (TIME_SECOND, "solve_ivp", "Give tfirst=True.")
    if tfirst:
        form, other, advice = (TIME_FIRST, "odeint without tfirst=True", "Leave tfirst out.")
    raise ArgumentError(
        f"odeint{' with tfirst=True' if tfirst else ''} calls rhs as {form}, but its parameters are named "
        f"({', '.join(names)}), as for {other}. {advice} If {names[1 if tfirst else 0]} is no time, give it another "
        "name."
    )


@contextmanager
def telling_order(
    driver: str,
    called: str,
    f: Callable[..., Any],
    t: float,
    y0: Any,
    args: tuple[Any, ...],
    gives: Callable[[Any], Any],
    failures: type[Exception] | tuple[type[Exception], ...] = Exception,
    form: str = TIME_FIRST,
) -> Iterator[None]:
    """Where f fails as it is called, say so if it takes others: fewer, in the other order, or an array for a list."""
    try:
        yield
    except failures as failure:
        if isinstance(failure, HoadError) and not isinstance(failure, (ShapeError, NoMethodError)):
            raise  # it says what is wrong
        y = plain(y0, nested=False)
        advice = _advice(f, t, y, plain(args, nested=False), gives, not isinstance(failure, ShapeError), form)
        if advice is None:
            raise
        at = raised_at(failure)
        where = f" ({at[0]})" if at[1] is not None else ""
        raise ArgumentError(
            f"{driver} calls {called} as {form}, and that raised {type(failure).__name__}{where}. {advice}"
        ) from failure


def _advice(
    f: Callable[..., Any],
    t: float,
    y: Any,
    args: tuple[Any, ...],
    gives: Callable[[Any], Any],
    tries_array: bool,
    form: str,
) -> str | None:
    other = TIME_SECOND if form == TIME_FIRST else TIME_FIRST
    known, given = parameters(f), 2 + len(args)
    most = given if known.takes_any else len(known.positional)
    if known.is_known and not known.required <= given <= most:
        return (
            f"It takes ({', '.join(known.positional)}), but is called with {given} arguments: "
            f"{'t, y' if form == TIME_FIRST else 'y, t'} and what args has."
        )
    if _works(f, _arguments(other, t, y, args), gives):
        return f"Called as {other} it works: {SWAP[form]}."
    if tries_array and isinstance(y, (list, tuple)) and all(not np.ndim(x) for x in flatten(y)[0]):
        array = np.asarray(y)
        for order, there in ((form, ": "), (other, f", called as {other}: {SWAP[form]}; and ")):
            if _works(f, _arguments(order, t, array, args), lambda found: np.shape(found) == array.shape):
                return f"With an array for y it works{there}give y0 as np.array([...]), since a list is a container."
    return None


def _arguments(form: str, t: float, y: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (t, y, *args) if form == TIME_FIRST else (y, t, *args)


def _works(f: Callable[..., Any], arguments: tuple[Any, ...], gives: Callable[[Any], Any]) -> bool:
    """Whether f takes these plain arguments, and `gives` neither raises for its result nor is False."""
    try:
        with np.errstate(all="ignore"):
            return gives(f(*arguments)) is not False
    except Exception:
        return False
