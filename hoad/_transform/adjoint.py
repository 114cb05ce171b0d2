"""From a program to the program of its gradient."""

from __future__ import annotations

from typing import Any

from hoad._core.graph.inspect import are_strong
from hoad._core.graph.primitive import rules_epoch
from hoad._core.record.recording import Extension
from hoad._ops.primitives import on_new_call
from hoad._program.callee import Callee, Strong, called, declare_call_of
from hoad._program.program import Program
from hoad._pytree.containers import Forms
from hoad._transform.append_tape import check_program, grown
from hoad._transform.seeds import seed_operands
from hoad.rules.registry import set_rule


def gradient(program: Program, seed: Any = None, *, simplify: bool = True) -> Program:
    """The program with one more tape: the adjoints of the function's inputs.

    Parameters
    ----------
    program : Program
        The result of `record`, or of an earlier `gradient` or `tangent`. It is not changed.
    seed : None, float, array, tuple of them or "symbolic", optional
        The adjoint of each output of the last tape; None in a tuple for an output to leave out. The default is 1 for a
        single number. A symbolic seed becomes another input of the program.
    simplify : bool, optional
        If False, keep every node, contribution and constant, for reading.

    Returns
    -------
    Program
        The tapes of `program`, and a tape whose outputs are the adjoints of the function's arguments.

    Raises
    ------
    ArgumentError
        If `program` is not a Program (but a function, for example), or `seed` is a string other than "symbolic".
    ShapeError
        If the last tape has more than one number as output and there is no seed, or a seed has the wrong shape.
    DTypeError
        If a seed is neither a float nor an array of floats.

    Notes
    -----
    Cost: one reverse sweep, some tens of nanoseconds and 20 to 32 bytes per emitted node.

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
    check_program("gradient", program, "hoad.grad(f)(x) for the gradient as an array")
    return extended(program, seed, simplify, list(program._first._inputs), program._last._takes)


def extended(
    program: Program,
    seed: Any,
    simplify: bool,
    wrt: list[int],
    gives: Forms | None = None,
    apart: bool = False,
    strong: Strong = (),
) -> Program:
    """The program with the adjoints of the nodes `wrt`, which may be parts of containers, as one more tape.

    On a copy of its graph if `apart`. What is known of symbolic seeds is `strong`.
    """
    last = program._last
    avals, targets = program.output_types, list(last._outputs)

    def sweep(extension: Extension, noted: bool) -> tuple[list[int], list[int]]:
        seeds, inputs = seed_operands(extension, avals, last._gives, seed, "gradient", "output", strong)
        return extension.adjoints(targets, seeds, wrt, noted), inputs

    made = grown(program, "adjoint", len(wrt if gives is None else gives) == 1, simplify, sweep, gives, apart)
    made._last._wrt = tuple(wrt)
    return made


# ---- calls of programs ----------------------------------------------------------------------------------------------


def adjoint_of(program: Program, linear: bool, apart: bool = False, strong: Strong = ()) -> Program:
    """The adjoint of a program by the inputs it is linear in, or by the others, for symbolic seeds.

    Inputs that are not floats have none. What is known of the seeds is `strong`.
    """
    strong = strong if any(strong) else ()
    known = program._adjoints.get((linear, strong, rules_epoch()))
    if known is not None:
        return known
    nodes, avals = program._input_nodes(), program.input_types
    first = len(nodes) - program._linear
    chosen = range(first, len(nodes)) if linear else range(program._fixed, first)
    wrt = [nodes[k] for k in chosen if avals[k].inexact]
    declare_call_of(len(wrt))  # a new primitive is a new epoch, after which no tape knows its adjoints
    key = (linear, strong, rules_epoch())
    made = extended(program, "symbolic", True, wrt, None, apart, strong)
    made._fixed, made._linear = program._fixed, len(made._last._inputs)
    made._origin = program, linear
    made._strong = strong
    made._omitted = program._omitted | (frozenset(nodes[first:]) if linear else frozenset())
    program._adjoints = {k: v for k, v in program._adjoints.items() if k[2] == key[2]} | {key: made}
    return made


def adjoints_by(callee: Callee, linear: bool, values: tuple[Any, ...]) -> dict[int, Any]:
    """The adjoints of the inputs that a callee is linear in, or of the others, by their number.

    The values are its inputs, without those that it is linear in where the adjoint is by these, and a seed for each of
    its results that is a float.
    """
    avals = callee.input_types
    first = len(avals) - callee._linear
    chosen = range(first, len(avals)) if linear else range(callee._fixed, first)
    wrt = [k for k in chosen if avals[k].inexact]
    return dict(zip(wrt, called(callee._derived(linear), values), strict=True)) if wrt else {}


def pull_back(callee: Callee, g: Any, p: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The adjoint of a call is a call of the adjoint program.

    Where the program is linear in its last inputs, their adjoint does not depend on them, and is a call without them.
    """
    given = zip(g if isinstance(g, tuple) else (g,), callee.output_types, strict=True)
    seeds = tuple(seed for seed, aval in given if aval.inexact)
    others = inputs[: len(inputs) - callee._linear]
    found = adjoints_by(callee, False, (*inputs, *seeds)) | adjoints_by(callee, True, (*others, *seeds))
    return tuple(found.get(k) for k in range(len(inputs)))


def _call_rule(g: Any, p: Any, *inputs: Any, program: Callee) -> tuple[Any, ...]:
    return program._pull_back(g, p, inputs)


def strong_results(program: Program) -> Strong:
    """What is known of the outputs of an adjoint program."""
    return are_strong(program._last._graph, list(program._last._outputs))


def strong_seeds(program: Program) -> Strong:
    """What is known of the inputs that a program is linear in."""
    nodes = program._input_nodes()
    nodes = nodes[len(nodes) - program._linear :]
    return program._strong or are_strong(program._last._graph, nodes)


def _with_strong(program: Program, strong: Strong) -> Program:
    """The same adjoint program, for seeds whose zeros are strong; a program that is not an adjoint as it is."""
    if program._origin is None:
        return program
    origin, linear = program._origin
    return adjoint_of(origin, linear, strong=strong)


Program._derived = adjoint_of
Program._with_strong = _with_strong
Program._strong_seeds = strong_seeds
Program._strong_results = strong_results
Callee._pull_back = pull_back
on_new_call.append(lambda primitive: set_rule(primitive, _call_rule))
declare_call_of(1)  # what most calls have: the first one finds it made
