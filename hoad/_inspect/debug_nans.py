"""``with hoad.debug_nans():`` checks results before they are returned."""

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

    A nan or an infinity first appears in an operation whose result is not finite although every operand is. Inside the
    block, results are checked when a driver returns them. If a result is finite, nothing is raised: an intermediate nan
    or infinity that ``np.where`` or a quotient absorbed is not an error. If it is not finite, the search goes back from
    it to its first cause.

    Parameters
    ----------
    nan : bool, optional
        If True, look for nan.
    inf : bool, optional
        If True, look for infinities. If False, report only the operation that turns an infinity into a nan.

    Raises
    ------
    NanError
        If a result is not finite. The message contains what was computed, the operation and its operands, the user's
        line, and advice; or the argument, if that is not finite.

    Notes
    -----
    The block checks every driver, `Program.evaluate`, linear maps and loops, in its thread or task only, but not
    auxiliary output. Blocks may be nested, and the innermost counts: ``hoad.debug_nans(nan=False, inf=False)`` checks
    nothing. The block can also decorate functions. In a generator it stays active while the generator is suspended, as
    `numpy.errstate` does. If the result of a nested driver is traced, the outer driver is checked instead.

    Cost: outside a block, one read of a context variable for each call of a driver. Inside, a check of each result, and
    some hundred nanoseconds for each recorded operation to keep its line; sweeps also keep which derivative each node
    belongs to. After a failure, one more run of the program, with all values kept.

    Programs that were recorded outside the block are checked as well; their function runs once more to find the line
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
        """Rows of a matrix of derivatives, one for each unit vector as seed."""
        if self._fails(values):
            _search().lanes(self._test, recording, operands, (seed, units), values)

    def applied(self, linear: LinearMap, seeds: Sequence[Any], values: list[Any]) -> None:
        """The results of a linear map."""
        if self._fails(values):
            _search().applied(self._test, linear, seeds, values)

    def replayed(self, program: Program, args: Sequence[Any], values: list[Any]) -> None:
        """The results of a program."""
        if self._fails(values):
            _search().replayed(self._test, program, args, values)

    def swept(self, program: Program, graph: Graph, sweep: tuple[list[int], Any], args: Any, values: list[Any]) -> None:
        """The sensitivities of a program: the outputs of a sweep behind its tapes, and the nodes of its adjoints."""
        if self._fails(values):
            _search().swept(self._test, program, graph, sweep, args, values)

    def looped(self, loop: Loop, inputs: Sequence[Any], results: list[Any]) -> None:
        """The results of a loop on plain numbers."""
        if self._fails(results):
            _search().looped(self._test, loop, inputs, results)

    def taken(self, where: str) -> None:
        """A number that `hoad.value` returned: not a result, so it is not checked."""

    def _fails(self, values: list[Any]) -> bool:
        return any(self._test.of(value) for value in values)


def _search() -> Any:
    return importlib.import_module("hoad._inspect.nonfinite_search")
