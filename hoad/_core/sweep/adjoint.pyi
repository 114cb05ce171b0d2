from typing import final

from typing_extensions import Self

from hoad._core.graph.tape import Graph
from hoad._core.sweep.builder import Builder

@final
class ItemAdjoints:
    def __new__(cls, size: int) -> Self: ...

@final
class Sweep:
    def __new__(cls, graph: Graph, builder: Builder, low: int, high: int, notes: bool) -> Self: ...
