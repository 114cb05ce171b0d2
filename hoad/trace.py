"""Running a function on traced values, and the programs that come of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoad._core.operands import check_class, holds_traced
from hoad._core.recording import Recording
from hoad._core.traced import METHODS, Array, Scalar, is_traced, plain_value
from hoad._core.where import is_library
from hoad.errors import ArgumentError, DTypeError, HoadError, ShapeError, TracedValueError, count

# Drivers that can leave arguments alone, and those that hand auxiliary output through.
WITH_ARGNUMS = ("grad", "value_and_grad", "jacobian", "hessian", "hvp", "vhp")
WITH_AUX = (*WITH_ARGNUMS, "jvp", "vjp", "linearize")


def check_function(driver: str, f: Any, argnums: Any = 0) -> None:
    """Raise unless `f` can be called, and `argnums` are of the kind that says which arguments."""
    if callable(f):
        for k in argnums if isinstance(argnums, tuple) else (argnums,):
            check_argnum(driver, argnums, k)
        return
    if isinstance(f, (float, int, np.generic, np.ndarray)) or is_traced(f):
        shown = f" ({f})" if np.ndim(f) == 0 else f" of shape {np.shape(f)}"
        advice = f"Give it the function, not its value: {driver}(np.sin)(1.0), not {driver}(np.sin(1.0))."
        if driver == "primitive":
            advice = "Give it the function, not its value."
        if driver in ("jvp", "vjp", "linearize", "record"):
            advice = (
                f"Give it the function first, then the arguments: {driver}(np.sin, ...), not {driver}(np.sin(1.0))."
            )
    else:
        shown, advice = "", "Give it one that takes floats and arrays."
    kind = type(f).__name__
    article = "an" if kind[0].lower() in "aeiou" or kind == "ndarray" else "a"
    raise ArgumentError(f"{driver} takes a function, but was given {article} {kind}{shown}. {advice}")


def check_argument(driver: str, position: int, value: Any) -> None:
    """Raise unless `value` can be differentiated with respect to."""
    if is_traced(value):
        dtype = value.dtype
    elif isinstance(value, (float, complex)):
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
        kind = type(value).__name__
        advice = "Convert it with np.asarray"
        if isinstance(value, (list, tuple, dict)):
            advice = (
                f"Pass numbers as one array, {driver}(f)(np.array([1.0, 2.0])), and arrays as several arguments"
                if driver not in ("jvp", "vjp", "linearize", "record")
                else "Pass numbers as one array, np.array([1.0, 2.0]), and arrays as several arguments"
            )
        elif value is None or isinstance(value, (str, bytes)):
            advice = "Pass a number"
        elif recorder_among([value]) is not None:
            advice = "An expression of symbols has derivatives of its own, e.derivative(x) and e.gradient({x: 1.0})"
        choice = ", or choose other arguments with argnums" if driver in WITH_ARGNUMS else ""
        raise DTypeError(f"{driver} takes floats and arrays, but argument {position} is {kind}. {advice}{choice}.")
    if dtype.kind == "c":
        check_complex(driver, position, dtype)
    elif dtype.kind == "f" and dtype.itemsize not in (4, 8):
        raise DTypeError(
            f"{driver} computes in float64 and float32, but argument {position} is {dtype}. Use x.astype(np.float64)."
        )
    elif dtype.kind != "f":
        raise DTypeError(
            f"{driver} needs a float argument, but argument {position} is an array of {dtype}. Use x.astype(float)."
        )


def check_complex(driver: str, position: int, dtype: np.dtype[Any]) -> None:
    """Raise for complex numbers of parts that are neither float64 nor float32."""
    if dtype.itemsize not in (8, 16):
        raise DTypeError(
            f"{driver} computes in complex128 and complex64, but argument {position} is {dtype}. Use "
            "x.astype(np.complex128)."
        )


def check_argnum(driver: str, argnums: Any, k: Any) -> None:
    """Raise unless `k`, one of the argnums, is an int."""
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        return
    advice = ""
    if isinstance(argnums, (float, np.ndarray)) or is_traced(argnums):
        advice = f" {driver}(f) gives a function, which is called with the arguments of f: {driver}(f)(x)."
    raise ShapeError(f"{driver} takes argnums as an int or a tuple of ints, not {argnums!r}.{advice}")


def positions(argnums: int | tuple[int, ...], given: int, driver: str) -> tuple[int, ...]:
    """`argnums` as a tuple of positions, checked against the number of arguments."""
    if type(argnums) is int and 0 <= argnums < given:
        return (argnums,)
    chosen: tuple[Any, ...] = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in chosen:
        check_argnum(driver, argnums, k)
        if not -given <= k < given:
            raise ShapeError(
                f"{driver} with argnums={argnums}, but the function was called with {count(given, 'argument')}. Count "
                "from 0, and pass by position, not as a keyword, what is to be differentiated."
            )
    found = tuple(int(k) % given for k in chosen)
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
    try:
        return f(*traced, **(kwargs or {}))
    except TypeError as failure:
        if isinstance(failure, HoadError) or not any(sign in str(failure) for sign in OBJECT_ARRAYS):
            raise
        raise TracedValueError(
            f"NumPy has no loop for what it was given ({where_raised(failure)}), an object array of traced values most "
            f"likely: {failure}. np.array([...], like=x) makes a traced array of traced numbers. A function that NumPy "
            "does not dispatch makes an object array of them: write it in NumPy's functions, or make it one operation "
            "with a rule of its own (see hoad.primitive); or take hoad.value(x) if plain numbers are meant."
        ) from failure


# What NumPy says when a function without a loop for objects meets an object array of traced scalars.
OBJECT_ARRAYS = (
    "dtype('O')",
    "loop of ufunc does not support argument",
    "not supported for the input types",
    "Cannot cast ufunc",
)


def where_raised(failure: BaseException) -> str:
    """'file.py:line' of the user's code that an exception passed through last."""
    place = "outside any Python file"
    trace = failure.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not is_library(name):
            place = f"{os.path.basename(name)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def output_operand(recording: Recording, result: Any, driver: str) -> int:
    """The operand of what f returned: a number, an array, or an object array of traced scalars."""
    if isinstance(result, (Scalar, Array, float, int, complex, np.generic, np.ndarray)):
        if isinstance(result, np.ndarray) and result.dtype == object and not holds_traced(result):
            result = _of_floats(result, driver)
        return recording.operand(result)
    kind = type(result).__name__
    if isinstance(result, (list, tuple)):
        advice = "Use np.stack or np.array(..., like=x) to return one array."
        if isinstance(result, tuple) and len(result) == 2 and driver in WITH_AUX:
            advice += " A pair of value and extra output is for has_aux=True."
    elif isinstance(result, dict):
        advice = "Return one array, or take the derivative of each entry."
    else:
        advice = "Return the value to be differentiated."
    raise ShapeError(f"{driver} needs a function that returns a number or an array, but f returned {kind}. {advice}")


def _of_floats(result: Any, driver: str) -> Any:
    """An object array that holds no traced value, as floats."""
    try:
        return result.astype(np.float64)
    except (TypeError, ValueError) as failure:
        raise ShapeError(
            f"{driver} needs a function that returns a number or an array of floats, but f returned an object array of "
            f"shape {result.shape}: {failure}. Return floats."
        ) from None


def recorder_among(values: Iterable[Any]) -> Callable[..., Any] | None:
    """What records a call of ``f(*args, **kwargs)`` where an expression is among nested values; None if none is."""
    stack = list(values)
    while stack:
        item = stack.pop()
        found: Callable[..., Any] | None = getattr(type(item), "__hoad_record__", None)
        if found is not None:
            return found
        if isinstance(item, (list, tuple)):
            stack.extend(item)
        elif isinstance(item, np.ndarray) and item.dtype == object:
            stack.extend(item.ravel().tolist())
    return None


def split_aux(result: Any, has_aux: bool, driver: str) -> tuple[Any, Any]:
    """(value, aux) of a function with auxiliary output."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        found = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
        raise ShapeError(
            f"{driver} with has_aux=True needs a function that returns (value, aux), but f returned {found}."
        )
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
