"""Functions near a point: what a check evaluates, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad._pytree.arguments import check_argument, check_function
from hoad.check.report import name_of, value_text
from hoad.errors import CheckError, DTypeError, HoadError, ShapeError, told

Array = NDArray[np.float64]


def described(result: Any) -> str:
    """What a function returned, in words: "a tuple of 2: a float, an array of shape (3,)"."""
    if result is None:
        return "None"
    if isinstance(result, (tuple, list)):
        parts = ", ".join(described(part) for part in result[:3]) + (", ..." if len(result) > 3 else "")
        return f"a {type(result).__name__} of {len(result)}" + (f": {parts}" if result else "")
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape}" + (f" and dtype {result.dtype}" if result.dtype.kind != "f" else "")
    kind = type(result).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def as_numbers(result: Any) -> Array | None:
    """What a function returned, as float64; None where it is not a real array."""
    try:
        array = np.asarray(result)
    except (TypeError, ValueError):  # rows of several lengths
        return None
    if array.dtype.kind in "fiub" or (array.dtype.kind == "O" and all(isinstance(item, Real) for item in array.flat)):
        return array.astype(np.float64)
    return None


def numbers(result: Any, check: str) -> Array:
    """What a function returned, as float64.

    Raises
    ------
    ShapeError
        If it is not a real array.
    """
    array = as_numbers(result)
    if array is None:
        advice = "Return the result" if result is None else "Check its parts one at a time"
        raise ShapeError(
            f"{check} needs a function that returns a real number or an array of them, but f(x) is "
            f"{described(result)}. {advice}."
        )
    return array


def called(check: str, whose: str, f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What a function returns at the point itself, which it must leave as it is.

    Raises
    ------
    CheckError
        If it has no value there, as at a pole of Python's floats, with the place in the user's file; or if it writes
        to its arguments.
    """
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        found = quietly(f, *given)
    except HoadError:
        raise
    except (ArithmeticError, ValueError) as error:
        at = value_text(tuple(args) if len(args) > 1 else args[0])
        raise CheckError(
            f"{check} needs a point where {whose} has a value, but at {at} it raises {told(error)}. Use another one."
        ) from error
    for k, (before, after) in enumerate(zip(args, given, strict=True)):
        if isinstance(before, np.ndarray) and before.tobytes() != after.tobytes():
            raise CheckError(
                f"{check} needs functions that do not change their arguments, but {whose} writes to argument {k}. "
                "Let it write to a copy."
            )
    return found


def check_arguments(check: str, args: Sequence[Any], wrt: Sequence[int], finite: bool = True) -> None:
    """Raise unless these arguments can be moved by small steps, and are finite."""
    for k in wrt:
        check_argument(check, k, args[k])
        if np.asarray(args[k]).dtype.kind == "c":
            raise DTypeError(
                f"{check} varies real arguments, but argument {k} is {np.asarray(args[k]).dtype}. Make its parts "
                "arguments of their own: lambda x, y: f(x + 1j * y)."
            )
        if finite and not np.all(np.isfinite(args[k])):
            raise ShapeError(f"{check} needs a finite point, but argument {k} is {args[k]!r}.")


def check_functions(check: str, *functions: Any) -> None:
    """Raise unless all of them can be called."""
    for f in functions:
        check_function(check, f)


def quietly(f: Callable[..., Any], *args: Any) -> Any:
    """f without NumPy's warnings of what steps out of its domain."""
    with np.errstate(all="ignore"):
        return f(*args)


def epsilon(*values: Any) -> float:
    """The coarsest rounding among floats and arrays."""
    kinds = [np.asarray(x).dtype for x in values]
    return max([float(np.finfo(kind).eps) for kind in kinds if kind.kind == "f"], default=2.0**-52)


def moved(x: Any, t: float, v: Any) -> Any:
    """x + t v, in the type and dtype of x."""
    if isinstance(x, np.ndarray):
        return np.asarray(x + t * np.asarray(v), dtype=x.dtype)
    return type(x)(x + t * float(v))


class Along:
    """t -> f(args + t directions), entry by entry: nan where f is not defined."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        directions: dict[int, Any],
        check: str,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        self._f, self._args, self._directions = f, args, directions
        self.shape = np.shape(called(check, name_of(f), f, args)) if shape is None else shape
        self.strayed = ""  # what f did out of its domain when it first did, as in "raises ZeroDivisionError: ..."

    def __call__(self, t: float) -> Array:
        at = list(self._args)
        for k, v in self._directions.items():
            at[k] = moved(at[k], t, v)
        try:
            result = quietly(self._f, *at)
        except HoadError:
            raise
        except Exception as error:  # whatever a user's function does out of its domain
            return self._undefined(f"raises {told(error)}")
        found = as_numbers(result)
        if found is None or found.shape != self.shape:
            return self._undefined(f"returns {described(result)}")
        return found

    def _undefined(self, how: str) -> Array:
        self.strayed = self.strayed or how
        return np.full(self.shape, np.nan)


def typical(x: Any) -> Array:
    """A size for each entry of x that steps are in proportion to: its own, or that of the others where it is 0."""
    size = abs(np.nan_to_num(np.asarray(x, np.float64), nan=0.0, posinf=0.0, neginf=0.0))
    some = size[size > 0]
    return np.where(size > 0, size, np.median(some) if some.size else 1.0)


def drawn(rng: np.random.Generator, size: Array) -> Any:
    """Random numbers of about these sizes and either sign."""
    found = size * rng.uniform(0.5, 1.0, size.shape) * rng.choice([-1.0, 1.0], size.shape)
    return found if found.ndim else float(found)


def is_moved(args: Sequence[Any], directions: dict[int, Any], t: float) -> bool:
    """Whether a step changes anything in floating point."""
    return any(np.any(np.asarray(moved(args[k], t, v)) != np.asarray(args[k])) for k, v in directions.items())
