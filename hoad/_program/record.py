"""How a function is recorded."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from hoad._core.record.recording import differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import call_traced, is_number, outputs
from hoad._pytree.arguments import check_function
from hoad._pytree.containers import Forms, leaves_of, regrouped
from hoad.errors import TracedValueError

importlib.import_module("hoad._transform")  # a layer above, with all rules: a pickle may name `record` before all else


def record(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Program:
    """The primal program of f: ``Program([Tape])``.

    Parameters
    ----------
    f : callable
        A function of floats, arrays and containers of these, written with NumPy, that returns such a value.
    *args : float, array or container of these
        The point of recording. Every float and every array becomes an input; other items of containers are constants.
    **kwargs
        Passed to f unchanged: constants of the program.

    Returns
    -------
    Program
        A program of one tape. It can be evaluated at other inputs of the same shapes and structures, differentiated
        with `gradient`, and printed.

    Raises
    ------
    DTypeError
        If an argument is not a float.
    TracedValueError
        If an argument is traced by another derivative.

    Notes
    -----
    Cost: f once, traced; 20 bytes per scalar operation are kept, and the arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> program = hoad.record(lambda x, y: x * y + np.sin(x), 2.0, 3.0)
    >>> program
    Program([<Tape: primal, 5 nodes, 2 inputs, 1 output>])
    """
    check_function("record", f)
    return recorded_as(
        "record",
        f,
        args,
        kwargs,
        "record makes a program of its own, so its arguments must be plain; an argument is traced by a derivative that "
        "is being taken. Pass hoad.value(x), or call the program on traced values: program(x).",
    )


def recorded_as(
    driver: str, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], refusal: str
) -> Program:
    """The program of f, told in the name of a driver where there is none; `refusal` is what traced values are told."""
    if any(holds_traced(leaf) for value in (*args, *kwargs.values()) for leaf in leaves_of(value)):
        raise TracedValueError(refusal)
    with differentiating(nested=False) as recording:
        returned, takes = call_traced(recording, f, args, tuple(range(len(args))), driver, kwargs)
        single = type(returned) is not tuple or not all(map(is_number, returned))  # a tuple of numbers needs no form
        ys, parts = outputs(recording, returned, driver)
        del returned
        recording.keep()
    graph = recording.graph
    window = (0, recording.size, 0, recording.guards)
    gives: Forms | None = [parts] if single and parts is not None else None
    tape = Tape(graph, window, recording.inputs, ys, "primal", single, None, takes, gives)
    tape._source = f if takes is None else _of_leaves(f, takes), kwargs
    tape._given = len(args)
    return Program([tape])


def _of_leaves(f: Callable[..., Any], takes: Forms) -> Callable[..., Any]:
    """f as a function of the inputs of its program."""

    @functools.wraps(f, updated=())
    def of_leaves(*leaves: Any, **kwargs: Any) -> Any:
        return f(*regrouped(leaves, takes, constants=True), **kwargs)

    return of_leaves
