"""What a jitted function gives, or stores: which of it a program computes, and how that is put together again."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from hoad._core.jit.capture_analysis import UNCHANGED, Untrackable
from hoad._core.record.recording import Recording
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced
from hoad._program.trace import is_number
from hoad._pytree.containers import Forms, leaves_of, parts_where, regrouped
from hoad.errors import ArgumentError, DTypeError, ShapeError, count


class Results:
    """What a function returned: its numbers as operands, and what else there is around them."""

    def __init__(self, d: Recording, returned: Any) -> None:
        self.single = type(returned) is not tuple or not all(map(_is_output, returned)) or not returned
        if self.single and not _is_output(returned):
            parts, outputs = parts_where(returned, _is_output)
            for constant in parts.constants:
                _check_constant(constant)
            self.gives: Forms | None = [parts]
            self.has_constants = any(map(is_number, parts.constants))  # that `out` has arrays for
        else:
            self.gives, self.has_constants = None, False
            outputs = [returned] if self.single else list(returned)
        self.operands = [d.operand(x) for x in outputs]

    def arranged(self, values: list[Any]) -> Any:
        """What the function gave, with these values."""
        if self.gives is not None:
            return regrouped(values, self.gives, constants=True)[0]
        return values[0] if self.single else tuple(values)


def _is_output(x: Any) -> bool:
    """Whether something that a function returned is computed by its program, or made anew at every call."""
    if is_traced(x):
        return True
    return isinstance(x, np.ndarray) and (x.dtype.kind in "biufc" or holds_traced(x))


def _check_constant(x: Any) -> None:
    """Raise for what cannot be given again as it is."""
    if isinstance(x, (*UNCHANGED, np.generic, type, types.ModuleType, types.BuiltinFunctionType)):
        return
    raise Untrackable(
        f"it returns an object of class {type(x).__name__}, which may change, or be expected to be a new one"
    )


def into(out: Any, result: Any) -> Any:
    """Write a result to arrays."""
    if out is None:
        return result
    targets, values = out if type(out) is tuple else (out,), [x for x in leaves_of(result) if is_number(x)]
    if len(targets) != len(values):
        raise ArgumentError(f"jit was given {count(len(targets), 'array')} as out for {count(len(values), 'result')}.")
    found = [np.array(value) for value in values]  # one may lie where another is written
    for k, (target, value) in enumerate(zip(targets, found, strict=True)):
        if type(target) is not np.ndarray:
            raise ArgumentError(f"jit writes output {k} to an array, but out holds {type(target).__name__}.")
        if target.shape != value.shape:
            raise ShapeError(f"output {k} has shape {value.shape}, but out has shape {target.shape}.")
        if target.dtype.newbyteorder("=") != value.dtype.newbyteorder("="):
            raise DTypeError(f"output {k} has dtype {value.dtype}, but out has {target.dtype}.")
        if not target.flags.writeable:
            raise ArgumentError(f"out, for output {k}, is read-only.")
    for target, value in zip(targets, found, strict=True):
        target[...] = value
    return out
