from typing import Final

from typing_extensions import Self

from hoad._core.graph.tape import Graph

class Appender:
    def __new__(cls, graph: Graph, simplify: bool = True, thorough: bool = False, complete: bool = False) -> Self: ...
    graph: Final[Graph]
