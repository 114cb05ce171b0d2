"""What `call` nodes run: programs, loops, rules and whatever else can be pulled back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from hoad._core.graph.primitive import RESULTS_LIMIT, Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall
from hoad._core.trace.calls import apply_primitive
from hoad._ops.dependence import Entrywise, Links
from hoad._ops.primitives import declare_call
from hoad._program.pickling import FAMILIES, refusal
from hoad.errors import ArgumentError

# What is known of values that are linear in seeds, one by one: 0 if nothing, 1 if their zeros stand for no dependence,
# 2 if they are zero.
Strong = tuple[int, ...]


class Callee:
    """What a node of programs holds, as the sweeps see it: something to be run, and pulled back.

    Its inputs are, in order: those that have no adjoint, any others, and those that the results are linear in.
    """

    _fixed = 0  # the number of first inputs that have no adjoint
    _linear = 0  # the number of last inputs that the results are linear in
    _reverse_only = False  # whether its rule need not be linear
    _described = "the rule of a call"  # whose rule it is, for messages

    def _check_operands(self, avals: tuple[AbstractValue, ...]) -> None:
        """Raise unless a node out of a pickle that holds it may have operands like these."""
        if avals != tuple(self.input_types):
            raise refusal(f"a node takes {avals}, but what it runs {tuple(self.input_types)}")

    @property
    def _identity(self) -> Any:
        """The same for two callees that compute the same."""
        return id(self)

    @property
    def _is_odd(self) -> bool:
        """Whether minus an adjoint of the results gives minus the adjoints of the inputs."""
        return not self._reverse_only

    def _with_strong(self, strong: Strong) -> Callee:
        """The same for inputs, last ones, whose zeros are strong."""
        return self

    def _strong_seeds(self) -> Strong:
        """What it knows of the inputs that it is linear in."""
        return (0,) * self._linear

    # Shape and dtype of every input and output, of the callees of `call` nodes.
    input_types: Any
    output_types: Any

    def _entered(self, values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]] | None:
        """The program that computes the results, and the values of its inputs; None where no single one does."""
        return None

    def _links(self, k: int, which: int, count: int) -> Links | None:
        """Between operand k, of so many, and a result; None if all items are with all."""
        entered = self._entered(tuple(range(count)))
        between = None if entered is None else entered[0]._dependence()
        if entered is None or between is None:
            return None
        own = [x for x, operand in zip(between[which], entered[1], strict=True) if operand == k]
        return Entrywise(own[0].shape, *np.nonzero(np.logical_or.reduce(own))) if own else None

    def _run(self, values: tuple[Any, ...]) -> Sequence[Any]:
        """The results, as plain values."""
        found = self._entered(values)
        assert found is not None
        results: Sequence[Any] = found[0]._run(found[1])
        return results

    def _native(self, *avals: AbstractValue) -> NativeCall | None:
        """What runs it on operands like these without Python, if anything does."""
        return None

    def _derived(self, linear: bool) -> Callee:
        """The adjoint by the inputs it is linear in, or by the others."""
        raise NotImplementedError

    def _strong_results(self) -> Strong:
        """What is known of results that are linear in inputs."""
        return (0,) * len(self.output_types)

    # The coefficients of the results, from ``(values, counts, degree)``: the inputs with so many coefficients of each;
    # None where those of the program are all there is to know.
    _along_curve: ClassVar[Callable[..., list[Any]] | None] = None

    # The adjoint of each input, None where it has none, from ``(g, p, inputs)``; set by a higher layer.
    _pull_back: ClassVar[Callable[..., tuple[Any, ...]]]


def declare_call_of(nout: int) -> Primitive:
    """The primitive of `call` nodes with so many results."""
    if nout > RESULTS_LIMIT:
        raise ArgumentError(
            f"a derivative of a loop, a map or a call would give {nout} arrays at once, and {RESULTS_LIMIT} are the "
            "most. Ask for a lower order, carry one array instead of several, or write a Python loop."
        )
    return declare_call(nout, _run_callee, lambda params, *avals: params[0]._native(*avals))


def _run_callee(params: tuple[Callee], *values: Any) -> Any:
    """The values of a `call` node."""
    found = params[0]._run(values)
    return found[0] if len(found) == 1 else tuple(found)


FAMILIES["call"] = declare_call_of


def called(callee: Callee, values: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a `call` node on these values."""
    results = apply_primitive(declare_call_of(len(callee.output_types)), (callee,), *values)
    return results if isinstance(results, tuple) else (results,)
