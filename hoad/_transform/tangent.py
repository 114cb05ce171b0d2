"""From a program to the program of its tangent."""

from __future__ import annotations

from typing import Any

from hoad._core.graph.inspect import operand_avals
from hoad._core.record.recording import Extension
from hoad._program.program import Program
from hoad._transform.append_tape import check_program, grown
from hoad._transform.seeds import seed_operands


def tangent(program: Program, seed: Any = None, *, simplify: bool = True) -> Program:
    """The program with one more tape: the tangents of the last tape's outputs, ``ẏ = J(x) ẋ``.

    Parameters
    ----------
    program : Program
        The result of `record`, or of an earlier `tangent` or `gradient`. It is not changed.
    seed : None, float, array, tuple of them or "symbolic", optional
        The direction: the tangent of each argument of the function, of its shape; None in a tuple for an argument that
        does not vary. The default is 1 for a single number. A symbolic seed becomes another input of the program for
        each argument. Seeds of earlier tapes do not vary.
    simplify : bool, optional
        If False, keep every node and constant, so that each node of the tapes has its tangent, for reading.

    Returns
    -------
    Program
        The tapes of `program`, and a tape whose outputs are the tangents of the outputs before, one for each.

    Raises
    ------
    ArgumentError
        If `program` is not a Program (but a function, for example), or `seed` is a string other than "symbolic".
    ShapeError
        If the function takes more than one number and there is no seed, or a seed has the wrong shape.
    DTypeError
        If a seed is neither a float nor an array of floats.

    Notes
    -----
    Cost: one forward sweep, some tens of nanoseconds and 20 to 32 bytes per emitted node. For each direction, the tape
    is a small multiple of those before; for a scalar, `gradient` gives the derivatives in all directions in one tape.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.1 and chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> program = hoad.tangent(hoad.record(lambda x, y: x * y + np.sin(x), 0.0, 3.0), (1.0, 0.5), simplify=False)
    >>> [(node.tangent_of, node.result) for node in program[1].nodes if node.tangent_of]
    [(1, 1.0), (2, 0.5), (3, 3.0), (4, 1.0), (5, 4.0)]

    Tangents and gradients can be combined in any order. The product of a Hessian and a direction, forward over reverse:

    >>> program = hoad.gradient(hoad.record(lambda x: np.sum(x**3), np.ones(2)))
    >>> program = hoad.tangent(program, "symbolic")
    >>> program.evaluate(np.array([1.0, 2.0]), np.array([1.0, 0.5]))
    array([6., 6.])
    """
    check_program("tangent", program, "hoad.jvp(f, (x,), (x_dot,)) for the tangent as a number or an array")
    last, wrt = program._last, list(program._first._inputs)
    targets, avals, takes = list(last._outputs), operand_avals(last._graph, wrt), last._takes

    def sweep(extension: Extension, noted: bool) -> tuple[list[int], list[int]]:
        seeds, inputs = seed_operands(extension, avals, takes, seed, "tangent", "input")
        return extension.tangents(targets, wrt, seeds, noted), inputs

    return grown(program, "tangent", last._single, simplify, sweep, last._gives)
