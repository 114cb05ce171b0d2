"""Appending nodes to a graph, each only once."""

from typing_extensions import Self

from hoad._core.graph.tape import Graph

class Appender:
    """Appends nodes to a graph, each only once."""

    def __new__(cls, graph: Graph, simplify: bool = True, thorough: bool = False, complete: bool = False) -> Self: ...
    @property
    def graph(self) -> Graph: ...
