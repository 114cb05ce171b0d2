from typing import Any, Final

from hoad._core.graph.tape import Graph

class Subgraph:
    graph: Final[Graph]
    constants: Final[list[int]]
    outer: Final[list[int]]
    inputs: Final[list[int]]
    outputs: Final[list[int]]
    window: Final[tuple[int, int, int, int]]
    def content(self) -> tuple[Any, ...]: ...

def varying_part(graph: Graph, varying: list[int], held: list[int], outputs: list[int]) -> Subgraph: ...
