"""Values inside a function: constants to the derivative, and numbers behind traced values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.record.recording import is_repeated
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import WATCHERS
from hoad._core.trace.traced import Scalar, graph_of, guard_value, is_traced
from hoad._ops import primitives as prim
from hoad._program.trace import plain, recorder_among
from hoad._pytree.arguments import packed
from hoad._pytree.containers import flatten, leaves_of
from hoad.errors import TracedValueError


def stop_gradient(x: Any) -> Any:
    """x, with derivative zero in every mode.

    Parameters
    ----------
    x : float, array (S) or container of these
        Any value. A value that is not traced is returned unchanged.

    Returns
    -------
    float, array (S) or container
        The same value; a replay recomputes it, but derivatives do not pass.

    Notes
    -----
    Cost: a node, which replays as a copy or not at all.

    Examples
    --------
    >>> import hoad
    >>> hoad.grad(lambda x: x * hoad.stop_gradient(x))(3.0)
    3.0
    """
    record = recorder_among([x])
    if record is not None:
        return record(stop_gradient, (x,), {})
    if is_traced(x):
        return apply_primitive(prim.STOP_GRADIENT, None, x)
    leaves, structure = flatten(x)
    if not any(map(holds_traced, leaves)):
        return x
    return structure.unflatten([stop_gradient(packed(leaf)) for leaf in leaves])


def value(x: Any) -> Any:
    """The plain number or array behind a traced value.

    Parameters
    ----------
    x : float, array (S) or container of these
        Any value. A value that is not traced is returned unchanged.

    Returns
    -------
    float, bool, ndarray (S) or container
        A copy that derivatives do not see, and that the replay of a program does not recompute. Under `hoad.jit`, the
        function is recorded again if the value changes.

    Raises
    ------
    TracedValueError
        Inside a rule, where traced values have no numbers; for an expression of symbols; in the body of a loop or a
        map, which is recorded once, for a value that differs from step to step.

    Notes
    -----
    Cost: a copy of the array.

    Examples
    --------
    >>> import hoad
    >>> def f(x):
    ...     print(hoad.value(x))
    ...     return x * x
    >>> hoad.grad(f)(3.0)
    3.0
    6.0
    """
    if recorder_among([x]) is not None:
        raise TracedValueError(
            f"an expression of symbols has no number behind it ({here()}). Give the symbols theirs, "
            "e.evaluate({x: 1.0})."
        )
    traced = [*_traced_in(x)]
    if any(map(is_repeated, traced)):
        raise TracedValueError(
            f"hoad.value was asked for a number in the body of a loop or a map ({here()}), which is recorded once and "
            "differs from step to step. Use hoad.stop_gradient(x), which is a constant to the derivative, or a Python "
            "loop."
        )
    watchers = WATCHERS.get()
    if watchers:
        watchers[-1].taken(here())
    for leaf in traced:
        if graph_of(leaf).is_guarded:
            _guard(leaf)
    return plain(x, nested=False)


def _traced_in(x: Any) -> Iterator[Any]:
    """The traced values in a container, and in the arrays that NumPy makes of traced numbers."""
    for leaf in leaves_of(x):
        if isinstance(leaf, np.ndarray) and leaf.dtype == object:
            yield from filter(is_traced, leaf.flat)
        elif is_traced(leaf):
            yield leaf


def _guard(x: Any) -> None:
    """Let a program hold only where a number or array that is taken out of it is what it is now, bit by bit."""
    if not isinstance(x, Scalar):
        guard_value(x)
    elif x.dtype == bool:
        bool(x)
    elif not bool(np.isnan(x)):  # any nan is as good as another
        row: Any = np.reshape(x, (1,))
        guard_value(row)
