"""What stands in the last column of a table: inputs, outputs, and the guards that hold a branch."""

from __future__ import annotations

from typing import Any

from hoad._display.values import value_text
from hoad._program.tape import Tape


def marks_of(tape: Tape, shown: set[int]) -> dict[int, str]:
    """What the nodes shown are besides operations: ``output``, ``input 2``, ``guard: was True``."""
    found: dict[int, list[str]] = {}
    for word, numbers in (("input", tape.inputs), ("output", tape.outputs)):
        for k, number in enumerate(numbers, 1):
            if isinstance(number, int) and number in shown:
                found.setdefault(number, []).append(word if len(numbers) == 1 else f"{word} {k}")
    for number, guards in guards_of(tape).items():
        if number in shown:
            texts = dict.fromkeys(value_text(was) for was, _ in guards)
            found.setdefault(number, []).append(f"guard: was {', '.join(texts)}")
    return {number: ", ".join(words) for number, words in found.items()}


def guards_of(tape: Tape) -> dict[int, tuple[tuple[Any, str | None], ...]]:
    """(what it was, 'file:line') of the branches taken on each node, by its number."""
    found: dict[int, tuple[tuple[Any, str | None], ...]] = {}
    for number, was, where in tape.guards:
        found[number] = (*found.get(number, ()), (was, where))
    return found
