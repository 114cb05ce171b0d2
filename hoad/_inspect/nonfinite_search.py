"""The search when a result is not finite: values computed once more, the first nonfinite one, and the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from hoad._core.graph.tape import Graph
from hoad._core.record.recording import Recording, evaluate_nodes, revalued
from hoad._drivers.linear_map import LinearMap
from hoad._inspect.debug_nans import Mask, Test
from hoad._inspect.first_nonfinite import FirstNonfinite, earliest, find_causes, merge_mask, valued
from hoad._inspect.nonfinite_message import constant_error, given, loop_error, nan_error
from hoad._inspect.origin import Recorded, Story, Taped
from hoad._program.program import Program
from hoad._transform.loops import Loop


def recorded(test: Test, recording: Recording, operands: list[int], values: list[Any]) -> NoReturn:
    """Of the results of a driver."""
    graph = _computed(recording.graph, operands)
    _tell(test, graph, operands, values, Recorded(graph, recording.asked, recording.inputs))


def lanes(
    test: Test, recording: Recording, operands: list[int], seeded: tuple[int, Any], values: list[Any]
) -> NoReturn:
    """Of rows of a matrix of derivatives: the first that is not finite, at its unit vector."""
    rows = [test.items(value).reshape(len(value), -1).any(axis=1) for value in values]
    lane = int(np.argmax(np.logical_or.reduce(rows)))
    seed, units = seeded
    graph = _computed(_at(recording, {seed: units[lane]}), operands)
    story = Recorded(recording.graph, recording.asked, recording.inputs)
    _tell(test, graph, operands, [value[lane] for value in values], story, placed=False)


def applied(test: Test, linear: LinearMap, seeds: Sequence[Any], values: list[Any]) -> NoReturn:
    """Of what a linear map gives."""
    recording = linear.recording
    graph = _computed(_at(recording, dict(zip(linear.seeds, seeds, strict=True))), linear.outputs)
    _tell(test, graph, linear.outputs, values, Recorded(recording.graph, recording.asked, recording.inputs))


def replayed(test: Test, program: Program, args: Sequence[Any], values: list[Any]) -> NoReturn:
    """Of what a program gives."""
    last = valued(program, args)._last
    _tell(test, last._graph, list(last._outputs), values, Taped(program, "evaluate"))


def swept(
    test: Test, program: Program, graph: Graph, sweep: tuple[list[int], Any], args: Any, values: list[Any]
) -> NoReturn:
    """Of the sensitivities of a program."""
    outputs, notes = sweep
    end = program._last._end + len(notes)
    moved = revalued(graph, end, 0, dict(zip(program._input_nodes(), args, strict=True)))
    _tell(test, _computed(moved, outputs), outputs, values, Taped(program, "sensitivity", notes))


def looped(test: Test, loop: Loop, inputs: Sequence[Any], results: list[Any]) -> NoReturn:
    """Of what a loop on plain numbers gives."""
    which = next(k for k, value in enumerate(results) if test.of(value))
    items = test.items(results[which])
    raise loop_error(
        loop, inputs, which, items, test, given("a map" if loop.is_parallel else "a loop", results[which], items)
    )


def _at(recording: Recording, seeds: dict[int, Any]) -> Graph:
    """A copy of what was recorded, with values for seeds."""
    at = {i: recording.value(i) for i in recording.inputs} | seeds
    return revalued(recording.graph, recording.size, 0, at)


def _computed(graph: Graph, operands: Sequence[int]) -> Graph:
    evaluate_nodes(graph, [k for k in operands if k >= 0])
    return graph


def _tell(
    test: Test, graph: Graph, operands: Sequence[int], values: list[Any], story: Story, placed: bool = True
) -> NoReturn:
    """Raise what the first nonfinite value, or an input or a constant that was not finite before, has led to."""
    masks = [test.items(value) for value in values]
    wanted: dict[int, Mask] = {}
    for k, mask in zip(operands, masks, strict=True):
        if mask.any():
            merge_mask(wanted, k, mask)
    which = next(k for k, mask in enumerate(masks) if mask.any())
    gave = given(story.title, values[which], masks[which], placed)
    causes = find_causes(graph, wanted, test)
    nonfinites = causes.nonfinites + [FirstNonfinite(graph, i, items) for i, items in causes.inputs.items()]
    raise nan_error(story, earliest(nonfinites), gave) if nonfinites else constant_error(gave)
