from collections.abc import Callable
from typing import Any

from hoad._core.graph.tape import Graph

def replace_even_functions(graph: Graph, start: int, outputs: list[int], of_abs: bool = False) -> list[int]: ...
def structure(graph: Graph, norm: int, functions: list[int]) -> tuple[Any, ...]: ...
def dismiss(graph: Graph, norm: int, functions: list[int]) -> None: ...
def copy_dependent(graph: Graph, start: int, end: int, place: dict[int, int]) -> None: ...
def bind_evens(
    sizes: list[int],
    absolutes: list[int],
    moves: list[int],
    functions: list[int],
    replaced: Callable[[Graph, int, int, list[int], dict[int, list[tuple[int, bool, bool]]]], list[int]],
    is_same: Callable[[Graph, int, int], bool],
) -> None: ...
