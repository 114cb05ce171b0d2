"""Time for memory: functions, and steps of loops, that the reverse sweep recomputes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.graph.tape import AbstractValue
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import running
from hoad._program.callee import called
from hoad._program.trace import recorder_among
from hoad._pytree.arguments import Numbers, check_function, number_aval
from hoad._pytree.containers import leaves_of
from hoad._transform.checkpoint_segments import Span, Steps
from hoad._transform.composite import UNFOLDED, Apart, Stretch, apart_from, program_of
from hoad.errors import ArgumentError, DTypeError, ShapeError


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """f without stored intermediate values: the reverse sweep recomputes them.

    Parameters
    ----------
    f : callable
        A function written with NumPy. It may take and return anything, containers too, and use traced values of the
        enclosing function.

    Returns
    -------
    callable
        Called like f. In a derivative, the whole call is one node.

    Raises
    ------
    ArgumentError
        If f cannot be called.

    See Also
    --------
    checkpointed_loop : many steps, with as few recomputed as possible.
    scan : a loop that is one operation and keeps checkpoints by itself.

    Notes
    -----
    Cost: the operations of f are evaluated once more in a reverse sweep, and once more for each higher order. A call
    keeps its arguments and results, and its operations, 20 bytes each. Calls with the same operations share them, so
    that those of a step that is called a hundred times are kept once. Calls that differ in a constant number do not
    share: pass what changes as an array, or compute it from a traced value.

    f itself is called once, and not again in the reverse sweep, so it may depend on variables that change.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapter 12.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> @hoad.checkpoint
    ... def step(x):
    ...     for _ in range(1000):
    ...         x = x + 0.001 * np.sin(x)
    ...     return x
    >>> program = hoad.record(lambda x: step(step(x)), 1.0)
    >>> program
    Program([<Tape: primal, 3 nodes, 1 input, 1 output>])
    >>> round(hoad.grad(lambda x: step(step(x)))(1.0), 6)
    0.555007
    """
    check_function("checkpoint", f)

    @functools.wraps(f, updated=())
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if running() is None:
            record = recorder_among(args)
            if record is not None:
                return record(checkpointed, args, kwargs)
            return apart_from((args, kwargs), f(*args, **kwargs))
        if UNFOLDED.get():
            return f(*args, **kwargs)
        apart = Apart(functools.partial(f, *args, **kwargs))
        if not apart.values:
            return apart.parts.filled(())
        segment = apart.segment
        return apart.record(Stretch(program_of(segment)), segment.constants + segment.outer)

    return checkpointed


def checkpointed_loop(step: Callable[..., Any], steps: int, state: Any, *args: Any, slots: int | None = None) -> Any:
    """The state after n steps ``state = step(k, state, *args)``; derivatives keep only a few of the states.

    Parameters
    ----------
    step : callable
        ``step(k, state, *args) -> state``, with an int k = 0, ..., n - 1. It is called again in the reverse sweep, with
        plain arguments, so it must depend on its arguments only.
    steps : int
        The number n of steps. If it is 0, the state is returned unchanged.
    state : float, array or container of these
        The state before the first step; a step keeps structure, shapes and dtypes.
    *args : float, array or container of these
        Further arguments of all steps; derivatives are taken with respect to these too.
    slots : int, optional
        The number of states to keep, at least 1. The default is √(2n), so that no step is recomputed more than twice.

    Returns
    -------
    float, array or container of these
        The last state.

    Raises
    ------
    ArgumentError
        If `step` is not a function, or `steps` or `slots` is not a valid number.
    DTypeError
        If the state does not consist of floats.
    ShapeError
        If a step changes the structure of the state, a shape or a dtype.
    TracedValueError
        If a step uses a traced value that is not among its arguments, or a value that it computes is used elsewhere
        without being returned.
    HoadError
        If a step returns another state when it is called again.

    See Also
    --------
    fori_loop, scan : loops recorded once, at their first step, and run without Python. They keep checkpoints too, one
        for each of √n segments. Prefer them unless each step branches by itself or calls functions that hoad cannot
        record once for all steps, or the states fit into memory only with a schedule of `slots` states.
    checkpoint : the same for one function.
    checkpoint_schedule : which states are kept and which steps are recomputed.

    Notes
    -----
    Cost: a reverse sweep keeps `slots` states, recomputes ``t = r n - β(s + 1, r - 1)`` steps (see
    `checkpoint_schedule`), and records each step once, from the last to the first. Second and higher derivatives keep
    `slots` + r states, and recompute as many steps for each order. Each step is called from Python, also in the replay
    of a program.

    References
    ----------
    Griewank and Walther (2000), Algorithm 799: revolve, ACM Transactions on Mathematical Software 26, 19-45.

    Examples
    --------
    The logistic map, 1000 times, with 10 states kept:

    >>> import numpy as np
    >>> import hoad
    >>> def step(k, x, a):
    ...     return a * x * (1 - x)
    >>> def last(x, a):
    ...     return hoad.checkpointed_loop(step, 1000, x, a, slots=10)
    >>> hoad.grad(last, argnums=1)(0.3, 2.0)
    0.25
    """
    check_function("checkpointed_loop", step)
    _check_steps(steps)
    record = recorder_among([state, *args])
    if record is not None:
        return record(checkpointed_loop, (step, steps, state, *args), {"slots": slots})
    if running() is None or not steps or not any(map(holds_traced, leaves_of((state, args)))):
        after = state
        for k in range(steps):
            after = step(k, after, *args)
        return apart_from((state, args), after) if steps else state
    carry, given = Numbers(state), Numbers(args)
    operands = (*carry.numbers, *given.numbers)
    avals = tuple(map(number_aval, operands))
    n = len(carry.numbers)
    _check_state(carry, avals)
    carry.numbers.clear()  # a program holds the steps after the traced values have ended
    given.numbers.clear()

    def on_numbers(k: int, *x: Any) -> tuple[Any, ...]:
        after = Numbers(compared(step, (k, carry.filled(x[:n]), *given.filled(x[n:])), {}, "checkpointed_loop"))
        if not after.like(carry):
            raise ShapeError(
                f"step {k} of a checkpointed loop was given a state {carry.structure.shown()}, but returned "
                f"{after.structure.shown()}, or numbers in other places. Return what the state is."
            )
        return tuple(x[()] if isinstance(x, np.ndarray) else x for x in after.numbers)

    loop = Steps(on_numbers, avals[:n], avals[n:])
    chosen = math.isqrt(2 * steps) + 1 if slots is None else slots
    found = called(Span(loop, 0, int(steps), chosen), operands)
    loop.is_new = False
    return carry.filled(found)


def _check_steps(steps: Any) -> None:
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ArgumentError(f"checkpointed_loop takes a number of steps, an int, not {steps!r}.")


def _check_state(carry: Numbers, avals: tuple[AbstractValue, ...]) -> None:
    """Raise unless the state is made of floats."""
    for place, aval in zip(carry.places, avals, strict=False):
        if not aval.inexact:
            raise DTypeError(
                f"the state of a checkpointed loop is made of floats, but state{carry.structure.path(place)} is "
                f"{aval.dtype}. Make it float, or compute it from the number of the step."
            )
    if not carry.places:
        raise DTypeError("the state of a checkpointed loop is made of floats, but holds none.")
