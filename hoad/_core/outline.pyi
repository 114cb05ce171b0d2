"""Taking a stretch of a running recording out into a graph of its own."""

from hoad._core.tape import Graph
from hoad._core.traced import Array, Scalar

def outline(
    source: Graph, start: int, first_guard: int, inputs: list[int], outputs: list[int]
) -> tuple[Graph, tuple[int, int, int, int], list[int], list[int], list[int]]: ...
def traced_nodes(graph: Graph, nodes: list[int]) -> list[Scalar | Array]: ...
