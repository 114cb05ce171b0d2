"""From a program to the program of its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.primitive import Primitive, rules_epoch
from hoad._core.recording import SYMBOLIC_ZERO, Extension, operand_avals
from hoad.errors import ArgumentError, DTypeError, ShapeError, count
from hoad.primitive import on_new_call
from hoad.program import Program, Tape
from hoad.rules.registry import set_rule


def seed_operands(program: Program, tape: Tape, extension: Extension, seed: Any) -> tuple[list[int], list[int]]:
    """(operand of the seed of each output, those among them that are new inputs)."""
    avals = operand_avals(tape._graph, list(tape._outputs))
    if isinstance(seed, str):
        if seed != "symbolic":
            raise ArgumentError(f"gradient takes a number, an array or 'symbolic' as seed, not {seed!r}.")
        inputs = [extension.input(aval) if aval.inexact else SYMBOLIC_ZERO for aval in avals]
        return inputs, [k for k in inputs if k != SYMBOLIC_ZERO]
    if seed is None:
        if len(avals) > 1 or avals[0].shape:
            shapes = ", ".join(str(aval.shape) for aval in avals)
            raise ShapeError(
                f"gradient needs a seed where the last tape gives more than one number: its outputs have shape "
                f"{shapes}. Give an array of that shape, or seed='symbolic' to make the seed an input."
            )
        if avals[0].is_complex:
            raise DTypeError(
                f"gradient of a program with a complex result ({avals[0].dtype}) needs a seed: 1.0 for the gradient of "
                "its real part, -1j for that of its imaginary part, or seed='symbolic' to make it an input."
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
        if np.asarray(value).dtype.kind not in ("biufc" if aval.is_complex else "biuf"):
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


def _extended(program: Program, seed: Any, simplify: bool, wrt: list[int]) -> Program:
    """The program with the adjoints of the nodes `wrt` as one more tape."""
    made, notes = _swept(program, seed, simplify, wrt, noted=not simplify, apart=False)
    if simplify:
        origin, epoch = Program(program), rules_epoch()

        def find_notes() -> Any:
            if rules_epoch() != epoch:
                return None  # the rules that emitted the tape may be gone
            return _swept(origin, seed, simplify, wrt, noted=True, apart=True)[1]

        made._find_notes = find_notes
    else:
        made._notes = notes
    return Program([*program, made])


def _swept(program: Program, seed: Any, simplify: bool, wrt: list[int], noted: bool, apart: bool) -> tuple[Tape, Any]:
    """The adjoint tape, and whose adjoint each of its nodes is if that is to be noted."""
    tape = program._last
    program._check_chain()
    extension = Extension(tape._graph, tape._end, tape._guards, simplify, apart)
    try:
        seeds, inputs = seed_operands(program, tape, extension, seed)
        outputs = extension.compact(extension.adjoints(list(tape._outputs), seeds, wrt, noted))
        notes = extension.notes() if noted else None
    except BaseException:
        extension.abandon()
        raise
    extension.done()
    window = (tape._end, extension.size, tape._guards, extension.guards)
    return Tape(extension.graph, window, inputs, outputs, "adjoint", len(wrt) == 1, tape), notes


# ---- calls of programs ----------------------------------------------------------------------------------------------


def _adjoint_of(program: Program, linear: bool) -> Program:
    """The adjoint of a program by the inputs it is linear in, or by the others, for symbolic seeds."""
    key = (linear, rules_epoch())
    if key not in program._adjoints:
        nodes = program._input_nodes()
        first = len(nodes) - program._linear
        made = _extended(program, "symbolic", True, nodes[first:] if linear else nodes[:first])
        made._linear = len(made._last._inputs)
        made._omitted = program._omitted | (frozenset(nodes[first:]) if linear else frozenset())
        program._adjoints = {k: v for k, v in program._adjoints.items() if k[1] == key[1]} | {key: made}
    return program._adjoints[key]


def _call_rule(g: Any, p: Any, *inputs: Any, program: Program) -> tuple[Any, ...]:
    """The adjoint of a call is a call of the adjoint program.

    Where the program is linear in its last inputs, their adjoint does not depend on them, and is a call without them.
    """
    seeds = [s for s, aval in zip(g if isinstance(g, tuple) else (g,), program.results, strict=True) if aval.inexact]
    first = len(inputs) - program._linear
    found: list[Any] = []
    if first:
        found += _several(_adjoint_of(program, False)(*inputs, *seeds))
    if program._linear:
        found += _several(_adjoint_of(program, True)(*inputs[:first], *seeds))
    return tuple(found)


def _several(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _give_rule(primitive: Primitive) -> None:
    set_rule(primitive, _call_rule)


on_new_call.append(_give_rule)

__all__ = ["gradient"]
