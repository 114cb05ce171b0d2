"""A derivative kept as a linear function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.operands import holds_traced
from hoad._core.recording import Recording, inline, is_open, lowered
from hoad._core.tape import intern_aval
from hoad.errors import DTypeError, ShapeError, TracedValueError, count
from hoad.numpy_protocol import as_traced


class LinearMap:
    """What a sweep from symbolic seeds gives, ready to be applied to seeds.

    Outermost, the recording is sealed and its program replayed; inside another derivative it stays part of the
    running recording, and every application sweeps again.
    """

    def __init__(
        self, recording: Recording, y: int, sweep: Callable[..., list[int]], reverse: bool, result: Any
    ) -> None:
        self.recording = recording
        self.y = y
        self.sweep = sweep
        self.like = [y] if reverse else list(recording.inputs)
        self.what = "the cotangent" if reverse else "the tangent"
        self.held = (result, recording.hold())  # keeps a nested recording from being rewound
        avals = [recording.aval(k) for k in self.like]
        self.avals = [x if x.inexact else intern_aval(np.dtype(np.float64), x.shape) for x in avals]
        if not recording.nested:
            self.seeds = [recording.seed_input(k) for k in self.like]
            self.outputs = sweep(recording, y, *self.seeds)
            recording.keep()
            self.program = lowered(recording.graph, self.outputs, self.seeds, 0)

    def __call__(self, seeds: Sequence[Any]) -> list[Any]:
        seeds = [as_traced(seed) if holds_traced(seed) else seed for seed in seeds]
        if len(seeds) != len(self.like):
            takes, given = count(len(self.like), "argument"), len(seeds)
            raise ShapeError(f"this linear map takes {takes}, but {given} {'was' if given == 1 else 'were'} given.")
        for k, (seed, aval) in enumerate(zip(seeds, self.avals, strict=True)):
            if np.shape(seed) != aval.shape:
                which = self.what if len(seeds) == 1 else f"{self.what} of argument {k}"
                raise ShapeError(f"{which} must have shape {aval.shape}, but has shape {np.shape(seed)}.")
        traced = holds_traced(list(seeds))
        if not self.recording.nested and not traced:
            return self.program.run(seeds)
        seeds = [self._cast(seed, aval) for seed, aval in zip(seeds, self.avals, strict=True)]
        if self.recording.nested:
            return self._swept(seeds)
        return inline(self.recording.graph, self.outputs, self.seeds, list(seeds))

    def _cast(self, seed: Any, aval: Any) -> Any:
        """A seed in the dtype of what it belongs to, as a program casts its inputs."""
        made = as_traced(seed)
        if made.dtype == aval.dtype:
            return seed
        if not np.can_cast(made.dtype, aval.dtype, "same_kind"):
            raise DTypeError(f"{self.what} must have dtype {aval.dtype}, but has dtype {made.dtype}.")
        return made.astype(aval.dtype)

    def _swept(self, seeds: Sequence[Any]) -> list[Any]:
        recording = self.recording
        if not is_open(recording.graph):
            raise TracedValueError(
                "a linear map that was made inside a derivative was used after that derivative had ended. Make it "
                "outside, or apply it inside."
            )
        recording.forget()
        operands = [recording.operand(seed) for seed in seeds]
        traced = any(operand >= 0 for operand in operands)
        return recording.results(self.sweep(recording, self.y, *operands), traced)
