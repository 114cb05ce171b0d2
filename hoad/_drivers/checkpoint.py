"""Time for memory: functions, and steps of loops, that the reverse sweep computes again."""

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
from hoad._transform.composite import Apart, Stretch, apart_from, program_of
from hoad.errors import ArgumentError, DTypeError, ShapeError


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """f itself, of which a derivative keeps no intermediate values: the reverse sweep computes them again.

    Parameters
    ----------
    f : callable
        Written with NumPy. It may take and return anything, containers too, and use traced values from outside.

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
    checkpointed_loop : many steps, with the fewest possible computed again.
    scan : a loop that is one operation, which keeps checkpoints by itself.

    Notes
    -----
    Cost: f is evaluated once more in a reverse sweep, and once more for each further order. What is kept of a call are
    its arguments and results; and its operations, 20 bytes each, which calls that do the same with other values share,
    so that a step that is called a hundred times is kept once. Calls that differ in a constant number are not the same:
    pass what changes as an array, or let it come from a traced value.

    f is called once. It is not run again in the reverse sweep, so that it may depend on variables that change.

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
        apart = Apart(functools.partial(f, *args, **kwargs))
        if not apart.values:
            return apart.parts.filled(())
        segment = apart.segment
        return apart.record(Stretch(program_of(segment)), segment.constants + segment.outer)

    return checkpointed


def checkpointed_loop(step: Callable[..., Any], steps: int, state: Any, *args: Any, slots: int | None = None) -> Any:
    """The state after n steps ``state = step(k, state, *args)``, of which derivatives keep only a few.

    Parameters
    ----------
    step : callable
        ``step(k, state, *args) -> state``, with an int k = 0, ..., n - 1. It is called again in the reverse sweep, with
        plain arguments, so it may depend on nothing else that changes.
    steps : int
        n. 0 gives the state as it was.
    state : float, array or container of them
        Where the loop begins; a step keeps structure, shapes and dtypes.
    *args : float, array or container of them
        What all steps use; derivatives by them are taken too.
    slots : int, optional
        States that are kept, at least 1; by default √(2n), with which no step is taken more than twice again.

    Returns
    -------
    float, array or container of them
        The last state.

    Raises
    ------
    ArgumentError
        If `step` is not a function, or one of the numbers none.
    DTypeError
        If the state is not made of floats.
    ShapeError
        If a step changes the structure of the state, a shape or a dtype.
    TracedValueError
        If a step uses a traced value that is not among its arguments, or one that it made is used elsewhere without
        having been returned.
    HoadError
        If a step gives another state when it is called again.

    See Also
    --------
    fori_loop, scan : loops recorded once, at their first step, and run without Python. They keep checkpoints too, one
        for each of √n stretches, and are the better choice unless steps branch, each its own way, call what hoad cannot
        record once for all, or fit into memory only with a schedule of `slots` states.
    checkpoint : one function, once.
    checkpoint_schedule : what is kept and computed again, step by step.

    Notes
    -----
    Cost: a reverse sweep keeps `slots` states, takes ``t = r n - β(s + 1, r - 1)`` steps forward again (see
    `checkpoint_schedule`), and records each step once, from its last to the first. Second and higher derivatives keep
    `slots` + r states, and do the like for each order. Each step is called from Python, also where a program is
    replayed.

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


__all__ = ["checkpoint", "checkpointed_loop"]
