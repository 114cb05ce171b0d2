"""``with hoad.debug_nans():`` looks at what is computed before it is returned."""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hoad._core.graph.tape import Graph
from hoad._core.record.recording import Recording
from hoad._core.trace.context import WATCHERS

if TYPE_CHECKING:
    from hoad._drivers.linear_map import LinearMap
    from hoad._program.program import Program
    from hoad._transform.loops import Loop

Mask = NDArray[np.bool_]  # which items, in C order


class Test:
    """What counts as not finite."""

    def __init__(self, nan: bool, inf: bool) -> None:
        self.nan, self.inf = nan, inf

    def of(self, value: Any) -> bool:
        """Whether a value has an item that counts."""
        if type(value) is float:
            return not math.isfinite(value) and (self.nan if value != value else self.inf)
        return bool(self.items(value).any())

    def items(self, value: Any) -> Mask:
        """Which items of a value count."""
        array = np.ravel(value)
        if value is None or array.dtype.kind not in "fc":
            return np.zeros(array.size, bool)
        return np.asarray((np.isnan(array) & self.nan) | (np.isinf(array) & ~np.isnan(array) & self.inf))


class debug_nans(contextlib.ContextDecorator):
    """Inside the block, raise where a nan or an infinity first appears, in the value or in a derivative of any order.

    A nan or an infinity first appears in an operation whose result is not finite, though every operand is. What is
    computed inside the block is looked at when a driver returns it. If it is finite, nothing is raised, whatever was on
    the way to it: what ``np.where`` or a finite quotient absorbed is not an error. If it is not, the search goes back
    from it to the first that reached it.

    Parameters
    ----------
    nan : bool, optional
        Look for nan.
    inf : bool, optional
        Look for infinities. With ``inf=False`` they pass, and only what makes a nan of them is told.

    Raises
    ------
    NanError
        Where a result is not finite: what was computed, the operation and its operands, the user's line, what to do. Of
        an argument that is not finite already, that it is.

    Notes
    -----
    Every driver, `Program.evaluate`, linear maps and loops are looked at, in this thread or task only; auxiliary output
    is not. Blocks may be
    nested, the innermost counts: ``hoad.debug_nans(nan=False, inf=False)`` looks at nothing. The block is a decorator
    of functions, too. In a generator it holds while the generator is suspended, as `numpy.errstate` does. A nested
    driver whose result is traced is left to the one around it.

    Cost: outside a block, one look at a context variable for each call of a driver. Inside, a look at each result, and
    some hundred nanoseconds for each operation recorded, which keeps its line; sweeps keep whose derivative each node
    is. After a failure, one more run of the program, with all values kept.

    Programs that were recorded outside the block are replayed as well; their function runs once more to find the line
    of an operation on scalars.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> with hoad.debug_nans():
    ...     hoad.grad(lambda x: np.sqrt(x * x))(0.0)
    Traceback (most recent call last):
        ...
    hoad.errors.NanError: grad of f gave nan. It first appears in the first derivative at ...
    """

    def __init__(self, *, nan: bool = True, inf: bool = True) -> None:
        self._test = Test(bool(nan), bool(inf))

    def __enter__(self) -> debug_nans:
        WATCHERS.set((*WATCHERS.get(), self))
        return self

    def __exit__(self, *failure: object) -> None:
        # What was entered since may leave later, where generators hold blocks of their own: only this one goes.
        held = list(WATCHERS.get())
        for k in range(len(held) - 1, -1, -1):
            if held[k] is self:
                del held[k]
                break
        WATCHERS.set(tuple(held))

    # ---- what is looked at: the search itself is a module that is imported when it is first needed

    def recorded(self, recording: Recording, operands: list[int], values: list[Any]) -> None:
        """The results of a driver."""
        if self._fails(values):
            _search().recorded(self._test, recording, operands, values)

    def lanes(self, recording: Recording, operands: list[int], seed: int, units: Any, values: list[Any]) -> None:
        """Rows of a matrix of derivatives, one for each unit vector put in for the seed."""
        if self._fails(values):
            _search().lanes(self._test, recording, operands, (seed, units), values)

    def applied(self, linear: LinearMap, seeds: Sequence[Any], values: list[Any]) -> None:
        """What a linear map gives."""
        if self._fails(values):
            _search().applied(self._test, linear, seeds, values)

    def replayed(self, program: Program, args: Sequence[Any], values: list[Any]) -> None:
        """What a program gives."""
        if self._fails(values):
            _search().replayed(self._test, program, args, values)

    def swept(self, program: Program, graph: Graph, sweep: tuple[list[int], Any], args: Any, values: list[Any]) -> None:
        """The sensitivities of a program: the outputs of a sweep behind its tapes, and whose adjoints its nodes are."""
        if self._fails(values):
            _search().swept(self._test, program, graph, sweep, args, values)

    def looped(self, loop: Loop, inputs: Sequence[Any], results: list[Any]) -> None:
        """What a loop on plain numbers gives."""
        if self._fails(results):
            _search().looped(self._test, loop, inputs, results)

    def taken(self, where: str) -> None:
        """A number taken out of a derivative by `hoad.value`: no result, so it may be anything."""

    def _fails(self, values: list[Any]) -> bool:
        return any(self._test.of(value) for value in values)


def _search() -> Any:
    return importlib.import_module("hoad._inspect.nonfinite_search")


__all__ = ["Mask", "Test", "debug_nans"]
