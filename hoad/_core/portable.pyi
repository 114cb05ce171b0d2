"""Graphs as plain data, for pickling."""

from collections.abc import Callable
from typing import Any

from hoad._core.primitive import Primitive
from hoad._core.tape import Graph

def graph_data(graph: Graph, end: int, n_guards: int, describe: Callable[[Primitive], Any]) -> dict[str, Any]: ...
def graph_from(data: dict[str, Any], find: Callable[[Any], Primitive]) -> Graph: ...
