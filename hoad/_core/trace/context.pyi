from contextvars import ContextVar
from typing import Any, Final

from hoad._core.graph.tape import Graph

RUNNING: Final[ContextVar[Graph | None]]
WATCHERS: Final[ContextVar[tuple[Any, ...]]]

def is_open(graph: Graph) -> bool: ...
def running() -> Graph | None: ...
