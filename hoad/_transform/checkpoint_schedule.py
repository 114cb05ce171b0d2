"""Binomial schedules: which states of a loop to keep when it is reversed.

Pure functions of two numbers, independent of derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from hoad.errors import ArgumentError


class Action(NamedTuple):
    """What to do next with the state of a loop.

    Attributes
    ----------
    kind : {"store", "advance", "restore", "reverse"}
        Keep the state in a slot; take the steps from `step` up to `end`; take the state out of a slot, which keeps it;
        reverse the step `step`, from the state before it.
    step : int
        The steps taken to reach the state that the action begins at.
    end : int
        The same for the state that it ends at; of "advance" only it is another.
    slot : int or None
        Of "store" and "restore".
    """

    kind: str
    step: int
    end: int
    slot: int | None = None


def reach(slots: int, repeats: int) -> int:
    """β(s, r) = (s + r)! / (s! r!), the most steps that s slots reverse when no step is taken more than r times."""
    return math.comb(slots + repeats, slots) if slots >= 0 and repeats >= 0 else 0


def _repeats(steps: int, slots: int) -> int:
    """The least r with β(s, r) ≥ n."""
    r = 0
    while reach(slots, r) < steps:
        r += 1
    return r


def recomputed_steps(steps: int, slots: int) -> int:
    """The steps that a binomial schedule takes forward, ``t(n, s) = r n - β(s + 1, r - 1)``, the fewest possible.

    Parameters
    ----------
    steps : int
        n, of the loop.
    slots : int
        s, states that can be kept, the first among them.

    Returns
    -------
    int
        With r the least number for which ``β(s, r) = (s + r)! / (s! r!)`` is at least n. Each of the n reversals needs
        the step once more, which is not counted.

    Raises
    ------
    ArgumentError
        If one of them is not a positive int.

    Notes
    -----
    Cost: r operations on integers.

    References
    ----------
    Griewank (1992), Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
    differentiation, Optimization Methods and Software 1, 35-54.

    Examples
    --------
    >>> import hoad
    >>> [hoad._transform.checkpoint_schedule.recomputed_steps(10, s) for s in (10, 3, 1)]
    [9, 15, 45]
    """
    _check(steps, slots)
    r = _repeats(steps, slots)
    return r * steps - reach(slots + 1, r - 1)


def split(steps: int, slots: int) -> int:
    """How far to advance before the next state is kept: the first of two parts of a loop, where slots is at least 2."""
    r = _repeats(steps, slots)
    return min(reach(slots, r - 1), steps - reach(slots - 1, r - 1))


def checkpoint_schedule(steps: int, slots: int) -> Iterator[Action]:
    """The actions that reverse a loop of n steps if s of its states can be kept, with the fewest steps recomputed.

    Parameters
    ----------
    steps : int
        n, of the loop.
    slots : int
        s, states that can be kept, the first among them.

    Returns
    -------
    iterator of Action
        Named tuples ``(kind, step, end, slot)``: "store" the state in a slot, "advance" it by the steps from `step` up
        to `end`, "restore" it from a slot, "reverse" a step, from the state before it. Steps are reversed from the last
        to the first.

    Raises
    ------
    ArgumentError
        If a number is not a positive int.

    See Also
    --------
    checkpointed_loop

    Notes
    -----
    Cost: some microseconds per action, and memory for s pairs of integers.

    In total ``r n - β(s + 1, r - 1)`` steps are advanced, and none more than r times, where r is the smallest number
    for which ``β(s, r) = (s + r)! / (s! r!)`` is at least n: with 20 slots, 1771 steps need r = 3.

    References
    ----------
    Griewank and Walther (2000), Algorithm 799: revolve, ACM Transactions on Mathematical Software 26, 19-45.

    Examples
    --------
    >>> import hoad
    >>> for action in hoad.checkpoint_schedule(3, 2):
    ...     print(*action)
    store 0 0 0
    advance 0 1 None
    store 1 1 1
    advance 1 2 None
    reverse 2 2 None
    restore 1 1 1
    reverse 1 1 None
    restore 0 0 0
    reverse 0 0 None
    """
    _check(steps, slots)
    return _actions(steps, slots)


def _actions(steps: int, slots: int) -> Iterator[Action]:
    stretches = [(0, steps)]  # to be reversed, the state at the beginning of the k-th in slot k
    yield Action("store", 0, 0, 0)
    while stretches:
        low, high = stretches[-1]
        slot = len(stretches) - 1
        if high - low == 1:
            yield Action("reverse", low, low)
            stretches.pop()
            if stretches:
                stretches[-1] = (stretches[-1][0], low)
                yield Action("restore", stretches[-1][0], stretches[-1][0], slot - 1)
        elif slot == slots - 1:
            yield Action("advance", low, high - 1)
            yield Action("reverse", high - 1, high - 1)
            yield Action("restore", low, low, slot)
            stretches[-1] = (low, high - 1)
        else:
            middle = low + split(high - low, slots - slot)
            yield Action("advance", low, middle)
            yield Action("store", middle, middle, slot + 1)
            stretches.append((middle, high))


def _check(steps: Any, slots: Any) -> None:
    for name, number in (("steps", steps), ("slots", slots)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ArgumentError(f"a schedule takes {name} as a positive int, not {number!r}.")
