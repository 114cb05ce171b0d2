"""A derivative kept as a linear function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.record.recording import Recording, inline, lowered
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import WATCHERS, is_open
from hoad._numpy.registry import as_traced
from hoad._pytree.containers import Forms, Name, regrouped, spread
from hoad.errors import DTypeError, ShapeError, TracedValueError, count


class LinearMap:
    """The derivative of the results `ys` with respect to the inputs of a recording, or its transpose, applied to seeds.

    Outside other derivatives, the recording is sealed and its program replayed. Inside another derivative it remains
    part of the running recording, and every application sweeps again.
    """

    def __init__(
        self,
        recording: Recording,
        ys: list[int],
        forms: tuple[Forms | None, Forms | None],  # of the arguments, of the result
        reverse: bool,
        held: Any,
    ) -> None:
        self.recording = recording
        self.reverse = reverse
        self.ys = ys
        self.like = ys if reverse else list(recording.inputs)
        self.takes, self.gives = forms[::-1] if reverse else forms
        self.held = (held, recording.hold())  # keeps a nested recording from being rewound
        avals = [recording.aval(k) for k in self.like]
        self.avals = [x if x.inexact else intern_aval(np.dtype(np.float64), x.shape) for x in avals]
        if not recording.nested:
            self.seeds = [recording.seed_input(k) for k in self.like]
            self.outputs = self._sweep(self.seeds)
            recording.keep()
            self.program = lowered(recording.graph, self.outputs, self.seeds, 0)

    def _sweep(self, seeds: list[int]) -> list[int]:
        d = self.recording
        if self.reverse:
            return d.or_zeros(d.adjoints(self.ys, seeds, d.inputs), d.inputs)
        return d.or_zeros(d.tangents(self.ys, d.inputs, seeds), self.ys)

    def __call__(self, seeds: Sequence[Any]) -> list[Any]:
        """Tangents of the result from those of the arguments, or adjoints of the arguments from that of the result."""
        n = len(self.takes or self.like)
        if len(seeds) != n:
            takes, given = count(n, "argument"), len(seeds)
            raise ShapeError(f"this linear map takes {takes}, but {given} {'was' if given == 1 else 'were'} given.")
        names: Sequence[str | Name] = self._names(n)
        if self.takes is not None:
            seeds, names = spread(seeds, self.takes, self._names(n))
        values = self._applied(seeds, names)
        return values if self.gives is None else regrouped(values, self.gives)

    def _names(self, n: int) -> list[str]:
        what = "the cotangent" if self.reverse else "the tangent"
        return [what] if n == 1 else [f"{what} of argument {k}" for k in range(n)]

    def _applied(self, seeds: Sequence[Any], names: Sequence[str | Name]) -> list[Any]:
        seeds = [as_traced(seed) if holds_traced(seed) else seed for seed in seeds]
        for k, (seed, aval) in enumerate(zip(seeds, self.avals, strict=True)):
            if np.shape(seed) != aval.shape:
                raise ShapeError(f"{names[k]} must have shape {aval.shape}, but has shape {np.shape(seed)}.")
        traced = holds_traced(seeds)
        if not self.recording.nested and not traced:
            values = self.program.run(seeds)
            watchers = WATCHERS.get()
            if watchers:
                watchers[-1].applied(self, seeds, values)
            return values
        seeds = [_cast(seed, aval, name) for seed, aval, name in zip(seeds, self.avals, names, strict=True)]
        if self.recording.nested:
            return self._swept(seeds)
        return inline(self.recording.graph, self.outputs, self.seeds, seeds)

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
        return recording.results(self._sweep(operands), traced)


def _cast(seed: Any, aval: AbstractValue, name: str | Name) -> Any:
    """A seed in the dtype of what it belongs to, as a program casts its inputs."""
    made = as_traced(seed)
    if made.dtype == aval.dtype:
        return seed
    if not np.can_cast(made.dtype, aval.dtype, "same_kind"):
        raise DTypeError(f"{name} must have dtype {aval.dtype}, but has dtype {made.dtype}.")
    return made.astype(aval.dtype)
