"""Functions near a point: what a check evaluates, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoad.arguments import check_argument
from hoad.errors import HoadError, ShapeError

Array = NDArray[np.float64]


def numbers(result: Any, check: str) -> Array:
    """What a function returned, as float64."""
    array = np.asarray(result)
    if array.dtype.kind not in "fiub":
        raise ShapeError(
            f"{check} needs a function that returns a real number or an array of them, but f(x) is "
            f"{type(result).__name__} of dtype {array.dtype}. Check its parts one at a time."
        )
    return array.astype(np.float64)


def check_arguments(check: str, args: Sequence[Any], wrt: Sequence[int], finite: bool = True) -> None:
    """Raise unless these arguments can be moved by small steps, and are finite."""
    for k in wrt:
        check_argument(check, k, args[k])
        if finite and not np.all(np.isfinite(args[k])):
            raise ShapeError(f"{check} needs a finite point, but argument {k} is {args[k]!r}.")


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
        return (x + t * np.asarray(v)).astype(x.dtype)
    return type(x)(x + t * float(v))


def along(
    f: Callable[..., Any], args: Sequence[Any], directions: dict[int, Any], check: str
) -> Callable[[float], Array]:
    """t -> f(args + t directions), with nan where f is not defined."""
    shape = np.shape(quietly(f, *args))

    def phi(t: float) -> Array:
        at = list(args)
        for k, v in directions.items():
            at[k] = moved(args[k], t, v)
        try:
            result = quietly(f, *at)
        except HoadError:
            raise
        except (ArithmeticError, ValueError):
            return np.full(shape, np.nan)
        found = numbers(result, check)
        if found.shape != shape:
            raise ShapeError(
                f"{check} needs a function whose result keeps its shape near x, but it has shape {shape} at x and "
                f"{found.shape} beside it."
            )
        return found

    return phi


def typical(x: Any) -> Array:
    """A size for each entry of x that steps are in proportion to: its own, or that of the others where it is 0."""
    size = abs(np.nan_to_num(np.asarray(x, np.float64), nan=0.0, posinf=0.0, neginf=0.0))
    some = size[size > 0]
    return np.where(size > 0, size, np.median(some) if some.size else 1.0)


def is_moved(args: Sequence[Any], directions: dict[int, Any], t: float) -> bool:
    """Whether a step changes anything in floating point."""
    return any(np.any(np.asarray(moved(args[k], t, v)) != np.asarray(args[k])) for k, v in directions.items())
