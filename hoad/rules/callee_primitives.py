"""Primitives of equations, flows and loops: one for each number of results, declared as they are needed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from hoad._core.graph.primitive import PYTHON, Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._program.pickling import FAMILIES
from hoad.rules.registry import Rule, set_rule


def declare_family(
    name: str,
    held: str,
    avals: Callable[..., Sequence[AbstractValue]],
    run: Callable[[Any, tuple[Any, ...]], Sequence[Any]],
    rule: Rule,
    join: Callable[[Any, Any], tuple[Any, list[int]] | None] | None = None,
) -> Callable[[int], Primitive]:
    """The primitives ``name(*operands, held=callee)`` by their number of results.

    What is held says the abstract values of the results, ``avals(callee, *operands)``, and computes them,
    ``run(callee, values)``. `join` gives what has the results of two, and where those of the second are among them.
    """

    @functools.cache
    def declare(nout: int) -> Primitive:
        def infer(params: tuple[Any], *operands: AbstractValue) -> tuple[AbstractValue, ...]:
            return tuple(avals(params[0], *operands))

        def evaluate(params: tuple[Any], *values: Any) -> Any:
            found = run(params[0], values)
            return tuple(found) if nout > 1 else found[0]

        def joined(params: tuple[Any], others: tuple[Any]) -> tuple[Primitive, tuple[Any], list[int]] | None:
            found = None if join is None else join(params[0], others[0])
            return found and (declare(len(found[0].results)), (found[0],), found[1])

        made = Primitive(name, function=evaluate, kind=PYTHON, nin=-1, nout=nout, infer=infer, param_names=(held,))
        made.of_programs = True
        made.native = lambda params, *avals: params[0]._native(*avals)
        made.join = None if join is None else joined
        set_rule(made, rule)
        return made

    FAMILIES[name] = declare
    return declare
