"""What stands in the last column of a table: inputs, outputs, and the guards that hold a branch."""

from __future__ import annotations

from typing import Any

from hoad._display.values import value_text
from hoad._program.tape import Tape


def marks_of(tape: Tape, shown: set[int]) -> dict[int, str]:
    """What the nodes shown are besides operations: ``input``, ``output ∇x``, ``guard: was True``.

    An input whose name is known has that for its operation; of others the mark says which it is.
    """
    found: dict[int, list[str]] = {}
    for k, (number, name) in enumerate(zip(tape.inputs, tape.input_names, strict=True), 1):
        if number in shown:
            plain = name is not None or len(tape.inputs) == 1
            found[number] = ["input" if plain else f"input {k}"]
    for number, names in output_names(tape).items():
        if number in shown:
            found.setdefault(number, []).extend(x if x.startswith("output") else f"output {x}" for x in names)
    for number, guards in guards_of(tape).items():
        if number in shown:
            texts = dict.fromkeys(value_text(was) for was, _ in guards)
            found.setdefault(number, []).append(f"guard: was {', '.join(texts)}")
    return {number: ", ".join(words) for number, words in found.items()}


def output_names(tape: Tape) -> dict[int, tuple[str, ...]]:
    """What the outputs that are nodes are called, by number."""
    found: dict[int, tuple[str, ...]] = {}
    for number, name in zip(tape.outputs, tape.output_names, strict=True):
        if isinstance(number, int):
            found[number] = (*found.get(number, ()), name)
    return found


def guards_of(tape: Tape) -> dict[int, tuple[tuple[Any, str | None], ...]]:
    """(what it was, 'file:line') of the branches taken on each node, by its number."""
    found: dict[int, tuple[tuple[Any, str | None], ...]] = {}
    for number, was, where in tape.guards:
        found[number] = (*found.get(number, ()), (was, where))
    return found
