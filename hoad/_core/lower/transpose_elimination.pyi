"""Transpose elimination: in which order the axes of arrays lie in memory."""

from typing import final

from typing_extensions import Self

from hoad._core.graph.tape import AbstractValue

@final
class Laid:
    """How an array lies: which register has the memory, and in which order it has the axes that are longer than 1."""

    def __new__(cls, memory: int, order: tuple[int, ...], lengths: tuple[int, ...], aval: AbstractValue) -> Self: ...

@final
class TransposeElimination:
    """The orders of the axes of the arrays of a program."""
