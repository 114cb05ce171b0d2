"""Emission of nodes with simplification and common subexpressions; for compiled code."""

from typing import final

from typing_extensions import Self

from hoad._core.graph.tape import Graph
from hoad._core.sweep.slopes import Appender

@final
class Builder(Appender):
    """Writes nodes to a graph, each only once."""

    def __new__(cls, graph: Graph, simplify: bool = True) -> Self: ...
