"""Loops that are one operation: their body is recorded once, whatever the number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.operands import as_numbers, holds_traced
from hoad._core.outline import traced_nodes
from hoad._core.recording import differentiating
from hoad._core.tape import Aval, intern_aval
from hoad._core.traced import METHODS, is_traced
from hoad._core.where import here
from hoad.containers import flatten
from hoad.errors import ArgumentError, DTypeError, ShapeError, count
from hoad.program import Program
from hoad.trace import check_function
from hoad.transform.loops import Loop, body_program

FLOAT64 = np.dtype(np.float64)


class _Body:
    """A body recorded at the first step: its program, what it captured, and the structures of what it gives."""

    def __init__(self, f: Callable[..., Any], carried: list[Any], structure: Any, rows: list[Any], rest: Any) -> None:
        self.driver = "scan"
        self.carried = carried
        self.structure = structure
        with differentiating() as d:
            guards = d.guards
            traced = [d.input(x) for x in carried + rows]
            made, row = f(
                structure.unflatten(traced[: len(carried)]), None if rest is None else rest.unflatten(traced[len(carried) :])
            )
            del traced
            leaves, self.carried_structure = flatten(made)
            row_leaves, self.row_structure = flatten(row)
            del made, row
            outputs = [d.operand(_numbers(x, "what the body of a loop returns")) for x in leaves + row_leaves]
            self.avals = [d.aval(x) for x in outputs[: len(leaves)]]
            del leaves, row_leaves
            self.program, captured = body_program(d, guards, outputs)
            graph = d.graph
        self.captured = traced_nodes(graph, captured)
        self.rows = len(outputs) - len(self.avals)


def _numbers(x: Any, what: str) -> Any:
    """A leaf as a traced value, a float, a truth value or an array."""
    if is_traced(x):
        return x
    if isinstance(x, np.ndarray) and x.dtype == object and holds_traced(x):
        return METHODS["__pack__"](x)
    if isinstance(x, (list, tuple, dict, str, bytes)) or x is None:
        raise DTypeError(f"{what} must be made of numbers and arrays, but holds {type(x).__name__} ({here()}).")
    return x if isinstance(x, (bool, float)) else as_numbers(x)


def _aval(x: Any) -> Aval:
    """Shape and dtype of a leaf."""
    found = x if is_traced(x) else np.asarray(x)
    return intern_aval(found.dtype, found.shape)


def _cast(x: Any, aval: Aval) -> Any:
    """A leaf in another dtype."""
    if aval.dtype == FLOAT64 and not aval.shape and not is_traced(x):
        return float(x)
    return x.astype(aval.dtype) if is_traced(x) else np.asarray(x, aval.dtype)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False
) -> tuple[Any, Any]:
    """A loop that is one operation: ``carry, y_t = f(carry, x_t)`` for the rows x_t of xs, recorded once.

    Parameters
    ----------
    f : callable
        The body, ``f(carry, x) -> (carry, y)``, written with NumPy. It may use traced values of the function around
        it. The carry it returns has the structure, shapes and dtypes of `init`; y may be None, or any container.
    init : array, float or container of them
        The carry before the first step.
    xs : array or container of arrays, optional
        Arrays of shape (N, ...), whose rows the steps take, one after another; None for a loop without rows.
    length : int, optional
        N, where xs does not say it.
    reverse : bool, optional
        Take the rows from the last to the first; each y stands where its x stood.

    Returns
    -------
    tuple
        ``(carry, ys)``: the carry after the last step, and the y of all steps, stacked to arrays of shape (N, ...).

    Raises
    ------
    ArgumentError
        If f cannot be called, or nothing says how many steps there are.
    ShapeError
        If arrays of xs differ in length, or the carry that f returns differs from what it was given.
    DTypeError
        If init or xs hold something else than numbers.
    GuardError
        If the body branches on a traced value, and a later step goes another way than the first.

    Notes
    -----
    Cost: the body is recorded once, at the first step, and runs compiled, some nanoseconds an operation, without
    Python. On the tape it is one node, of constant size. The reverse sweep runs a loop of the body's adjoint; of more
    than 256 steps it keeps the carry of every √N-th, and runs each stretch again: memory O(√N), time that of two
    more loops. Derivatives of any order and mode are loops again. A loop in Python is recorded step by step instead,
    may branch, and is the better choice for few steps.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapter 12 (checkpoints).

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def logistic_map(r):
    ...     def step(x, _):
    ...         return r * x * (1 - x), x
    ...     last, path = hoad.scan(step, 0.5, length=1000)
    ...     return last
    >>> hoad.grad(logistic_map)(2.5)
    0.16
    """
    check_function("scan", f)
    carried, structure = flatten(init)
    rows, rest = flatten(xs)
    carried = [_numbers(x, "the carry of a scan") for x in carried]
    rows = [_numbers(x, "what a scan takes rows of") for x in rows]
    steps = _steps(rows, length)
    if steps == 0:
        return _empty(f, carried, structure, rows, rest if xs is not None else None)
    body = _fitting(f, carried, structure, [x[-1 if reverse else 0] for x in rows], rest if xs is not None else None)
    takes = "c" * len(body.carried) + "x" * len(rows) + "k" * len(body.captured)
    gives = "c" * len(body.carried) + "y" * body.rows
    results = list(Loop(body.program, takes, gives, steps, reverse)(*body.carried, *rows, *body.captured))
    n = len(body.carried)
    return structure.unflatten(results[:n]), body.row_structure.unflatten(results[n:])


def _steps(rows: list[Any], length: int | None) -> int:
    """How many steps a scan takes."""
    if length is not None and (isinstance(length, bool) or not hasattr(length, "__index__") or length < 0):
        raise ArgumentError(f"scan takes length as a number of steps, not {length!r}.")
    if not rows:
        if length is None:
            raise ArgumentError("scan was given neither rows nor a length. Say how many steps: scan(f, init, length=n).")
        return int(length)
    for x in rows:
        if not np.ndim(x):
            raise ShapeError("scan takes rows of arrays, but xs holds a number. Close over it, or put it in the carry.")
    lengths = {int(np.shape(x)[0]) for x in rows} | (set() if length is None else {int(length)})
    if len(lengths) > 1:
        raise ShapeError(
            f"scan takes a row of each array at every step, but they have {sorted(lengths)} rows (length={length})."
        )
    return lengths.pop()


def _fitting(f: Callable[..., Any], carried: list[Any], structure: Any, rows: list[Any], rest: Any) -> _Body:
    """The body, recorded with a carry of the dtypes that it returns."""
    body = _Body(f, carried, structure, rows, rest)
    if body.carried_structure != structure:
        raise ShapeError(
            f"the body of this loop was given a carry of structure {structure}, but returned {body.carried_structure}. "
            "Return the new carry first, in the structure of init, then y: return carry, y."
        )
    given = [_aval(x) for x in carried]
    if [a.dtype for a in body.avals] != [a.dtype for a in given]:
        wanted = [intern_aval(np.result_type(a.dtype, b.dtype), a.shape) for a, b in zip(given, body.avals, strict=True)]
        body = _Body(f, [_cast(x, a) for x, a in zip(carried, wanted, strict=True)], structure, rows, rest)
        given = wanted
    for k, (before, after) in enumerate(zip(given, body.avals, strict=True)):
        if before != after:
            raise ShapeError(
                f"leaf {k} of the carry goes into the body with shape {before.shape} and dtype {before.dtype}, but "
                f"comes out with shape {after.shape} and dtype {after.dtype}. A loop carries the same from step to "
                "step: give init that shape and dtype."
            )
    return body


def _empty(f: Callable[..., Any], carried: list[Any], structure: Any, rows: list[Any], rest: Any) -> tuple[Any, Any]:
    """What a loop of no steps gives."""
    ones = [np.ones(x.shape[1:], x.dtype)[()] for x in rows]
    body = _fitting(f, carried, structure, ones, rest)
    avals = body.program.results[len(carried) :]
    return structure.unflatten(carried), body.row_structure.unflatten([np.zeros((0, *a.shape), a.dtype) for a in avals])


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """``for i in range(lower, upper): value = body_fun(i, value)``, recorded once, as `scan`."""
    check_function("fori_loop", body_fun)
    steps = np.arange(int(lower), int(upper))
    return scan(lambda value, i: (body_fun(i, value), None), init_val, steps)[0]


__all__ = ["fori_loop", "scan"]
