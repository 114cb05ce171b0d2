"""``with hoad.debug_nans():`` looks at what is computed before it is returned."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hoad._core.recording import WATCHERS, Recording, evaluate_nodes, revalued
from hoad._core.tape import Graph
from hoad.nans.births import Birth, Mask, Test, earliest, find_causes, valued
from hoad.nans.message import constant_error, given, loop_error, nan_error
from hoad.nans.origin import Recorded, Story, Taped

if TYPE_CHECKING:
    from hoad.drivers.linear import LinearMap
    from hoad.program import Program
    from hoad.transform.loops import Loop


class debug_nans(contextlib.ContextDecorator):
    """Inside the block, raise where a nan or an infinity was born, in the value or in a derivative of any order.

    An operation gives birth to a nan or an infinity if its result is not finite, though every operand is. What is
    computed inside the block is looked at when a driver returns it. If it is finite, nothing is raised, whatever was on
    the way to it: what ``np.where`` or a finite quotient absorbed is no error. If it is not, the search goes back from
    it to the first birth that reached it.

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
    Every driver, `Program.evaluate`, linear maps and loops are looked at, in this thread or task only. Blocks may be
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
    hoad.errors.NanError: grad of f gave nan. It was born in the first derivative at ...
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

    # ---- what is looked at

    def recorded(self, recording: Recording, operands: list[int], values: list[Any]) -> None:
        """The results of a driver."""
        if self._passes(values):
            return
        graph = recording.graph
        evaluate_nodes(graph, [k for k in operands if k >= 0])
        self._raise(graph, operands, values, Recorded(graph, recording.asked, recording.inputs))

    def lanes(self, recording: Recording, operands: list[int], seed: int, units: Any, values: list[Any]) -> None:
        """Rows of a matrix of derivatives, one for each unit vector put in for the seed."""
        if self._passes(values):
            return
        lane = min(int(np.argmax(bad)) for value in values if (bad := self._lanes(value)).any())
        at = {i: recording.value(i) for i in recording.inputs} | {seed: units[lane]}
        graph = self._computed(revalued(recording.graph, recording.size, 0, at), operands)
        story = Recorded(recording.graph, recording.asked, recording.inputs)
        self._raise(graph, operands, [value[lane] for value in values], story)

    def applied(self, linear: LinearMap, seeds: Sequence[Any], values: list[Any]) -> None:
        """What a linear map gives."""
        if self._passes(values):
            return
        recording = linear.recording
        at = {i: recording.value(i) for i in recording.inputs} | dict(zip(linear.seeds, seeds, strict=True))
        graph = self._computed(revalued(recording.graph, recording.size, 0, at), linear.outputs)
        self._raise(graph, linear.outputs, values, Recorded(recording.graph, recording.asked, recording.inputs))

    def replayed(self, program: Program, args: Sequence[Any], values: list[Any]) -> None:
        """What a program gives."""
        if self._passes(values):
            return
        last = valued(program, args)._last
        self._raise(last._graph, list(last._outputs), values, Taped(program, "evaluate"))

    def swept(self, program: Program, graph: Graph, sweep: tuple[list[int], Any], args: Any, values: list[Any]) -> None:
        """The sensitivities of a program, by a sweep behind its tapes: its outputs, and whose adjoints its nodes are."""
        if self._passes(values):
            return
        outputs, notes = sweep
        end = program._last._end + len(notes)
        moved = revalued(graph, end, 0, dict(zip(program._input_nodes(), args, strict=True)))
        self._raise(self._computed(moved, outputs), outputs, values, Taped(program, "sensitivity", notes))

    def looped(self, loop: Loop, inputs: Sequence[Any], results: list[Any]) -> None:
        """What a loop on plain numbers gives."""
        if self._passes(results):
            return
        which = next(k for k, value in enumerate(results) if self._test.of(value))
        items = self._test.items(results[which])
        raise loop_error(loop, inputs, which, items, self._test, given("a loop", results[which], items))

    # ---- the search

    def _passes(self, values: list[Any]) -> bool:
        return not any(self._test.of(value) for value in values)

    def _lanes(self, value: Any) -> Mask:
        """Which rows of an array hold an item that counts."""
        return np.asarray(self._test.items(value).reshape(len(value), -1).any(axis=1))

    def _computed(self, graph: Graph, operands: Sequence[int]) -> Graph:
        evaluate_nodes(graph, [k for k in operands if k >= 0])
        return graph

    def _raise(self, graph: Graph, operands: Sequence[int], values: list[Any], story: Story) -> None:
        masks = [self._test.items(value) for value in values]
        wanted: dict[int, Mask] = {}
        for k, mask in zip(operands, masks, strict=True):
            if mask.any():
                wanted[k] = mask | wanted[k] if k in wanted else mask
        which = next(k for k, mask in enumerate(masks) if mask.any())
        gave = given(story.title, values[which], masks[which])
        causes = find_causes(graph, wanted, self._test)
        if not (causes.births or causes.inputs):
            raise constant_error(gave)
        births = causes.births + [Birth(graph, i, items) for i, items in causes.inputs.items()]
        raise nan_error(story, earliest(births), gave)


__all__ = ["debug_nans"]
