"""Compiled programs for the values of sparse derivatives, in a structure that holds for all of them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.traced import is_traced
from hoad._drivers.vmap import vmap
from hoad._jit.jit import jit
from hoad.errors import OtherStructureError, ShapeError


class Derivative(Protocol):
    """What a program is made for: a function, and how its sparse derivative is recorded."""

    _f: Callable[..., Any]

    def _recorded(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], known: Any) -> Any: ...


class Planned(NamedTuple):
    """What a program was made for."""

    structure: Any
    shape_of_x: tuple[int, ...]
    n_colors: int  # directions that are swept


class SparseProgram:
    """The values of a sparse derivative in one structure, which the first recording finds if it is not given."""

    def __init__(self, derivative: Derivative, options: dict[str, Any], planned: Planned | None) -> None:
        self.planned = planned
        _PROGRAMS[id(self)] = self
        number = id(self)  # the functions that are recorded see nothing that changes

        @functools.wraps(derivative._f, updated=())
        def sparse_values(*args: Any, **kwargs: Any) -> Any:
            return _recorded_values(number, derivative, args, kwargs)

        def batch_of_values(xs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            def of_row(x: Any) -> Any:
                return _recorded_values(number, derivative, (x, *args), kwargs)

            return vmap(of_row, threads=threads)(xs)

        threads = options.get("threads")
        self.values = jit(sparse_values, **options)
        self.batch = jit(batch_of_values, **options)
        self.has_lanes = True  # whether many x are computed side by side


# The programs there are, by their numbers.
_PROGRAMS: weakref.WeakValueDictionary[int, SparseProgram] = weakref.WeakValueDictionary()


def _recorded_values(number: int, derivative: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The values of a program, recorded; the first time the structure is found, later it has to hold."""
    program = _PROGRAMS[number]
    planned = program.planned
    if planned is not None and args:
        _check_shape_of_x(args[0], planned.shape_of_x)
    with differentiating() as recording:
        found = derivative._recorded(recording, args, kwargs, None if planned is None else planned.structure)
        if planned is None:
            shape = recording.aval(recording.inputs[0]).shape
            program.planned = Planned(found.structure, shape, found.n_colors)
        elif found.structure is not planned.structure:
            raise OtherStructureError(found.structure)
        return recording.results([found.operand], alone=True)[0]


def _check_shape_of_x(x: Any, planned: tuple[int, ...]) -> None:
    is_array = is_traced(x) or isinstance(x, (float, np.ndarray, np.generic))  # the driver refuses all others
    if is_array and np.shape(x) != planned:
        raise ShapeError(
            f"This plan is for x of the shape {planned}, but x has the shape {np.shape(x)}. Reshape it, or make "
            "another plan; hoad.jit of the derivative keeps a plan for each shape."
        )
