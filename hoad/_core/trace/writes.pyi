from typing import Final

from typing_extensions import Self

from hoad._core.graph.tape import Graph

class Buffer:
    def __new__(cls, graph: Graph, node: int, aval: int, blank: bool = False) -> Self: ...
    graph: Final[Graph]
