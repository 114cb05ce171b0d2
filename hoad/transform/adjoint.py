"""From a program to the program of its gradient."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hoad._core.calls import apply_primitive
from hoad._core.primitive import Primitive, rules_epoch
from hoad._core.recording import SYMBOLIC_ZERO, Extension, node_row, operand_avals
from hoad._core.tape import Aval
from hoad.errors import ArgumentError, DTypeError, ShapeError, count
from hoad.primitive import declare_call, on_new_call
from hoad.program import Program, Tape, call_program
from hoad.rules.registry import set_rule


def seed_operands(
    program: Program, tape: Tape, extension: Extension, seed: Any, strong: tuple[bool, ...] = ()
) -> tuple[list[int], list[int]]:
    """(operand of the seed of each output, those among them that are new inputs)."""
    avals = operand_avals(tape._graph, list(tape._outputs))
    if isinstance(seed, str):
        if seed != "symbolic":
            raise ArgumentError(f"gradient takes a number, an array or 'symbolic' as seed, not {seed!r}.")
        flags = iter(strong)
        inputs = [extension.input(aval, next(flags, False)) if aval.inexact else SYMBOLIC_ZERO for aval in avals]
        return inputs, [k for k in inputs if k != SYMBOLIC_ZERO]
    if seed is None:
        if len(avals) > 1 or avals[0].shape:
            shapes = ", ".join(str(aval.shape) for aval in avals)
            raise ShapeError(
                f"gradient needs a seed where the last tape gives more than one number: its outputs have shape "
                f"{shapes}. Give an array of that shape, or seed='symbolic' to make the seed an input."
            )
        seed = 1.0
    seeds = seed if isinstance(seed, tuple) else (seed,)
    if len(seeds) != len(avals):
        raise ShapeError(
            f"gradient was given {count(len(seeds), 'seed')} for {count(len(avals), 'output')}. Give a tuple, one for "
            "each."
        )
    for k, (value, aval) in enumerate(zip(seeds, avals, strict=True)):
        if np.shape(value) != aval.shape:
            raise ShapeError(f"the seed of output {k} must have shape {aval.shape}, but has shape {np.shape(value)}.")
        if np.asarray(value).dtype.kind not in "biuf":
            found = type(value).__name__ if np.ndim(value) == 0 else f"an array of {np.asarray(value).dtype}"
            raise DTypeError(f"the seed of output {k} must be a float or an array of floats, but is {found}.")
    return [extension.constant(aval.dtype.type(v)) for v, aval in zip(seeds, avals, strict=True)], []


def gradient(program: Program, seed: Any = None, *, simplify: bool = True) -> Program:
    """The program with one more tape: the adjoints of the function's inputs.

    Parameters
    ----------
    program : Program
        What `record` or an earlier `gradient` gave. It is not changed.
    seed : None, float, array, tuple of them or "symbolic", optional
        The adjoint of each output of the last tape. A single number needs none (it is 1). A symbolic seed becomes a
        further input of the program.
    simplify : bool, optional
        False keeps every node, contribution and constant, for reading.

    Returns
    -------
    Program
        The tapes of `program`, and a tape whose outputs are the adjoints of the function's arguments.

    Raises
    ------
    ArgumentError
        If `program` is no Program, but the function itself, say; if `seed` is another word than "symbolic".
    ShapeError
        If the last tape gives more than one number and there is no seed, or a seed does not fit.
    DTypeError
        If a seed is no float and no array of floats.

    Notes
    -----
    Cost: one reverse sweep, some tens of nanoseconds and 20 to 32 bytes an emitted node.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2 and chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> program = hoad.record(lambda x: np.sum(x**3), np.ones(2))
    >>> second = hoad.gradient(hoad.gradient(program), seed="symbolic")
    >>> second.evaluate(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    if not isinstance(program, Program):
        raise ArgumentError(
            f"gradient takes a Program, but was given {type(program).__name__}. Record the function first, "
            "hoad.gradient(hoad.record(f, x)), or use hoad.grad(f)(x) for the gradient as an array."
        )
    return _extended(program, seed, simplify, list(program._first._inputs))


def _extended(
    program: Program,
    seed: Any,
    simplify: bool,
    wrt: list[int],
    apart: bool = False,
    strong: tuple[bool, ...] = (),
) -> Program:
    """The program with the adjoints of the nodes `wrt` as one more tape, on a copy of its graph if `apart`."""
    made, notes = _swept(program, seed, simplify, wrt, noted=not simplify, apart=apart, strong=strong)
    if simplify:
        origin, epoch = Program(program), rules_epoch()

        def find_notes() -> Any:
            if rules_epoch() != epoch:
                return None  # the rules that emitted the tape may be gone
            return _swept(origin, seed, simplify, wrt, noted=True, apart=True, strong=strong)[1]

        made._find_notes = find_notes
    else:
        made._notes = notes
    return Program([*program, made])


def _swept(
    program: Program,
    seed: Any,
    simplify: bool,
    wrt: list[int],
    noted: bool,
    apart: bool,
    strong: tuple[bool, ...] = (),
) -> tuple[Tape, Any]:
    """The adjoint tape, and whose adjoint each of its nodes is if that is to be noted."""
    tape = program._last
    program._check_chain()
    extension = Extension(tape._graph, tape._end, tape._guards, simplify, apart)
    try:
        seeds, inputs = seed_operands(program, tape, extension, seed, strong)
        outputs = extension.compact(extension.adjoints(list(tape._outputs), seeds, wrt, noted))
        notes = extension.notes() if noted else None
    except BaseException:
        extension.abandon()
        raise
    extension.done()
    window = (tape._end, extension.size, tape._guards, extension.guards)
    return Tape(extension.graph, window, inputs, outputs, "adjoint", len(wrt) == 1, tape), notes


# ---- calls of programs ----------------------------------------------------------------------------------------------


class Callee(Protocol):
    """What a `call` node computes: a program, or what can be evaluated and pulled back as one."""

    # The number of first inputs that have no adjoint, and of last inputs that the outputs are linear in; which of the
    # latter have strong zeros, if any.
    _fixed: int
    _linear: int
    _strong: tuple[bool, ...]
    _reverse_only: bool
    _described: str

    @property
    def _identity(self) -> Any: ...
    @property
    def inputs(self) -> tuple[Aval, ...]: ...
    @property
    def results(self) -> tuple[Aval, ...]: ...
    def evaluate(self, *values: Any) -> Any: ...
    def _derived(self, linear: bool) -> Callee: ...
    def _with_strong(self, strong: tuple[bool, ...]) -> Callee: ...
    def _strong_results(self) -> tuple[bool, ...]: ...
    def _pull_back(self, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]: ...


def adjoint_of(program: Program, linear: bool, apart: bool = False, strong: tuple[bool, ...] = ()) -> Program:
    """The adjoint of a program by the inputs it is linear in, or by the others, for symbolic seeds.

    Inputs that are no floats have none. Zeros of a `strong` seed stand for no dependence.
    """
    key = (linear, strong, rules_epoch())
    made = program._adjoints.get(key)
    if made is None:
        nodes = program._input_nodes()
        first = len(nodes) - program._linear
        chosen = range(first, len(nodes)) if linear else range(program._fixed, first)
        wrt = [nodes[k] for k in chosen if program.inputs[k].inexact]
        made = _extended(program, "symbolic", True, wrt, apart, strong)
        made._fixed, made._linear, made._strong = program._fixed, len(made._last._inputs), strong
        made._origin = program, linear
        made._omitted = program._omitted | (frozenset(nodes[first:]) if linear else frozenset())
        program._adjoints = {k: v for k, v in program._adjoints.items() if k[2] == key[2]} | {key: made}
    return made


def called(callee: Callee, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """A `call` node on these values, its results as a tuple."""
    results = apply_primitive(declare_call(len(callee.results), call_program), (callee,), *values)
    return results if isinstance(results, tuple) else (results,)


def pull_back(callee: Callee, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The adjoint of a call is a call of the adjoint program.

    Where the program is linear in its last inputs, their adjoint does not depend on them, and is a call without them.
    """
    seeds = tuple(
        s for s, aval in zip(g if isinstance(g, tuple) else (g,), callee.results, strict=True) if aval.inexact
    )
    first = len(inputs) - callee._linear
    found: list[Any] = [None] * len(inputs)
    for linear, chosen, given in (
        (False, range(callee._fixed, first), inputs),
        (True, range(first, len(inputs)), inputs[:first]),
    ):
        wrt = [k for k in chosen if callee.inputs[k].inexact]
        if wrt:
            for k, adjoint in zip(wrt, called(callee._derived(linear), (*given, *seeds)), strict=True):
                found[k] = adjoint
    return tuple(found)


def _call_rule(g: Any, p: Any, *inputs: Any, program: Callee) -> tuple[Any, ...]:
    return program._pull_back(g, p, inputs)


def _give_rule(primitive: Primitive) -> None:
    set_rule(primitive, _call_rule)


def strong_results(program: Program) -> tuple[bool, ...]:
    """Which outputs of an adjoint program have zeros that stand for no dependence, as a constant one is."""
    graph = program._last._graph
    return tuple(k < 0 or node_row(graph, k)[5] for k in program._last._outputs)


def _with_strong(program: Program, strong: tuple[bool, ...]) -> Program:
    """The same adjoint program, for seeds whose zeros are strong."""
    assert program._origin is not None
    origin, linear = program._origin
    return adjoint_of(origin, linear, strong=strong)


Program._derived = adjoint_of
Program._with_strong = _with_strong
Program._strong_results = strong_results
Program._pull_back = pull_back
on_new_call.append(_give_rule)

__all__ = ["Callee", "adjoint_of", "called", "gradient", "pull_back", "strong_results"]
