"""Running a function on traced values, and the programs that come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.recording import Recording
from hoad._core.traced import METHODS, Array, Scalar, check_class, holds_traced, is_traced, plain_value
from hoad.errors import DTypeError, ShapeError


def check_argument(driver: str, position: int, value: Any) -> None:
    """Raise unless `value` can be differentiated with respect to."""
    if is_traced(value):
        dtype = value.dtype
    elif isinstance(value, float):
        return
    elif isinstance(value, (np.ndarray, np.generic)):
        if isinstance(value, np.ndarray):
            check_class(value)
        dtype = value.dtype
    elif isinstance(value, (bool, int)):
        raise DTypeError(
            f"{driver} needs a float argument, but argument {position} is {type(value).__name__} ({value!r}). Write "
            f"{float(value)!r}."
        )
    else:
        raise DTypeError(
            f"{driver} takes floats and arrays, but argument {position} is {type(value).__name__}. Convert it with "
            "np.asarray, or choose other arguments with argnums."
        )
    if dtype.kind == "c":
        raise DTypeError(
            f"{driver} of complex arguments is not supported (argument {position} is {dtype}). Take real and imaginary "
            "parts as arguments of their own."
        )
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        raise DTypeError(
            f"{driver} computes in float64 and float32, but argument {position} is {dtype}. Use x.astype(np.float64)."
        )
    if dtype.kind != "f":
        raise DTypeError(
            f"{driver} needs a float argument, but argument {position} is an array of {dtype}. Use x.astype(float)."
        )


def positions(argnums: int | tuple[int, ...], count: int, driver: str) -> tuple[int, ...]:
    """`argnums` as a tuple of positions, checked against the number of arguments."""
    if type(argnums) is int and 0 <= argnums < count:
        return (argnums,)
    chosen: tuple[Any, ...] = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in chosen:
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
            raise ShapeError(f"{driver} takes argnums as an int or a tuple of ints, not {argnums!r}.")
        if not -count <= k < count:
            raise ShapeError(f"{driver} with argnums={argnums}, but the function was called with {count} arguments.")
    found = tuple(int(k) % count for k in chosen)
    if len(set(found)) < len(found):
        raise ShapeError(f"{driver} with argnums={argnums} names an argument twice. Name each once.")
    return found


def call_traced(
    recording: Recording,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    chosen: tuple[int, ...],
    driver: str,
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """f with the chosen arguments traced; what it returned, as it returned it."""
    traced = list(args)
    for k in chosen:
        value = args[k]
        if isinstance(value, np.ndarray) and value.dtype == object and holds_traced(value):
            value = METHODS["__pack__"](value)
        check_argument(driver, k, value)
        traced[k] = recording.input(value)
    return f(*traced, **(kwargs or {}))


def output_operand(recording: Recording, result: Any, driver: str) -> int:
    """The operand of what f returned: a number, an array, or an object array of traced scalars."""
    if isinstance(result, (Scalar, Array, float, int, complex, np.generic, np.ndarray)):
        if isinstance(result, np.ndarray) and result.dtype == object and not holds_traced(result):
            result = result.astype(np.float64)
        operand = recording.operand(result)
        dtype = recording.aval(operand).dtype
        if dtype.kind == "c":
            raise DTypeError(
                f"{driver} needs a real function, but f(x) is {dtype}. Return its real or imaginary part, or both as "
                "two numbers."
            )
        return operand
    kind = type(result).__name__
    advice = (
        "Use np.stack or np.array(..., like=x) to return one array."
        if isinstance(result, (list, tuple))
        else ("Return the value to be differentiated.")
    )
    raise ShapeError(f"{driver} needs a function that returns a number or an array, but f returned {kind}. {advice}")


def split_aux(result: Any, has_aux: bool, driver: str) -> tuple[Any, Any]:
    """(value, aux) of a function with auxiliary output."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise ShapeError(f"{driver} with has_aux=True needs a function that returns (value, aux).")
    return result


def plain(x: Any, nested: bool) -> Any:
    """Auxiliary output as the caller may keep it: numbers for traced values unless an outer derivative runs."""
    if nested or x is None:
        return x
    if is_traced(x):
        return plain_value(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[plain(item, nested) for item in x])
    if isinstance(x, (tuple, list)):
        return type(x)([plain(item, nested) for item in x])
    if isinstance(x, dict):
        return {key: plain(item, nested) for key, item in x.items()}
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([plain(item, nested) for item in x.ravel()]).reshape(x.shape)
    return x
