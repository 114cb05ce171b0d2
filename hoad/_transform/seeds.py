"""Seeds of sweeps: what the user gives, as operands of a growing tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hoad._core.graph.tape import AbstractValue
from hoad._core.record.recording import SYMBOLIC_ZERO, Extension
from hoad._pytree.containers import Forms, Name, spread
from hoad.errors import ArgumentError, DTypeError, ShapeError, count

End = Literal["output", "input"]  # where a sweep begins

SEVERAL = {
    "output": "the last tape gives more than one number: its outputs have shape",
    "input": "the function takes more than one number: its inputs have shape",
}


def seed_operands(
    extension: Extension,
    avals: Sequence[AbstractValue],
    forms: Forms | None,
    seed: Any,
    sweep: str,
    end: End,
    strong: Sequence[int] = (),
) -> tuple[list[int], list[int]]:
    """(operand of the seed at each of these ends, those among them that are new inputs).

    `forms` are those of the containers that the ends are parts of, if any. Of new inputs that are `strong` the zeros
    stand for no dependence; where that is 2, the input is 0 and not looked at.
    """
    if isinstance(seed, str):
        if seed != "symbolic":
            raise ArgumentError(f"{sweep} takes a number, an array or 'symbolic' as seed, not {seed!r}.")
        ends = [k for k, aval in enumerate(avals) if aval.inexact]
        known = dict(zip(ends, strong or (0,) * len(ends), strict=True))
        inputs = {k: extension.input(avals[k], bool(known[k])) for k in ends}
        operands = [inputs[k] if known.get(k, 2) != 2 else SYMBOLIC_ZERO for k in range(len(avals))]
        return operands, list(inputs.values())
    if seed is None:
        if [aval.shape for aval in avals] not in ([], [()]):
            shapes = ", ".join(str(aval.shape) for aval in avals)
            raise ShapeError(
                f"{sweep} needs a seed where {SEVERAL[end]} {shapes}. Give an array of that shape, a tuple for several "
                f"{end}s, or seed='symbolic' to make the seed an input."
            )
        if end == "output" and any(aval.is_complex for aval in avals):
            raise DTypeError(
                f"{sweep} of a program with a complex result ({avals[0].dtype}) needs a seed: 1.0 for the gradient of "
                "its real part, -1j for that of its imaginary part, or seed='symbolic' to make it an input."
            )
        seed, forms = (1.0,) * len(avals), None
    seeds, names = _spread(seed, forms, end)
    if len(seeds) != len(avals):
        raise ShapeError(
            f"{sweep} was given {count(len(seeds), 'seed')} for {count(len(avals), end)}. Give a tuple, one for each."
        )
    checked = [_checked(value, aval, what) for value, aval, what in zip(seeds, avals, names, strict=True)]
    return [SYMBOLIC_ZERO if value is None else extension.constant(value) for value in checked], []


def _spread(seed: Any, forms: Forms | None, end: End) -> tuple[Sequence[Any], Sequence[str | Name]]:
    """(the seed of each end, what to call it), of a seed of the form of the containers."""
    if forms is not None and len(forms) == 1:
        return spread((seed,), forms, ["the seed"])
    seeds = seed if isinstance(seed, tuple) else (seed,)
    if forms is not None and len(seeds) == len(forms):
        return spread(seeds, forms, ["the seed"] * len(seeds))
    return seeds, [f"the seed of {end} {k}" for k in range(len(seeds))]


def _checked(value: Any, aval: AbstractValue, what: str | Name) -> Any:
    """The seed of an output or input in its dtype; None stays None, but not within a container."""
    if value is None and isinstance(what, str):
        return None
    if np.shape(value) != aval.shape:
        raise ShapeError(f"{what} must have shape {aval.shape}, but has shape {np.shape(value)}.")
    if np.asarray(value).dtype.kind not in ("biufc" if aval.is_complex else "biuf"):
        found = type(value).__name__ if np.ndim(value) == 0 else f"an array of {np.asarray(value).dtype}"
        raise DTypeError(f"{what} must be a float or an array of floats, but is {found}.")
    return np.array(value, aval.dtype)[()]
