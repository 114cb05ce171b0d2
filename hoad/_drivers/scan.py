"""Loops that are one operation: the body is recorded once for any number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.base.where import here
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.trace.traced import graph_of, is_traced
from hoad._pytree.arguments import Numbers, check_function, number_aval
from hoad._pytree.containers import Structure
from hoad._transform.composite import captured_program
from hoad._transform.loops import Loop, steps_of
from hoad._transform.programs import selected
from hoad.errors import ArgumentError, DTypeError, ShapeError

FLOAT64 = np.dtype(np.float64)
NO_LIMIT = 1 << 62


def _cast(x: Any, aval: AbstractValue) -> Any:
    """A number in another dtype."""
    if number_aval(x) == aval:
        return x
    return x.astype(aval.dtype) if is_traced(x) else np.asarray(x, aval.dtype)[()]


class _Body:
    """What a body does at one step, recorded: its program, what it captured around it, and what it gives."""

    def __init__(
        self, f: Callable[[Any, Any], Any], carry: Numbers, numbers: list[Any], rows: Numbers, first: list[Any]
    ) -> None:
        n = len(numbers)

        def step(*traced: Any) -> list[Any]:
            given = carry.filled(list(traced[:n])), rows.filled(list(traced[n:]))
            returned = compared(f, given, {}, "scan")
            del given
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise ShapeError(
                    f"the body of a scan returns a pair, (carry, y), but returned {type(returned).__name__}. Where "
                    "there is nothing to collect, return carry, None."
                )
            self.carry, self.row = map(Numbers, returned)
            made = self.carry.numbers + self.row.numbers
            self.carry.numbers = self.row.numbers = []
            return made

        self.program, self.captured = captured_program(step, numbers + first)
        self.carried = list(self.program.output_types[: len(self.carry.places)])


def _recorded(f: Callable[[Any, Any], Any], carry: Numbers, rows: Numbers, first: list[Any]) -> _Body:
    """The body, recorded with a carry of the dtypes that it returns; puts that in place of the one it was given."""
    for _ in range(2):
        body = _Body(f, carry, carry.numbers, rows, first)
        if not body.carry.like(carry):
            raise ShapeError(
                f"the body of this loop takes a carry {_shown(carry.structure)}, but returned "
                f"{_shown(body.carry.structure)}, or numbers in other places. The carry must keep its structure: "
                "return one like init."
            )
        given = [number_aval(x) for x in carry.numbers]
        wanted = [
            intern_aval(np.result_type(a.dtype, b.dtype), a.shape) for a, b in zip(given, body.carried, strict=True)
        ]
        if wanted == given:
            break
        carry.numbers = [_cast(x, aval) for x, aval in zip(carry.numbers, wanted, strict=True)]
    for k, (before, after) in enumerate(zip(wanted, body.carried, strict=True)):
        if before != after:
            path = carry.structure.path(carry.places[k])
            raise ShapeError(
                f"the carry{path} enters the body of this loop with shape {before.shape} and dtype {before.dtype}, "
                f"but leaves it with shape {after.shape} and dtype {after.dtype} ({here()}). The carry must keep both: "
                "give init the shape of what the body returns, as by np.broadcast_to(init, np.shape(x)), or return a "
                "carry like init."
            )
    return body


def _shown(structure: Structure) -> str:
    return repr(structure)[len("Structure(") : -1]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """A loop that is one operation: ``carry, y_t = f(carry, x_t)`` for the rows x_t of xs, recorded once.

    Parameters
    ----------
    f : callable
        The body, ``f(carry, x) -> (carry, y)``, written with NumPy. It may use traced values of the enclosing function.
        The carry that it returns has the structure, shapes and dtypes of `init`; y may be None, a number, an array, or
        any container of these.
    init : float, array or container of these
        The carry before the first step. Items that are not numbers (None, a string) do not change.
    xs : array or container of arrays, optional
        Arrays of shape (N, ...) whose rows are the x of the steps; None for a loop without rows.
    length : int, optional
        N, if xs does not determine it.
    reverse : bool, optional
        If True, take the rows from the last to the first; each y has the place of its x.

    Returns
    -------
    tuple
        ``(carry, ys)``: the carry after the last step, and the y of all steps, stacked into arrays of shape (N, ...).

    Raises
    ------
    ArgumentError
        If f cannot be called, or the number of steps is not determined.
    ShapeError
        If the arrays of xs have different numbers of rows, or f returns a carry unlike the one it was called with.
    GuardError
        If the body branches on a traced value, and a later step takes another branch than the first.
    TracedValueError
        If a value computed in the body is used outside without being returned: it would be that of the first step.

    Notes
    -----
    Cost: the body is recorded once, at the first step, and runs compiled, some nanoseconds per operation, without
    Python. On the tape the loop is one node for any N. The reverse sweep runs a loop of the body's adjoint. It keeps
    the carry into every step, or, if these exceed 32 MB, into each of √N segments, which it runs again.
    Derivatives of any order and mode are such loops too. A Python loop is recorded step by step instead, and may
    branch; for few steps it is as fast.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapter 12 (checkpoints).

    Examples
    --------
    >>> import hoad
    >>> def logistic_map(r):
    ...     def step(x, _):
    ...         return r * x * (1 - x), x
    ...     last, path = hoad.scan(step, 0.5, length=1000)
    ...     return last
    >>> float(round(hoad.grad(logistic_map)(2.5), 12))
    0.16
    """
    check_function("scan", f)
    carry, rows = Numbers(init), Numbers(xs)
    steps = _steps(rows.numbers, length)
    if steps:
        first = [x[-1 if reverse else 0] for x in rows.numbers]
    else:  # what a step gives is not known but for its shape
        first = [np.ones(x.shape[1:], x.dtype)[()] for x in rows.numbers]
    body = _recorded(f, carry, rows, first)
    n = len(carry.numbers)
    takes = "c" * n + "x" * len(rows.numbers) + "k" * len(body.captured)
    gives = "c" * n + "y" * len(body.row.places)
    values = (*carry.numbers, *rows.numbers, *body.captured)
    results = list(Loop(body.program, takes, gives, steps, bool(reverse))(*values))
    return carry.filled(results[:n]), body.row.filled(results[n:])


def _steps(rows: list[Any], length: int | None) -> int:
    """How many steps a scan takes."""
    if length is not None and (isinstance(length, bool) or not hasattr(length, "__index__") or length < 0):
        raise ArgumentError(f"scan takes length as a number of steps, not {length!r}.")
    if any(not np.ndim(x) for x in rows):
        raise ShapeError(
            "scan takes the rows of arrays, but xs contains a number. Put it into the carry, or let the body use it "
            "from the enclosing function."
        )
    found = {int(np.shape(x)[0]) for x in rows} | (set() if length is None else {int(length)})
    if not found:
        raise ArgumentError("scan was given neither rows nor a length. Say how many steps: scan(f, init, length=n).")
    if len(found) > 1:
        said = "" if length is None else f", and length={length}"
        raise ShapeError(
            "scan takes a row of every array at each step, but they have "
            f"{' and '.join(str(np.shape(x)[0]) for x in rows)} rows{said}. Make them equal."
        )
    return found.pop()


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """A counted loop that is one operation, recorded once: ``for i in range(lower, upper): val = body_fun(i, val)``.

    Parameters
    ----------
    lower, upper : int
        The first number, and the one after the last.
    body_fun : callable
        ``body_fun(i, val) -> val``, with a traced integer i and a val like `init_val`.
    init_val : float, array or container of these
        The value before the first step.

    Returns
    -------
    float, array or container of these
        The value after the last step; `init_val` if there are no steps.

    Raises
    ------
    ArgumentError
        If `body_fun` cannot be called.
    ShapeError, GuardError
        As for `scan`.

    Notes
    -----
    Cost: as for `scan`.

    Examples
    --------
    >>> import hoad
    >>> hoad.grad(lambda x: hoad.fori_loop(0, 4, lambda i, s: s + i * x**i, 0.0))(2.0)  # 1 + 4x + 9x²
    45.0
    """
    check_function("fori_loop", body_fun)
    return scan(
        lambda val, i: (compared(body_fun, (i, val), {}, "fori_loop"), None),
        init_val,
        np.arange(int(lower), int(upper)),
    )[0]


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, max_steps: int | None = None
) -> Any:
    """A loop with a condition that is one operation, recorded once: ``while cond_fun(val): val = body_fun(val)``.

    Parameters
    ----------
    cond_fun : callable
        ``cond_fun(val) -> bool``, traced if val is.
    body_fun : callable
        ``body_fun(val) -> val``, like `init_val`.
    init_val : float, array or container of these
        The value before the first step.
    max_steps : int, optional
        The largest number of steps. By default, the number of steps is found by running the loop, and belongs to the
        recording: a replay that takes another number records again, or raises. With `max_steps`, the loop always takes
        that many steps, and those after its end change nothing, so that one recording serves any number up to it.

    Returns
    -------
    float, array or container of these
        The first value at which the condition is false.

    Raises
    ------
    ArgumentError
        If a function cannot be called, or the loop has not ended after `max_steps`.
    ShapeError, GuardError
        As for `scan`.

    Notes
    -----
    Cost: the loop runs once to count its steps, and once as a `scan` of that length; with `max_steps`, only once, but
    always all steps. The derivative is that of the steps taken; the number of steps is an integer and has none. If an
    iteration converges to the solution of an equation, `hoad.implicit` gives the exact derivative at less cost.

    Examples
    --------
    >>> import hoad
    >>> def root(a):  # Heron's method
    ...     return hoad.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, 1.0)
    >>> round(root(2.0), 12), round(hoad.grad(root)(2.0), 12)
    (1.414213562373, 0.353553390593)
    """
    check_function("while_loop", cond_fun)
    check_function("while_loop", body_fun)
    if max_steps is not None:
        return _bounded(cond_fun, body_fun, init_val, max_steps)
    if not cond_fun(init_val):
        return init_val

    def step(val: Any, _: Any) -> tuple[Any, Any]:
        val = compared(body_fun, (val,), {}, "while_loop")
        return val, _truth(compared(cond_fun, (val,), {}, "while_loop"))

    carry = Numbers(init_val)
    body = _recorded(step, carry, Numbers(None), [])
    n = len(carry.numbers)
    takes = "c" * n + "k" * len(body.captured)
    values = (*carry.numbers, *body.captured)
    steps = int(steps_of(Loop(body.program, takes, "c" * n + "w", NO_LIMIT), values))
    kept = selected(body.program, list(body.program[-1]._outputs[:n]))
    return carry.filled(list(Loop(kept, takes, "c" * n, steps)(*values)))


def _truth(x: Any) -> Any:
    if getattr(x, "shape", ()) != () or np.asarray(x).dtype != bool if not is_traced(x) else x.dtype != bool:
        raise DTypeError(f"the condition of a while_loop must be a boolean, such as np.any(x > 0) ({here()}).")
    return x


def _bounded(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, max_steps: int) -> Any:
    """A while loop of a fixed number of steps, of which those after its end change nothing."""

    def step(state: tuple[Any, Any], _: Any) -> tuple[Any, None]:
        val, runs = state
        before, after = Numbers(val), Numbers(compared(body_fun, (val,), {}, "while_loop"))
        if not after.like(before):
            raise ShapeError("the body of a while_loop must return what it was given, in the same structure.")
        kept = before.filled([np.where(runs, b, a) for a, b in zip(before.numbers, after.numbers, strict=True)])
        return (kept, np.logical_and(runs, _truth(compared(cond_fun, (kept,), {}, "while_loop")))), None

    (val, runs), _ = scan(step, (init_val, _truth(cond_fun(init_val))), length=max_steps)
    if (not is_traced(runs) or graph_of(runs).valued) and runs:
        raise ArgumentError(
            f"this while_loop has not ended after max_steps={max_steps} ({here()}). Allow more, or make sure that "
            "its condition becomes false."
        )
    return val
