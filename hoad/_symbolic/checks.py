"""What may stand in the place of symbols and of parts of expressions: checked, or an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.coerce import as_numbers, holds_traced
from hoad._core.trace.traced import METHODS, is_traced
from hoad._symbolic.operators import Operators
from hoad._symbolic.rows import constant
from hoad.errors import ArgumentError, DTypeError, ShapeError, TracedValueError


def checked_value(symbol: Operators, value: Any, what: str) -> Any:
    """A value for a symbol; traced ones as they are."""
    if type(value) is float and not symbol.aval.shape:
        return value
    if isinstance(value, Operators):
        raise ArgumentError(
            f"{what} takes numbers and arrays, but the value of {symbol.name} is an expression. Put it in with "
            "e.substitute({x: expression}), and evaluate what that gives."
        )
    if isinstance(value, (list, tuple)) and holds_traced(value):
        value = METHODS["__pack__"](value)
    if not is_traced(value):
        value = as_numbers(value)
    if value.dtype.kind not in "biuf":
        raise DTypeError(f"{what} takes real numbers, but the value of {symbol.name} is {value.dtype}.")
    if value.shape != symbol.shape:
        raise ShapeError(f"{what}: {symbol.name} has shape {symbol.shape}, but its value has shape {value.shape}.")
    if is_traced(value):
        return value
    return float(value) if not symbol.shape else np.array(value, dtype=np.float64)


def fitting(old: Operators, new: Any) -> Any:
    """What is to stand in the place of an expression, checked."""
    if is_traced(new):
        raise TracedValueError(
            f"substitute was given a value that is traced by a derivative being taken ({here()}). Use e.evaluate, "
            "which is recorded."
        )
    if not isinstance(new, Operators):
        numbers = as_numbers(new)
        if numbers.shape == old.shape and np.can_cast(numbers.dtype, old.dtype, "same_kind"):
            exact = np.array(numbers, dtype=old.dtype)
            numbers = exact if old.shape or old.dtype.kind not in "fb" else exact.item()
        new = constant(numbers)
    if new.shape != old.shape:
        raise ShapeError(f"substitute cannot put shape {new.shape} in the place of shape {old.shape}.")
    if new.dtype != old.dtype:
        raise DTypeError(f"substitute cannot put {new.dtype} in the place of {old.dtype}. Use x.astype.")
    return new


def checked_symbols(given: tuple[Any, ...], needed: tuple[Operators, ...]) -> tuple[Any, ...]:
    """Inputs of a program, each a symbol, and all that are needed among them."""
    for symbol in given:
        if not isinstance(symbol, Operators) or symbol.name is None:
            found = "an expression" if isinstance(symbol, Operators) else type(symbol).__name__
            raise ArgumentError(f"to_program takes symbols, in the order of the inputs, but was given {found}.")
    ids = [id(symbol) for symbol in given]
    if len(set(ids)) < len(ids):
        raise ArgumentError("to_program was given a symbol twice. Name each once.")
    missing = [str(symbol.name) for symbol in needed if id(symbol) not in ids]
    if missing:
        raise ArgumentError(f"to_program was given no input for {', '.join(missing)}. Name all symbols, or none.")
    return given
