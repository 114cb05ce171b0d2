from contextvars import ContextVar, Token
from typing import Any, Final, final

from hoad._core.graph.tape import Graph

@final
class Watchers:
    """What looks at results in a context: a variable that is asked at every call, and that few programs ever set."""

    def get(self) -> tuple[Any, ...]: ...
    def set(self, watchers: tuple[Any, ...]) -> Token[tuple[Any, ...]]: ...
    def reset(self, token: Token[tuple[Any, ...]]) -> None: ...

RUNNING: Final[ContextVar[Graph | None]]
WATCHERS: Final[Watchers]

def is_open(graph: Graph) -> bool: ...
def running() -> Graph | None: ...
