"""Compiled programs for the values of sparse derivatives, in a structure that holds for all of them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from hoad._core.record.recording import Recording, differentiating
from hoad._drivers.vmap import vmap
from hoad._jit.jit import jit
from hoad.errors import GuardError


class Derivative(Protocol):
    """What a program is made for: a function, and how its sparse derivative is recorded."""

    _f: Callable[..., Any]

    def _recorded(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], known: Any) -> Any: ...


class SparseProgram:
    """The values of a sparse derivative in one structure, which the first recording finds if it is not given."""

    def __init__(self, derivative: Derivative, options: dict[str, Any], structure: Any) -> None:
        self.structure = structure
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


# The programs there are, by their numbers.
_PROGRAMS: weakref.WeakValueDictionary[int, SparseProgram] = weakref.WeakValueDictionary()


def _recorded_values(number: int, derivative: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The values of a program, recorded; the first time the structure is found, later it has to hold."""
    program = _PROGRAMS[number]
    with differentiating() as recording:
        found = derivative._recorded(recording, args, kwargs, program.structure)
        if program.structure is None:
            program.structure = found.structure
        elif found.structure is not program.structure:
            raise OtherStructureError(found.structure)
        return recording.results([found.operand], alone=True)[0]


class OtherStructureError(GuardError):
    """Entries outside of the structure of a plan."""

    def __init__(self, structure: Any) -> None:
        super().__init__(
            "f takes another branch here than where the plan was made, with entries that the plan does not have. Make "
            "a plan here, or call the plan, plan(x), which adds them."
        )
        self.structure = structure
