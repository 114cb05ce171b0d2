"""The reverse sweep; for compiled code."""

from typing import final

from typing_extensions import Self

from hoad._core.graph.tape import Graph
from hoad._core.sweep.builder import Builder

@final
class ItemAdjoints:
    """The adjoints of the items of one array."""

    def __new__(cls, size: int) -> Self: ...

@final
class Sweep:
    """One reverse sweep over the nodes from `low` up to `high`."""

    def __new__(cls, graph: Graph, builder: Builder, low: int, high: int, notes: bool) -> Self: ...
