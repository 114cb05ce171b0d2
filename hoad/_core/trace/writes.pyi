"""What the views of one traced array share: its content, and what was written to it since."""

from typing_extensions import Self

from hoad._core.graph.tape import Graph

class Buffer:
    """The content of a root, and the writes that are pending on it."""

    def __new__(cls, graph: Graph, node: int, aval: int, blank: bool = False) -> Self: ...
    @property
    def graph(self) -> Graph: ...
