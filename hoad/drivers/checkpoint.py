"""Time for memory: functions whose intermediate values are computed again in the reverse sweep."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._core.recording import running
from hoad.arguments import check_function
from hoad.trace import recorder_among
from hoad.transform.composite import Apart, Stretch, program_of


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """f itself, of which a derivative keeps no intermediate values: the reverse sweep computes them again.

    Parameters
    ----------
    f : callable
        Written with NumPy. It may take and return anything, and use traced values from outside.

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
            return f(*args, **kwargs) if record is None else record(checkpointed, args, kwargs)
        apart = Apart(f, args, kwargs)
        if not apart.values:
            return apart.shape
        segment = apart.segment
        return apart.record(Stretch(program_of(segment)), segment.constants + segment.outer)

    return checkpointed


__all__ = ["checkpoint"]
