from collections.abc import Callable
from typing import Any, final

from numpy.typing import NDArray

from hoad._core.graph.tape import Graph

_Intervals = tuple[NDArray[Any], NDArray[Any]]

def intervals(
    graph: Graph, seed: int, outputs: list[int], limit: int, through: Callable[[int, dict[int, _Intervals]], _Intervals]
) -> list[_Intervals] | None: ...
def index_sets(
    graph: Graph, seed: int, output: int, through: Callable[[int, dict[int, _Intervals]], _Intervals]
) -> _Intervals: ...

@final
class Members:
    """A list of members that grows, of which sets are stretches."""
